"""Where depth jumps: the pixels at which blur models differ."""

import numpy as np

from icb.checks import check_depth, check_positive
from icb.errors import InputError

NEAR_SHARE = 1.0
"""Percent of the pixels nearer than the depth that counts as near: a few stray ones do not set the scale."""


def edge_band(depth: np.ndarray, *, width: int = 8, jump: float = 0.05) -> np.ndarray:
    """Pixels at most ``width`` rows and columns away from a depth discontinuity, bool (H, W).

    Depth is discontinuous between two neighbours p and q, side by side or one above the other, where

    ``|1 / D(p) - 1 / D(q)| > jump / D_near``,

    D_near being the depth that one pixel in a hundred is nearer than. Parallax is proportional to 1 / D, so
    neighbours count whose blurs differ by more than ``jump`` of the largest one in the scene, whatever the
    motion. Planes are linear in 1 / D and never jump, however steep; nor does the noise of a depth sensor, a
    percent or two. Both neighbours belong to the band, which is then grown. The default width is twice the
    standard deviation of the mattes of ICB: near an edge they go from one layer to the other within it.
    """
    if isinstance(width, bool) or not isinstance(width, int | np.integer) or width < 0:
        raise InputError(f"width: got {width!r}, expected a whole number of pixels, 0 or more")
    limit = check_positive("jump", jump, "parts of the largest blur")
    inverse = 1 / check_depth(depth).astype(np.float64)
    limit *= float(np.percentile(inverse, 100 - NEAR_SHARE))
    edges = np.zeros(inverse.shape, np.uint8)
    down = np.abs(np.diff(inverse, axis=0)) > limit
    across = np.abs(np.diff(inverse, axis=1)) > limit
    edges[:-1] |= down
    edges[1:] |= down
    edges[:, :-1] |= across
    edges[:, 1:] |= across

    import cv2

    return np.asarray(cv2.dilate(edges, np.ones((2 * width + 1, 2 * width + 1), np.uint8))) > 0
