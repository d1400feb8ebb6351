"""Timing and peak memory."""

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pandas as pd

Name = TypeVar("Name")


def median_ms(work: Callable[[], object], *, seconds: float = 1.0, least: int = 5) -> float:
    """Median wall time of ``work`` in milliseconds, after one call to warm up."""
    work()
    times: list[float] = []
    while len(times) < least or sum(times) < seconds:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return 1e3 * statistics.median(times)


def medians_in_turns(works: Mapping[Name, Callable[[], object]], rounds: int) -> dict[Name, float]:
    """Median wall times in milliseconds, after a round to warm up; all take turns, so that a busy machine hits all."""
    rows = [{name: once_ms(work) for name, work in works.items()} for _ in range(rounds + 1)][1:]
    return {name: statistics.median(row[name] for row in rows) for name in works}


def once_ms(work: Callable[[], object]) -> float:
    """Wall time of a single call, for work too slow to repeat."""
    begin = time.perf_counter()
    work()
    return 1e3 * (time.perf_counter() - begin)


def bounds(rows: Sequence[tuple[str, float, str, float]]) -> pd.DataFrame:
    """What must hold, as ``(bound, measured, "<=" or ">=", limit)``, and whether it does."""
    frame = pd.DataFrame(rows, columns=["bound", "measured", "is", "limit"])
    above = frame["measured"] >= frame["limit"]
    frame["holds"] = above.where(frame["is"] == ">=", frame["measured"] <= frame["limit"])
    return frame


def in_new_process(module: str, *arguments: str) -> str:
    """Standard output of ``python -m module ...``: a process of its own has a clean memory record."""
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def machine() -> str:
    """One line about where the numbers come from."""
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"
