"""How a script of the workflow runs: its output goes to its log, a mistake ends in a line that says what is wrong."""

import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from icb import InputError, set_num_threads

LOCK = "results/.lock"
"""Names the run that holds the results."""

RUN = "ICB_RUN"
"""The environment variable with the name of the run that started a job."""

SECONDS_BETWEEN_LOOKS = 2.0


@contextmanager
def job(log: str | os.PathLike[str], *, threads: int = 1) -> Iterator[None]:
    """Write what is printed into ``log``, use so many threads, and end with exit code 1 on any error."""
    set_num_threads(threads)
    _limit_libraries(threads)
    threading.Thread(target=_stop_when_replaced, daemon=True).start()
    begin = time.perf_counter()
    error: Exception | None = None
    interrupted = False
    Path(log).parent.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8", errors="backslashreplace", buffering=1) as stream:  # noqa: PTH123
        # Libraries in C write to the file descriptors, so these are what is turned.
        sys.stdout.flush()
        sys.stderr.flush()
        before = os.dup(1), os.dup(2)
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        try:
            yield
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            interrupted = True
        except Exception as problem:
            if isinstance(problem, InputError):
                print(f"error: {problem}", file=sys.stderr, flush=True)
            else:
                traceback.print_exc()
            error = problem
        finally:
            print(f"{time.perf_counter() - begin:.2f} s", flush=True)
            sys.stderr.flush()
            os.dup2(before[0], 1)
            os.dup2(before[1], 2)
    if interrupted:
        sys.exit(130)
    if error is not None:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        print(f"Failed: {what}\n  The log is {log}", file=sys.stderr, flush=True)
        sys.exit(1)


def is_current() -> bool:
    """Whether the run that started this job still holds the results: a job may outlive a run that was killed."""
    try:
        return RUN not in os.environ or os.environ[RUN] in Path(LOCK).read_text()
    except OSError:
        return True  # nobody else has taken them


def require_current() -> None:
    """Raise if another run has the results: for what Snakemake starts on a node, before it removes the job's output."""
    if not is_current():
        raise InputError(f"{LOCK}: another run has taken over these results, which this job was not started by")


def _stop_when_replaced() -> None:
    """End at once when another run has begun: what this job would write belongs to settings of the past."""
    while is_current():
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _limit_libraries(threads: int) -> None:
    """Keep to what the rule declares, in libraries that are loaded and in those that may be."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(threads)
    if cv2 := sys.modules.get("cv2"):
        cv2.setNumThreads(threads)
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(threads)
