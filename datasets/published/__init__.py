"""The layouts of the published datasets: what the builder writes and what is read back, ours or theirs.

A layout is a module with ``DATASET``, ``entries(id)`` (where a sample is, in its dataset's folder),
``contents(...)`` (its files as bytes) and ``read(folder, id)``.
"""

import os
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from datasets import provenance
from datasets.published import real, virtual
from datasets.sample import Sample, check_id
from icb import InputError, files

LAYOUTS: dict[str, ModuleType] = {layout.DATASET: layout for layout in (real, virtual)}


def folders(root: str | os.PathLike[str]) -> dict[str, Path]:
    """Folders of the datasets under ``root``, which holds them or is one of them, by the dataset's name."""
    root = Path(root)
    with files.reading(root):
        found = {name: root / name for name in LAYOUTS if (root / name / "sharp_ref").is_dir()}
        if not found and (root / "sharp_ref").is_dir():
            found = {(virtual if (root / "camera_logs").is_dir() else real).DATASET: root}
    if not found:
        raise InputError(f"{root}: no dataset, expected {' or '.join(f'{name}/sharp_ref' for name in LAYOUTS)} in it")
    return found


def list_samples(root: str | os.PathLike[str]) -> list[tuple[str, str]]:
    """(dataset, id) of all samples, sorted."""
    return sorted((name, key) for name, folder in folders(root).items() for key in find(folder))


def find(folder: Path) -> list[str]:
    """Ids of all samples in a dataset's folder; hidden files, as some archives have them, are none."""
    with files.reading(folder):
        pictures = list((folder / "sharp_ref").iterdir())  # `glob` takes what it may not look into for empty
    return sorted(path.stem for path in pictures if path.name.endswith(".png") and not path.name.startswith("."))


def read_sample(root: str | os.PathLike[str], id: str, dataset: str | None = None) -> Sample:  # noqa: A002
    """Read one sample, published or built here; ``dataset`` is needed if both have the id."""
    check_id(id)
    found = {name: folder for name, folder in folders(root).items() if dataset in (None, name)}
    holding = [name for name, folder in found.items() if (folder / "sharp_ref" / f"{id}.png").exists()]
    if len(holding) != 1:
        places = " and ".join(str(folder / "sharp_ref") for folder in found.values()) or f"{root}: no {dataset}"
        raise InputError(f"{places}: got {id!r} {len(holding)} times, expected once")
    return read_from(found[holding[0]], holding[0], id)


def read_from(folder: Path, dataset: str, id: str) -> Sample:  # noqa: A002
    """Read one sample of a dataset's ``folder``."""
    with files.reading(folder):
        sample: Sample = LAYOUTS[dataset].read(folder, id)
        known = provenance.read(folder, id)
    if known is None:
        return sample
    return replace(
        sample,
        provenance=known,
        scene=sample.scene or known.scene,
        case=sample.case or known.case,
        motion=sample.motion or known.motion,
    )


def sample_files(folder: Path, dataset: str, id: str) -> list[Path]:  # noqa: A002
    """All files of a sample in its dataset's ``folder``, sorted."""
    found: list[Path] = []
    with files.reading(folder):
        for entry in LAYOUTS[dataset].entries(check_id(id)):
            path = folder / entry
            found += [inner for inner in path.rglob("*") if inner.is_file()] if path.is_dir() else [path]
    return sorted(found)
