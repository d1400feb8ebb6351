"""Running compiled work on bands of rows in threads.

The compiled functions release the GIL, so ordinary threads are enough. They are kept from call to call,
asleep in between; a forked process makes its own.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

from icb.errors import InputError

BAND_ROWS = 64
"""Fixed, so that sums over bands are added in the same order on every machine."""

Result = TypeVar("Result")
Rows = tuple[int, int]

_chosen: int | None = None


def set_num_threads(count: int | None) -> None:
    """Use this many threads from now on; None returns to the default."""
    global _chosen
    if count is not None and (not isinstance(count, int) or count < 1):
        raise InputError(f"number of threads: got {count}, expected a whole number of at least 1")
    _chosen = count


@contextmanager
def using_threads(count: int | None) -> Iterator[None]:
    """Use this many threads for a while; None changes nothing."""
    before = _chosen
    set_num_threads(before if count is None else count)
    try:
        yield
    finally:
        set_num_threads(before)


def num_threads() -> int:
    """Threads per call: what was set, else ``ICB_NUM_THREADS``, else the cores this process may use."""
    if _chosen is not None:
        return _chosen
    text = os.environ.get("ICB_NUM_THREADS")
    if text:
        if not (text.isascii() and text.isdigit()) or int(text) < 1:
            raise InputError(f"ICB_NUM_THREADS: got {text!r}, expected a whole number of at least 1")
        return int(text)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def bands(height: int) -> list[Rows]:
    """Cut ``height`` rows into bands of :data:`BAND_ROWS`."""
    return [(first, min(first + BAND_ROWS, height)) for first in range(0, height, BAND_ROWS)]


def each_band(work: Callable[[int], Result], indices: Sequence[int]) -> list[Result]:
    """``[work(i) for i in indices]``, in threads."""
    count = min(num_threads(), len(indices))
    if count <= 1:
        return [work(index) for index in indices]
    pool = _pool(os.getpid(), num_threads())
    futures = [_submit(pool, work, index) for index in indices]
    return [future.result() for future in futures]


def _submit(pool: ThreadPoolExecutor, work: Callable[[int], Result], index: int) -> "Future[Result]":
    try:
        return pool.submit(work, index)
    except RuntimeError:  # the interpreter is shutting down and starts no more threads
        done: Future[Result] = Future()
        done.set_result(work(index))
        return done


@lru_cache(maxsize=1)
def _pool(process: int, count: int) -> ThreadPoolExecutor:
    """The threads of this process: those of a parent do not survive a fork."""
    return ThreadPoolExecutor(count, thread_name_prefix="icb")


def each_band_apart(work: Callable[[int], object], count: int, reach: int) -> None:
    """Run bands that write up to ``reach`` rows beyond themselves, never two that could meet.

    Bands are taken in turns of ``1 + ceil(2 reach / BAND_ROWS)``; the order of additions to any
    pixel, and so the result, does not depend on the number of threads.
    """
    turns = min(count, 1 - (-2 * reach // BAND_ROWS))
    for turn in range(turns):
        each_band(work, range(turn, count, turns))
