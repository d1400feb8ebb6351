"""The mattes of one layer on one band of rows: dilation, Gaussian window, z-buffer.

A walk goes from the nearest layer to the farthest and keeps, per pixel, the transmittance
``T = prod(1 - R)`` and the sum of ``R T``. Only pixels that a layer reaches and that are still visible
are touched. What a layer contributes comes out as runs: ``(row, first column, end column)`` and the
unnormalised matte ``R T`` in between.
"""

from typing import NamedTuple

import numpy as np

from icb.compiled import njit

BLOCK = 16  # columns per block of the visibility bookkeeping


class Regions(NamedTuple):
    """Run-length encoded layer labels of the whole image (see :func:`icb.compiled.layers.encode_rows`)."""

    row_pointer: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    labels: np.ndarray


class Taps(NamedTuple):
    """The kernels of all layers, one after another: layer ``l`` owns ``pointer[l]:pointer[l + 1]``."""

    pointer: np.ndarray
    dy: np.ndarray
    dx: np.ndarray
    weight: np.ndarray
    dx_low: np.ndarray  # per layer: the smallest and largest dx
    dx_high: np.ndarray
    reach: int  # the largest |dy|


class Windows(NamedTuple):
    """The Gaussian windows of all layers, one after another; layer ``l`` has ``2 radius[l] + 1`` weights."""

    pointer: np.ndarray
    radius: np.ndarray
    weight: np.ndarray
    reach: int  # the largest radius


class Walk(NamedTuple):
    """What a walk over the layers of one band remembers and scribbles on."""

    cursor: np.ndarray  # per image row near the band: the next run of that row
    region: np.ndarray  # R_l as bytes
    region_first: np.ndarray  # first and end column of R_l in each row
    region_end: np.ndarray
    grown: np.ndarray  # one row of R_l dilated, as bytes
    smooth: np.ndarray  # the dilated region after the horizontal window
    smooth_first: np.ndarray
    smooth_end: np.ndarray
    smooth_blocks: np.ndarray
    active: np.ndarray  # per block: how many rows of the vertical window reach it
    transmittance: np.ndarray
    visible: np.ndarray  # per block: is any pixel of it still visible
    total: np.ndarray  # sum of R T so far
    alpha: np.ndarray  # R T of the current layer
    run_row: np.ndarray
    run_first: np.ndarray
    run_end: np.ndarray


