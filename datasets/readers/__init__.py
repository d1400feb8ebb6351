"""Readers of raw captures, one module a format.

A module has ``DESCRIPTION``, ``recognises(path) -> bool`` and ``open_capture(path) -> Capture``. It is found
by lying in this folder. The first that recognises a path, in the order of their names, reads it.
"""

import os
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol, cast

from datasets.capture import Capture
from icb import InputError, files


class Reader(Protocol):
    """What a module of this package offers."""

    DESCRIPTION: str

    def recognises(self, path: Path) -> bool: ...

    def open_capture(self, path: Path) -> Capture: ...


@lru_cache(maxsize=1)
def readers() -> dict[str, Reader]:
    """All formats by name."""
    names = sorted(module.name for module in iter_modules(__path__))
    return {name: cast(Reader, import_module(f"{__name__}.{name}")) for name in names}


def format_of(path: str | os.PathLike[str]) -> str:
    """Name of the format that a capture is in."""
    path = Path(path)
    with files.reading(path):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        for name, reader in readers().items():
            if reader.recognises(path):
                return name
    known = "; ".join(reader.DESCRIPTION for reader in readers().values())
    raise InputError(f"{path}: not a capture, expected one of: {known}")


def open_capture(path: str | os.PathLike[str]) -> Capture:
    """Open a capture, whatever its format. No picture is read yet."""
    path = Path(path)
    reader = readers()[format_of(path)]
    with files.reading(path):
        return reader.open_capture(path)
