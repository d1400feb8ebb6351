"""Compare what was made, blurred or restored, with what was captured."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from icb import InputError, files
from icb.metrics.perceptual import Lpips
from icb.metrics.quality import psnr
from icb.metrics.score import score
from icb.pictures import as_unit
from workflow.lib import manifest
from workflow.lib.crop import Crop, cropped
from workflow.lib.estimates import read_estimate, read_sample
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.store import Record
from workflow.lib.units import digest

STAGE = "score"

LEFT_OUT = {"blurry": "score blur", "sharp": "score restorations"}
"""What the stage is called where something is left out, by its target: a sample may fail in both."""

OTHER = {"blurry": "sharp", "sharp": "blurry"}


def score_samples(
    task: Task,
    samples: Sequence[str | os.PathLike[str]],
    estimates: Sequence[str | os.PathLike[str]],
    units: Sequence[str] | None = None,
    *,
    target: str,
    weights: str | os.PathLike[str],
) -> None:
    """Write the manifest of the scores of a shard's estimates against the ``blurry`` or ``sharp`` picture.

    ``estimates`` are the manifests of all models: what the models share is worked out once a sample. Of these, only
    what concerns ``units`` is scored, by default all. ``weights`` is what
    :func:`workflow.lib.lpips_weights.obtain` wrote; where it has none, the columns of LPIPS stay empty.
    """
    known = manifest.by_sample(samples)
    found = files.load_json(weights)
    keys: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in manifest.read_all(estimates).entries:
        if units is not None and row["unit"] not in units:
            continue
        name = (row["dataset"], row["id"])
        same = {"sample": known[name]["row"]["sample_sha256"], "estimate": row["record"]["estimate_sha256"]}
        same |= {"crop": row["record"].get("crop"), "target": target, "weights": found.get("sha256")}
        # Estimates that are equal have one score, but each model its own row.
        key = digest({"stage": STAGE, "code": task.code, **same})
        keys.setdefault(name, {}).setdefault(key, []).append(row)
    missing = {
        name: {key: task.store.path(rows[0]["stage"], rows[0]["key"]) for key, rows in scores.items()
               if not task.store.path(STAGE, key).exists()}
        for name, scores in keys.items()
    }  # fmt: skip
    # Here, not when the first sample is scored: weights that are gone are no fault of a sample.
    lpips = _lpips(weights, found) if found.get("path") and any(missing.values()) else None

    def score_one(name: tuple[str, str]) -> tuple[list[Row], bool]:
        crop = next(iter(keys[name].values()))[0]["record"].get("crop")
        records = _score(known[name], missing[name], target, crop and Crop(**crop), lpips) if missing[name] else {}
        scored = []
        for key, rows in keys[name].items():
            entry = task.store.obtain(STAGE, key, lambda _, key=key: records[key])  # type: ignore[misc]
            scored += [{**row, "score_key": key, "score": entry.record} for row in rows]
        return scored, bool(missing[name])

    task.run(sorted(keys), score_one, lambda name, reason: LeftOut.of(LEFT_OUT[target], known[name], None, reason))


def _lpips(weights: str | os.PathLike[str], found: Mapping[str, str]) -> Lpips:
    try:
        return Lpips(found["path"], found["net"])
    except InputError as error:
        again = "`snakemake --forcerun obtain_lpips_weights` obtains them again"
        raise InputError(f"{weights}: the weights of LPIPS that it names cannot be used: {error}; {again}") from None


def _score(
    entry: Row, estimates: Mapping[str, Path], target: str, crop: Crop | None, lpips: Lpips | None
) -> dict[str, Record]:
    """All metrics of the estimates of one sample, and the PSNR of having done nothing."""
    sample = cropped(read_sample(entry), crop)
    reference, other = (as_unit(getattr(sample, name)) for name in (target, OTHER[target]))
    if lpips is not None and min(reference.shape[:2]) < lpips.network.least:
        lpips = None  # the network needs so many pixels; everything else can do with less
    pictures = {key: read_estimate(place) for key, place in estimates.items()}
    unchanged = psnr(other, reference)
    scores = score(pictures, reference, depth=sample.depth, lpips=lpips)
    return {key: {**row, "psnr_unchanged": unchanged} for key, row in scores.items()}
