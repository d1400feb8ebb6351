"""ICB: the Image Compositing Blur model of the paper."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from icb.camera import Camera
from icb.checks import check_depth, check_positive
from icb.compiled.compositing import apply_stored, apply_walking, store_band
from icb.layers import Layer, in_plane_motion, label_pixels, layer_bounds, layer_taps, layer_windows
from icb.operator import Backend, BlurOperator, check_motion
from icb.patches import Span
from icb.threads import bands, each_band, each_band_apart
from icb.trajectory import Trajectory

if TYPE_CHECKING:
    import torch

    MatteTensors = tuple[int, torch.Tensor, torch.Tensor]

STORED_VALUES = 8
"""Matte values kept per pixel at the most: under three float32 RGB images' worth. Real scenes need one to three."""

UNLIMITED, ROWS_AT_ONCE = 2**40, 8  # for mattes that are unpacked without having been kept

PIXELS_AT_ONCE = 2**17
"""On a torch device so many pixels are worked on at a time, each with half a dozen indices."""


@dataclass(frozen=True)
class _Band:
    """Rows ``first:last`` and their mattes, unless there were too many to keep."""

    first: int
    last: int
    complete: bool
    runs: np.ndarray
    alpha: np.ndarray


class ImageCompositingBlur(BlurOperator):
    """``y = sum_l A_l (x * k_l)`` [eq:image_compositing]: one kernel per depth layer, blended by soft mattes.

    Parameters
    ----------
    depth : (H, W) metres along the optical axis, above 0, infinity allowed. Mattes are computed in its
        precision, float32 or float64.
    trajectory, camera : how the camera moved, and its intrinsics.
    n : blur variation between layers, in pixels; smaller means more layers.
    sigma : standard deviation of the mattes' Gaussian window, in pixels.
    backend : ``"auto"``, ``"compiled"`` (CPU) or ``"torch"``: see :class:`icb.operator.BlurOperator`.

    """

    def __init__(
        self,
        depth: np.ndarray | torch.Tensor,
        trajectory: Trajectory,
        camera: Camera,
        n: float = 1.0,
        sigma: float = 4.0,
        *,
        backend: Backend = "auto",
    ) -> None:
        depth = check_depth(depth)
        super().__init__((depth.shape[0], depth.shape[1]), backend)
        check_motion(trajectory, camera)
        self.n, self.sigma = check_positive("n", n, "pixels"), check_positive("sigma", sigma, "pixels")
        parallax, pan = in_plane_motion(trajectory, camera)
        self._bounds = layer_bounds(parallax, self.n, float(depth.min()))
        self._labels = label_pixels(depth, self._bounds)
        self._taps, sizes = layer_taps(parallax, pan, trajectory.weights, self._labels)
        self._windows = layer_windows(sizes, self.sigma, depth.dtype)
        self._total = np.empty(depth.shape, depth.dtype)
        self._bands = self._build_bands()
        self._on_device: dict[torch.device, list[MatteTensors]] = {}
        if all(band.complete for band in self._bands):
            self._total = np.empty((0, 0), depth.dtype)  # only walking needs it

    def _build_bands(self) -> list[_Band]:
        rows = bands(self.shape[0])
        return each_band(lambda index: self._build_band(*rows[index], STORED_VALUES), range(len(rows)))

    def _build_band(self, first: int, last: int, values_per_pixel: int) -> _Band:
        width = self.shape[1]
        budget = values_per_pixel * (last - first) * width
        kept = store_band(self._labels.regions, self._taps, self._windows, first, last, width, budget, self._total)
        return _Band(first, last, *kept)

    @property
    def radius(self) -> tuple[int, int]:
        return int(np.abs(self._taps.dy).max()), int(np.abs(self._taps.dx).max())

    def apply_planes(self, source: np.ndarray, channels: int, adjoint: bool) -> np.ndarray:
        target = np.zeros_like(source)

        def work(index: int) -> None:
            band = self._bands[index]
            if band.complete:
                apply_stored(adjoint, source, target, channels, self._taps, band.runs, band.alpha)
            else:
                apply_walking(
                    adjoint,
                    source,
                    target,
                    channels,
                    self._taps,
                    self._labels.regions,
                    self._windows,
                    self._total,
                    band.first,
                    band.last,
                )

        each_band_apart(work, len(self._bands), self._taps.reach if adjoint else 0)
        return target

    def apply_tensor(self, source: torch.Tensor, adjoint: bool) -> torch.Tensor:
        import torch

        target = torch.zeros_like(source)
        for layer, pixels, alpha in self._matte_tensors(source.device):
            for part in range(0, len(pixels), PIXELS_AT_ONCE):
                here = pixels[part : part + PIXELS_AT_ONCE].long()
                matte = alpha[part : part + PIXELS_AT_ONCE].to(source.dtype)
                self._apply_part(source, target, layer, here, matte, adjoint)
        return target

    def _apply_part(
        self,
        source: torch.Tensor,
        target: torch.Tensor,
        layer: int,
        here: torch.Tensor,
        matte: torch.Tensor,
        adjoint: bool,
    ) -> None:
        """Add what one layer contributes to, or in the adjoint takes from, some of its pixels."""
        height, width = self.shape
        row, column = here // width, here % width
        total = matte * source[:, here] if adjoint else source.new_zeros(len(source), len(here))
        for tap in range(self._taps.pointer[layer], self._taps.pointer[layer + 1]):
            from_row = (row - int(self._taps.dy[tap])).clamp_(0, height - 1)
            from_column = (column - int(self._taps.dx[tap])).clamp_(0, width - 1)
            there, weight = from_row.mul_(width).add_(from_column), float(self._taps.weight[tap])
            if adjoint:
                target.index_add_(1, there, total, alpha=weight)
            else:
                total.add_(source[:, there], alpha=weight)
        if not adjoint:
            target.index_add_(1, here, matte * total)

    def _matte_tensors(self, device: torch.device) -> Iterable[MatteTensors]:
        """The mattes on a device; kept there, unless they were too many to keep at all."""
        import torch

        if device in self._on_device:
            return self._on_device[device]

        def upload(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(array).to(device)

        made = ((layer, upload(pixels), upload(alpha)) for layer, pixels, alpha in self._matte_pixels())
        if not all(band.complete for band in self._bands):
            return made
        return self._on_device.setdefault(device, list(made))

    def _matte_pixels(self) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """``(layer, pixels, A)`` wherever a matte is not zero; a layer comes once for each group of bands."""
        for group in self._groups():
            runs = np.concatenate([band.runs for band in group])
            alpha = np.concatenate([band.alpha for band in group])
            sizes = runs[:, 3] - runs[:, 2]
            offsets = np.cumsum(sizes) - sizes
            by_layer = np.argsort(runs[:, 0], kind="stable")
            cuts = np.flatnonzero(np.diff(runs[by_layer, 0], append=-1)) + 1
            for begin, end in zip(np.append(0, cuts[:-1]), cuts, strict=True):
                mine = by_layer[begin:end]
                firsts = runs[mine, 1] * self.shape[1] + runs[mine, 2]
                yield (
                    int(runs[mine[0], 0]),
                    _unrolled(firsts, sizes[mine]),
                    alpha[_unrolled(offsets[mine], sizes[mine])],
                )

    def _groups(self) -> Iterator[list[_Band]]:
        """Bands to unpack together: few and large for a device's sake, but no more than two values a pixel."""
        group: list[_Band] = []
        for band in self._bands:
            if not band.complete:
                for first in range(band.first, band.last, ROWS_AT_ONCE):
                    yield [self._build_band(first, min(first + ROWS_AT_ONCE, band.last), UNLIMITED)]
                continue
            if group and sum(len(b.alpha) for b in group) + len(band.alpha) > 2 * self.shape[0] * self.shape[1]:
                yield group
                group = []
            group.append(band)
        if group:
            yield group

    def part(self, rows: Span, columns: Span) -> ImageCompositingBlur:
        """As in the base class; layers, kernels and mattes are those of the whole image. It keeps all of its mattes."""
        down, right = self.radius
        part = copy.copy(self)
        part._bands = [
            _moved(self._within(band, rows), rows, columns, down, right)
            for band in self._bands
            if band.first < rows[1] and band.last > rows[0]
        ]
        part._on_device = {}
        return part

    def _within(self, band: _Band, rows: Span) -> _Band:
        """A band with its mattes, which are made for these rows alone if they were not kept."""
        if band.complete:
            return band
        return self._build_band(max(band.first, rows[0]), min(band.last, rows[1]), UNLIMITED)

    @cached_property
    def layers(self) -> list[Layer]:
        """The depth layers, far to near; empty ones included."""
        near = self._bounds if len(self._bounds) else np.zeros(1)
        far = np.insert(near[:-1], 0, np.inf)
        taps, found = self._taps, []
        for index, depth in enumerate(self._labels.mean_depths):
            cut = slice(taps.pointer[index], taps.pointer[index + 1])
            share = float(self._labels.counts[index]) / (self.shape[0] * self.shape[1])
            pairs = np.stack([taps.dy[cut], taps.dx[cut]], axis=1)
            weights = taps.weight[cut].copy()
            found.append(Layer(index, float(near[index]), float(far[index]), float(depth), share, pairs, weights))
        return found

    def layer_map(self) -> np.ndarray:
        """The index of each pixel's layer, (H, W)."""
        regions = self._labels.regions
        labels = np.empty(self.shape, np.int32)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(regions.row_pointer))
        for row, start, end, label in zip(rows, regions.starts, regions.ends, regions.labels, strict=True):
            labels[row, start:end] = label
        return labels

    def mattes(self, layers: Sequence[int] | None = None) -> np.ndarray:
        """The mattes A_l of the given layers, (L, H, W); those of all layers, the default, sum to 1."""
        wanted = range(len(self._labels.counts)) if layers is None else layers
        place = {layer: index for index, layer in enumerate(wanted)}
        stack = np.zeros((len(place), self.shape[0] * self.shape[1]), self._total.dtype)
        for layer, pixels, alpha in self._matte_pixels():
            if layer in place:
                stack[place[layer], pixels] += alpha
        return stack.reshape(len(place), *self.shape)


def _moved(band: _Band, rows: Span, columns: Span, down: int, right: int) -> _Band:
    """What a band has in a patch, in the rows and columns of the padded patch."""
    layer, row, begin, end = band.runs.T
    offsets = np.cumsum(end - begin) - (end - begin)
    first, last = np.maximum(begin, columns[0]), np.minimum(end, columns[1])
    kept = (row >= rows[0]) & (row < rows[1]) & (first < last)
    runs = np.stack([layer, row - rows[0] + down, first - columns[0] + right, last - columns[0] + right], axis=1)
    alpha = band.alpha[_unrolled((offsets + first - begin)[kept], (last - first)[kept])]
    top, bottom = max(band.first, rows[0]), min(band.last, rows[1])
    return _Band(top - rows[0] + down, bottom - rows[0] + down, True, np.ascontiguousarray(runs[kept]), alpha)


def _unrolled(firsts: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """``[f, f + 1, ..., f + s - 1]`` for each first and size, one after another."""
    steps = np.arange(sizes.sum(), dtype=np.int32)
    return np.repeat((firsts - (np.cumsum(sizes) - sizes)).astype(np.int32), sizes) + steps
