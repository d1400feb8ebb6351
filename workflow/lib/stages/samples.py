"""Build the samples of a dataset from captures; take published ones as they are."""

import os
from dataclasses import asdict
from pathlib import Path

from datasets import published
from datasets.build import Options, Window, build_sample
from datasets.index import row_of
from datasets.published import virtual
from datasets.readers import open_capture
from workflow.lib import manifest
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.store import Record
from workflow.lib.units import PUBLISHED, Unit, check_unchanged, digest

STAGE = "samples"


def build_samples(
    task: Task,
    captures: str | os.PathLike[str],
    *,
    options: Options,
) -> None:
    """Write the manifest of the samples that the captures of a shard yield."""
    items = [(capture, window) for capture in manifest.read(captures).entries for window in capture["windows"]]

    def build_one(item: tuple[Row, Row]) -> tuple[list[Row], bool]:
        capture, window = item
        same = {name: capture[name] for name in ("unit", "dataset", "source_sha256")}
        if capture["origin"] == PUBLISHED:
            key = digest({"stage": STAGE, "code": task.code, **same})
            entry = task.store.obtain(STAGE, key, lambda _: _take(capture))
            folder = Path(capture["path"])
        else:
            how = {"averaging": options.averaging, "size": options.size}
            key = digest({"stage": STAGE, "code": task.code, **same, "window": window, **how})
            entry = task.store.obtain(STAGE, key, lambda folder: _build(capture, window, folder, options))
            folder = entry.path / capture["dataset"]
        row = {"unit": capture["unit"], "id": window["id"], "dataset": capture["dataset"], "key": key}
        row |= {"origin": capture["origin"], "folder": str(folder), "files": capture["files"]}
        settings = _settings(capture, options, entry.record["row"])
        return [{**row, "settings": settings, "row": entry.record["row"]}], entry.made

    task.run(items, build_one, lambda item, reason: LeftOut.of(STAGE, {**item[0], "id": item[1]["id"]}, None, reason))


def _settings(capture: Row, options: Options, row: Row) -> Row:
    """The options that made this sample what it is; of published ones all that is known."""
    if capture["origin"] == PUBLISHED or capture["dataset"] == virtual.DATASET:
        return {"averaging": row["averaging"]}
    return asdict(options)


def _build(capture: Row, window: Row, folder: Path, options: Options) -> Record:
    part = Window(window["id"], window["first"], window["count"])
    opened = open_capture(capture["path"])
    row = build_sample(opened, part, folder, options, source_sha256=capture["source_sha256"], record=False)
    check_unchanged(Unit(capture["unit"], capture["path"], capture["origin"]), capture["files"])
    return {"row": row}


def _take(capture: Row) -> Record:
    folder, dataset = Path(capture["path"]), capture["dataset"]
    name = capture["windows"][0]["id"]
    row = row_of(published.read_from(folder, dataset, name), folder)
    check_unchanged(Unit(name, capture["path"], capture["origin"], dataset), capture["files"])
    return {"row": row}
