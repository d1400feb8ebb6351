"""NV12 pictures: full luma, then chroma (U, V interleaved) at half the size; BT.709, full range.

``R = Y + V / 0.6350``, ``B = Y + U / 0.5389``, ``G = (Y - 0.2126 R - 0.0722 B) / 0.7152`` with U and V
centred at 128. A chroma value holds for its block of 2 x 2 pixels.
"""

import numpy as np

from datasets import compiled
from icb import InputError


def encode(rgb: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(H, W, 3) uint8, H and W even, to luma (H, W) and chroma (H / 2, W / 2, 2), the mean of each block."""
    height, width = rgb.shape[:2]
    if rgb.dtype != np.uint8 or rgb.ndim != 3 or rgb.shape[2] != 3 or height % 2 or width % 2:
        raise InputError(f"picture for NV12: got {rgb.dtype} {rgb.shape}, expected uint8 (H, W, 3), H and W even")
    luma = np.empty((height, width), np.uint8)
    chroma = np.empty((height // 2, width // 2, 2), np.uint8)
    compiled.rgb_to_nv12(np.ascontiguousarray(rgb), luma, chroma)
    return luma, chroma


def decode(luma: np.ndarray, chroma: np.ndarray) -> np.ndarray:
    """Luma (H, W) and chroma (H / 2, W / 2, 2) to (H, W, 3) uint8 RGB, rounded and clipped."""
    height, width = luma.shape
    if chroma.shape != (height // 2, width // 2, 2) or height % 2 or width % 2:
        raise InputError(f"NV12 chroma: got {chroma.shape}, expected {(height // 2, width // 2, 2)}")
    rgb = np.empty((height, width, 3), np.uint8)
    compiled.nv12_to_rgb(luma, chroma, rgb)
    return rgb
