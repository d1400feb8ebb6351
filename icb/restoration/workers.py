"""Threads that each run torch's operations alone.

Torch's own threads meet after every operation, which costs little on an idle machine and very much on a
busy one. Here each thread takes whole chunks of work, and they meet once at the end; and because no operation
is split, its result does not depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """``[work(item) for item in items]`` without gradients, in as many threads as torch would use."""
    count = torch.get_num_threads()
    if count <= 1:
        with torch.no_grad():
            return [work(item) for item in items]

    def alone(item: Item) -> Result:
        with torch.no_grad():  # each thread has its own mode
            return work(item)

    return list(_pool(os.getpid(), count).map(alone, items))


@lru_cache(maxsize=1)
def _pool(process: int, count: int) -> ThreadPoolExecutor:
    """Threads of this process for which torch's number of threads is 1."""
    started = threading.Barrier(count + 1)

    def start() -> None:
        torch.set_num_threads(1)  # for this thread, and for those that are new to torch ...
        torch.get_num_threads()  # ... of which this is none from here on
        started.wait()

    pool = ThreadPoolExecutor(count, thread_name_prefix="icb-torch", initializer=start)
    for _ in range(count):
        pool.submit(int)
    started.wait()
    torch.set_num_threads(count)
    return pool
