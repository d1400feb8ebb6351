"""PWB: the pixel-wise baseline."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from icb.camera import Camera
from icb.checks import check_depth
from icb.compiled.pixelwise import Homographies, Place, apply_rows, largest_displacements
from icb.errors import InputError
from icb.operator import Backend, BlurOperator, check_motion
from icb.patches import Span
from icb.threads import bands, each_band, each_band_apart
from icb.trajectory import Trajectory

if TYPE_CHECKING:
    import torch


PIXELS_AT_ONCE = 2**17
"""On a torch device, displacements are made for so many pixels at a time: they need a dozen float64 each."""


class PixelWiseBlur(BlurOperator):
    """``y(p) = sum_m w_m x(p - round(H_m(p) p - p))`` [eq:pixel-wise_kernel_model, eq:gupta_homography].

    Full six degrees of freedom, one displacement per pixel and pose. Displacements are computed as
    they are used: nothing is stored but the depth map.

    Parameters are those of :class:`icb.ImageCompositingBlur`, without the layers'.
    """

    def __init__(
        self,
        depth: np.ndarray | torch.Tensor,
        trajectory: Trajectory,
        camera: Camera,
        *,
        backend: Backend = "auto",
    ) -> None:
        self._depth = check_depth(depth).copy()  # it is used at every application
        super().__init__((self._depth.shape[0], self._depth.shape[1]), backend)
        check_motion(trajectory, camera)
        self._camera = camera
        self._place = Place(0, 0, 0, 0)
        self._poses = homographies(trajectory, camera)
        lowest, self._reach = self._bounds()
        self._require_in_front(lowest, trajectory.weights > 0)

    @cached_property
    def radius(self) -> tuple[int, int]:
        """The largest displacement in rows and columns; costs about half an application when first asked for."""
        rows = bands(self.shape[0])

        def work(index: int) -> np.ndarray:
            camera = self._camera
            return np.array(largest_displacements(self._poses, self._depth, camera.cx, camera.cy, *rows[index]))

        down, right = np.max(each_band(work, range(len(rows))), axis=0)
        return int(down), int(right)

    def _bounds(self) -> tuple[np.ndarray, float]:
        """Per pose a lower bound of Z; and how many rows a pixel can move at the most, or more.

        Z is linear in u, v and 1 / D, so its corners bound it; N_y is bounded term by term.
        """
        p, (height, width) = self._poses, self.shape
        u = np.array([0, width - 1]) - self._camera.cx
        v = np.array([0, height - 1]) - self._camera.cy
        inverse = 1 / np.array([self._depth.max(), self._depth.min()], np.float64)
        tilts = p.zu[:, None, None] * u[:, None] + p.zv[:, None, None] * v
        z = tilts.min(axis=(1, 2)) + p.z1 + (p.tz[:, None] * inverse).min(axis=1)
        tall = np.abs(v).max()
        y = np.abs(p.yu) * np.abs(u).max() + np.abs(p.yv[:, None, None] - tilts).max(axis=(1, 2)) * tall + np.abs(p.y1)
        y += np.abs(p.fty[:, None] - p.tz[:, None] * v).max(axis=1) * inverse[1]
        with np.errstate(divide="ignore"):
            reach = np.where(z > 0, y / np.maximum(z, 0), np.inf).max()
        return z, float(min(np.ceil(reach + 0.5), height))

    def _require_in_front(self, lowest: np.ndarray, used: np.ndarray) -> None:
        """Every scene point must stay in front of the camera, or its displacement means nothing."""
        v, u = np.ogrid[: self.shape[0], : self.shape[1]]
        for index in np.flatnonzero(lowest <= 0):  # the bound leaves doubt: look at every pixel
            p = self._poses
            tilt = p.zu[index] * (u - self._camera.cx) + p.zv[index] * (v - self._camera.cy)
            if (tilt + p.z1[index] + p.tz[index] / self._depth).min() <= 0:
                raise InputError(
                    f"pose {int(np.flatnonzero(used)[index])}: moves or turns the camera past part of the scene, "
                    f"expected every point to stay in front of it"
                )

    def apply_planes(self, source: np.ndarray, channels: int, adjoint: bool) -> np.ndarray:
        target = np.zeros_like(source)
        rows, place, c = bands(self._depth.shape[0]), self._place, self._camera

        def work(index: int) -> None:
            apply_rows(adjoint, source, target, channels, self._poses, self._depth, c.cx, c.cy, place, *rows[index])

        each_band_apart(work, len(rows), int(self._reach) if adjoint else 0)
        return target

    def apply_tensor(self, source: torch.Tensor, adjoint: bool) -> torch.Tensor:
        import torch

        target = torch.zeros_like(source)
        (height, width), place = self._depth.shape, self._place
        # The pixels of the depth map among those of the pictures, which may reach beyond it.
        inside = (slice(None), slice(place.above, place.above + height), slice(place.before, place.before + width))
        given, wanted = (t.view(-1, *self.shape)[inside] for t in (source, target))
        rows = max(1, PIXELS_AT_ONCE // width)
        for first in range(0, height, rows):
            last = min(first + rows, height)
            for there, weight in self._sources(source.device, first, last):
                if adjoint:
                    with _same_order_each_time(source.device):  # several pixels see the same one
                        target.index_add_(1, there, given[:, first:last].flatten(1), alpha=weight)
                else:
                    moved = source[:, there].view(-1, last - first, width)
                    wanted[:, first:last].add_(moved, alpha=weight)
        return target

    def part(self, rows: Span, columns: Span) -> PixelWiseBlur:
        down, right = self.radius
        part = copy.copy(self)
        part._depth = np.ascontiguousarray(self._depth[slice(*rows), slice(*columns)])
        part._place = Place(rows[0], columns[0], down, right)
        part._reach = float(down)
        return part

    def _sources(self, device: torch.device, first: int, last: int) -> Iterator[tuple[torch.Tensor, float]]:
        """For each pose the pixels ``p - displacement(p)`` that rows ``first:last`` see, and its weight."""
        import torch

        (height, width), p, place = self.shape, self._poses, self._place
        inverse = 1 / torch.from_numpy(self._depth[first:last]).to(device, torch.float64)
        row = torch.arange(first, last, device=device)[:, None]
        column = torch.arange(self._depth.shape[1], device=device)[None, :]
        u, v = (column + place.left) - self._camera.cx, (row + place.top) - self._camera.cy
        row, column = row + place.above, column + place.before
        for m, weight in enumerate(p.weight):
            tilt = p.zu[m] * u + p.zv[m] * v
            z = tilt + p.z1[m] + p.tz[m] * inverse
            x = (p.xu[m] - tilt) * u + p.xv[m] * v + p.x1[m] + (p.ftx[m] - p.tz[m] * u) * inverse
            y = p.yu[m] * u + (p.yv[m] - tilt) * v + p.y1[m] + (p.fty[m] - p.tz[m] * v) * inverse
            from_row = (row - torch.floor(y / z + 0.5)).clamp_(0, height - 1)
            from_column = (column - torch.floor(x / z + 0.5)).clamp_(0, width - 1)
            yield (from_row * width + from_column).long().flatten(), float(weight)


@contextmanager
def _same_order_each_time(device: torch.device) -> Iterator[None]:
    """Let torch add numbers up in an order that does not change: on a GPU it does so only if it is told to."""
    import torch

    if device.type == "cpu":
        yield
        return
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode(max(before, 1))  # at least "warn", if there is no such way
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def homographies(trajectory: Trajectory, camera: Camera) -> Homographies:
    """Coefficients of ``C (R + t n' / D) inv(C)`` relative to the principal point; poses of no weight left out."""
    used = trajectory.weights > 0
    r, t = trajectory.rotations[used], trajectory.translations[used]
    fx, fy = camera.fx, camera.fy
    return Homographies(
        xu=r[:, 0, 0] - r[:, 2, 2],
        xv=r[:, 0, 1] * fx / fy,
        x1=r[:, 0, 2] * fx,
        yu=r[:, 1, 0] * fy / fx,
        yv=r[:, 1, 1] - r[:, 2, 2],
        y1=r[:, 1, 2] * fy,
        zu=r[:, 2, 0] / fx,
        zv=r[:, 2, 1] / fy,
        z1=r[:, 2, 2].copy(),
        ftx=fx * t[:, 0],
        fty=fy * t[:, 1],
        tz=t[:, 2].copy(),
        weight=trajectory.weights[used],
    )
