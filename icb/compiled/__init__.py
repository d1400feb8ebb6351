"""Compiled inner loops.

Every function here works on one band of image rows and releases the GIL; :mod:`icb.threads` hands the
bands to threads. A pixel's value never depends on how the image was cut into bands, so results are
the same for any number of threads.
"""

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache

from icb.locks import lock


def _sources() -> str:
    """A hash of all modules of this package.

    Numba compares only the file of the function it is asked for, so a change in a function that was
    inlined into it would go unnoticed: each state of the package gets a cache of its own.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> Path | None:
    """Where compiled code is kept: as told, beside the sources, or with the user; else nowhere.

    Never a place that others can write to: what is loaded from it is run.
    """
    told = os.environ.get("NUMBA_CACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (no error without a home)
    for parent in [Path(told)] if told else [Path(__file__).parent / "__pycache__", Path(home) / "icb"]:
        folder = parent / f"icb-{_sources()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


_FOLDER = _cache_folder()

#: No `fastmath`, not even fused multiply-add: the compiler fuses one way here and another there, and then
#: the last bit of a result depends on who compiled the code, and when.
OPTIONS: dict[str, Any] = {"nogil": True, "cache": _FOLDER is not None, "error_model": "numpy"}


class SharedCache(FunctionCache):
    """A cache on disk that many processes, on machines of several kinds, may begin to fill at once.

    Numba notes under which name it will store what it compiled, then stores it. Two processes that do so at once, for
    other types or another processor, choose the same name, and later one is given the other's code. So one at a time.
    """

    def save_overload(self, sig: Any, data: Any) -> None:
        # A full disk, or a file server that is away: the code is in memory, and that is what counts.
        with suppress(*_UNREADABLE), _alone(Path(self.cache_path) / ".lock"):
            super().save_overload(sig, data)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except _UNREADABLE:
            return None  # replaced while it was read, which file servers let happen: it is compiled here


_UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock file, which stays; where the file system knows no locks, go on without."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


def njit(function: Callable[..., Any]) -> Any:
    """Compile without the GIL, once for each set of argument types, and keep the result on disk if possible."""
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(_FOLDER or "")
    try:
        compiled = numba.njit(**OPTIONS)(function)
        if OPTIONS["cache"] and not settings.DISABLE_JIT:
            compiled._cache = SharedCache(function)
        return compiled
    finally:
        settings.CACHE_DIR = before
