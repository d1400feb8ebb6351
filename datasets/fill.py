"""Depth maps of the LiDAR: holes and pixels of low confidence take the nearest depth that can be trusted."""

import numpy as np

from icb import InputError
from icb.holes import nearest_valid

LOW, MEDIUM, HIGH = 0, 1, 2


def fill_depth(depth: np.ndarray, confidence: np.ndarray | None = None) -> tuple[np.ndarray, float]:
    """Fill (h, w) metres; returns them as float32 with the share of pixels that were filled.

    Filled are holes (NaN, infinity, 0 or less) and, where confidence is known, pixels of low confidence.
    They take the nearest pixel of high confidence; where the map has none, of medium confidence; where
    it has neither, holes take the nearest pixel that has a depth at all.
    """
    valid = np.isfinite(depth) & (depth > 0)
    if not valid.any():
        raise InputError("got no depth at all, expected metres above 0")
    if confidence is None:
        kept = source = valid
    else:
        if confidence.shape != depth.shape:
            raise InputError(f"got confidence of shape {confidence.shape}, expected {depth.shape} as the depth")
        kept = valid & (confidence > LOW)
        source = valid & (confidence >= HIGH)
        if not source.any():
            source = kept
        if not source.any():
            kept = source = valid
    missing = ~kept
    filled = np.where(missing, nearest_valid(depth, source), depth).astype(np.float32)
    return filled, float(missing.mean())
