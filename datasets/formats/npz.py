"""``.npz`` archives: read without running anything, written in bytes that depend on their content alone."""

import contextlib
import copy
import io
import math
import os
import pickle
import struct
import threading
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from icb import InputError, files
from icb.restricted_pickle import PLAIN_TYPE, loads

EPOCH = (1980, 1, 1, 0, 0, 0)
MAX_ARRAY_BYTES = 1 << 28
"""Larger arrays are refused: a picture of 40 million pixels is half of it."""
MAX_PICKLE_BYTES = 1 << 25

Path = str | os.PathLike[str]

_BROKEN = (
    OSError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    EOFError,
    RuntimeError,
)
"""What zipfile and numpy raise for malformed archives."""


def load_npz_objects(path: Path, keys: list[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an ``.npz`` archive, or those under ``keys``; object arrays hold plain containers,
    numbers, text and numpy arrays, and a file with anything else is refused.
    """
    with Archive(path) as archive:
        return {key: archive[key] for key in (archive.names if keys is None else keys)}


class Archive:
    """An ``.npz`` archive that stays open: its table of contents is parsed once, its arrays are read when
    asked for, by any number of threads.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        with _naming(path):
            self._archive = zipfile.ZipFile(path)
        self._entries = {entry.filename.removesuffix(".npy"): entry for entry in self._archive.infolist()}

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return list(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __getitem__(self, key: str) -> np.ndarray:
        if key not in self._entries:
            raise InputError(f"{self.path}: has no array {key!r}, expected it in the archive")
        where = f"{self.path}, array {key!r}"
        with _naming(self.path):
            # Members share the file and its position. Decoding the bytes needs neither.
            with self._lock:
                data = _member(self._archive, self._entries[key], where)
            return _array(data, where)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors of the archive as those of its user."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except InputError:
        raise
    except _BROKEN as error:
        if files.machine_at_fault(error):
            raise
        raise InputError(f"{path}: expected an .npz archive of arrays: {error}") from None


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> bytes:
    # Python unpacks a piece of the other methods whole, however much comes out of it.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{where}: got compression method {entry.compress_type}, expected stored or deflated")
    size = entry.file_size
    if size > MAX_ARRAY_BYTES:
        raise InputError(f"{where}: got {size} bytes, expected at most {MAX_ARRAY_BYTES}")
    # The declared size may be false, and Python cuts off what is beyond it: a byte more is asked for to see it.
    longer = copy.copy(entry)
    longer.file_size = size + 1
    with archive.open(longer) as stream:
        data = stream.read(size + 1)
    if len(data) != size:
        raise InputError(f"{where}: got {'more' if len(data) > size else len(data)} bytes, expected {size} as declared")
    return data


def _array(data: bytes, where: str) -> np.ndarray:
    stream = io.BytesIO(data)
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    else:
        raise InputError(f"{where}: got version {version} of the .npy format, expected 1.0 or 2.0")
    if dtype.hasobject:
        if len(data) > MAX_PICKLE_BYTES:
            raise InputError(f"{where}: got a pickle of {len(data)} bytes, expected at most {MAX_PICKLE_BYTES}")
        array = loads(stream.read(), where)
        if not isinstance(array, np.ndarray) or array.dtype != object or array.shape != shape:
            raise InputError(f"{where}: expected a pickled object array of shape {shape}")
        return array
    if not PLAIN_TYPE.fullmatch(dtype.str[1:]):
        raise InputError(f"{where}: got elements of type {dtype}, expected plain numbers or text")
    elements = stream.read()
    if any(side < 0 for side in shape) or len(elements) != math.prod(shape) * dtype.itemsize:
        raise InputError(f"{where}: got {len(elements)} bytes, expected {dtype} of shape {shape}")
    return np.frombuffer(elements, dtype).reshape(shape, order="F" if fortran else "C")


def npz_bytes(**arrays: np.ndarray) -> bytes:
    """An archive as ``numpy.savez`` writes it, but with one and the same time stamp, and object arrays
    under names that every version of numpy since 1.17 can load.
    """
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for key, array in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{key}.npy", EPOCH), _npy_bytes(array))
    return stream.getvalue()


def objects(values: list[Any]) -> np.ndarray:
    """A one-dimensional object array of these, whatever they are."""
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _npy_bytes(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    if array.dtype != object:
        np.lib.format.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
        return stream.getvalue()
    np.lib.format.write_array_header_1_0(stream, np.lib.format.header_data_from_array_1_0(array))
    # Protocol 3 has neither frames nor lengths before names, so that a name can be exchanged in place.
    data = pickle.dumps(array, protocol=3)
    return stream.getvalue() + data.replace(b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n")
