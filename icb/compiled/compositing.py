"""ICB on one band of rows: store the mattes, then gather (forward) or scatter (adjoint).

Images come as ``(planes, H, W * K)`` with K interleaved channels: a numpy picture is one plane with
K = 3, a torch batch is 3B planes with K = 1. Runs of pixels are contiguous either way.

The mattes of a band are stored as runs ``(layer, row, first column, end column)`` whose values follow
each other in ``alpha``. A band whose mattes would not fit is walked anew at each application.
"""

import numpy as np

from icb.compiled import njit
from icb.compiled.mattes import begin_walk, walk_step
from icb.compiled.rows import add_shifted, add_shifted_back


@njit
def store_band(regions, taps, windows, first, last, width, budget, total):
    """Walk all layers; fills ``total`` and returns ``(complete, runs (N, 4), alpha)``.

    When the mattes need more than ``budget`` values, ``complete`` is False and none are kept.
    """
    walk = begin_walk(regions, taps, windows, first, last, width, total)
    runs = np.empty((256, 4), np.int32)
    alpha = np.empty(min(budget, 2 * (last - first) * width), total.dtype)
    run_count, alpha_count, step, complete = 0, 0, 0, True
    while True:
        layer, found = walk_step(walk, regions, taps, windows, step, first, last)
        if layer < 0:
            break
        step += 1
        for run in range(found if complete else 0):
            row, begin, end = walk.run_row[run], walk.run_first[run], walk.run_end[run]
            size = end - begin
            if alpha_count + size > budget:
                complete = False
                break
            if alpha_count + size > alpha.size:
                larger = np.empty(min(budget, 2 * alpha.size + width), alpha.dtype)
                larger[:alpha_count] = alpha[:alpha_count]
                alpha = larger
            if run_count == runs.shape[0]:
                more = np.empty((2 * run_count, 4), np.int32)
                more[:run_count] = runs
                runs = more
            entry = runs[run_count]
            entry[0], entry[1], entry[2], entry[3] = layer, row, begin, end
            run_count += 1
            alpha[alpha_count : alpha_count + size] = walk.alpha[row - first, begin:end]
            alpha_count += size
    total[first:last] = walk.total
    if not complete:
        run_count = alpha_count = 0
    offset = 0
    for run in range(run_count):
        row, begin, end = runs[run, 1], runs[run, 2], runs[run, 3]
        _normalise(alpha[offset : offset + end - begin], total[row, begin:end])
        offset += end - begin
    return complete, runs[:run_count].copy(), alpha[:alpha_count].copy()


@njit
def apply_stored(adjoint, source, target, channels, taps, runs, alpha):
    """Add ``sum_l A_l (source * k_l)``, or its adjoint, of a band whose mattes are stored."""
    buffer = np.empty(source.shape[2], source.dtype)
    offset = 0
    for run in range(runs.shape[0]):
        layer, row, begin, end = runs[run, 0], runs[run, 1], runs[run, 2], runs[run, 3]
        matte = alpha[offset : offset + end - begin]
        offset += end - begin
        if adjoint:
            _scatter_run(source, target, channels, taps, layer, row, begin, end, matte, buffer)
        else:
            _gather_run(source, target, channels, taps, layer, row, begin, end, matte, buffer)


@njit
def apply_walking(adjoint, source, target, channels, taps, regions, windows, total, first, last):
    """As :func:`apply_stored`, making each matte when it is needed and forgetting it."""
    width = source.shape[2] // channels
    walk = begin_walk(regions, taps, windows, first, last, width, total)
    buffer = np.empty(source.shape[2], source.dtype)
    step = 0
    while True:
        layer, found = walk_step(walk, regions, taps, windows, step, first, last)
        if layer < 0:
            break
        step += 1
        for run in range(found):
            row, begin, end = walk.run_row[run], walk.run_first[run], walk.run_end[run]
            matte = walk.alpha[row - first, begin:end]
            _normalise(matte, total[row, begin:end])
            if adjoint:
                _scatter_run(source, target, channels, taps, layer, row, begin, end, matte, buffer)
            else:
                _gather_run(source, target, channels, taps, layer, row, begin, end, matte, buffer)


@njit
def _normalise(matte, total):
    for i in range(matte.size):
        matte[i] /= total[i]


