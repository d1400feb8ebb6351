"""Depth as a phone's LiDAR gives it: noisy, quantised, smeared at edges, with a confidence."""

import cv2
import numpy as np

RANGE = 5.0
"""Metres within which confidence can be high."""
FARTHEST = 12.0
"""Metres: what is reported where nothing comes back."""
EDGE = (0.05, 0.15)
"""Steps between neighbours, as a share of the depth, beyond which confidence is medium, and low."""
GRAZING = (0.17, 0.08)
"""|cos| of the angle to the normal below which confidence is medium, and low."""


def measure(depth: np.ndarray, slant: np.ndarray, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """``(depth, confidence)``: float32 metres and uint8 (0 low, 1 medium, 2 high), from the true depth.

    ``slant`` is |cos| between ray and normal. Noise is correlated between neighbours, as the map is
    interpolated from fewer measurements, and grows with distance; steps are those of 16-bit floats.
    """
    true = np.where(depth < FARTHEST, depth, FARTHEST).astype(np.float32)
    spread = cv2.dilate(true, np.ones((3, 3))) - cv2.erode(true, np.ones((3, 3)))
    edge = spread > EDGE[0] * true
    # A measurement at an edge mixes both sides.
    smeared = np.where(edge, cv2.GaussianBlur(true, (3, 3), 0.6), true)
    noise = cv2.GaussianBlur(random.standard_normal(depth.shape).astype(np.float32), (0, 0), 1.0)
    noise *= noise_deviation(true) / noise.std()
    measured = np.maximum(smeared + noise, 0.01).astype(np.float16).astype(np.float32)
    confidence = np.full(depth.shape, 2, np.uint8)
    confidence[(true > RANGE) | (slant < GRAZING[0])] = 1
    beside = cv2.dilate(edge.astype(np.uint8), np.ones((3, 3))) > 0
    confidence[beside] = 1
    confidence[(spread > EDGE[1] * true) | (slant < GRAZING[1]) | ~(depth < FARTHEST)] = 0
    return measured, confidence


def noise_deviation(depth: np.ndarray) -> np.ndarray:
    """Standard deviation of the noise in metres: 1 mm and 0.3 % of the depth."""
    return np.asarray(1e-3 + 3e-3 * depth)
