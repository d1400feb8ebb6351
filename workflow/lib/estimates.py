"""What is made of a sample, blurred or restored, as it lies in the store."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets import published
from datasets.sample import Sample
from icb import InputError, files
from icb.pictures import write_image
from workflow.lib.manifest import Row
from workflow.lib.store import Entry, intact
from workflow.lib.units import PUBLISHED, Unit, check_unchanged

if TYPE_CHECKING:
    from icb import BlurOperator

ESTIMATE = "estimate.npy"
PICTURE = "picture.png"
HISTORY = "history.parquet"
NETWORK = "network.safetensors"


def content_of(sample: Row) -> Row:
    """What the keys of all that is made of a sample have of it; ``sample`` is an entry of the stage ``samples``."""
    return {"sample": sample["row"]["sample_sha256"], "dataset": sample["dataset"], "id": sample["id"]}


def row_of(stage: str, sample: Row, name: str, model: Mapping[str, Any], code: str, entry: Entry) -> Row:
    """The row of a manifest for what the model called ``name`` made of a sample."""
    row = {"unit": sample["unit"], "id": sample["id"], "dataset": sample["dataset"], "model": name}
    return row | {"stage": stage, "key": entry.key, "parameters": dict(model), "code": code, "record": entry.record}


def read_sample(entry: Row) -> Sample:
    """The sample of an entry of the stage ``samples``."""
    folder = Path(entry["folder"])
    if entry["origin"] != PUBLISHED:
        with intact(folder.parent):
            sample = published.read_from(folder, entry["dataset"], entry["id"])
        return sample
    # What lies elsewhere may change; what is in the store does not.
    unit = Unit(entry["id"], entry["folder"], PUBLISHED, entry["dataset"])
    try:
        sample = published.read_from(folder, entry["dataset"], entry["id"])
    except InputError:
        check_unchanged(unit, entry["files"])
        raise
    check_unchanged(unit, entry["files"])
    return sample


def read_estimate(place: Path) -> np.ndarray:
    """What was made, from its entry in the store: as it is, (H, W, 3) float32."""
    with intact(place):
        picture = files.load_npy(place / ESTIMATE)
    return picture


def write_estimate(folder: Path, estimate: np.ndarray) -> str:
    """Keep a picture as it is and as people look at it; the hash of the former."""
    write_image(folder / ESTIMATE, estimate)
    write_image(folder / PICTURE, estimate)
    return hashlib.sha256(np.ascontiguousarray(estimate).tobytes()).hexdigest()


def describe_operator(blur: "BlurOperator") -> dict[str, Any]:
    """Number of layers, where the model has them, and width of the largest kernel."""
    layers = getattr(blur, "layers", None)
    return {"layers": None if layers is None else len(layers), "kernel_size": 2 * max(blur.radius) + 1}
