"""Blur the sharp picture of each sample with one model."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from icb.measure import measured
from workflow.lib import manifest
from workflow.lib.estimates import describe_operator, read_sample, write_estimate
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.models import build_operator, warm_up
from workflow.lib.store import Record
from workflow.lib.units import digest, printable_name
from workflow.lib.versions import versions

STAGE = "blur"


def blur_samples(
    task: Task,
    samples: str | os.PathLike[str],
    *,
    name: str,
    model: Mapping[str, Any],
) -> None:
    """Write the manifest of a shard's samples, each blurred by the model called ``name``."""
    items = manifest.read(samples).entries
    warm_up(model)

    def blur_one(sample: Row) -> tuple[list[Row], bool]:
        same = {"sample": sample["row"]["sample_sha256"], "dataset": sample["dataset"], "id": sample["id"]}
        key = digest({"stage": STAGE, "code": task.code, **same, "model": dict(model)})
        entry = task.store.obtain(STAGE, key, lambda folder: _blur(sample, model, folder))
        row = {"unit": sample["unit"], "id": sample["id"], "dataset": sample["dataset"], "model": name}
        row |= {"stage": STAGE, "key": key}
        return [{**row, "parameters": dict(model), "code": task.code, "record": entry.record}], entry.made

    def blame(sample: Row, reason: str) -> LeftOut:
        return LeftOut(STAGE, printable_name(sample["unit"]), sample["id"], sample["dataset"], name, reason)

    task.run(items, blur_one, blame)


def _blur(entry: Row, model: Mapping[str, Any], folder: Path) -> Record:
    sample = read_sample(entry)
    sharp = sample.sharp.astype(np.float32) / np.float32(255)
    with measured() as cost:
        blur = build_operator(model, sample.depth, sample.trajectory, sample.camera)
        estimate = blur(sharp)
    return {
        "estimate_sha256": write_estimate(folder, estimate),
        "seconds": cost.seconds,
        "peak_memory": cost.peak_memory,
        **describe_operator(blur),
        "versions": versions(),
    }
