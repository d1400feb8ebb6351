"""Cutting a depth map into layers: run-length encoded labels, mean depths, kernels as taps."""

import numpy as np

from icb.compiled import njit


@njit
def find_layer(depth, thresholds):
    """Layer of one depth value: the number of thresholds (descending) that lie above it."""
    low, high = 0, thresholds.size
    while low < high:
        middle = (low + high) >> 1
        if depth < thresholds[middle]:
            low = middle + 1
        else:
            high = middle
    return low


@njit
def encode_rows(depth, thresholds, first, last):
    """Run-length encode the layer labels of rows ``first:last``.

    Returns ``(row_pointer, starts, ends, labels, counts, finite_counts, depth_sums)``. Within a row the
    runs are sorted from the nearest layer to the farthest, so that a walk in that order reads them
    with one cursor per row.
    """
    width = depth.shape[1]
    rows = last - first
    layers = thresholds.size + 1
    counts = np.zeros(layers, np.int64)
    finite_counts = np.zeros(layers, np.int64)
    depth_sums = np.zeros(layers, np.float64)
    row_pointer = np.zeros(rows + 1, np.int64)
    capacity = rows * 64
    starts = np.empty(capacity, np.int32)
    ends = np.empty(capacity, np.int32)
    labels = np.empty(capacity, np.int32)
    size = 0
    for row in range(rows):
        line = depth[first + row]
        row_begin = size
        column = 0
        while column < width:
            label = find_layer(line[column], thresholds)
            near = thresholds[label] if label < thresholds.size else -np.inf
            far = thresholds[label - 1] if label > 0 else np.inf
            begin = column
            while column < width:
                value = line[column]
                # Layer 0 is open at the far end: infinity belongs to it.
                if value < near or (label > 0 and value >= far):
                    break
                if value < np.inf:
                    depth_sums[label] += value
                    finite_counts[label] += 1
                column += 1
            counts[label] += column - begin
            if size == capacity:
                capacity *= 2
                starts = _grown(starts, capacity)
                ends = _grown(ends, capacity)
                labels = _grown(labels, capacity)
            starts[size] = begin
            ends[size] = column
            labels[size] = label
            size += 1
        order = np.argsort(-labels[row_begin:size])
        starts[row_begin:size] = starts[row_begin:size][order]
        ends[row_begin:size] = ends[row_begin:size][order]
        labels[row_begin:size] = labels[row_begin:size][order]
        row_pointer[row + 1] = size
    return (
        row_pointer,
        starts[:size].copy(),
        ends[:size].copy(),
        labels[:size].copy(),
        counts,
        finite_counts,
        depth_sums,
    )


@njit
def _grown(array, capacity):
    larger = np.empty(capacity, array.dtype)
    larger[: array.size] = array
    return larger


@njit
def count_taps(parallax, pan, weights, depths, counts, farthest):
    """Kernels of the layers that have pixels: weighted histograms of ``floor(parallax / depth + pan + 0.5)``.

    Returns ``(pointer, dy, dx, weight, dx_low, dx_high, sizes)``; taps are sorted by row and column,
    ``sizes`` is the larger of the numbers of distinct rows and columns that a kernel touches.
    """
    layers, poses = depths.size, weights.size
    pointer, sizes = np.zeros(layers + 1, np.int64), np.zeros(layers, np.int64)
    dx_low, dx_high = np.zeros(layers, np.int64), np.zeros(layers, np.int64)
    capacity = 2 * poses
    dy, dx = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    weight = np.empty(capacity, np.float64)
    x, y = np.empty(poses, np.int64), np.empty(poses, np.int64)
    size = 0
    for layer in range(layers):
        pointer[layer + 1] = size
        if counts[layer] == 0:
            continue
        if size + poses > capacity:
            capacity *= 2
            dy, dx, weight = _grown(dy, capacity), _grown(dx, capacity), _grown(weight, capacity)
        for pose in range(poses):
            x[pose] = _rounded(parallax[pose, 0] / depths[layer] + pan[pose, 0], farthest)
            y[pose] = _rounded(parallax[pose, 1] / depths[layer] + pan[pose, 1], farthest)
        low = x.min()
        order = np.argsort(y * (x.max() - low + 1) + x - low, kind="mergesort")  # stable: sums keep their order
        begin, rows = size, 0
        for index in order:
            if weights[index] == 0:
                continue
            new_row = size == begin or y[index] != dy[size - 1]
            rows += new_row
            if new_row or x[index] != dx[size - 1]:
                dy[size], dx[size], weight[size] = y[index], x[index], 0.0
                size += 1
            weight[size - 1] += weights[index]
        pointer[layer + 1] = size
        dx_low[layer], dx_high[layer] = dx[begin:size].min(), dx[begin:size].max()
        sizes[layer] = max(rows, np.unique(dx[begin:size]).size)
    return pointer, dy[:size].copy(), dx[:size].copy(), weight[:size].copy(), dx_low, dx_high, sizes


@njit
def _rounded(value, farthest):
    return np.int64(min(max(np.floor(value + 0.5), -farthest), farthest))
