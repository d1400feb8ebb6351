"""Temporal averages of 8-bit frames: exact sums, one rounding at the end, whatever the order.

``plain`` averages the stored values, as the published sets do. ``gamma`` (2.2) and ``srgb`` average light:
values are made linear, averaged and encoded again. Sums are whole numbers in every mode, so that neither
the order of the frames nor the number of threads can show in the result.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from datasets import compiled
from icb import InputError, num_threads

MODES = ("plain", "gamma", "srgb")
GAMMA = 2.2
#: Linear light is counted in steps of 2^-44: fine enough for the darkest code.
STEPS = 1 << 44
#: A white frame counts 2^44, so that 2^20 of them would be 2^64, one more than 64 bits hold.
MOST_FRAMES = (1 << 20) - 1


def check_mode(mode: str) -> str:
    """The mode, if it is one."""
    if mode not in MODES:
        raise InputError(f"averaging: got {mode!r}, expected one of {', '.join(MODES)}")
    return mode


def to_linear(values: np.ndarray, mode: str) -> np.ndarray:
    """Stored values in [0, 1] to light in [0, 1], float64."""
    values = np.asarray(values, np.float64)
    if check_mode(mode) == "plain":
        return values
    if mode == "gamma":
        return np.asarray(values**GAMMA)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def from_linear(light: np.ndarray, mode: str) -> np.ndarray:
    """The inverse of :func:`to_linear`."""
    light = np.asarray(light, np.float64)
    if check_mode(mode) == "plain":
        return light
    if mode == "gamma":
        return np.asarray(light ** (1 / GAMMA))
    return np.where(light <= 0.04045 / 12.92, light * 12.92, 1.055 * np.maximum(light, 0) ** (1 / 2.4) - 0.055)


class Average:
    """A running average of frames (H, W, C) uint8. Memory: one sum a pixel and channel."""

    def __init__(self, shape: tuple[int, ...], mode: str = "plain") -> None:
        self.mode = check_mode(mode)
        self.count = 0
        self._sum = np.zeros(shape, np.uint32 if mode == "plain" else np.uint64)
        table = to_linear(np.arange(256) / 255, mode)
        self._table = np.floor(table * STEPS + 0.5).astype(np.uint64)

    def add(self, frame: np.ndarray) -> None:
        """Take one more frame in."""
        if frame.dtype != np.uint8 or frame.shape != self._sum.shape:
            raise InputError(f"frame: got {frame.dtype} {frame.shape}, expected uint8 {self._sum.shape}")
        if self.count == MOST_FRAMES:
            raise InputError(f"averaging: got more than {MOST_FRAMES} frames, expected at most that many")
        flat = np.ascontiguousarray(frame).reshape(-1)
        if self.mode == "plain":
            compiled.add_bytes(self._sum.reshape(-1), flat)
        else:
            compiled.add_looked_up(self._sum.reshape(-1), flat, self._table)
        self.count += 1

    def result(self, size: tuple[int, int] | None = None) -> np.ndarray:
        """The average as uint8, shrunk to ``size`` (H, W) by the mean over each new pixel's area."""
        if self.count == 0:
            raise InputError("averaging: got no frames, expected at least one")
        size = size or (self._sum.shape[0], self._sum.shape[1])
        if self.mode == "plain":
            total, weight = area_sums(self._sum.astype(np.uint64), size)
            divisor = np.uint64(self.count * weight)
            # floor(total / divisor + 1/2) in whole numbers
            return np.asarray((2 * total + divisor) // (2 * divisor)).astype(np.uint8)
        light, weight = area_sums(self._sum.astype(np.float64), size)
        light = np.minimum(light / (float(STEPS) * self.count * weight), 1)
        return np.floor(255 * from_linear(light, self.mode) + 0.5).astype(np.uint8)


def area_sums(values: np.ndarray, size: tuple[int, int]) -> tuple[np.ndarray, int]:
    """Sums of (H, W, ...) over the area of each pixel of the smaller ``size``, and the weight in each sum.

    A pixel that lies across a border counts on both sides by its share. The shares are scaled to whole
    numbers, so that whole-numbered sums are exact; the mean is ``sums / weight``.
    """
    if not (1 <= size[0] <= values.shape[0] and 1 <= size[1] <= values.shape[1]):
        raise InputError(f"size: got {size[0]} x {size[1]}, expected at most {values.shape[0]} x {values.shape[1]}")
    if values.shape[:2] == size:
        return values, 1
    rows, down = _area_sums_of_rows(values, size[0])
    columns, right = _area_sums_of_rows(np.ascontiguousarray(np.swapaxes(rows, 0, 1)), size[1])
    return np.ascontiguousarray(np.swapaxes(columns, 0, 1)), down * right


def _area_sums_of_rows(values: np.ndarray, count: int) -> tuple[np.ndarray, int]:
    common = math.gcd(len(values), count)
    part, span = count // common, len(values) // common  # lengths of an old and of a new row, in common steps
    sums = np.zeros((count, *values.shape[1:]), values.dtype)
    for new in range(count):
        begin, end = new * span, (new + 1) * span
        for old in range(begin // part, -(-end // part)):
            share = min(end, (old + 1) * part) - max(begin, old * part)
            sums[new] += values[old] * values.dtype.type(share)
    return sums, span


def stream(read: Callable[[int], np.ndarray], indices: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
    """``(index, read(index))`` in order, read ahead in threads by a few frames and no more."""
    threads = num_threads()
    waiting: deque[tuple[int, Future[np.ndarray]]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="frames") as pool:
        try:
            for index in indices:
                waiting.append((index, pool.submit(read, index)))
                if len(waiting) > threads:
                    first, frame = waiting.popleft()
                    yield first, frame.result()
            while waiting:
                first, frame = waiting.popleft()
                yield first, frame.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
