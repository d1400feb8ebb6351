"""Measure memory and time of every model on a few samples, each in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from icb import InputError
from workflow.lib import manifest
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.store import Record
from workflow.lib.units import digest, printable_name
from workflow.lib.versions import versions

STAGE = "costs"
ROOT = Path(__file__).parent.parent.parent.parent


def measure_costs(
    task: Task,
    samples: Sequence[str | os.PathLike[str]],
    blurred: Sequence[str | os.PathLike[str]],
    *,
    models: Mapping[str, Mapping[str, Any]],
    codes: Mapping[str, str],
    patterns: Sequence[str] | None,
    threads: int,
) -> None:
    """Write the manifest of what the models cost: ``codes`` is the version of each one's code.

    ``patterns`` name the samples; None takes the largest of each dataset. Only those come into question that every
    model has blurred, by the manifests ``blurred``: what a model cannot do is left out there already, with its reason.
    """
    done = {(row["dataset"], row["id"], row["model"]) for row in manifest.read_all(blurred).entries}
    known = [
        row
        for row in manifest.read_all(samples).entries
        if all((row["dataset"], row["id"], name) in done for name in models)
    ]
    chosen = choose(known, patterns)
    items = [(sample, name) for sample in chosen for name in models]

    def measure_one(item: tuple[Row, str]) -> tuple[list[Row], bool]:
        sample, name = item
        model = dict(models[name])
        same = {"sample": sample["row"]["sample_sha256"], "model": model, "threads": threads}
        key = digest({"stage": STAGE, "code": codes[name], **same})
        entry = task.store.obtain(STAGE, key, lambda _: _measure(sample, model, threads))
        row = {"unit": sample["unit"], "id": sample["id"], "dataset": sample["dataset"], "model": name}
        row |= {"stage": STAGE, "key": key, "parameters": model, "code": codes[name], "sample": sample["row"]}
        return [{**row, "record": entry.record}], entry.made

    def blame(item: tuple[Row, str], reason: str) -> LeftOut:
        sample, name = item
        return LeftOut(STAGE, printable_name(sample["unit"]), sample["id"], sample["dataset"], name, reason)

    task.run(items, measure_one, blame)


def choose(samples: Sequence[Row], patterns: Sequence[str] | None) -> list[Row]:
    """The samples that some pattern names, or the largest of each dataset: most pixels, then most poses."""
    ordered = sorted(samples, key=lambda row: (row["dataset"], row["id"]))
    if patterns is not None:
        return [row for row in ordered if any(fnmatchcase(row["id"], pattern) for pattern in patterns)]
    largest: dict[str, Row] = {}
    for row in ordered:
        if row["dataset"] not in largest or _size(row) > _size(largest[row["dataset"]]):
            largest[row["dataset"]] = row
    return list(largest.values())


def _size(row: Row) -> tuple[int, int]:
    return row["row"]["height"] * row["row"]["width"], row["row"]["poses"]


def _measure(sample: Row, model: Mapping[str, Any], threads: int) -> Record:
    request = {"folder": sample["folder"], "dataset": sample["dataset"], "name": sample["id"]}
    command = [sys.executable, "-m", "workflow.lib.cost", json.dumps({**request, "model": model, "threads": threads})]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    print(done.stderr, end="", flush=True)
    if done.returncode:
        said = (done.stderr.strip() or "killed").splitlines()[-1]
        # Of a process that was killed or had too little memory, the machine is to blame and not the sample.
        kind = MemoryError if done.returncode < 0 or "MemoryError" in said else InputError
        raise kind(f"{sample['id']}: cannot be measured: {said}")
    record: Record = json.loads(done.stdout)
    return {**record, "versions": versions()}
