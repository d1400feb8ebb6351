"""What a run on SLURM needs beside Snakemake's plugin for it."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from icb import InputError, files

RUN = "results/.slurm-run"
"""The name that all jobs of the last run have: the plugin gives each run one of its own."""

LIMIT = 120.0
"""Seconds to wait for cancelled jobs to be gone."""

PAUSE = 3.0
"""Seconds before SLURM is asked again when it did not answer."""


def refuse_arrays(rules: str | None) -> None:
    """Refuse array jobs, which lose results.

    With versions 2.6 to 2.8 of the plugin, every task of an array stands for its first job as well: when any task
    fails, the output of the first is removed. And jobs that a limit holds back are never submitted.
    """
    if rules and rules != "none":
        raise InputError(
            f"slurm-array-jobs: got {rules!r}, expected none: when a task of an array fails, the plugin removes the "
            "output of another. Larger shards make for fewer jobs: --config samples_per_job=128"
        )


def take_over(name: str | None, path: str | os.PathLike[str] = RUN) -> list[str]:
    """Cancel the jobs of a run here whose head process was killed, wait until they are gone, and note our own name.

    A run that goes on would otherwise submit the same jobs beside them. Nothing is lost: what they finished is in the
    store, and a fit goes on from its checkpoint. To be called by who holds the lock of the results. ``name`` is None
    where this run is not on SLURM. Returns the ids of what was cancelled.
    """
    known = Path(path).read_text().strip() if Path(path).exists() else None
    left = jobs_of(known) if known else []
    if left:
        print(f"Cancelling {len(left)} jobs of a run that was killed", file=sys.stderr, flush=True)
        subprocess.run(["scancel", *left], capture_output=True, check=False)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and known and jobs_of(known):
            time.sleep(0.5)
    if name is not None:
        files.write(path, lambda temporary: temporary.write_text(f"{name}\n"))
    elif known and shutil.which("squeue"):
        Path(path).unlink()  # elsewhere, whoever can ask SLURM next shall
    return left


def jobs_of(name: str) -> list[str]:
    """Ids of this user's jobs of that name that wait or run; none where there is no SLURM."""
    if shutil.which("squeue") is None:
        return []
    command = ["squeue", "--me", "--noheader", f"--name={name}", "--format=%i"]
    for last in (False, False, True):
        try:
            return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
        except subprocess.SubprocessError as error:
            if last:
                said = str(getattr(error, "stderr", "") or error).strip()
                raise InputError(
                    f"squeue: cannot say whether jobs of a run that was killed are left ({said}); try again when it can"
                ) from None
            time.sleep(PAUSE)
    return []
