"""What one model costs on one sample, measured in this process: ``python -m workflow.lib.cost REQUEST`` prints JSON.

Imports, compiled code and the sample are there before anything is measured. The peak of memory is taken the first time
that the operator is built and applied, the time over several more.
"""

import ctypes
import gc
import json
import platform
import statistics
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from datasets import published
from icb import set_num_threads
from icb.measure import measured
from workflow.lib.models import build_operator, warm_up

RUNS = 5


def measure_cost(folder: str, dataset: str, name: str, model: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """Cost of building the operator of a sample in a dataset's ``folder`` and of blurring its sharp picture with it.

    Seconds are medians over :data:`RUNS`, of building, of applying, and of both together; memory is in bytes.
    """
    set_num_threads(threads)
    warm_up(model)
    sample = published.read_from(Path(folder), dataset, name)
    sharp = sample.sharp.astype(np.float32) / np.float32(255)

    def run() -> tuple[float, float]:
        begin = time.perf_counter()
        blur = build_operator(model, sample.depth, sample.trajectory, sample.camera)
        built = time.perf_counter()
        blur(sharp)
        return built - begin, time.perf_counter() - built

    _give_back()
    with measured() as cost:
        run()
    times = [run() for _ in range(RUNS)]
    return {
        "peak_memory": cost.peak_memory,
        "seconds": statistics.median(build + apply for build, apply in times),
        "build_seconds": statistics.median(build for build, _ in times),
        "apply_seconds": statistics.median(apply for _, apply in times),
        "runs": RUNS,
        "threads": threads,
        "processor": processor(),
    }


def _give_back() -> None:
    """Return freed memory to the system: what is used again from there would not be seen as growth."""
    gc.collect()
    with suppress(OSError, AttributeError):  # where there is no such function, less is seen, of every model
        ctypes.CDLL(None).malloc_trim(0)


def processor() -> str:
    """The processor's name."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    print(json.dumps(measure_cost(**json.loads(sys.argv[1]))))
