"""What one model costs on one sample, measured in this process: ``python -m workflow.lib.cost REQUEST`` prints JSON.

The answer has the ``cost``, or the reason why the sample is ``left_out``. Whatever else goes wrong ends the process.

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

from icb import set_num_threads
from icb.measure import measured
from icb.pictures import as_unit
from workflow.lib.estimates import read_sample
from workflow.lib.manifest import Row, reason_to_leave_out
from workflow.lib.models import build_operator, warm_up

RUNS = 5


def answer(request: str) -> str:
    """The arguments of :func:`measure_cost` as JSON, and what comes of it as JSON."""
    try:
        return json.dumps({"cost": measure_cost(**json.loads(request))})
    except Exception as error:
        if (reason := reason_to_leave_out(error)) is None:
            raise
        return json.dumps({"left_out": reason})


def measure_cost(sample: Row, model: Mapping[str, Any], threads: int) -> dict[str, Any]:
    """Cost of building the operator of a sample, an entry of the stage before, and of blurring its sharp picture.

    Seconds are medians over :data:`RUNS`, of building, of applying, and of both together; memory is in bytes.
    """
    set_num_threads(threads)
    warm_up(model)
    given = read_sample(sample)
    sharp = as_unit(given.sharp)

    def run() -> tuple[float, float]:
        begin = time.perf_counter()
        blur = build_operator(model, given.depth, given.trajectory, given.camera)
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
    print(answer(sys.argv[1]))
