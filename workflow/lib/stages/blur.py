"""Blur the sharp picture of each sample with one model."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from icb.measure import measured
from icb.pictures import as_unit
from workflow.lib import manifest
from workflow.lib.estimates import content_of, describe_operator, read_sample, row_of, write_estimate
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.models import build_operator, warm_up
from workflow.lib.store import Record
from workflow.lib.units import digest
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
        key = digest({"stage": STAGE, "code": task.code, **content_of(sample), "model": dict(model)})
        entry = task.store.obtain(STAGE, key, lambda folder: _blur(sample, model, folder))
        return [row_of(STAGE, sample, name, model, task.code, entry)], entry.made

    task.run(items, blur_one, lambda sample, reason: LeftOut.of(STAGE, sample, name, reason))


def _blur(entry: Row, model: Mapping[str, Any], folder: Path) -> Record:
    sample = read_sample(entry)
    sharp = as_unit(sample.sharp)
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
