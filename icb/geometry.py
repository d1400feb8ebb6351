"""Where depth matters for blur: Sec. 3 of the paper, and the depth sequence of Sec. 4.1.

Lengths are in metres, focal lengths in pixels (F / delta), blur in pixels.
"""

import numpy as np
from numpy.typing import ArrayLike

from icb.errors import InputError

MAX_LAYERS = 4096


def blur_extent(displacement: ArrayLike, focal: ArrayLike, depth: ArrayLike) -> np.ndarray:
    """Blur extent ``T = s f / D`` in pixels [eq:blur_extension_inplane_motion]; zero at infinity."""
    s, f, d = (np.asarray(value, np.float64) for value in (displacement, focal, depth))
    _require_positive("depth", d)
    return np.asarray(s * f / d)


def blur_variation(
    displacement: ArrayLike, focal: ArrayLike, depth: ArrayLike, depth_difference: ArrayLike
) -> np.ndarray:
    """Difference in blur extent between ``depth`` and ``depth + depth_difference`` [eq:blur_variation].

    ``dT = s f / (D (D / dD + 1))``: it grows with the difference and stays below ``s f / D``.
    """
    s, f, near, difference = (np.asarray(value, np.float64) for value in (displacement, focal, depth, depth_difference))
    _require_positive("depth", near)
    _require_positive("depth + depth difference", near + difference)
    # The same expression without the division by dD, so that no difference and an infinite one work.
    share = np.where(np.isinf(difference), 1.0, difference / np.where(np.isinf(difference), 1.0, near + difference))
    return np.asarray(s * f / near * share)


def displacement_for_variation(
    variation: ArrayLike, focal: ArrayLike, depth: ArrayLike, depth_difference: ArrayLike
) -> np.ndarray:
    """Camera displacement ``s`` that makes a blur variation of so many pixels (Fig. 3 b)."""
    return np.asarray(np.asarray(variation, np.float64) / blur_variation(1.0, focal, depth, depth_difference))


def depth_sequence(kappa: float, n: float = 1.0, nearest: float = 0.0, *, count: int | None = None) -> np.ndarray:
    """Depths ``D_l = 2 kappa / (2 l n + 1)``, far to near, between which blur changes by ``n`` pixels.

    ``kappa = max |t| f`` in pixels times metres [eq:depth_sequence]. The sequence ends with the first
    depth that is not beyond ``nearest``, or after ``count`` terms. No motion, no sequence.
    """
    if not np.isfinite(kappa) or kappa < 0:
        raise InputError(f"kappa: got {kappa}, expected a finite number of at least 0")
    if not np.isfinite(n) or n <= 0:
        raise InputError(f"n: got {n}, expected a positive number of pixels")
    if kappa == 0:
        return np.zeros(0)
    if count is None:
        if not nearest > 0:
            raise InputError(f"nearest depth: got {nearest}, expected a positive number of metres (or give count)")
        terms = np.ceil((2 * kappa / nearest - 1) / (2 * n)) + 1
        if terms > MAX_LAYERS:
            raise InputError(
                f"n={n} cuts depths down to {nearest:g} m into {terms:.4g} layers, expected at most {MAX_LAYERS}: "
                f"use a larger n"
            )
        count = max(1, int(terms))
    sequence = 2 * kappa / (2 * np.arange(count) * n + 1)
    # Rounding may leave the last term a hair above the nearest depth, which would still be right, or
    # add one term too many: keep up to and including the first that covers it.
    covered = np.flatnonzero(sequence <= nearest)
    return sequence[: covered[0] + 1] if covered.size else sequence


def _require_positive(name: str, values: np.ndarray) -> None:
    bad = ~(values > 0)
    if bad.any():
        raise InputError(f"{name}: got {values[bad].flat[0]}, expected metres above 0")
