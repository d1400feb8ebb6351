"""PWB: the pixel-wise baseline."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from icb.camera import Camera
from icb.compiled.pixelwise import Homographies, apply_rows, extremes
from icb.errors import InputError
from icb.operator import Backend, BlurOperator, check_depth
from icb.threads import bands, each_band, each_band_apart
from icb.trajectory import Trajectory

if TYPE_CHECKING:
    import torch


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
        self._depth = check_depth(depth)
        super().__init__((self._depth.shape[0], self._depth.shape[1]), backend)
        self._camera = camera
        self._poses = homographies(trajectory, camera)
        self._require_in_front()

    @property
    def radius(self) -> tuple[int, int]:
        most_x, most_y, _ = self._extremes
        return int(np.floor(most_y + 0.5)), int(np.floor(most_x + 0.5))

    @cached_property
    def _extremes(self) -> tuple[float, float, float]:
        """``(max |dx|, max |dy|, min Z)`` over all pixels and poses; costs about one application."""
        rows = bands(self.shape[0])
        found = np.array(
            each_band(
                lambda index: extremes(self._poses, self._depth, self._camera.cx, self._camera.cy, *rows[index]),
                range(len(rows)),
            )
        )
        return float(found[:, 0].max()), float(found[:, 1].max()), float(found[:, 2].min())

    def _require_in_front(self) -> None:
        """Every scene point must stay in front of the camera, or its displacement means nothing.

        Z is linear in u, v and 1 / D, so its corners bound it; only where they leave doubt is every
        pixel looked at.
        """
        poses, (height, width) = self._poses, self.shape
        u = np.array([0, width - 1]) - self._camera.cx
        v = np.array([0, height - 1]) - self._camera.cy
        inverse = 1 / np.array([self._depth.min(), self._depth.max()], np.float64)
        corners = (
            (poses.zu[:, None] * u).min(axis=1)
            + (poses.zv[:, None] * v).min(axis=1)
            + poses.z1
            + (poses.tz[:, None] * inverse).min(axis=1)
        )
        if corners.min() <= 0 and self._extremes[2] <= 0:
            raise InputError(
                f"pose {int(np.argmin(corners))}: moves or turns the camera past part of the scene, "
                f"expected every point to stay in front of it"
            )

    def apply_planes(self, source: np.ndarray, channels: int, adjoint: bool) -> np.ndarray:
        target = np.zeros_like(source)
        rows = bands(self.shape[0])

        def work(index: int) -> None:
            camera = self._camera
            apply_rows(adjoint, source, target, channels, self._poses, self._depth, camera.cx, camera.cy, *rows[index])

        reach = min(self.radius[0], self.shape[0]) if adjoint else 0
        each_band_apart(work, len(rows), reach)
        return target

    def apply_tensor(self, source: torch.Tensor, adjoint: bool) -> torch.Tensor:
        import torch

        (height, width), device, poses = self.shape, source.device, self._poses
        inverse = 1 / torch.from_numpy(self._depth).to(device, torch.float64)
        row = torch.arange(height, device=device)[:, None]
        column = torch.arange(width, device=device)[None, :]
        u, v = column - self._camera.cx, row - self._camera.cy
        target = torch.zeros_like(source)
        for m, weight in enumerate(poses.weight):
            tilt = poses.zu[m] * u + poses.zv[m] * v
            z = tilt + poses.z1[m] + poses.tz[m] * inverse
            x = (poses.xu[m] - tilt) * u + poses.xv[m] * v + poses.x1[m] + (poses.ftx[m] - poses.tz[m] * u) * inverse
            y = poses.yu[m] * u + (poses.yv[m] - tilt) * v + poses.y1[m] + (poses.fty[m] - poses.tz[m] * v) * inverse
            from_row = (row - torch.floor(y / z + 0.5)).clamp_(0, height - 1)
            from_column = (column - torch.floor(x / z + 0.5)).clamp_(0, width - 1)
            there = (from_row * width + from_column).long().flatten()
            if adjoint:
                target.index_add_(1, there, source, alpha=float(weight))
            else:
                target.add_(source[:, there], alpha=float(weight))
        return target


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
