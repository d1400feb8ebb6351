"""Filling holes in depth maps."""

import numpy as np


def nearest_valid(values: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """Each pixel's value taken from the nearest pixel that is ``valid``, of which there must be one, (H, W)."""
    from scipy.ndimage import distance_transform_edt

    rows, columns = distance_transform_edt(~valid, return_distances=False, return_indices=True)
    return np.asarray(values[rows, columns])
