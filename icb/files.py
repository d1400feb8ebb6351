"""Files: written whole or not at all, read without ever running what is in them."""

import contextlib
import errno
import json
import math
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from icb.errors import InputError, OutputError


def write(path: str | os.PathLike[str], writer: Callable[[Path], object]) -> None:
    """Let ``writer`` fill a temporary file beside ``path``, then move it into place in one step."""
    path = Path(path)
    temporary = path.with_name(f".{path.stem}-{secrets.token_hex(6)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        writer(temporary)
        with temporary.open("rb") as stream:
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def check_place(path: str | os.PathLike[str]) -> None:
    """Refuse a place that :func:`write` could not write to, by trying, and leave nothing there."""
    path = Path(path)
    try:
        if path.is_dir():
            raise OutputError(f"{path}: is a folder, expected a file")
        folder = next(parent for parent in path.absolute().parents if parent.exists())  # write makes the rest
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}") from None


def check_plain(path: str | os.PathLike[str]) -> None:
    """Refuse what is no file: reading a pipe waits for ever, and a device may have no end."""
    mode = Path(path).stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{path}: expected a file, not a pipe or device")


LARGEST = 2**40
"""Bytes of an array that a file may hold."""

# What the machine says when it is at fault: failing disks and mounts, too little memory or room, too many open files.
_MACHINE_S = {errno.EIO, errno.ESTALE, errno.ETIMEDOUT, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT}
_MACHINE_S |= {errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENODEV, errno.ENOTCONN}

# Libraries written in C++ say so in words alone.
_MACHINE_S_WORDS = (
    "out of memory",
    "allocate memory",
    "insufficient memory",
    "bad_alloc",
    "alloc_failed",
    "cuda error",
    "no space left",
)


def machine_at_fault(error: Exception) -> bool:
    """Whether the machine is to blame for an error, and not what was read or worked on."""
    if isinstance(error, MemoryError):
        # numpy says for how large an array: no machine has room for some that broken files claim to be.
        claimed = math.prod(getattr(error, "shape", ())) * getattr(getattr(error, "dtype", None), "itemsize", 1)
        return claimed < LARGEST
    if isinstance(error, OSError):
        return error.errno in _MACHINE_S
    said = str(error).lower()
    return any(words in said for words in _MACHINE_S_WORDS)


def unreadable(path: str | os.PathLike[str], error: OSError) -> Exception:
    """What to raise for a file that cannot be read: the error as it is where the machine is at fault."""
    return error if machine_at_fault(error) else InputError(f"{path}: cannot be read: {error.strerror or error}")


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Raise as :func:`unreadable` does where ``path``, or what lies in it, cannot be looked into or read."""
    try:
        yield
    except OSError as error:
        raise unreadable(error.filename or path, error) from None


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The whole file, or an error that names it."""
    with reading(path):
        check_plain(path)
        return Path(path).read_bytes()


def read_text(path: str | os.PathLike[str]) -> str:
    """The whole file as UTF-8."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: expected a text file") from None


def load_json(path: str | os.PathLike[str]) -> Any:
    """A JSON file."""
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON: {error}") from None


def load_npz(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The arrays of an ``.npz`` file; object arrays, which are pickles, are refused."""
    require_file(path)
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputError(f"{path}: expected an .npz archive, found a single array")
            return {key: archive[key] for key in archive.files}
    except InputError:
        raise
    except Exception as error:  # numpy, zip and zlib raise what they like on broken files
        if machine_at_fault(error):
            raise
        raise InputError(f"{path}: expected an .npz archive of plain arrays: {error}") from None


def load_npy(path: str | os.PathLike[str]) -> np.ndarray:
    """The array of an ``.npy`` file; object arrays, which are pickles, are refused."""
    require_file(path)
    try:
        array = np.load(path, allow_pickle=False)
    except Exception as error:  # numpy raises what it likes on broken files
        if machine_at_fault(error):
            raise
        raise InputError(f"{path}: expected an .npy file of a plain array: {error}") from None
    if not isinstance(array, np.ndarray):
        array.close()
        raise InputError(f"{path}: expected a single array, found an archive")
    return array


def require_file(path: str | os.PathLike[str]) -> None:
    """Refuse what is not there, and folders."""
    if Path(path).is_dir():
        raise InputError(f"{path}: is a folder, expected a file")
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file")
