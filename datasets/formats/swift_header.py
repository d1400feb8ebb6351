"""The header of DepthBundleRecorder's binaries: Swift descriptions, ``<ENDHEADER>``, garbage, 1024 bytes in all.

``Time:<s>,EulerAngles:SIMD3<Float>(a, b, c)),WorldPose:simd_float4x4([[..], [..], [..], [..]]),``
``Intrinsics:Optional(simd_float3x3([[..], [..], [..]])),WorldToCamera:Optional(simd_float4x4([[..] ..]))``.
Swift lists matrices by columns. The text has a closing bracket too many after the angles.
"""

import os
import re
from dataclasses import dataclass

import numpy as np

from icb import InputError

SIZE = 1024
END = b"<ENDHEADER>"
NUMBER = r"[-+]?(?:nan|inf|\d+(?:\.\d*)?(?:e[-+]?\d+)?)"


@dataclass(frozen=True, eq=False)
class Header:
    """``time`` s; ``euler_angles`` (3,) rad; matrices in the usual order, rows first.

    ``world_pose`` 4 x 4 takes points of the landscape camera to the world; ``world_to_camera`` 4 x 4 takes
    the world to the portrait camera, OpenGL axes; ``intrinsics`` 3 x 3 are those of the landscape picture.
    """

    time: float
    euler_angles: np.ndarray
    world_pose: np.ndarray
    intrinsics: np.ndarray
    world_to_camera: np.ndarray


def format_header(header: Header) -> bytes:
    """Exactly 1024 bytes; what follows the text is the same garbage every time, not valid UTF-8."""
    a, b, c = (_number(angle) for angle in header.euler_angles)
    text = (
        f"Time:{float(header.time)!r},EulerAngles:SIMD3<Float>({a}, {b}, {c})),"
        f"WorldPose:simd_float4x4({_columns(header.world_pose, 4)}),"
        f"Intrinsics:Optional(simd_float3x3({_columns(header.intrinsics, 3)})),"
        f"WorldToCamera:Optional(simd_float4x4({_columns(header.world_to_camera, 4)}))"
    ).encode() + END
    if len(text) > SIZE:
        raise InputError(f"header: got {len(text)} bytes of text, expected at most {SIZE}")
    garbage = bytes((151 * place + 223) % 256 for place in range(len(text), SIZE))
    return text + garbage


def parse_header(data: bytes, path: str | os.PathLike[str]) -> Header:
    """Read what :func:`format_header` writes, or the app; ``path`` is for the messages."""
    if len(data) < SIZE:
        raise InputError(f"{path}: got {len(data)} bytes, expected a header of {SIZE}")
    text, end, _ = data[:SIZE].partition(END)
    if not end:
        raise InputError(f"{path}: the header has no end, expected {END.decode()} within {SIZE} bytes")
    words = text.decode("ascii", "replace")
    return Header(
        time=float(_values(path, words, "Time", "", 1)[0]),
        euler_angles=_values(path, words, "EulerAngles", r"SIMD3<Float>", 3),
        world_pose=_values(path, words, "WorldPose", r"simd_float4x4", 16).reshape(4, 4).T.copy(),
        intrinsics=_values(path, words, "Intrinsics", r"Optional\(simd_float3x3", 9).reshape(3, 3).T.copy(),
        world_to_camera=_values(path, words, "WorldToCamera", r"Optional\(simd_float4x4", 16).reshape(4, 4).T.copy(),
    )


def _number(value: float) -> str:
    """The shortest decimals that give back the same 32-bit float, as Swift prints it."""
    return str(np.float32(value))


def _columns(matrix: np.ndarray, size: int) -> str:
    if np.shape(matrix) != (size, size):
        raise InputError(f"header: got a matrix of shape {np.shape(matrix)}, expected {(size, size)}")
    return "[" + ", ".join("[" + ", ".join(map(_number, column)) + "]" for column in np.transpose(matrix)) + "]"


def _values(path: str | os.PathLike[str], text: str, name: str, kind: str, count: int) -> np.ndarray:
    """The ``count`` numbers after ``name:kind``, float64."""
    more = rf"(?:[\s,\[\]]+{NUMBER}){{{count - 1}}}"
    found = re.search(rf"(?:^|,){name}:{kind}[(\[]*({NUMBER}{more})(?=[\])]|,[A-Z]|$)", text)
    if not found:
        raise InputError(f"{path}: the header has no {name} of {count} numbers, expected Swift's description of it")
    values = np.array([float(word) for word in re.findall(NUMBER, found[1])])
    if not np.isfinite(values).all():
        raise InputError(f"{path}: got NaN or infinity in the header's {name}, expected finite numbers")
    return values
