"""What some work costs: wall time and memory."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Cost:
    """Filled when the work is done."""

    seconds: float = 0.0
    peak_memory: int | None = None  #: bytes beyond what was held before; None where the system does not say


@contextmanager
def measured() -> Iterator[Cost]:
    """Measure the ``with`` block. The peak is that of the process: one block at a time."""
    cost = Cost()
    peak = Peak()
    begin = time.perf_counter()
    yield cost
    cost.seconds = time.perf_counter() - begin
    cost.peak_memory = peak.bytes()


class Peak:
    """Peak of resident memory since it was made, beyond what the process held then (Linux)."""

    def __init__(self) -> None:
        self._before: int | None = None
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")  # forget the earlier peak
            self._before = _status("VmRSS")

    def bytes(self) -> int | None:
        """The peak so far; None where the system does not say."""
        now = process_peak()
        return None if self._before is None or now is None else max(0, now - self._before)


def process_peak() -> int | None:
    """The most bytes that the process has held so far; None where the system does not say.

    Unlike the record of usage, without what the process that started this one held.
    """
    return _status("VmHWM")


def _status(key: str) -> int | None:
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return None
