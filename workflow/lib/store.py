"""Results by what they were made from.

An entry is a folder named by its key, a hash over the content of its inputs, its parameters and the code that makes it.
It is filled beside its place and moved there in one step: what is in place is whole, and is never made twice.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from icb import InputError, files
from icb.errors import OutputError
from icb.locks import lock

STORE = "results/store"
RECORD = "record.json"
CHECKPOINTS = Path("results/checkpoints")
"""Of fits that are not yet entries."""

MAKERS = {
    "captures": "index_captures",
    "samples": "build_samples",
    "blur": "blur_samples",
    "restore": "restore_samples",
    "score": "score_blur score_restorations",
    "costs": "measure_costs",
    "pages": "page_samples",
}
"""The rules that fill the store, by kind of entry."""

Record = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """Files in ``path``, and what is known about them."""

    key: str
    path: Path
    record: Record
    made: bool  #: False if it was there before


class Store:
    """Entries of several kinds below a folder."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    def path(self, kind: str, key: str) -> Path:
        """Where an entry is, or would be."""
        return self.root / kind / key[:2] / key

    def obtain(self, kind: str, key: str, make: Callable[[Path], Record]) -> Entry:
        """The entry of a key; ``make`` fills an empty folder and returns the record if there is none yet.

        Another process that is at the same entry is waited for.
        """
        place = self.path(kind, key)
        held = place.with_name(f".{key}.lock")
        if not place.exists() or held.exists():  # with both, its maker is about to be done, or was killed just then
            with _alone(held):
                if not place.exists():
                    self._make(place, make)
                    return Entry(key, place, _read(place), made=True)
        return Entry(key, place, _read(place), made=False)

    def _make(self, place: Path, make: Callable[[Path], Record]) -> None:
        folder = place.with_name(f".{place.name}.making")
        shutil.rmtree(folder, ignore_errors=True)  # of somebody who was killed
        try:
            with _writable(place):
                folder.mkdir(parents=True)
            record = make(folder)
            text = json.dumps(record, indent=1, sort_keys=True)
            with _writable(place):
                for path in folder.rglob("*"):
                    if path.is_file():
                        _settle(path)
                files.write(folder / RECORD, lambda path: path.write_text(text))
                folder.rename(place)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def entries(self) -> Iterator[tuple[str, str]]:
        """(kind, key) of all there is."""
        for path in sorted(self.root.glob("*/??/*")):
            if not path.name.startswith("."):
                yield path.parent.parent.name, path.name

    def prune(self, keep: set[tuple[str, str]]) -> int:
        """Remove all other entries, and what killed processes left; how many there were."""
        removed = 0
        for kind, key in list(self.entries()):
            if (kind, key) not in keep:
                shutil.rmtree(self.path(kind, key), ignore_errors=True)
                removed += 1
        for leftover in self.root.glob("*/??/.*"):
            if leftover.is_dir():
                shutil.rmtree(leftover, ignore_errors=True)
            else:
                leftover.unlink(missing_ok=True)
        return removed


@contextmanager
def _writable(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"{place}: cannot be written: {error.strerror or error}") from None


class DamagedError(OutputError):
    """Something of the store is gone or broken: nobody's fault but the store's."""


@contextmanager
def intact(place: Path) -> Iterator[None]:
    """What cannot be read of the entry at ``place`` is a fault of the store, not of what it was made from."""
    try:
        yield
    except InputError as error:
        kind = place.parent.parent.name
        raise DamagedError(
            f"{error}. The store is damaged; to make again what is missing: "
            f"rm -rf {place} && snakemake --forcerun {MAKERS.get(kind, kind)}"
        ) from None


def _read(place: Path) -> Record:
    with intact(place):
        record: Record = files.load_json(place / RECORD)
    return record


def _settle(path: Path) -> None:
    """On the disk before the entry is; read-only, because links to it are given to people."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())
    path.chmod(0o444)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock file, which is gone afterwards. Where the file system knows no locks, go on without."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            lock(handle)
            try:
                current = path.stat().st_ino == os.fstat(handle).st_ino
            except FileNotFoundError:
                current = False
            if current:  # otherwise its holder has just removed it: try the next one
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return
        finally:
            os.close(handle)