@njit
def begin_walk(regions, taps, windows, first, last, width, like):
    """Scratch space for the band ``first:last`` and the rows around it that matter to it."""
    height = regions.row_pointer.size - 1
    win_first, win_last = max(0, first - windows.reach), min(height, last + windows.reach)
    ext_first, ext_last = max(0, win_first - taps.reach), min(height, win_last + taps.reach)
    rows, blocks = last - first, (width + BLOCK - 1) // BLOCK
    most_runs = rows * (width // 2 + 1)
    ext_rows, win_rows = ext_last - ext_first, win_last - win_first
    return Walk(
        regions.row_pointer[ext_first:ext_last].copy(),
        np.zeros((ext_rows, width), np.uint8),
        np.zeros(ext_rows, np.int64),
        np.zeros(ext_rows, np.int64),
        np.zeros(width, np.uint8),
        np.zeros((win_rows, width), like.dtype),
        np.zeros(win_rows, np.int64),
        np.zeros(win_rows, np.int64),
        np.zeros((win_rows, blocks), np.uint8),
        np.zeros(blocks, np.int32),
        np.ones((rows, width), like.dtype),
        np.ones((rows, blocks), np.uint8),
        np.zeros((rows, width), like.dtype),
        np.empty((rows, width), like.dtype),
        np.empty(most_runs, np.int32),
        np.empty(most_runs, np.int32),
        np.empty(most_runs, np.int32),
    )


@njit
def walk_step(walk, regions, taps, windows, step, first, last):
    """One step of the walk; returns its layer, -1 after the last step, and how many runs it left.

    Two passes: from the nearest layer to the farthest; then, where some pixel was reached by no
    layer, once more to give such pixels to their own.
    """
    layers = taps.pointer.size - 1
    if step < layers:
        layer = layers - 1 - step
        return layer, _next_layer(walk, regions, taps, windows, layer, first, last)
    if step == 2 * layers or (step == layers and walk.total.min() > 0):
        return -1, 0
    layer = 2 * layers - 1 - step
    return layer, _orphans(walk, regions, layer, first, last)


@njit
def _next_layer(walk, regions, taps, windows, layer, first, last):
    height = regions.row_pointer.size - 1
    win_first = max(0, first - windows.reach)
    ext_first = max(0, win_first - taps.reach)
    top, bottom = _draw_region(walk, regions, layer, ext_first)
    if top >= bottom:
        return 0
    tap_first, tap_end = taps.pointer[layer], taps.pointer[layer + 1]
    dy = taps.dy[tap_first:tap_end]
    dx = taps.dx[tap_first:tap_end]
    radius = windows.radius[layer]
    window = windows.weight[windows.pointer[layer] : windows.pointer[layer + 1]]
    integral = np.zeros(window.size + 1, np.float64)
    for i in range(window.size):
        integral[i + 1] = integral[i] + window[i]

    low, high = max(0, first - radius), min(height, last + radius)
    reached = False
    for row in range(low, high):
        begin, end = 0, 0
        if top + dy[0] <= row < bottom + dy[-1]:  # taps are sorted by row
            begin, end = _dilate_row(walk, dy, dx, row, ext_first)
        _smooth_row(walk, integral, radius, row - win_first, begin, end)
        reached |= end > begin
    if not reached:
        return 0
    return _composite(walk, window.astype(walk.smooth.dtype), radius, first, last, win_first, height)


@njit
def _draw_region(walk, regions, layer, ext_first):
    """Paint R_l around the band as bytes, one run at a time; returns the first and end row that have any."""
    top, bottom = ext_first + walk.cursor.size, ext_first
    for row in range(walk.cursor.size):
        begin, end = walk.region_first[row], walk.region_end[row]
        if end > begin:
            walk.region[row, begin:end] = 0
        low, high = walk.region.shape[1], 0
        run = walk.cursor[row]
        row_end = regions.row_pointer[ext_first + row + 1]
        while run < row_end and regions.labels[run] == layer:
            walk.region[row, regions.starts[run] : regions.ends[run]] = 1
            low = min(low, regions.starts[run])
            high = max(high, regions.ends[run])
            run += 1
        walk.cursor[row] = run
        walk.region_first[row], walk.region_end[row] = low, high
        if high > low:
            top, bottom = min(top, ext_first + row), ext_first + row + 1
    return top, bottom


@njit
def _dilate_row(walk, dy, dx, row, ext_first):
    """``grown(p) = any(R(p - u) for u in taps)`` for one row; returns its first and end column."""
    width = walk.region.shape[1]
    ext_rows = walk.region.shape[0]
    low, high = width, 0
    for tap in range(dy.size):
        source = row - dy[tap] - ext_first
        if source < 0 or source >= ext_rows or walk.region_end[source] <= walk.region_first[source]:
            continue
        begin = max(0, walk.region_first[source] + dx[tap])
        end = min(width, walk.region_end[source] + dx[tap])
        if begin < end:
            low, high = min(low, begin), max(high, end)
    if low >= high:
        return 0, 0
    walk.grown[low:high] = 0
    for tap in range(dy.size):
        source = row - dy[tap] - ext_first
        if source < 0 or source >= ext_rows or walk.region_end[source] <= walk.region_first[source]:
            continue
        begin = max(0, walk.region_first[source] + dx[tap])
        end = min(width, walk.region_end[source] + dx[tap])
        if begin < end:
            target = walk.grown[begin:end]
            origin = walk.region[source, begin - dx[tap] : end - dx[tap]]
            for i in range(target.size):
                target[i] |= origin[i]
    return low, high


@njit
def _smooth_row(walk, integral, radius, index, begin, end):
    """Horizontal Gaussian window over the bytes ``grown[begin:end]``, run by run, border replicated."""
    width = walk.grown.size
    old_first, old_end = walk.smooth_first[index], walk.smooth_end[index]
    if old_end > old_first:
        walk.smooth[index, old_first:old_end] = 0
        walk.smooth_blocks[index, old_first // BLOCK : (old_end - 1) // BLOCK + 1] = 0
    if begin >= end:
        walk.smooth_first[index] = walk.smooth_end[index] = 0
        return
    walk.smooth_first[index], walk.smooth_end[index] = max(0, begin - radius), min(width, end + radius)
    size = 2 * radius + 1
    column = begin
    while column < end:
        if walk.grown[column] == 0:
            column += 1
            continue
        run = column
        while column < end and walk.grown[column] != 0:
            column += 1
        # Replication: a run that touches the border goes on beyond it.
        left = run if run > 0 else -size
        right = column if column < width else width + size
        low, high = max(0, left - radius), min(width, right + radius)
        line = walk.smooth[index]
        # sum of window[q - p + radius] over q in [left, right)
        rising = min(high, max(low, left + radius))
        falling = max(rising, min(high, right - radius))
        for p in range(low, rising):
            line[p] += _share(integral, max(0, left - p + radius), min(size, right - p + radius))
        for p in range(rising, falling):
            line[p] += 1
        for p in range(falling, high):
            line[p] += _share(integral, max(0, left - p + radius), min(size, right - p + radius))
        walk.smooth_blocks[index, low // BLOCK : (high - 1) // BLOCK + 1] = 1


@njit
def _share(integral, low, high):
    """Sum of the window's weights ``low:high``.

    Where every matte is tiny its tails decide, so they are summed from the thin end: the window is
    symmetric.
    """
    size = integral.size - 1
    if low + high > size:
        low, high = size - high, size - low
    return integral[high] - integral[low]


@njit
def _composite(walk, window, radius, first, last, win_first, height):
    """Vertical window and z-buffer; leaves the layer's runs in the walk and returns their number."""
    width = walk.smooth.shape[1]
    blocks = walk.active.size
    epsilon = np.finfo(walk.smooth.dtype).eps
    nearly_one = 1 - 16 * epsilon
    runs = 0
    walk.active[:] = 0
    for row in range(max(0, first - radius), min(height, first + radius)):
        for block in range(blocks):
            walk.active[block] += walk.smooth_blocks[row - win_first, block]
    for row in range(first, last):
        if row + radius < height:
            entering = walk.smooth_blocks[row + radius - win_first]
            for block in range(blocks):
                walk.active[block] += entering[block]
        band_row = row - first
        block = 0
        while block < blocks:
            if walk.active[block] == 0 or walk.visible[band_row, block] == 0:
                block += 1
                continue
            begin = block
            while block < blocks and walk.active[block] != 0 and walk.visible[band_row, block] != 0:
                block += 1
            left, right = begin * BLOCK, min(width, block * BLOCK)
            matte = walk.alpha[band_row, left:right]
            _vertical_sum(walk, window, radius, row, left, right, win_first, height, matte)
            transmittance = walk.transmittance[band_row, left:right]
            total = walk.total[band_row, left:right]
            for i in range(matte.size):
                covered = matte[i]
                if covered > nearly_one:
                    covered = 1 + 0 * covered
                through = transmittance[i]
                matte[i] = covered * through
                total[i] += covered * through
                through *= 1 - covered
                transmittance[i] = through if through > epsilon else 0 * through
            for b in range(begin, block):
                seen = False
                for column in range(b * BLOCK, min(width, (b + 1) * BLOCK)):
                    seen |= walk.transmittance[band_row, column] > 0
                walk.visible[band_row, b] = seen
            low, high = 0, matte.size
            while low < high and matte[low] == 0:
                low += 1
            while high > low and matte[high - 1] == 0:
                high -= 1
            if low < high:
                walk.run_row[runs] = row
                walk.run_first[runs] = left + low
                walk.run_end[runs] = left + high
                runs += 1
        if row - radius >= 0:
            leaving = walk.smooth_blocks[row - radius - win_first]
            for b in range(blocks):
                walk.active[b] -= leaving[b]
    return runs


@njit
def _vertical_sum(walk, window, radius, row, left, right, win_first, height, out):
    """``out = sum_j window[j] smooth[row + j, left:right]``, border replicated, empty rows skipped."""
    out[:] = 0
    for j in range(-radius, radius + 1):
        index = min(max(row + j, 0), height - 1) - win_first
        begin = max(left, walk.smooth_first[index])
        end = min(right, walk.smooth_end[index])
        if begin >= end:
            continue
        weight = window[j + radius]
        source = walk.smooth[index, begin:end]
        target = out[begin - left : end - left]
        for i in range(target.size):
            target[i] += weight * source[i]


@njit
def _orphans(walk, regions, layer, first, last):
    """Runs of pixels of ``layer`` that no grown region reached; their matte is one."""
    runs = 0
    for row in range(first, last):
        for run in range(regions.row_pointer[row], regions.row_pointer[row + 1]):
            if regions.labels[run] != layer:
                continue
            column = regions.starts[run]
            while column < regions.ends[run]:
                begin = column
                while column < regions.ends[run] and walk.total[row - first, column] == 0:
                    walk.total[row - first, column] = 1
                    walk.alpha[row - first, column] = 1
                    column += 1
                if column > begin:
                    walk.run_row[runs] = row
                    walk.run_first[runs] = begin
                    walk.run_end[runs] = column
                    runs += 1
                column += 1
    return runs
