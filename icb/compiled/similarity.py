"""Structural similarity on one band of rows.

Arithmetic follows scikit-image step by step, so that float32 images give its value and not merely one close to
it: products and means are rounded to the images' precision, down the columns first and then along the rows, and
sums are kept in float64.
"""

import numpy as np

from icb.compiled import njit

WINDOW = 7


@njit
def add_row(sums, x, y, sign):
    """Add one row of x, y, x x, y y and x y to, or with sign -1 take it from, the columns' sums."""
    for i in range(x.size):
        sums[0, i] += sign * x[i]
        sums[1, i] += sign * y[i]
        sums[2, i] += sign * (x[i] * x[i])
        sums[3, i] += sign * (y[i] * y[i])
        sums[4, i] += sign * (x[i] * y[i])


@njit
def average_row(sums, moments, channels):
    """Means over windows, from the sums down their columns; ``moments[:, i]`` is of the window that begins at i."""
    kind, share = moments.dtype.type, 1.0 / WINDOW
    for which in range(sums.shape[0]):
        column, moment = sums[which], moments[which]
        for i in range(column.size):
            moment[i] = kind(column[i] * share)
        for channel in range(channels):
            total = 0.0
            for i in range(channel, WINDOW * channels, channels):
                total += moment[i]
            for i in range(channel, moment.size - (WINDOW - 1) * channels, channels):
                leaves = moment[i]
                moment[i] = kind(total * share)
                if i + WINDOW * channels < moment.size:
                    total += np.float64(moment[i + WINDOW * channels]) - np.float64(leaves)


@njit
def similarity_rows(x, y, channels, constants, first, last):
    """Sum of S over the windows that begin in rows ``first:last``, for each pair ``(C1, C2)`` of ``constants``.

    ``S = (2 ux uy + C1) (2 vxy + C2) / ((ux^2 + uy^2 + C1) (vx + vy + C2))``, with means u and sample covariances
    v over windows of 7 x 7. Images (H, W * channels), channels interleaved.
    """
    kind = x.dtype.type
    size = x.shape[1]
    sums, moments = np.zeros((5, size)), np.empty((5, size), x.dtype)
    totals = np.zeros((constants.shape[0], size))
    norm, two = kind(WINDOW**2 / (WINDOW**2 - 1)), kind(2)
    for row in range(first, first + WINDOW - 1):
        add_row(sums, x[row], y[row], 1.0)
    for row in range(first, last):
        add_row(sums, x[row + WINDOW - 1], y[row + WINDOW - 1], 1.0)
        average_row(sums, moments, channels)
        add_row(sums, x[row], y[row], -1.0)
        ux, uy, uxx, uyy, uxy = moments[0], moments[1], moments[2], moments[3], moments[4]
        for which in range(constants.shape[0]):
            c1, c2, total = constants[which, 0], constants[which, 1], totals[which]
            for i in range(size - (WINDOW - 1) * channels):
                vx = norm * (uxx[i] - ux[i] * ux[i])
                vy = norm * (uyy[i] - uy[i] * uy[i])
                vxy = norm * (uxy[i] - ux[i] * uy[i])
                above = (two * ux[i] * uy[i] + c1) * (two * vxy + c2)
                total[i] += above / ((ux[i] * ux[i] + uy[i] * uy[i] + c1) * (vx + vy + c2))
    return totals.sum(axis=1)
