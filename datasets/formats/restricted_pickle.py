"""Object arrays, which are pickles, read without running anything.

The unpickler never hands out a function or class of numpy's or of anyone else: the few names that
numpy arrays are pickled under stand for small classes of this module, which check what they are given
and copy plain numbers out of it. Any other name is refused.
"""

import io
import math
import os
import pickle
import re
import zipfile
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from icb import InputError

MAX_ARRAY_BYTES = 1 << 28
"""Larger arrays are refused: a picture of 40 million pixels is half of it."""
MAX_PICKLE_BYTES = 1 << 25
MAX_DEPTH = 32
MAX_NODES = 1 << 20

PLAIN_TYPE = re.compile(r"[biufc]\d{1,2}|[SU]\d{1,4}")

Path = str | os.PathLike[str]


def load_npz_objects(path: Path, keys: list[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an ``.npz`` archive, or those under ``keys``; object arrays hold plain containers,
    numbers, text and numpy arrays, and a file with anything else is refused.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            found = {name.removesuffix(".npy"): name for name in archive.namelist()}
            if keys is None:
                keys = list(found)
            for key in keys:
                if key not in found:
                    raise InputError(f"{path}: has no array {key!r}, expected it in the archive")
            return {key: _load_member(archive, found[key], path) for key in keys}
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except InputError:
        raise
    except (OSError, zipfile.BadZipFile, ValueError, EOFError, RuntimeError, NotImplementedError, MemoryError) as error:
        raise InputError(f"{path}: expected an .npz archive of arrays: {error}") from None


def names_of_npz(path: Path) -> list[str]:
    """Names of the arrays, nothing read but the table of contents."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: expected an .npz archive: {error}") from None


def loads(data: bytes, path: Path) -> Any:
    """Unpickle plain containers, numbers, text and numpy arrays; ``path`` is for the messages."""
    try:
        return _Plain()(_Unpickler(io.BytesIO(data)).load(), 0)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except Exception as error:  # malformed pickles raise anything at all
        raise InputError(f"{path}: expected a pickle of plain containers and arrays: {error}") from None


def _load_member(archive: zipfile.ZipFile, name: str, path: Path) -> np.ndarray:
    entry = archive.getinfo(name)
    where = f"{path}, array {name.removesuffix('.npy')!r}"
    # An archive cannot yield more than the size it declares, so that this also stops zip bombs.
    if entry.file_size > MAX_ARRAY_BYTES:
        raise InputError(f"{where}: got {entry.file_size} bytes, expected at most {MAX_ARRAY_BYTES}")
    with archive.open(entry) as stream:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, fortran, dtype = np.lib.format.read_array_header_2_0(stream)
        else:
            raise InputError(f"{where}: got version {version} of the .npy format, expected 1.0 or 2.0")
        if dtype.hasobject:
            if entry.file_size > MAX_PICKLE_BYTES:
                raise InputError(
                    f"{where}: got a pickle of {entry.file_size} bytes, expected at most {MAX_PICKLE_BYTES}"
                )
            array = loads(stream.read(), where)
            if not isinstance(array, np.ndarray) or array.dtype != object or array.shape != shape:
                raise InputError(f"{where}: expected a pickled object array of shape {shape}")
            return array
        if not PLAIN_TYPE.fullmatch(dtype.str[1:]):
            raise InputError(f"{where}: got elements of type {dtype}, expected plain numbers or text")
        data = stream.read()
        if any(side < 0 for side in shape) or len(data) != math.prod(shape) * dtype.itemsize:
            raise InputError(f"{where}: got {len(data)} bytes, expected {dtype} of shape {shape}")
        return np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")


class _Type:
    """Stands for ``numpy.dtype`` while unpickling."""

    def __init__(self, spec: object = None, *_: object) -> None:
        if spec != "O8" and spec != "O" and not (isinstance(spec, str) and PLAIN_TYPE.fullmatch(spec)):
            raise InputError(f"got array elements of type {spec!r}, expected plain numbers or text")
        self.spec = str(spec)
        self.order = "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        order, subtype, names, fields = state[1:5]
        if order not in ("<", ">", "|", "=") or (subtype, names, fields) != (None, None, None):
            raise InputError("got a structured array, expected plain numbers or text")
        self.order = order

    def dtype(self) -> np.dtype:
        """The real one."""
        if self.spec[0] == "O":
            return np.dtype(object)
        return np.dtype(self.spec if self.order == "|" else self.order + self.spec)


class _Array:
    """Stands for ``numpy.ndarray`` while unpickling."""

    content: np.ndarray | tuple[tuple[int, ...], list[Any]] | None = None

    def __init__(self, *_: object) -> None:
        """What is given to it here is thrown away by numpy too: the state that follows has it all."""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, fortran, data = state
        self.fill(kind, shape, "F" if fortran else "C", data)

    def fill(self, kind: Any, shape: Any, order: str, data: Any) -> None:
        """Check and keep the elements."""
        if not isinstance(kind, _Type) or not isinstance(shape, tuple) or order not in ("C", "F"):
            raise InputError("got a pickled array without type or shape, expected both")
        if len(shape) > MAX_DEPTH or not all(type(side) is int and side >= 0 for side in shape):
            raise InputError(f"got a pickled array of shape {shape!r}, expected whole numbers")
        count = math.prod(shape)
        if kind.dtype().hasobject:
            if not isinstance(data, list) or len(data) != count or order != "C":
                raise InputError(f"got a pickled object array without its {count} elements, expected a list of them")
            self.content = (shape, data)
            return
        if not isinstance(data, bytes | bytearray) or len(data) != count * kind.dtype().itemsize:
            raise InputError(f"got a pickled array of shape {shape} without its bytes, expected {kind.spec}")
        self.content = (
            np.frombuffer(bytes(data), kind.dtype()).reshape(shape, order="F" if order == "F" else "C").copy()
        )


def _reconstruct(*arguments: object) -> _Array:
    return _Array(*arguments)


def _from_buffer(data: Any, kind: Any, shape: Any, order: str = "C", *_: object) -> _Array:
    array = _Array()
    array.fill(kind, shape, order, data)
    return array


def _scalar(kind: Any, data: Any = b"") -> _Array:
    return _from_buffer(data, kind, ())


class _Function:
    """Stands for a function of numpy's. A pickle may give a state to what it has; this takes none."""

    __slots__ = ("_work",)

    def __init__(self, work: Callable[..., _Array]) -> None:
        self._work = work

    def __call__(self, *arguments: Any) -> _Array:
        return self._work(*arguments)

    def __setstate__(self, state: object) -> NoReturn:
        raise InputError("refused: it changes a function, expected plain containers and numpy arrays only")


_CORE = ("numpy.core", "numpy._core")  # before and since numpy 2
_NAMES: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    **{(f"{core}.multiarray", "_reconstruct"): _Function(_reconstruct) for core in _CORE},
    **{(f"{core}.multiarray", "scalar"): _Function(_scalar) for core in _CORE},
    **{(f"{core}.numeric", "_frombuffer"): _Function(_from_buffer) for core in _CORE},
}


class _Unpickler(pickle._Unpickler):
    """Python's own, not the compiled one: its memo is a dictionary, where an invented index costs nothing."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _NAMES:
            raise InputError(f"refused: it asks for {module}.{name}, expected plain containers and numpy arrays only")
        return _NAMES[module, name]

    def persistent_load(self, pid: Any) -> NoReturn:
        raise InputError("refused: it refers to something outside the file, expected plain containers and arrays only")


class _Plain:
    """Makes the same content with real arrays, as a tree: what contains itself, or the same thing over and
    over, ends at :data:`MAX_DEPTH` and :data:`MAX_NODES`.
    """

    nodes = 0

    def __call__(self, value: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise InputError(f"got containers over {MAX_DEPTH} deep or over {MAX_NODES} values, expected fewer")
        if isinstance(value, _Array):
            return self._array(value, depth)
        if isinstance(value, dict):
            return {self(key, depth + 1): self(entry, depth + 1) for key, entry in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return type(value)(self(entry, depth + 1) for entry in value)
        if value is None or isinstance(value, bool | int | float | complex | str | bytes | bytearray):
            return value
        raise InputError(f"got {type(value).__name__}, expected plain containers, numbers, text and arrays")

    def _array(self, value: _Array, depth: int) -> Any:
        if isinstance(value.content, np.ndarray):
            return value.content if value.content.ndim else value.content[()]
        if value.content is None:
            raise InputError("got a pickled array without its content, expected its elements")
        shape, elements = value.content
        array = np.empty(len(elements), object)
        for place, element in enumerate(elements):
            array[place] = self(element, depth + 1)
        return array.reshape(shape)
