"""PSNR and SSIM, with the library's values."""

import math
from collections.abc import Sequence

import numpy as np

from icb.compiled.similarity import WINDOW, similarity_rows
from icb.errors import InputError
from icb.metrics.pictures import check_finite, check_least, check_pair
from icb.threads import bands, each_band

K1, K2 = 0.01, 0.03


def psnr(estimate: np.ndarray, reference: np.ndarray, *, mask: np.ndarray | None = None) -> float:
    """``-10 log10(mean (estimate - reference)^2)`` in dB: data range 1, nothing is clipped.

    The mean is over all pixels and channels, or over the pixels of ``mask``, bool (H, W). Equal images give
    infinity, a mask without pixels NaN. Images (H, W, 3), as ``skimage.metrics.peak_signal_noise_ratio``.
    """
    check_pair(estimate, reference)
    difference = estimate - reference
    if mask is not None:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != reference.shape[:2]:
            found = f"{mask.dtype} of shape {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
            raise InputError(f"mask: got {found}, expected bool of shape {reference.shape[:2]}")
        if not mask.any():
            return math.nan
        difference = difference[mask]
    error = float(np.mean(np.square(difference, out=difference), dtype=np.float64))
    if not math.isfinite(error):
        check_finite("estimate", estimate)
        check_finite("reference", reference)
    return math.inf if error == 0 else -10 * math.log10(error)


def structural_similarity(
    estimate: np.ndarray, reference: np.ndarray, data_ranges: Sequence[float] = (1.0, 2.0)
) -> tuple[float, ...]:
    """Mean structural similarity for each of several data ranges R: ``C1 = (0.01 R)^2``, ``C2 = (0.03 R)^2``.

    As ``skimage.metrics.structural_similarity(..., channel_axis=2, data_range=R)``: windows of 7 x 7, sample
    covariance, in the images' precision. One more data range costs little: means and covariances are shared.
    """
    kind = check_pair(estimate, reference)
    check_least(reference, WINDOW, f"windows of {WINDOW} x {WINDOW}")
    height, width, channels = reference.shape
    x, y = (np.require(image, kind, ["C", "W"]).reshape(height, width * channels) for image in (estimate, reference))
    constants = np.array([[(K1 * R) ** 2, (K2 * R) ** 2] for R in data_ranges], kind)
    rows = bands(height - WINDOW + 1)
    sums = each_band(lambda i: similarity_rows(x, y, channels, constants, *rows[i]), range(len(rows)))
    values = np.sum(sums, axis=0) / ((height - WINDOW + 1) * (width - WINDOW + 1) * channels)
    if not np.isfinite(values).all():
        check_finite("estimate", estimate)
        check_finite("reference", reference)
    return tuple(values.tolist())


def ssim(estimate: np.ndarray, reference: np.ndarray) -> float:
    """Mean structural similarity with data range 1: the right one for images between 0 and 1."""
    return structural_similarity(estimate, reference, (1.0,))[0]


def ssim_paper(estimate: np.ndarray, reference: np.ndarray) -> float:
    """The same with data range 2, the library's old default for floats: what the paper's tables hold."""
    return structural_similarity(estimate, reference, (2.0,))[0]
