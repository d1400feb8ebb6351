"""What every metric asks of the two images it is given."""

import numpy as np

from icb.checks import FLOATS
from icb.errors import InputError


def check_image(name: str, image: np.ndarray) -> np.ndarray:
    """An RGB image, (H, W, 3) float32 or float64."""
    if not isinstance(image, np.ndarray):
        raise InputError(f"{name}: got {type(image).__name__}, expected a numpy array of shape (H, W, 3)")
    if image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise InputError(f"{name}: got shape {image.shape}, expected (H, W, 3)")
    if image.dtype.newbyteorder("=") not in FLOATS:
        raise InputError(f"{name}: got {image.dtype}, expected float32 or float64 between 0 and 1")
    return image


def check_pair(estimate: np.ndarray, reference: np.ndarray) -> np.dtype:
    """Two images of one size; the precision to work in is returned."""
    check_image("estimate", estimate)
    check_image("reference", reference)
    if estimate.shape != reference.shape:
        raise InputError(f"estimate: got shape {estimate.shape}, expected {reference.shape} as the reference")
    return np.result_type(estimate.dtype, reference.dtype)


def check_least(image: np.ndarray, least: int, reason: str) -> None:
    """Refuse an image too small for a window or network."""
    height, width = image.shape[:2]
    if min(height, width) < least:
        raise InputError(f"image: got {height} x {width} pixels, expected at least {least} x {least} for {reason}")


def check_finite(name: str, image: np.ndarray) -> None:
    """Refuse NaN and infinity, naming the first pixel that has it."""
    bad = ~np.isfinite(image)
    if bad.any():
        row, column, channel = np.argwhere(bad)[0]
        value = image[row, column, channel]
        raise InputError(f"{name}: got {value} at row {row}, column {column}, expected finite values")
