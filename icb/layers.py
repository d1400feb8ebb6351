"""ICB's layers: the in-plane motion, the depths that bound them, their pixels, kernels and windows."""

from dataclasses import dataclass

import numpy as np

from icb.camera import Camera
from icb.compiled.layers import count_taps, encode_rows
from icb.compiled.mattes import Regions, Taps, Windows
from icb.errors import InputError
from icb.geometry import depth_sequence
from icb.threads import bands, each_band
from icb.trajectory import Trajectory

FARTHEST_TAP = float(2**30)  # beyond any image, within any integer


@dataclass(frozen=True)
class Layer:
    """One depth layer R_l and its kernel k_l."""

    index: int
    near: float
    """D_l: depths from here ..."""
    far: float
    """... to just below D_(l-1); infinity for layer 0."""
    depth: float
    """D*_l, the mean depth; infinity where no pixel of the layer has a finite depth."""
    share: float
    """Part of the image's pixels."""
    taps: np.ndarray
    """Displacements (dy, dx) in pixels, (T, 2); none for a layer without pixels."""
    weights: np.ndarray
    """Their weights, summing to 1, (T,)."""

    def kernel(self) -> np.ndarray:
        """k_l as a dense odd square array, the middle being no displacement."""
        radius = int(np.abs(self.taps).max(initial=0))
        dense = np.zeros((2 * radius + 1, 2 * radius + 1))
        np.add.at(dense, (self.taps[:, 0] + radius, self.taps[:, 1] + radius), self.weights)
        return dense


@dataclass(frozen=True)
class Labels:
    """Which pixels belong to which layer, and the statistics that needs one pass over the depth."""

    regions: Regions
    counts: np.ndarray
    mean_depths: np.ndarray


def in_plane_motion(trajectory: Trajectory, camera: Camera) -> tuple[np.ndarray, np.ndarray]:
    """``(f t, r)``: parallax in pixels times metres and pan-tilt in pixels, both (M, 2) as x, y.

    A pixel at depth D moves by ``f t_m / D + r_m``, where ``r_m`` is how far R_m moves the principal
    point; z translation and roll are neglected.
    """
    focal = np.array([camera.fx, camera.fy])
    forward = trajectory.rotations[:, 2, 2]
    if (forward <= 0).any():
        worst = int(np.argmin(forward))
        raise InputError(f"pose {worst}: turns the camera by a right angle or more, expected a smaller rotation")
    return focal * trajectory.translations[:, :2], focal * trajectory.rotations[:, :2, 2] / forward[:, None]


def layer_bounds(parallax: np.ndarray, n: float, nearest: float) -> np.ndarray:
    """Union of the depth sequences of both axes, far to near, up to the first that covers the nearest depth.

    Empty without parallax.
    """
    if np.isinf(nearest):
        nearest = float(np.finfo(np.float64).max)  # nothing near: the first bound is enough
    sequences = [depth_sequence(float(np.abs(axis).max()), n, nearest) for axis in parallax.T]
    union = np.unique(np.concatenate(sequences))[::-1]
    return union[: np.count_nonzero(union > nearest) + 1].copy()


def label_pixels(depth: np.ndarray, bounds: np.ndarray) -> Labels:
    """One pass over the depth map: run-length encoded layers, pixel counts, mean depths.

    As many layers as bounds, and one without any: the last bound covers the nearest depth.
    """
    rows = bands(depth.shape[0])
    parts = each_band(lambda index: encode_rows(depth, bounds[:-1], *rows[index]), range(len(rows)))
    offsets = np.cumsum([0] + [part[1].size for part in parts])
    pointers = [part[0][1:] + offset for part, offset in zip(parts, offsets, strict=False)]
    regions = Regions(
        np.concatenate([np.zeros(1, np.int64), *pointers]),
        *(np.concatenate([part[item] for part in parts]) for item in (1, 2, 3)),
    )
    counts, finite, sums = (np.sum([part[item] for part in parts], axis=0) for item in (4, 5, 6))
    means = np.divide(sums, finite, out=np.full(sums.shape, np.inf), where=finite > 0)
    return Labels(regions, counts, means)


def layer_taps(parallax: np.ndarray, pan: np.ndarray, weights: np.ndarray, labels: Labels) -> tuple[Taps, np.ndarray]:
    """Kernels of all layers, and the larger of the numbers of rows and columns that each touches."""
    pointer, dy, dx, weight, low, high, sizes = count_taps(
        parallax, pan, weights, labels.mean_depths, labels.counts, FARTHEST_TAP
    )
    return Taps(pointer, dy, dx, weight, low, high, int(np.abs(dy).max())), sizes


def layer_windows(sizes: np.ndarray, sigma: float, dtype: np.dtype) -> Windows:
    """Normalised Gaussian windows of the given sizes, made odd by ``2 floor(s / 2) + 1``.

    Weights too small to be told from zero are left out, which bounds the windows of long kernels.
    """
    widest = int(np.ceil(sigma * np.sqrt(-2 * np.log(np.finfo(dtype).tiny))))
    radii = np.minimum(sizes // 2, widest)
    made: dict[int, np.ndarray] = {}
    for radius in np.unique(radii):
        window = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
        made[int(radius)] = window / window.sum()
    weights = np.concatenate([made[int(radius)] for radius in radii])
    return Windows(np.append(0, np.cumsum(2 * radii + 1)), radii, weights, int(radii.max()))
