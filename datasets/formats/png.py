"""8-bit PNG pictures, checked before they are decoded."""

import os
import struct

import cv2
import numpy as np

from icb import InputError, files
from icb.threads import each_band

SIGNATURE = b"\x89PNG\r\n\x1a\n"

Path = str | os.PathLike[str]


def size(path: Path) -> tuple[int, int]:
    """(H, W) of a PNG, from its first bytes."""
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - also takes strings
            return _header(stream.read(33), path)[:2]
    except OSError as error:
        raise files.unreadable(path, error) from None


def read(path: Path, expected: tuple[int, int] | None = None) -> np.ndarray:
    """(H, W, 3) uint8 RGB, alpha dropped. ``expected`` is the (H, W) it must have."""
    return decode(files.read_bytes(path), path, expected)


def decode(data: bytes, path: Path, expected: tuple[int, int] | None = None) -> np.ndarray:
    """As :func:`read`, from the bytes; ``path`` is for the messages."""
    height, width, bits, colour = _header(data, path)
    if bits != 8 or colour not in (2, 6):
        raise InputError(f"{path}: got a PNG of {bits} bits, colour type {colour}, expected 8-bit RGB or RGBA")
    if expected is not None and (height, width) != expected:
        raise InputError(f"{path}: got {width} x {height} pixels, expected {expected[1]} x {expected[0]}")
    _require_whole(data, path)
    image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION)
    if image is None or image.shape != (height, width, 3):
        raise InputError(f"{path}: the PNG is damaged, expected {width} x {height} pixels")
    return np.asarray(image)


def encode(image: np.ndarray) -> bytes:
    """(H, W, 3) RGB or (H, W, 4) RGBA uint8 as PNG."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] not in (3, 4):
        raise InputError(f"picture: got {image.dtype} {image.shape}, expected uint8 (H, W, 3 or 4)")
    order = cv2.COLOR_RGB2BGR if image.shape[2] == 3 else cv2.COLOR_RGBA2BGRA
    return bytes(cv2.imencode(".png", cv2.cvtColor(image, order))[1].tobytes())


def encode_all(*images: np.ndarray) -> list[bytes]:
    """Several pictures, in threads."""
    return each_band(lambda index: encode(images[index]), range(len(images)))


def read_all(*paths: Path, expected: tuple[int, int] | None = None) -> list[np.ndarray]:
    """Several pictures, in threads."""
    return each_band(lambda index: read(paths[index], expected), range(len(paths)))


def _header(data: bytes, path: Path) -> tuple[int, int, int, int]:
    """(H, W, bits, colour type)."""
    if data[:8] != SIGNATURE or len(data) < 33 or data[12:16] != b"IHDR":
        raise InputError(f"{path}: expected a PNG")
    width, height, bits, colour = struct.unpack(">IIBB", data[16:26])
    if not 0 < width * height <= 1 << 28:
        raise InputError(f"{path}: got {width} x {height} pixels, expected a picture of at most {1 << 28}")
    return height, width, bits, colour


def _require_whole(data: bytes, path: Path) -> None:
    """All pieces up to the last are there; the decoder checks their sums."""
    place = len(SIGNATURE)
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        if data[place + 4 : place + 8] == b"IEND":
            return
        place += 12 + length
    raise InputError(f"{path}: the PNG ends too early after {len(data)} bytes, expected its end mark")
