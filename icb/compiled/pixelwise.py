"""PWB on one band of rows: displacements row by row, then a gather (forward) or a scatter (adjoint).

Displacements are computed in float64, because rounding decides which pixel is read; neighbours mostly
share theirs, so pixels are moved in runs. Nothing is stored between calls. Images are laid out as in
:mod:`icb.compiled.compositing`.
"""

from typing import NamedTuple

import numpy as np

from icb.compiled import njit
from icb.compiled.rows import add_shifted, add_shifted_back


class Homographies(NamedTuple):
    """Per pose m the coefficients of eq. gupta_homography, for pixels relative to the principal point.

    With ``(u, v) = p - c`` the displaced pixel is ``p + N / Z``, where

    ``N_x = (xu - zu u - zv v) u + xv v + x1 + (fx tx - u tz) / D``,
    ``N_y = yu u + (yv - zu u - zv v) v + y1 + (fy ty - v tz) / D``,
    ``Z = zu u + zv v + z1 + tz / D``.

    Written so, a pure translation gives exactly ``f t / D``, with no cancellation.
    """

    xu: np.ndarray
    xv: np.ndarray
    x1: np.ndarray
    yu: np.ndarray
    yv: np.ndarray
    y1: np.ndarray
    zu: np.ndarray
    zv: np.ndarray
    z1: np.ndarray
    ftx: np.ndarray
    fty: np.ndarray
    tz: np.ndarray
    weight: np.ndarray


class Place(NamedTuple):
    """Where a depth map lies: in the image that the camera describes, and in the pictures that are blurred."""

    top: int
    left: int
    above: int  # rows of the pictures above the depth map
    before: int  # columns of the pictures to its left


@njit
def displace_row(poses, pose, inverse, v, u, limit_x, limit_y, dx, dy):
    """Rounded displacements of one row of pixels, of inverse depth ``inverse``, under one pose.

    They are cut off where the replicated border makes more of them meaningless, which also keeps
    them inside the range of an integer.
    """
    zu, zv, tz = poses.zu[pose], poses.zv[pose], poses.tz[pose]
    ftx, fty = poses.ftx[pose], poses.fty[pose]
    x_slope, x_rest = poses.xu[pose] - zv * v, poses.xv[pose] * v + poses.x1[pose]
    y_slope, y_rest = poses.yu[pose] - zu * v, (poses.yv[pose] - zv * v) * v + poses.y1[pose]
    z_rest = zv * v + poses.z1[pose]
    if zu == 0 and tz == 0:  # Z is the same along the row: no division per pixel
        scale = 1 / z_rest
        for i in range(u.size):
            x = (x_slope * u[i] + x_rest + ftx * inverse[i]) * scale
            y = (y_slope * u[i] + y_rest + fty * inverse[i]) * scale
            dx[i] = np.int32(min(max(np.floor(x + 0.5), -limit_x), limit_x))
            dy[i] = np.int32(min(max(np.floor(y + 0.5), -limit_y), limit_y))
        return
    fty_v = fty - v * tz
    for i in range(u.size):
        scale = 1 / (zu * u[i] + z_rest + tz * inverse[i])
        x = ((x_slope - zu * u[i]) * u[i] + x_rest + (ftx - u[i] * tz) * inverse[i]) * scale
        y = (y_slope * u[i] + y_rest + fty_v * inverse[i]) * scale
        dx[i] = np.int32(min(max(np.floor(x + 0.5), -limit_x), limit_x))
        dy[i] = np.int32(min(max(np.floor(y + 0.5), -limit_y), limit_y))


@njit
def apply_rows(adjoint, source, target, channels, poses, depth, cx, cy, place, first, last):
    """Add ``sum_m w_m source(p - displacement_m(p))`` for rows ``first:last`` of the depth map, or its adjoint.

    The depth map may be a cut-out and the pictures may reach beyond it: see :class:`Place`.
    """
    height, width = source.shape[1], source.shape[2] // channels
    columns = depth.shape[1]
    u = (np.arange(columns) + place.left) - cx  # whole numbers first: the same bits wherever the cut is
    dx, dy = np.empty(columns, np.int32), np.empty(columns, np.int32)
    for row in range(first, last):
        inverse = 1 / depth[row].astype(np.float64)
        here = row + place.above
        for pose in range(poses.weight.size):
            displace_row(poses, pose, inverse, (row + place.top) - cy, u, width - 1.0, height - 1.0, dx, dy)
            weight = source.dtype.type(poses.weight[pose])
            run = 0
            while run < columns:
                run_end = _end_of_run(dx, dy, run)
                other = min(max(here - dy[run], 0), height - 1)
                begin, end = run + place.before, run_end + place.before
                cut = slice(begin * channels, end * channels)
                for plane in range(source.shape[0]):
                    if adjoint:
                        add_shifted_back(
                            target[plane, other], source[plane, here, cut], begin, end, dx[run], weight, channels
                        )
                    else:
                        add_shifted(
                            target[plane, here, cut], source[plane, other], begin, end, dx[run], weight, channels
                        )
                run = run_end


@njit
def _end_of_run(dx, dy, begin):
    first_x, first_y = dx[begin], dy[begin]
    end = begin + 1
    while end < dx.size and dx[end] == first_x and dy[end] == first_y:
        end += 1
    return end


@njit
def largest_displacements(poses, depth, cx, cy, first, last):
    """``(max |dy|, max |dx|)`` over rows ``first:last`` and all poses."""
    width = depth.shape[1]
    u = np.arange(width) - cx
    dx, dy = np.empty(width, np.int32), np.empty(width, np.int32)
    most_y, most_x = 0, 0
    for row in range(first, last):
        inverse = 1 / depth[row].astype(np.float64)
        for pose in range(poses.weight.size):
            displace_row(poses, pose, inverse, row - cy, u, 2.0**30, 2.0**30, dx, dy)
            most_y = max(most_y, np.abs(dy).max())
            most_x = max(most_x, np.abs(dx).max())
    return most_y, most_x
