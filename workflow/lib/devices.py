"""The GPUs of a machine, one to each fit at a time."""

import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from icb.locks import lock

FOLDER = "results/.gpus"
VISIBLE = "CUDA_VISIBLE_DEVICES"

# Set within jobs of SLURM, PBS, LSF, Grid Engine and HTCondor.
SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "SGE_TASK_ID", "_CONDOR_SLOT")


def present(environment: Mapping[str, str] = os.environ) -> list[str]:
    """The GPUs that may be used, as CUDA counts them; found without starting CUDA, which takes seconds."""
    if (told := environment.get(VISIBLE)) is not None:
        # As CUDA reads it: what follows an invalid number does not count.
        names = [name.strip() for name in told.split(",")]
        invalid = next((place for place, name in enumerate(names) if name in ("", "-1")), len(names))
        return names[:invalid]
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [str(number) for number, _ in enumerate(line for line in listed.splitlines() if line.startswith("GPU "))]


@contextmanager
def one_gpu(folder: str | os.PathLike[str] = FOLDER, *, wanted: bool = True) -> Iterator[str | None]:
    """Let this process see one GPU, which no other fit on these results has meanwhile; none at all if none is wanted.

    None where none is found: then nothing is changed. Must be entered before CUDA is started.
    """
    if not wanted:
        with _seeing(""):
            yield None
    elif not (gpus := present()):
        yield None
    else:
        with hold(gpus, folder) as gpu, _seeing(gpu):
            yield gpu


@contextmanager
def _seeing(gpu: str) -> Iterator[None]:
    before = os.environ.get(VISIBLE)
    os.environ[VISIBLE] = gpu
    try:
        yield
    finally:
        if before is None:
            del os.environ[VISIBLE]
        else:
            os.environ[VISIBLE] = before


@contextmanager
def hold(names: Sequence[str], folder: str | os.PathLike[str] = FOLDER, *, pause: float = 0.2) -> Iterator[str]:
    """One of ``names`` for this process alone, on this machine; waits until one is free.

    It is free again once its holder has left or died: what is held is a lock on a file. Jobs of a scheduler may each
    call what they were given by the same number, so they have locks of their own. Where the file system knows no locks,
    the number of the process decides, and some may share one.
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    owner = "-".join([os.uname().nodename, *(os.environ[name] for name in SCHEDULERS if name in os.environ)])
    while True:
        for name in names:
            handle = os.open(place / f"{owner}-{name}".replace("/", "_"), os.O_CREAT | os.O_RDWR, 0o644)
            try:
                try:
                    given = name if lock(handle, wait=False) else names[os.getpid() % len(names)]
                except BlockingIOError:
                    continue
                yield given
                return
            finally:
                os.close(handle)
        time.sleep(pause)
