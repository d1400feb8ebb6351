"""A photograph with measured depth that comes with scikit-image, to try things on."""

import cv2
import numpy as np

from icb.camera import Camera

# Middlebury 2014 "Motorcycle", reduced four times: calibration from scikit-image's documentation.
FOCAL, CX, CY = 994.978, 311.193, 254.877
BASELINE, OFFSET = 0.193001, 31.086


def load_example() -> tuple[np.ndarray, np.ndarray, Camera]:
    """``(photo, depth, camera)``: 500 x 741, RGB float32 between 0 and 1, metres."""
    from skimage.data import stereo_motorcycle

    left, _, disparity = stereo_motorcycle()
    depth = np.float32(FOCAL * BASELINE) / (disparity + np.float32(OFFSET))
    depth = fill_holes(depth, np.isfinite(disparity))
    return left.astype(np.float32) / np.float32(255), depth, Camera(FOCAL, FOCAL, CX, CY)


def fill_holes(values: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Give each invalid pixel the value of the nearest valid one."""
    _, labels = cv2.distanceTransformWithLabels(
        (~valid).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5, labelType=cv2.DIST_LABEL_PIXEL
    )
    of_label = np.zeros(labels.max() + 1, values.dtype)
    of_label[labels[valid]] = values[valid]
    filled: np.ndarray = of_label[labels]
    return filled
