"""What a run on SLURM needs beside Snakemake's plugin for it."""

import os
import subprocess
import sys
import time
from pathlib import Path

from icb import InputError, files

RUN = "results/.slurm-run"
"""The name that all jobs of the last run have: the plugin gives each run one of its own."""

LIMIT = 120.0
"""Seconds to wait for cancelled jobs to be gone."""


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
    left = jobs_of(Path(path).read_text().strip()) if Path(path).exists() else []
    if left:
        print(f"Cancelling {len(left)} jobs of a run that was killed", file=sys.stderr, flush=True)
        subprocess.run(["scancel", *left], capture_output=True, check=False)
        end = time.monotonic() + LIMIT
        while time.monotonic() < end and jobs_of(Path(path).read_text().strip()):
            time.sleep(0.5)
    if name is None:
        Path(path).unlink(missing_ok=True)
    else:
        files.write(path, lambda temporary: temporary.write_text(f"{name}\n"))
    return left


def jobs_of(name: str) -> list[str]:
    """Ids of this user's jobs of that name that wait or run; none where there is no SLURM."""
    command = ["squeue", "--me", "--noheader", f"--name={name}", "--format=%i"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return []
