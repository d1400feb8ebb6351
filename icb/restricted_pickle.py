"""Pickles of plain containers and numpy arrays, read without running anything.

The unpickler never hands out a function or class of numpy's or of anyone else: the few names that
numpy arrays are pickled under stand for small classes of this module, which check what they are given
and copy plain numbers out of it. Any other name is refused.
"""

import io
import math
import os
import pickle
import re
import struct
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

import numpy as np

from icb.errors import InputError

MAX_SIDE = 1 << 28
MAX_DEPTH = 32
MAX_NODES = 1 << 20
MAX_KEY_BITS = 64

PLAIN_TYPE = re.compile(r"[biufc]\d{1,2}|[SU]\d{1,4}")

Path = str | os.PathLike[str]


def loads(data: bytes, path: Path) -> Any:
    """Unpickle plain containers, numbers, text and numpy arrays; ``path`` is for the messages."""
    try:
        return _Plain()(_Unpickler(io.BytesIO(data)).load(), 0)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except Exception as error:  # malformed pickles raise anything at all
        raise InputError(f"{path}: expected a pickle of plain containers and arrays: {error}") from None


class _Type:
    """Stands for ``numpy.dtype`` while unpickling."""

    def __init__(self, spec: object = None, *_: object) -> None:
        if spec != "O8" and spec != "O" and not (isinstance(spec, str) and PLAIN_TYPE.fullmatch(spec)):
            # Only text is written out: a tuple may hold the same tuple over and over.
            shown = repr(spec[:16]) if isinstance(spec, str) else type(spec).__name__
            raise InputError(f"got array elements of type {shown}, expected plain numbers or text")
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
        if len(shape) > MAX_DEPTH or not all(type(side) is int and 0 <= side <= MAX_SIDE for side in shape):
            kinds = ", ".join(type(side).__name__ for side in shape[:MAX_DEPTH])
            raise InputError(
                f"got a pickled array with a shape of {len(shape)} values ({kinds}), "
                f"expected at most {MAX_DEPTH} whole numbers up to {MAX_SIDE}"
            )
        count = math.prod(shape)
        if kind.dtype().hasobject:
            if not isinstance(data, list) or len(data) != count or order != "C":
                raise InputError(f"got a pickled object array without its {count} elements, expected a list of them")
            self.content = (shape, data)
            return
        if not isinstance(data, bytes | bytearray) or len(data) != count * kind.dtype().itemsize:
            raise InputError(f"got a pickled array of shape {shape} without its bytes, expected {kind.spec}")
        # Not copied: any number of arrays may be made from the same bytes.
        self.content = np.frombuffer(data, kind.dtype()).reshape(shape, order="F" if order == "F" else "C")


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


def _check_keys(keys: list[Any]) -> None:
    """Refuse keys and members that are slow to hash: tuples of the same tuple over and over take for ever, and
    whole numbers, unless short, can be made to have the same hash.
    """
    for key in keys:
        if key is not None and type(key) not in (str, int, float, bytes, bool):
            raise InputError(f"got {type(key).__name__} as key or member of a set, expected text or a number")
        if type(key) is int and key.bit_length() > MAX_KEY_BITS:
            raise InputError(f"got a key of {key.bit_length()} bits, expected at most {MAX_KEY_BITS}")


class _Unpickler(pickle._Unpickler):
    """Python's own, not the compiled one: its memo is a dictionary, where an invented index costs nothing."""

    stack: list[Any]
    append: Callable[[Any], None]
    pop_mark: Callable[[], list[Any]]
    read: Callable[[int], bytes]

    def load_setitem(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._set_items([key, value])

    def load_setitems(self) -> None:
        self._set_items(self.pop_mark())

    def load_dict(self) -> None:
        items = self.pop_mark()
        self.append({})
        self._set_items(items)

    def load_additems(self) -> None:
        members, target = self.pop_mark(), self.stack[-1]
        _check_keys(members)
        if type(target) is not set:
            raise InputError(f"got members for a {type(target).__name__}, expected a set")
        target.update(members)

    def load_frozenset(self) -> None:
        members = self.pop_mark()
        _check_keys(members)
        self.append(frozenset(members))

    def load_bytearray8(self) -> None:
        (length,) = struct.unpack("<Q", self.read(8))
        data = self.read(length)  # takes no more memory than there is data, whatever the length
        if len(data) != length:
            raise InputError(f"got {len(data)} bytes of a bytearray, expected {length}")
        self.append(bytearray(data))

    # The opcodes are found here, not by the names of the methods.
    dispatch: ClassVar[dict[int, Callable[[Any], None]]] = {
        **pickle._Unpickler.dispatch,
        pickle.SETITEM[0]: load_setitem,
        pickle.SETITEMS[0]: load_setitems,
        pickle.DICT[0]: load_dict,
        pickle.ADDITEMS[0]: load_additems,
        pickle.FROZENSET[0]: load_frozenset,
        pickle.BYTEARRAY8[0]: load_bytearray8,
    }

    def _set_items(self, items: list[Any]) -> None:
        target = self.stack[-1]
        _check_keys(items[::2])
        if type(target) is not dict:
            raise InputError(f"got keys for a {type(target).__name__}, expected a dictionary")
        target.update(zip(items[::2], items[1::2], strict=True))

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
