"""Restore the blurry picture of each sample with one method."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from icb.errors import CheckpointError
from icb.measure import measured
from icb.pictures import as_unit
from icb.restoration import Restoration, Settings, restore
from workflow.lib import manifest
from workflow.lib.crop import Crop, cropped
from workflow.lib.estimates import (
    HISTORY,
    NETWORK,
    content_of,
    describe_operator,
    read_sample,
    row_of,
    write_estimate,
)
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.models import build_operator
from workflow.lib.store import CHECKPOINTS, Record
from workflow.lib.units import digest
from workflow.lib.versions import versions

STAGE = "restore"


def restore_samples(
    task: Task,
    samples: Sequence[str | os.PathLike[str]],
    units: Sequence[str],
    *,
    name: str,
    settings: Mapping[str, Any],
    model: Mapping[str, Any],
    crop: tuple[int, int] | None,
    threads: int,
) -> None:
    """Write the manifest of the restorations of some units' samples by the method called ``name``.

    ``model`` is the blur model that the network is fitted through, ``crop`` the size of the part that is restored.
    """
    chosen = set(units)
    items = [row for row in manifest.read_all(samples).entries if row["unit"] in chosen]
    checked = Settings(**settings).complete()

    def restore_one(sample: Row) -> tuple[list[Row], bool]:
        part = None if crop is None else Crop.central((sample["row"]["height"], sample["row"]["width"]), crop)
        parameters = {"settings": asdict(checked), "model": dict(model), "crop": part and asdict(part)}
        key = digest({"stage": STAGE, "code": task.code, **content_of(sample), **parameters})

        def make(folder: Path) -> Record:
            return _restore(sample, checked, model, part, threads, folder, CHECKPOINTS / f"{key}.safetensors")

        entry = task.store.obtain(STAGE, key, make)
        (CHECKPOINTS / f"{key}.safetensors").unlink(missing_ok=True)
        row = row_of(STAGE, sample, name, model, task.code, entry)
        return [{**row, "settings": asdict(checked)}], entry.made

    task.run(items, restore_one, lambda sample, reason: LeftOut.of(STAGE, sample, name, reason))


def _restore(
    entry: Row,
    settings: Settings,
    model: Mapping[str, Any],
    crop: Crop | None,
    threads: int,
    folder: Path,
    checkpoint: Path,
) -> Record:
    sample = cropped(read_sample(entry), crop)
    name = f"{sample.dataset}/{sample.id}"

    def report(row: dict[str, float], _: object) -> None:
        print(f"{name}: epoch {row['epoch']:.0f} of {settings.epochs}, loss {row['loss']:.3g}, "
              f"reblurred {row['psnr']:.2f} dB, {row['seconds']:.2f} s", flush=True)  # fmt: skip

    with measured() as cost:
        blur = build_operator(model, sample.depth, sample.trajectory, sample.camera)
        blurry = as_unit(sample.blurry)

        def fit() -> Restoration:
            return restore(
                blurry,
                blur,
                settings,
                name=name,
                checkpoint=checkpoint,
                on_epoch=report,
                threads=threads,
            )

        try:
            result = fit()
        except CheckpointError as error:  # a file of our own, and no fault of the sample
            aside = checkpoint.with_suffix(".unusable")
            print(f"{name}: begins anew: {error}; moved to {aside}", flush=True)
            checkpoint.replace(aside)
            result = fit()
    result.network.save(folder / NETWORK)
    pq.write_table(pa.table(vars(result.history)), folder / HISTORY)
    return {
        "estimate_sha256": write_estimate(folder, result.image),
        "crop": crop and asdict(crop),
        # Of all epochs, those before an interruption included.
        "seconds": float(result.history.seconds.sum()),
        "peak_memory": cost.peak_memory,
        "loss": float(result.history.loss[-1]),
        "psnr_reblurred": float(result.history.psnr[-1]),
        "device": result.device,
        "threads": threads,
        **describe_operator(blur),
        "versions": versions(),
    }
