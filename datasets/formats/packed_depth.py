"""Depth packed into the colours of an 8-bit PNG, as Unity's ``EncodeFloatRGBA`` does.

``d = (R + G / 255 + B / 255^2 + 255 / 255^3) / 255 * depth_max``, which is
``(N + 1) / 255^3 * depth_max`` with the whole number ``N = 255^2 R + 255 G + B``.
"""

import numpy as np
from numpy.typing import ArrayLike

from datasets import compiled
from icb import InputError

STEPS = 255**3
#: Where nothing was rendered, depth is this many times the largest depth of the log.
NOTHING = 1.5


def encode(depth: ArrayLike, depth_max: float) -> np.ndarray:
    """(H, W) metres to (H, W, 4) uint8 RGBA, alpha 255; off by at most half of ``depth_max / 255^3``.

    What is not a depth up to ``depth_max`` (beyond it, infinite, NaN, 0 or less) becomes the smallest
    code, which is below any sensible ``depthRange.min`` and so decodes as nothing there.
    """
    if not (np.isfinite(depth_max) and depth_max > 0):
        raise InputError(f"largest depth: got {depth_max}, expected a positive number of metres")
    metres = np.asarray(depth, np.float64)
    known = (metres > 0) & (metres <= depth_max)
    steps = np.floor(np.where(known, metres, 0) / depth_max * STEPS + 0.5)
    number = np.clip(steps - 1, 0, STEPS - 1).astype(np.int64)
    packed = np.empty((*metres.shape, 4), np.uint8)
    packed[..., 0] = number // 255**2
    packed[..., 1] = number // 255 % 255
    packed[..., 2] = number % 255
    packed[..., 3] = 255
    return packed


def decode(packed: np.ndarray, depth_min: float, depth_max: float) -> np.ndarray:
    """(H, W, 3 or more) uint8, channels R, G, B, to (H, W) float32 metres; nothing there is 1.5 ``depth_max``."""
    if packed.dtype != np.uint8 or packed.ndim != 3 or packed.shape[2] < 3:
        raise InputError(f"packed depth: got {packed.dtype} {packed.shape}, expected uint8 (H, W, 3 or more)")
    metres = np.empty(packed.shape[:2], np.float32)
    compiled.unpack_depth(packed, metres, depth_max / STEPS, float(depth_min), NOTHING * depth_max)
    return metres
