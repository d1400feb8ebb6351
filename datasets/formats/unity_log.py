"""Unity's logs, JSON: one for each pose (camera, pose, depth range) and one for each capture (scene, motion).

Unity's axes are left-handed: x right, y up, z forward. Everything given or returned as ``unity`` is in
them; ``opencv`` is x right, y down, z forward.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from icb import Camera, InputError, files

Path = str | os.PathLike[str]

MOTIONS = {("xy", ""): "parallax", ("xy", "xy"): "xy-rotation", ("xyz", "xyz"): "6-DoF"}
"""Motion classes of the paper's tables by (translation mode, rotation mode)."""

FLIP = np.diag([1.0, -1.0, 1.0, 1.0])
INVERSE_TOLERANCE = 1e-3  # the logs print 32-bit floats


@dataclass(frozen=True, eq=False)
class UnityPose:
    """What a camera log says. Matrices 4 x 4 in Unity's axes; ``image_size`` is (width, height)."""

    world_to_camset: np.ndarray
    camset_to_world: np.ndarray
    camera: Camera
    depth_range: tuple[float, float]
    image_size: tuple[int, int]


def unity_to_opencv(matrix: ArrayLike) -> np.ndarray:
    """``S M S`` with S = diag(1, -1, 1, 1), for one matrix or a stack: both sides' y axes turn over."""
    return np.asarray(FLIP @ np.asarray(matrix, np.float64) @ FLIP)


def camera_log(
    world_to_camera_unity: ArrayLike,
    *,
    position: ArrayLike,
    euler_angles: ArrayLike,
    focal_mm: float,
    sensor_mm: tuple[float, float],
    image_size: tuple[int, int],
    depth_range: tuple[float, float],
) -> dict[str, Any]:
    """The log of one pose. ``position`` in metres, ``euler_angles`` in degrees, ``image_size`` (width, height)."""
    pose = np.asarray(world_to_camera_unity, np.float64)
    near, far = depth_range
    # Unity's own camera matrix follows OpenGL: the camera looks along -z.
    to_camera = np.diag([1.0, 1.0, -1.0, 1.0]) @ pose
    projection = np.zeros((4, 4))
    projection[0, 0], projection[1, 1] = 2 * focal_mm / sensor_mm[0], 2 * focal_mm / sensor_mm[1]
    projection[2, 2], projection[2, 3] = -(far + near) / (far - near), -2 * far * near / (far - near)
    projection[3, 2] = -1.0
    return {
        "cameraPos": {"pos": _vector("xyz", position), "eulerAngles": _vector("xyz", euler_angles)},
        "cameraIntrinsics": {
            "focalLength": float(focal_mm),
            "sensorSize": _vector("xy", sensor_mm),
            "imageSize": _vector("xy", image_size),
            "projectionMatrix": _matrix(projection),
            "worldToCameraMatrix": _matrix(to_camera),
            "cameraToWorldMatrix": _matrix(np.linalg.inv(to_camera)),
        },
        "depthRange": {"min": float(near), "max": float(far)},
        "worldToCamSetMatrix": _matrix(pose),
        "camSetToWorldMatrix": _matrix(np.linalg.inv(pose)),
    }


def parse_camera_log(log: Path | dict[str, Any], name: Path = "camera log") -> UnityPose:
    """Read a log, from its file or its content; ``name`` stands for the file in messages about content."""
    if not isinstance(log, dict):
        return parse_camera_log(_object(files.load_json(log), log), log)
    lens = _get(log, name, "cameraIntrinsics", dict)
    near, far = _numbers(_get(log, name, "depthRange", dict), name, "depthRange", ("min", "max"))
    if not 0 <= near < far:
        raise InputError(f"{name}: got depthRange {near} to {far}, expected 0 <= min < max in metres")
    width, height = _numbers(_get(lens, name, "imageSize", dict), name, "imageSize", "xy")
    if not (width >= 1 and height >= 1 and width.is_integer() and height.is_integer()):
        raise InputError(f"{name}: got imageSize {width} x {height}, expected whole numbers of pixels")
    sensor = _numbers(_get(lens, name, "sensorSize", dict), name, "sensorSize", "xy")
    (focal,) = _numbers(lens, name, "cameraIntrinsics", ("focalLength",))
    if min(*sensor, focal) <= 0:
        raise InputError(f"{name}: got focalLength {focal} and sensorSize {sensor}, expected millimetres above 0")
    forward = _read_matrix(log, name, "worldToCamSetMatrix")
    backward = _read_matrix(log, name, "camSetToWorldMatrix")
    if np.abs(forward @ backward - np.eye(4)).max() > INVERSE_TOLERANCE * max(1.0, np.abs(forward).max()):
        raise InputError(f"{name}: worldToCamSetMatrix and camSetToWorldMatrix are expected to be inverses")
    camera = Camera(focal / sensor[0] * width, focal / sensor[1] * height, (width - 1) / 2, (height - 1) / 2)
    return UnityPose(forward, backward, camera, (near, far), (int(width), int(height)))


def param_log(scene_path: str, translation_mode: str, rotation_mode: str) -> dict[str, Any]:
    """The log of one capture; the misspelt key is Unity's."""
    return {"sceneName": scene_path, "traslationMode": translation_mode, "rotationMode": rotation_mode}


def parse_param_log(path: Path) -> tuple[str, str | None]:
    """The scene (last part of its path) and the motion class, None where it is none of :data:`MOTIONS`."""
    log = _object(files.load_json(path), path)
    scene, translation, rotation = (_get(log, path, key, str) for key in param_log("", "", ""))
    return scene.replace("\\", "/").rstrip("/").rpartition("/")[2], MOTIONS.get((translation, rotation))


def _vector(axes: str, values: ArrayLike) -> dict[str, float]:
    return dict(zip(axes, np.asarray(values, np.float64).tolist(), strict=True))


def _matrix(values: np.ndarray) -> dict[str, float]:
    return {f"e{i}{j}": float(values[i, j]) for i in range(4) for j in range(4)}


def _object(log: Any, name: Path) -> dict[str, Any]:
    if not isinstance(log, dict):
        raise InputError(f"{name}: expected a JSON object")
    return log


def _get(log: dict[str, Any], name: Path, key: str, kind: type) -> Any:
    if not isinstance(log.get(key), kind):
        raise InputError(f"{name}: expected {key!r} as {'an object' if kind is dict else 'text'}")
    return log[key]


def _numbers(log: dict[str, Any], name: Path, what: str, keys: Sequence[str]) -> tuple[float, ...]:
    values = []
    for key in keys:
        value = log.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{name}: got {value!r} for {key!r} of {what}, expected a finite number")
        values.append(float(value))
    return tuple(values)


def _read_matrix(log: dict[str, Any], name: Path, key: str) -> np.ndarray:
    entries = _get(log, name, key, dict)
    return np.array(_numbers(entries, name, key, [f"e{i}{j}" for i in range(4) for j in range(4)])).reshape(4, 4)