@njit
def _gather_run(x, y, channels, taps, layer, row, begin, end, matte, buffer):
    """Add one run to ``y``, in up to three pieces: only the outer two can reach over the border."""
    width = x.shape[2] // channels
    low = min(max(begin, taps.dx_high[layer]), end)
    high = max(min(end, width + taps.dx_low[layer]), low)
    if begin < low:
        _gather_at_border(x, y, channels, taps, layer, row, begin, low, matte[: low - begin], buffer)
    if low < high:
        _gather_inside(x, y, channels, taps, layer, row, low, high, matte[low - begin : high - begin], buffer)
    if high < end:
        _gather_at_border(x, y, channels, taps, layer, row, high, end, matte[high - begin :], buffer)


@njit
def _gather_inside(x, y, channels, taps, layer, row, begin, end, matte, buffer):
    """Taps in fours: the running sum is loaded and stored once for four multiply-adds."""
    size = (end - begin) * channels
    total = buffer[:size]
    for plane in range(x.shape[0]):
        total[:] = 0
        tap, tap_end = taps.pointer[layer], taps.pointer[layer + 1]
        while tap + 4 <= tap_end:
            a = _shifted(x, plane, row, begin, size, channels, taps, tap)
            b = _shifted(x, plane, row, begin, size, channels, taps, tap + 1)
            c = _shifted(x, plane, row, begin, size, channels, taps, tap + 2)
            d = _shifted(x, plane, row, begin, size, channels, taps, tap + 3)
            wa, wb = x.dtype.type(taps.weight[tap]), x.dtype.type(taps.weight[tap + 1])
            wc, wd = x.dtype.type(taps.weight[tap + 2]), x.dtype.type(taps.weight[tap + 3])
            for i in range(size):
                total[i] += (wa * a[i] + wb * b[i]) + (wc * c[i] + wd * d[i])
            tap += 4
        while tap < tap_end:
            a = _shifted(x, plane, row, begin, size, channels, taps, tap)
            wa = x.dtype.type(taps.weight[tap])
            for i in range(size):
                total[i] += wa * a[i]
            tap += 1
        _add_product(y[plane, row, begin * channels : end * channels], matte, total, channels)


@njit
def _shifted(x, plane, row, begin, size, channels, taps, tap):
    """The pixels that one tap moves onto a run that stays clear of the left and right border."""
    source = min(max(row - taps.dy[tap], 0), x.shape[1] - 1)
    offset = (begin - taps.dx[tap]) * channels
    return x[plane, source, offset : offset + size]


@njit
def _gather_at_border(x, y, channels, taps, layer, row, begin, end, matte, buffer):
    total = buffer[: (end - begin) * channels]
    for plane in range(x.shape[0]):
        total[:] = 0
        for tap in range(taps.pointer[layer], taps.pointer[layer + 1]):
            source = x[plane, min(max(row - taps.dy[tap], 0), x.shape[1] - 1)]
            add_shifted(total, source, begin, end, taps.dx[tap], x.dtype.type(taps.weight[tap]), channels)
        _add_product(y[plane, row, begin * channels : end * channels], matte, total, channels)


@njit
def _scatter_run(v, x, channels, taps, layer, row, begin, end, matte, buffer):
    """Transpose of :func:`_gather_run`."""
    share = buffer[: (end - begin) * channels]
    for plane in range(v.shape[0]):
        share[:] = 0
        _add_product(share, matte, v[plane, row, begin * channels : end * channels], channels)
        for tap in range(taps.pointer[layer], taps.pointer[layer + 1]):
            target = x[plane, min(max(row - taps.dy[tap], 0), x.shape[1] - 1)]
            add_shifted_back(target, share, begin, end, taps.dx[tap], x.dtype.type(taps.weight[tap]), channels)


@njit
def _add_product(target, matte, total, channels):
    """``target += matte * total`` with one matte value for all channels of a pixel."""
    if channels == 1:
        for i in range(matte.size):
            target[i] += matte[i] * total[i]
    elif channels == 3:  # spelt out, so that it is vectorised
        for i in range(matte.size):
            target[3 * i] += matte[i] * total[3 * i]
            target[3 * i + 1] += matte[i] * total[3 * i + 1]
            target[3 * i + 2] += matte[i] * total[3 * i + 2]
    else:
        for i in range(matte.size):
            for channel in range(channels):
                target[i * channels + channel] += matte[i] * total[i * channels + channel]
