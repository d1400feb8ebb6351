"""Measure memory and time of every model on a few samples, each in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from icb import InputError
from workflow.lib import manifest
from workflow.lib.estimates import content_of, row_of
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.selection import matches
from workflow.lib.store import Record
from workflow.lib.units import digest
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
        key = digest({"stage": STAGE, "code": codes[name], **content_of(sample), "model": model, "threads": threads})
        entry = task.store.obtain(STAGE, key, lambda _: _measure(sample, model, threads))
        row = row_of(STAGE, sample, name, model, codes[name], entry)
        return [{**row, "sample": sample["row"]}], entry.made

    task.run(items, measure_one, lambda item, reason: LeftOut.of(STAGE, item[0], item[1], reason))


def choose(samples: Sequence[Row], patterns: Sequence[str] | None) -> list[Row]:
    """The samples that some pattern names, or the largest of each dataset: most pixels, then most poses."""
    ordered = sorted(samples, key=lambda row: (row["dataset"], row["id"]))
    if patterns is not None:
        return [row for row in ordered if matches(row["id"], patterns)]
    largest: dict[str, Row] = {}
    for row in ordered:
        if row["dataset"] not in largest or _size(row) > _size(largest[row["dataset"]]):
            largest[row["dataset"]] = row
    return list(largest.values())


def _size(row: Row) -> tuple[int, int]:
    return row["row"]["height"] * row["row"]["width"], row["row"]["poses"]


def _measure(sample: Row, model: Mapping[str, Any], threads: int) -> Record:
    request = {"sample": sample, "model": model, "threads": threads}
    command = [sys.executable, "-m", "workflow.lib.cost", json.dumps(request)]
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    print(done.stderr, end="", flush=True)
    if done.returncode:
        # Of what is the sample's own fault, the process would have told.
        said = (done.stderr.strip() or "killed").splitlines()[-1]
        raise ChildProcessError(f"{sample['id']}: cannot be measured: {said}")
    answer = json.loads(done.stdout)
    if "left_out" in answer:
        raise InputError(f"{sample['id']}: cannot be measured: {answer['left_out']}")
    return {**answer["cost"], "versions": versions()}
