"""Makers of trajectories: trucking, hand shake, and the recordings of Köhler et al."""

import math
import os
import re
from pathlib import Path

import numpy as np

from icb import files
from icb.errors import InputError
from icb.trajectory import Trajectory


def truck(*, speed: float, exposure: float = 1 / 30, direction: float = 0.0, rate: float = 2000.0) -> Trajectory:
    """A camera that slides past the scene, as from a moving car.

    ``speed`` in metres per second; ``direction`` in degrees in the image plane, 0 to the right, 90
    upwards; ``rate`` poses per second over ``exposure`` seconds. The reference is the middle pose.
    """
    times = _clock(exposure, rate)
    _finite(speed=speed, direction=direction)
    path = np.zeros((len(times), 3))
    angle = math.radians(direction)
    path[:, 0] = math.cos(angle) * speed * times
    path[:, 1] = -math.sin(angle) * speed * times
    return Trajectory.from_motion(-(path - path[len(path) // 2]), times=times)


def shake(
    *,
    seed: int = 0,
    translation_mm: float = 3.0,
    rotation_deg: float = 0.1,
    exposure: float = 1 / 8,
    rate: float = 500.0,
    tremor: float = 0.35,
) -> Trajectory:
    """A hand-held camera: slow drift plus physiological tremor (8 to 12 Hz) in all six degrees of freedom.

    ``translation_mm`` and ``rotation_deg`` are the largest excursion from the reference, the middle
    pose, within the exposure; ``tremor`` is the tremor's share of the motion. Same seed, same motion.
    """
    times = _clock(exposure, rate)
    _finite(translation_mm=translation_mm, rotation_deg=rotation_deg)
    for name, value in (("translation_mm", translation_mm), ("rotation_deg", rotation_deg)):
        if value < 0:
            raise InputError(f"{name}: got {value}, expected at least 0")
    if not 0 <= tremor <= 1:
        raise InputError(f"tremor: got {tremor}, expected a share between 0 and 1")
    if seed < 0:
        raise InputError(f"seed: got {seed}, expected a whole number of at least 0")
    random = np.random.default_rng(seed)
    motion = (1 - tremor) * _waves(random, times, 0.3, 3.0) + tremor * _waves(random, times, 8.0, 12.0)
    motion -= motion[len(motion) // 2]
    translation = _with_peak(motion[:, :3], translation_mm * 1e-3)
    rotation = _with_peak(motion[:, 3:], math.radians(rotation_deg))
    return Trajectory.from_motion(translation, rotation, times=times)


def read_kohler(
    path: str | os.PathLike[str],
    *,
    rate: float | None = None,
    exposure: float | None = None,
    translation: str = "xyz",
    rotation: str = "xyz",
) -> Trajectory:
    """A trajectory recorded by Köhler et al. 2012.

    Rows are ``rx, rz, ry`` in degrees and ``tx, tz, ty`` in millimetres, x right, y up, z forward. A
    resting row is put in front, the motion is centred on row ``M // 2 + 1`` and negated: the camera
    moved, so the scene moves the other way. ``rate`` comes from the folder ``Frames<rate>`` unless
    given; ``exposure`` in seconds keeps the beginning; axes not named in ``translation`` and
    ``rotation`` are held still.
    """
    path = Path(path)
    for name, axes in (("translation", translation), ("rotation", rotation)):
        if set(axes) - set("xyz"):
            raise InputError(f"{name}: got {axes!r}, expected letters of 'xyz'")
    rows = _kohler_rows(path)
    if rate is None:
        folder = re.fullmatch(r"Frames(\d+(?:\.\d+)?)", path.resolve().parent.name)
        rate = float(folder.group(1)) if folder else None
    if exposure is not None:
        if rate is None:
            raise InputError(f"{path}: exposure needs the rate: put the file in a folder Frames<rate>, or give rate")
        rows = rows[: max(1, math.floor(exposure * rate + 0.5))]
    count = len(rows)
    if count < 3:
        raise InputError(f"{path}: got {count} poses, the resting one included, expected at least 3")
    rows = rows - rows[count // 2 + 1]
    angles = -rows[:, [0, 2, 1]] * [axis in rotation for axis in "xyz"]
    shifts = -rows[:, [3, 5, 4]] * [axis in translation for axis in "xyz"] * 1e-3

    from scipy.spatial.transform import Rotation

    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.from_euler("xyz", angles, degrees=True).as_matrix()
    poses[:, :3, 3] = shifts
    upright = np.diag([1.0, -1.0, 1.0, 1.0])  # y up to y down
    times = None if rate is None else np.arange(count) / rate
    return Trajectory(upright @ poses @ upright, times=times)


def _kohler_rows(path: Path) -> np.ndarray:
    rows = [np.zeros(6)]
    for number, line in enumerate(files.read_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = np.array([float(word) for word in line.split(",")])
        except ValueError:
            row = np.zeros(0)
        if row.shape != (6,) or not np.isfinite(row).all():
            raise InputError(f"{path}, line {number}: got {line[:60]!r}, expected six numbers separated by commas")
        rows.append(row)
    return np.stack(rows)


def _clock(exposure: float, rate: float) -> np.ndarray:
    for name, value in (("exposure", exposure), ("rate", rate)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name}: got {value}, expected a positive number")
    count = math.floor(exposure * rate + 0.5) + 1
    if not 2 <= count <= 1_000_000:
        raise InputError(
            f"exposure {exposure:g} s at {rate:g} poses a second makes {count} poses, expected 2 to 1,000,000"
        )
    return np.linspace(0, exposure, count)


def _finite(**values: float) -> None:
    for name, value in values.items():
        if not math.isfinite(value):
            raise InputError(f"{name}: got {value}, expected a finite number")


def _waves(random: np.random.Generator, times: np.ndarray, low: float, high: float) -> np.ndarray:
    """Six channels of smooth noise between two frequencies (Hz), of unit variance over long times."""
    waves = 12
    frequency = random.uniform(low, high, (6, waves))
    phase = random.uniform(0, 2 * math.pi, (6, waves))
    amplitude = random.normal(size=(6, waves))
    amplitude *= math.sqrt(2) / np.linalg.norm(amplitude, axis=1, keepdims=True)
    angle = 2 * math.pi * frequency[..., None] * times + phase[..., None]
    return np.asarray(np.einsum("cw,cwt->tc", amplitude, np.sin(angle)))


def _with_peak(motion: np.ndarray, peak: float) -> np.ndarray:
    largest = np.linalg.norm(motion, axis=1).max()
    return motion * (peak / largest) if largest > 0 else motion
