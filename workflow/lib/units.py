"""What the pipeline works on: raw captures and published samples, found in folders."""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from datasets import published
from datasets.capture import SIMULATED as MARK
from icb import InputError

SIMULATED = "simulated"
CAPTURED = "captured"
PUBLISHED = "published"


@dataclass(frozen=True)
class Unit:
    """A raw capture, or a sample that somebody published. ``path`` is the capture, or the dataset's folder."""

    name: str
    path: str
    origin: str  #: ``simulated``, ``captured`` or ``published``
    dataset: str | None = None  #: known beforehand for published samples alone

    @property
    def key(self) -> str:
        """What tells it from all others: both published datasets may have the same ids."""
        return f"{self.dataset}/{self.name}" if self.dataset else self.name

    @property
    def shown(self) -> str:
        """The name, without bytes that no table and no terminal can hold."""
        return printable_name(self.name)


def printable(text: str) -> str:
    """Text that can be stored and shown; names of files need not be either."""
    clean = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in clean)


def printable_name(name: str) -> str:
    """As :func:`printable`, different for every name: a backslash in it is not one that was put there."""
    return printable(name.replace("\\", "\\\\"))


def list_captures(folder: str | os.PathLike[str]) -> list[Unit]:
    """Everything in a folder that may be a capture: folders and ``.npz`` files that are not hidden."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise InputError(f"{folder}: expected a folder of captures: {error.strerror}") from None
    shown = {entry: _may_be_folder(entry) for entry in entries if not entry.name.startswith(".")}
    return [
        Unit(entry.name if folder else Path(entry.name).stem, entry.path, CAPTURED)
        for entry, folder in shown.items()
        if folder or entry.name.endswith(".npz")
    ]


def _may_be_folder(entry: os.DirEntry[str]) -> bool:
    """Also for what cannot be told, such as a link to itself: whoever looks into it says why it is left out."""
    try:
        return entry.is_dir()
    except OSError:
        return True


def list_published(root: str | os.PathLike[str]) -> list[Unit]:
    """All samples of the published datasets in a folder."""
    return [
        Unit(name, str(folder), PUBLISHED, dataset)
        for dataset, folder in sorted(published.folders(root).items())
        for name in published.find(folder)
    ]


def list_folder(root: str | os.PathLike[str]) -> list[Unit]:
    """Published samples where a folder holds a published dataset, captures otherwise."""
    try:
        return list_published(root)
    except InputError:
        return list_captures(root)


class Changed(RuntimeError):  # noqa: N818 (it is no fault)
    """A capture's files are no longer those that were looked into; the next run sees them as they are."""


def unique(units: Iterable[Unit]) -> list[Unit]:
    """The units sorted by key, if no two could be taken for each other."""
    found: dict[str, Unit] = {}
    for unit in units:
        other = found.setdefault(unit.key, unit)
        if other is not unit:
            raise InputError(f"{unit.path}: got {unit.shown!r} again, which {other.path} has, expected every name once")
    raw = {unit.name: unit for unit in found.values() if unit.dataset is None}
    for unit in found.values():
        if unit.dataset is not None and unit.name in raw:  # the samples would have one name
            place = raw[unit.name].path
            raise InputError(f"{unit.path}: got {unit.shown!r} again, which {place} has, expected every name once")
    return [found[key] for key in sorted(found)]


def fingerprint(unit: Unit) -> str:
    """Changes whenever a file of the unit does: names, sizes and times, without reading any."""
    if unit.dataset is not None:
        roots: Sequence[Path] = [Path(unit.path) / entry for entry in _entries(unit)]
    else:
        # The mark of simulated captures lies beside one that is a single file.
        mark = [] if os.path.isdir(unit.path) else [Path(unit.path).with_name(MARK)]  # noqa: PTH112 (never raises)
        roots = [Path(unit.path), *mark]
    digest = hashlib.sha256()
    entered: set[tuple[int, int]] = set()
    for root in roots:
        for path, status in _walk(root, entered):
            state = f"{path}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ctime_ns}\0"
            digest.update(state.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def check_unchanged(unit: Unit, files: str) -> None:
    """Raise if the fingerprint is not this one any more."""
    if fingerprint(unit) != files:
        raise Changed(f"{unit.path}: {unit.shown} was changed while the pipeline was at it; run snakemake again")


def _entries(unit: Unit) -> list[str]:
    from datasets import provenance

    assert unit.dataset is not None
    return [*published.LAYOUTS[unit.dataset].entries(unit.name), provenance.entry(unit.name)]


def _walk(root: Path, entered: set[tuple[int, int]]) -> Iterator[tuple[str, os.stat_result]]:
    """All files below, sorted. What vanishes meanwhile, or cannot be entered, is simply not there.

    ``entered`` collects folders, none of which is entered twice: links may lead round in circles.
    """
    try:
        status = root.stat()
        if not stat.S_ISDIR(status.st_mode):
            yield str(root), status
            return
        if (status.st_dev, status.st_ino) in entered:
            return
        entered.add((status.st_dev, status.st_ino))
        # Times of folders are left out: a file system changes them for reasons of its own.
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir():
                yield from _walk(Path(entry.path), entered)
            elif entry.name != ".snakemake_timestamp":
                yield entry.path, entry.stat()
        except OSError:
            continue


def digest(content: Any) -> str:
    """SHA-256 of anything JSON can say, the same however its keys are ordered."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
