"""Photos and depth maps as files."""

import io
import os
from pathlib import Path

import cv2
import numpy as np

from icb import files
from icb.errors import InputError

DEPTH_FORMATS = ".npy, .npz, .exr or 16-bit .png"


def read_image(path: str | os.PathLike[str]) -> np.ndarray:
    """A photo as RGB float32 between 0 and 1, (H, W, 3). The camera's orientation mark is heeded."""
    data = np.frombuffer(files.read_bytes(path), np.uint8)
    image = _decode(data, cv2.IMREAD_ANYDEPTH | cv2.IMREAD_COLOR)
    if image is None:
        raise InputError(f"{path}: not an image, expected a file such as .png, .jpg or .tif")
    if image.dtype not in (np.uint8, np.uint16):
        raise InputError(f"{path}: got {image.dtype} pixels, expected 8 or 16 bits")
    return as_unit(image[..., ::-1])


def as_unit(pixels: np.ndarray) -> np.ndarray:
    """Whole numbers, 8 or 16 bits each, as float32 between 0 and 1."""
    return pixels.astype(np.float32) / np.float32(np.iinfo(pixels.dtype).max)


def write_image(path: str | os.PathLike[str], image: np.ndarray, *, bits: int = 8) -> None:
    """Write RGB (H, W, 3) or grey (H, W) between 0 and 1, rounded to 8 or 16 bits; ``.npy`` keeps the floats."""
    path = Path(path)
    check_picture(path, bits)
    if path.suffix.lower() == ".npy":
        data = io.BytesIO()
        np.save(data, image, allow_pickle=False)
        files.write(path, lambda temporary: temporary.write_bytes(data.getvalue()))
        return
    most = 2**bits - 1
    pixels = np.floor(np.clip(image, 0, 1) * most + 0.5).astype(np.uint8 if bits == 8 else np.uint16)
    encoded = _encode(path.suffix.lower(), pixels[..., ::-1] if pixels.ndim == 3 else pixels)
    if encoded is None:
        raise InputError(f"{path}: cannot hold {pixels.shape[0]} x {pixels.shape[1]} pixels of {bits} bits")
    files.write(path, lambda temporary: temporary.write_bytes(encoded))


def check_picture(path: str | os.PathLike[str], bits: int = 8) -> None:
    """Refuse what :func:`write_image` could not write, by its name alone: before work that takes long."""
    suffix = Path(path).suffix.lower()
    if suffix == ".npy":
        return
    if bits not in (8, 16):
        raise InputError(f"bits: got {bits}, expected 8 or 16")
    if bits == 16 and suffix not in (".png", ".tif", ".tiff"):
        raise InputError(f"{path}: 16 bits need .png or .tif, got {suffix or 'no ending'!r}")
    if _encode(suffix, np.zeros((1, 1, 3), np.uint8)) is None:
        raise InputError(f"{path}: got {suffix or 'no ending'!r}, expected an image such as .png, .jpg, .tif or .npy")


def _encode(suffix: str, pixels: np.ndarray) -> bytes | None:
    """OpenCV's encoder; None where it knows no such format or cannot."""
    try:
        done, encoded = cv2.imencode(suffix, pixels)
    except cv2.error:
        return None
    return bytes(encoded.tobytes()) if done else None


def read_depth(path: str | os.PathLike[str], *, unit: float | None = None, key: str | None = None) -> np.ndarray:
    """A depth map in metres, (H, W) float32.

    ``unit`` is how many metres one count is: required for a PNG, 1 otherwise. ``key`` names the array of
    an ``.npz`` or the channel of an EXR file where there are several.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if unit is not None and not (np.isfinite(unit) and unit > 0):
        raise InputError(f"depth unit: got {unit}, expected a positive number of metres per count")
    if suffix == ".npy":
        depth = files.load_npy(path)
    elif suffix == ".npz":
        arrays = files.load_npz(path)
        depth = arrays[_only(path, "array", sorted(arrays), key, ("depth", "depth_ref"))]
    elif suffix == ".exr":
        depth = _read_exr(path, key)
    elif suffix == ".png":
        if unit is None:
            raise InputError(f"{path}: a PNG needs its unit in metres per count, for example 0.001 for millimetres")
        depth = _read_depth_png(path)
    else:
        raise InputError(f"{path}: got {suffix or 'no ending'!r}, expected a depth map as {DEPTH_FORMATS}")
    if depth.ndim == 3 and depth.shape[2] == 1:
        depth = depth[..., 0]
    if depth.ndim != 2 or depth.size == 0 or depth.dtype.kind not in "fiu":
        raise InputError(f"{path}: got {depth.dtype} of shape {depth.shape}, expected numbers of shape (H, W)")
    with np.errstate(over="ignore"):
        metres = (depth.astype(np.float64) * (1.0 if unit is None else unit)).astype(np.float32)
    if np.isinf(metres[np.isfinite(depth)]).any():
        raise InputError(f"{path}: got {np.nanmax(depth):g} times a unit of {unit}, expected metres")
    return metres


def _decode(data: np.ndarray, flags: int) -> np.ndarray | None:
    """OpenCV's decoder, its chatter on standard error silenced; None where the bytes are no image."""
    if data.size == 0:
        return None
    level = cv2.utils.logging.getLogLevel()
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    try:
        return cv2.imdecode(data, flags)
    except cv2.error:
        return None
    finally:
        cv2.utils.logging.setLogLevel(level)


def _read_depth_png(path: Path) -> np.ndarray:
    image = _decode(np.frombuffer(files.read_bytes(path), np.uint8), cv2.IMREAD_UNCHANGED)
    if image is None:
        raise InputError(f"{path}: not a PNG image")
    if image.dtype != np.uint16 or image.ndim != 2:
        found = f"{image.dtype.itemsize * 8}-bit, {1 if image.ndim == 2 else image.shape[2]} channels"
        raise InputError(f"{path}: got {found}, expected a 16-bit PNG of one channel")
    return image


def _read_exr(path: Path, key: str | None) -> np.ndarray:
    import OpenEXR

    files.read_bytes(path)
    try:
        channels = OpenEXR.File(str(path), separate_channels=True).channels()
    except Exception as error:  # the library raises what it likes
        raise InputError(f"{path}: not an EXR image: {error}") from None
    return np.asarray(channels[_only(path, "channel", sorted(channels), key, ("Z", "depth.Z", "Depth.Z", "Y"))].pixels)


def _only(path: Path, kind: str, names: list[str], key: str | None, preferred: tuple[str, ...]) -> str:
    """The one name meant: the key given, a customary one, or the only one there is."""
    if key is not None:
        if key not in names:
            raise InputError(f"{path}: has no {kind} {key!r}, expected one of {', '.join(names) or 'none'}")
        return key
    for name in preferred:
        if name in names:
            return name
    if len(names) != 1:
        raise InputError(f"{path}: name the {kind} that is the depth, one of {', '.join(names) or 'none'}")
    return names[0]
