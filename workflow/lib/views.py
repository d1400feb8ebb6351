"""Folders for people, made of links into the store: datasets in the published layout, pictures by model."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from datasets import provenance, published
from datasets.index import write_index
from icb import files
from workflow.lib import manifest
from workflow.lib.estimates import PICTURE
from workflow.lib.manifest import Row
from workflow.lib.store import Store
from workflow.lib.tables import PICTURES_SCHEMA, write_table
from workflow.lib.units import PUBLISHED, digest

RECORD = ".view.json"

FOLDERS = {"blur": "blur", "restore": "restoration"}
"""Where people find the pictures of a stage."""

Paths = Sequence[str | os.PathLike[str]]


def show_datasets(folder: str | os.PathLike[str], samples: Paths) -> None:
    """All samples in the published layout, and ``index.parquet``, written last."""
    rows = manifest.read_all(samples).entries
    wanted = {f"{row['dataset']}/{row['id']}": row for row in rows}

    def links(row: Row) -> dict[str, Path]:
        entries = [*published.LAYOUTS[row["dataset"]].entries(row["id"]), provenance.entry(row["id"])]
        return {f"{row['dataset']}/{entry}": Path(row["folder"]) / entry for entry in entries}

    update_links(Path(folder), {name: row["key"] for name, row in wanted.items()}, lambda name: links(wanted[name]),
            symbolic=lambda name: wanted[name]["origin"] == PUBLISHED)  # fmt: skip
    write_index([row["row"] for row in rows], Path(folder) / "index.parquet")


def show_pictures(table: str | os.PathLike[str], manifests: Paths, store: Store, *, by_stage: bool = False) -> None:
    """``<model>/<dataset>/<id>.png`` for all estimates, and a table of them, written last.

    ``by_stage`` puts them into ``blur/`` and ``restoration/``, where a model and a method may have one name.
    """

    def place(row: Row) -> str:
        return "/".join([FOLDERS[row["stage"]]] * by_stage + [row["model"], row["dataset"], f"{row['id']}.png"])

    wanted = {place(row): row for row in manifest.read_all(manifests).entries}

    def links(name: str) -> dict[str, Path]:
        return {name: store.path(wanted[name]["stage"], wanted[name]["key"]) / PICTURE}

    folder = Path(table).parent
    update_links(folder, {name: row["key"] for name, row in wanted.items()}, links)
    listed = [{"picture": name, **{key: row[key] for key in PICTURES_SCHEMA.names[:4]}} for name, row in wanted.items()]
    write_table(listed, PICTURES_SCHEMA, table, ("dataset", "id", "stage", "model"))


def update_links(
    folder: Path,
    wanted: Mapping[str, str],
    links: Callable[[str], Mapping[str, Path]],
    symbolic: Callable[[str], bool] = lambda name: False,
) -> None:
    """Bring a folder to the wanted state: what is there under the same key stays, what is no longer wanted goes.

    The folder's own record says what it holds. What is about to be made is on it first, under no key, and the rest
    is written last: what a killed run began is done again, or removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    held = _held(folder)
    wanted = {name: f"{key} {_identity(links(name))}" for name, key in wanted.items()}
    targets = {name: {link: at for link, at in links(name).items() if at.exists()} for name in wanted}
    stale = {name: entry for name, entry in held.items() if wanted.get(name) != entry["key"]}
    fresh = [
        name
        for name in wanted
        if name not in held or name in stale or not all(os.path.lexists(folder / link) for link in targets[name])
    ]
    if not stale and not fresh:
        return
    begun = {name: sorted({*held.get(name, {"links": []})["links"], *targets[name]}) for name in fresh}
    _record(folder, {**held, **{name: {"key": "", "links": links} for name, links in begun.items()}})
    for entry in stale.values():
        for link in entry["links"]:
            _remove(folder / link)
    for name in fresh:
        for link, target in targets[name].items():
            _link(folder / link, target, symbolic(name))
    _record(folder, {name: {"key": wanted[name], "links": sorted(targets[name])} for name in wanted})


def _identity(targets: Mapping[str, Path]) -> str:
    """Changes when what is linked to was made again under the same key, or has moved."""
    return digest([[str(target), target.stat().st_ino] for target in targets.values() if target.exists()])


def _held(folder: Path) -> dict[str, Row]:
    if not (folder / RECORD).exists():
        return {}
    held: dict[str, Row] = files.load_json(folder / RECORD)
    return held


def _record(folder: Path, held: Mapping[str, Row]) -> None:
    text = json.dumps(held, sort_keys=True)
    files.write(folder / RECORD, lambda path: path.write_text(text))


def _link(place: Path, target: Path, symbolic: bool) -> None:
    """A file as a hard link, or a folder of such; symbolic where the original is not ours."""
    _remove(place)
    place.parent.mkdir(parents=True, exist_ok=True)
    if symbolic:
        place.symlink_to(target.absolute())
    elif target.is_dir():
        shutil.copytree(target, place, copy_function=_hard_link)
    else:
        _hard_link(str(target), str(place))


def _hard_link(source: str, place: str) -> None:
    """The same file at another place, or a copy where that cannot be; a symbolic link stays one.

    What that leads to is not ours: one more name would change its times, and so look like another capture.
    """
    try:
        os.link(source, place, follow_symlinks=False)
    except OSError:  # a file system without, or another one
        shutil.copyfile(source, place)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
