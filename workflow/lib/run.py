"""The beginning and the end of a run."""

import logging
import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from icb import InputError, files
from icb.locks import lock
from workflow.lib import cluster, manifest, progress
from workflow.lib.job import LOCK, RUN

RESULTS = "results"
LPIPS = f"{RESULTS}/lpips.json"
SCHEDULER_LOGS = f"{RESULTS}/logs/slurm"
SHOWN = 20
LISTS = (f"{RESULTS}/captures.parquet", f"{RESULTS}/metrics/left_out.parquet")
"""The tables that say what was left out."""

# How icb.files.write calls a file, and the simulator a folder, that is not yet whole.
UNFINISHED = re.compile(r"\..+-[0-9a-f]{12}(\.\w+)?")

_monitor: progress.Monitor | None = None
_lock: int | None = None


def take(path: str | os.PathLike[str] = LOCK) -> int:
    """Take the results for this process until it ends, however it ends; where there are locks, for it alone."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        lock(handle, wait=False)
    except BlockingIOError:
        holder = os.pread(handle, 200, 0).decode(errors="replace").strip()
        os.close(handle)
        raise InputError(
            f"{path}: another run ({holder or 'unknown'}) is at work on these results; wait for it to end"
        ) from None
    token = secrets.token_hex(8)
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"process {os.getpid()} on {os.uname().nodename}, run {token}\n".encode(), 0)
    os.fsync(handle)  # jobs on other machines read it
    os.environ[RUN] = token  # which the jobs inherit: see workflow.lib.job
    return handle


def known_samples(manifests: Iterable[str | os.PathLike[str]]) -> list[tuple[str, str]]:
    """(unit, id) of the samples that an earlier run found in captures."""
    found = manifest.read_all(path for path in manifests if "/captures/" in str(path) and Path(path).exists())
    return [(row["unit"], window["id"]) for row in found.entries for window in row["windows"]]


def sweep(results: str | os.PathLike[str] = RESULTS) -> None:
    """Remove what killed runs had begun to write, where people look; the store sees to its own."""
    results = Path(results)
    places = [results, *results.glob("*/"), *results.glob("samples/*/"), *results.glob("manifests/**/")]
    for path in [path for place in places for path in place.glob(".*")]:
        if UNFINISHED.fullmatch(path.name):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def share_packages(root: str) -> None:
    """Let the scripts, which are processes of their own, import from the repository as well."""
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != root]
    os.environ["PYTHONPATH"] = os.pathsep.join([root, *paths])


def quieten() -> None:
    """Keep two lines for every few jobs, which tell nobody anything, out of the terminal."""
    chatter = ("Select jobs to execute", "Execute ")
    logging.getLogger("snakemake.logging").addFilter(lambda record: not record.getMessage().startswith(chatter))


def begin(plan: Mapping[str, int], name: str | None = None) -> None:
    """Take the results and start to say how far the run is: ``plan`` as in :func:`workflow.lib.progress.begin`.

    ``name`` is what SLURM knows the jobs of this run by, None elsewhere.
    """
    global _lock, _monitor
    _lock = take()
    if lock(_lock, wait=False):  # it is ours; without locks nobody can tell whose jobs there are
        cluster.take_over(name)
    sweep()
    progress.begin(plan)
    _monitor = progress.Monitor()
    _monitor.__enter__()


def end(success: bool, outputs: Sequence[str], failed: Sequence[str] = ()) -> None:
    """Say what was computed, what was there already, what was left out and why, and the logs of what ``failed``.

    ``outputs`` are the files that the run was to make or found up to date.
    """
    if _monitor is not None:
        _monitor.__exit__(None, None, None)
    print(summary(success, outputs, failed), file=sys.stderr, flush=True)


def summary(success: bool, outputs: Sequence[str], failed: Sequence[str] = ()) -> str:
    """The last words of a run."""
    lines = []
    for name, stage in progress.stages().items():
        parts = [f"{stage.counts[what]} {what}" for what in progress.MARKS if stage.counts[what]]
        lines.append(f"{name}: {', '.join(parts) or 'nothing'}")
    manifests = sorted(path for path in outputs if path.startswith(f"{manifest.FOLDER}/") and Path(path).exists())
    # A capture may be worked on by itself and with all others in one run.
    found = dict.fromkeys(manifest.read_all(manifests).left_out)
    left_out = sorted(found, key=lambda row: progress.place(row.stage))
    if left_out:
        tables = ", ".join(path for path in LISTS if success and path in outputs)
        lines.append(f"Left out: {len(left_out)}" + (f" (listed in {tables})" if tables else ""))
        for row in left_out[:SHOWN]:
            where = " ".join(filter(None, [row.stage, row.model]))
            lines.append(f"  {row.id or row.unit} ({where}): {row.reason}")
        if len(left_out) > SHOWN:
            lines.append(f"  and {len(left_out) - SHOWN} more")
    if LPIPS in outputs and Path(LPIPS).exists() and (reason := files.load_json(LPIPS).get("reason")):
        lines.append(f"No LPIPS: {reason}")
    if not success:
        lines.append(f"The run did not end well. Jobs that failed: {len(failed)}; their logs:")
        lines += [f"  {log}" for log in failed[:SHOWN]]
        if len(failed) > SHOWN:
            lines.append(f"  and {len(failed) - SHOWN} more")
        if Path(SCHEDULER_LOGS).is_dir():
            lines.append(f"What SLURM says of them, where they were killed, is in {SCHEDULER_LOGS}")
        lines.append("Run snakemake again to go on.")
    return "\n".join(lines)
