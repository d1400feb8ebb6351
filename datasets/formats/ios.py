"""What iOS recordings have in common: information about a frame, upright pictures and their intrinsics.

The sensor lies on its side. The quarter turn ``np.flip(a.T, 1)`` sends landscape (row v, column u) to
portrait (row u, column H - 1 - v), H being the rows of the landscape picture.
"""

import os
from typing import Any

import cv2
import numpy as np
from numpy.typing import ArrayLike

from datasets.formats.swift_header import Header
from icb import Camera, InputError

FLIP = np.diag([1.0, -1.0, -1.0, 1.0])
FULL_LANDSCAPE = (1440, 1920)
"""(H, W) of ARKit's picture, which full intrinsics of the published set are taken to belong to."""

Path = str | os.PathLike[str]


def opengl_to_opencv(matrix: ArrayLike) -> np.ndarray:
    """``S M S`` with S = diag(1, -1, -1, 1), for one matrix or a stack: the world turns over too."""
    return np.asarray(FLIP @ np.asarray(matrix, np.float64) @ FLIP)


def upright(picture: np.ndarray) -> np.ndarray:
    """``np.flip(a.T, 1)`` for one channel or several."""
    return np.asarray(cv2.rotate(picture, cv2.ROTATE_90_CLOCKWISE))


def upright_camera(intrinsics: np.ndarray, landscape_height: int) -> Camera:
    """Camera of the portrait picture from the landscape K: fx = K11, fy = K00, cx = H - 1 - K12, cy = K02."""
    k = intrinsics
    return Camera(k[1, 1], k[0, 0], landscape_height - 1 - k[1, 2], k[0, 2])


def stored_camera(intrinsics: np.ndarray, size: tuple[int, int]) -> tuple[Camera, str]:
    """Camera of a stored portrait picture of (H, W), and what its K was taken for.

    A principal point outside the picture gives away the full landscape K.
    """
    camera = Camera.from_matrix(intrinsics)
    height, width = size
    if -0.5 <= camera.cx <= width - 0.5 and -0.5 <= camera.cy <= height - 0.5:
        return camera, "stored image"
    rows, columns = FULL_LANDSCAPE
    return upright_camera(intrinsics, rows).scaled(width / rows, height / columns), "full landscape"


def to_dict(header: Header, *, start: float, camera: Camera) -> dict[str, Any]:
    """One entry of ``bundle_info``: ``timestamp`` from ``start``, K of the stored picture, the rest as recorded."""
    return {
        "timestamp": float(header.time - start),
        "euler_angles": np.array(header.euler_angles, np.float64),
        "world_pose": np.array(header.world_pose, np.float64),
        "intrinsics": camera.matrix,
        "world_to_camera": np.array(header.world_to_camera, np.float64),
    }


def from_dict(info: object, name: Path) -> Header:
    """The inverse, whatever the time and the intrinsics count from; ``name`` is for the messages."""
    if not isinstance(info, dict):
        raise InputError(f"{name}: got {type(info).__name__}, expected a dictionary about the frame")
    return Header(
        time=float(_numbers(info, "timestamp", (), name)),
        euler_angles=_numbers(info, "euler_angles", (3,), name),
        world_pose=_numbers(info, "world_pose", (4, 4), name),
        intrinsics=_numbers(info, "intrinsics", (3, 3), name),
        world_to_camera=_numbers(info, "world_to_camera", (4, 4), name),
    )


def _numbers(info: dict[Any, Any], key: str, shape: tuple[int, ...], name: Path) -> np.ndarray:
    if key not in info:
        raise InputError(f"{name}: has no {key!r}, expected it for every frame")
    try:
        values = np.array(info[key], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected {key!r} to be numbers") from None
    if values.shape != shape or not np.isfinite(values).all():
        raise InputError(f"{name}: got {key!r} of shape {values.shape}, expected finite numbers of shape {shape}")
    return values
