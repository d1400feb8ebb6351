"""A photograph with measured depth that comes with scikit-image, to try things on."""

import numpy as np

from icb.camera import Camera
from icb.holes import nearest_valid

# Middlebury 2014 "Motorcycle", reduced four times: calibration from scikit-image's documentation.
FOCAL, CX, CY = 994.978, 311.193, 254.877
BASELINE, OFFSET = 0.193001, 31.086


def load_example() -> tuple[np.ndarray, np.ndarray, Camera]:
    """``(photo, depth, camera)``: 500 x 741, RGB float32 between 0 and 1, metres."""
    from skimage.data import stereo_motorcycle

    left, _, disparity = stereo_motorcycle()
    depth = np.float32(FOCAL * BASELINE) / (disparity + np.float32(OFFSET))
    depth = nearest_valid(depth, np.isfinite(disparity))
    return left.astype(np.float32) / np.float32(255), depth, Camera(FOCAL, FOCAL, CX, CY)
