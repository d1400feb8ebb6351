"""Several files and folders put into place together, or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType

from icb import InputError


class Transaction:
    """Collects files in a hidden folder of ``root`` and moves them into place.

    Whatever goes wrong inside the ``with`` block, before or after :meth:`commit`, leaves ``root`` as it was.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / f".building-{secrets.token_hex(6)}"
        self._new = self.folder / "new"
        self._old = self.folder / "old"
        self._made: list[Path] = []
        self._moved: list[tuple[Path, Path | None]] = []  # what is in place now, and where its predecessor is

    def __enter__(self) -> "Transaction":
        try:
            self._make(self.root)
            self._new.mkdir(parents=True)
        except OSError as error:
            self._unmake()
            raise InputError(f"{self.root}: cannot be written: {error.strerror}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._undo()
        shutil.rmtree(self.folder, ignore_errors=True)
        if kind is not None:
            self._unmake()
        if isinstance(error, OSError):
            raise InputError(f"{self.root}: cannot be written: {error.strerror or error}") from None

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

    def commit(self, names: Iterable[str]) -> None:
        """Move these files and folders into place, over what was there."""
        for place, name in enumerate(names):
            target, before = self.root / name, self._old / str(place)
            self._make(target.parent)
            if os.path.lexists(target):
                self._old.mkdir(exist_ok=True)
                target.rename(before)
                self._moved.append((target, before))
            else:
                self._moved.append((target, None))
            (self._new / name).rename(target)

    def _make(self, folder: Path) -> None:
        """Make a folder and remember which ones were not there."""
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._made += reversed(missing)

    def _undo(self) -> None:
        for target, before in reversed(self._moved):
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
