"""Several files and folders put into place together, or not at all."""

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType

from icb.errors import OutputError
from icb.locks import lock

PREFIX = ".building-"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for oneself, among those who ask, where the file system knows locks; nothing is left behind."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


class Transaction:
    """Collects files in a hidden folder of ``root`` and moves them into place.

    Whatever goes wrong inside the ``with`` block leaves ``root`` as it was. A killed process leaves its hidden
    folder, which the next transaction removes, where there are locks: a live one holds a lock on its own.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / f"{PREFIX}{secrets.token_hex(6)}"
        self._new = self.folder / "new"
        self._old = self.folder / "old"
        self._handle = -1
        self._made: list[Path] = []
        self._moved: list[tuple[Path, Path | None]] = []  # what is to be put away, and where its predecessor is

    def __enter__(self) -> "Transaction":
        try:
            self._make(self.root)
            with locked(self.root):
                self._remove_leftovers()
                self._new.mkdir(parents=True)
                self._handle = os.open(self.folder, os.O_RDONLY)
                lock(self._handle)
        except OSError as error:
            self._unmake()
            raise OutputError(f"{self.root}: cannot be written: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._handle)
        if kind is not None:
            self._unmake()
        if isinstance(error, OSError):
            raise OutputError(f"{self.root}: cannot be written: {error.strerror or error}") from None

    def path(self, name: str) -> Path:
        """Where a file or folder is before it is moved."""
        return self._new / name

    def write(self, contents: Mapping[str, bytes], *, under: str) -> None:
        """Put files, by their names under a folder, where they wait to be moved."""
        for name, data in contents.items():
            path = self._new / under / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())

    def commit(self, names: Sequence[str], then: Callable[[], object] = lambda: None) -> None:
        """Move these files and folders into place, over what was there, and do what belongs to it.

        The first name is what others go by: its predecessor is taken away first and it is put in place
        last, so that a process killed in between leaves no half of a sample that looks whole.
        """
        with locked(self.root):
            try:
                self._old.mkdir()
                for place, name in enumerate(names):
                    target, before = self.root / name, self._old / str(place)
                    exists = os.path.lexists(target)
                    self._moved.append((target, before if exists else None))
                    if exists:
                        target.rename(before)
                for name in reversed(names):
                    self._make((self.root / name).parent)
                    (self._new / name).rename(self.root / name)
                then()
            except BaseException:
                self._undo()
                raise

    def _remove_leftovers(self) -> None:
        for folder in self.root.glob(f"{PREFIX}*"):
            with suppress(OSError):
                handle = os.open(folder, os.O_RDONLY)
                try:
                    if lock(handle, wait=False):
                        shutil.rmtree(folder, ignore_errors=True)
                finally:
                    os.close(handle)

    def _make(self, folder: Path) -> None:
        """Make a folder and remember which ones were not there."""
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._made += reversed(missing)

    def _undo(self) -> None:
        for target, before in reversed(self._moved):
            if before is not None and not os.path.lexists(before):
                continue  # stopped before it was taken away
            if target.is_dir() and not target.is_symlink():
                shutil.rmtree(target, ignore_errors=True)
            else:
                target.unlink(missing_ok=True)
            if before is not None:
                before.rename(target)
        self._moved.clear()

    def _unmake(self) -> None:
        for folder in reversed(self._made):
            try:
                folder.rmdir()
            except OSError:  # somebody else uses it by now
                return
