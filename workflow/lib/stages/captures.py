"""Look into captures: what they are, whether they can be read, which samples they yield."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from datasets import provenance, published
from datasets.build import Options, windows
from datasets.capture import hash_files, source_hash
from datasets.readers import format_of, open_capture
from datasets.sample import check_id
from icb import InputError, files
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.store import Record
from workflow.lib.units import PUBLISHED, Unit, digest, fingerprint, printable, printable_name

STAGE = "captures"


def index_captures(
    task: Task,
    units: Sequence[Unit],
    *,
    options: Options,
    taken: Mapping[str, str],
) -> None:
    """Write the manifest of a shard of captures and published samples.

    ``taken`` says why some, by their keys, cannot be used for what other captures are.
    """

    def look(unit: Unit) -> tuple[list[Row], bool]:
        if unit.key in taken:
            raise InputError(taken[unit.key])
        # The files' times stand for their content, so that a large capture is read once and not in every run.
        state = fingerprint(unit)
        sources = {"unit": unit.key, "path": printable(str(Path(unit.path).absolute())), "files": state}
        key = digest({"stage": STAGE, "code": task.code, **sources, "window": options.window, "stride": options.stride})
        entry = task.store.obtain(STAGE, key, lambda folder: describe(unit, options))
        row = {"unit": unit.key, "path": unit.path, "origin": unit.origin, "key": key, "files": state}
        return [{**row, **entry.record}], entry.made

    def blame(unit: Unit, reason: str) -> LeftOut:
        return LeftOut(STAGE, printable_name(unit.key), None, unit.dataset, None, reason)

    task.run(units, look, blame)


def describe(unit: Unit, options: Options) -> Record:
    """What a capture is, with the hash of all its files and the samples it yields."""
    if unit.origin == PUBLISHED:
        assert unit.dataset is not None
        folder = Path(unit.path)
        found = published.sample_files(folder, unit.dataset, check_id(unit.name))
        with files.reading(folder):
            found += [path for path in [folder / provenance.entry(unit.name)] if path.exists()]
        return {
            "format": PUBLISHED,
            "dataset": unit.dataset,
            "source_sha256": hash_files(found, folder),
            "windows": [{"id": unit.name, "first": 0, "count": 0}],
        }
    capture = open_capture(unit.path)
    parts = windows(capture, options)
    info = capture.info
    return {
        "format": format_of(unit.path),
        "dataset": info.dataset,
        "scene": info.scene,
        "case": info.case,
        "motion": info.motion,
        "simulated": info.simulated,
        "frames": len(capture),
        "height": capture.size[0],
        "width": capture.size[1],
        "source_sha256": source_hash(capture),
        "windows": [{"id": part.id, "first": part.first, "count": part.count} for part in parts],
    }
