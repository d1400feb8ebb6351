"""Camera motions of the three cases and the three motion classes.

Amplitudes follow from the blur wanted, in pixels, at the nearest thing in view: ``s = T D / f``
[eq:blur_extension_inplane_motion].
"""

import math

import numpy as np

import icb
from icb.errors import InputError

MOTIONS: dict[str, tuple[str, str]] = {"parallax": ("xy", ""), "xy-rotation": ("xy", "xy"), "6-DoF": ("xyz", "xyz")}
"""Motion class to (translation axes, rotation axes)."""
RATES = {"Macro": 500.0, "Trucking": 2000.0, "Standard": 500.0, "iOS": 60.0}
"""Poses a second."""
BLUR_SHARE = {"Macro": 0.028, "Trucking": 0.028, "Standard": 0.028, "iOS": 0.05}
"""Default blur extent at the nearest thing, as a share of the (upright) picture's width. A recording's
half second holds more motion than an exposure."""
ROTATION_SHARE = {"Macro": 0.4, "Trucking": 0.4, "Standard": 1.0, "iOS": 0.1}
"""Blur from rotation over the blur wanted; far things are blurred by rotation alone."""
DEPTHWISE_SHARE = {"Macro": 0.25, "Standard": 0.25, "iOS": 0.1}
"""Motion along the optical axis over that in the image plane. The paper finds parallax dominating in its
recordings, so those get less of it. ICB neglects this motion and PWB does not: the share decides which of
them comes closer, and must not be taken for a measurement of hands."""
ROLL_SHARE = 0.2
"""Turning about the optical axis over turning the view."""
STANDARD_SHAKE = 3e-3
"""Metres that the hand moves where the blur wanted says nothing: all things are far."""
DIRECTIONS = (0.0, 180.0, 12.0, -12.0, 168.0, 192.0)
"""Degrees in the image plane of the six trucking motions."""


def check_seed(seed: int) -> None:
    """Refuse seeds that are no seeds: dates and names stand for them."""
    if not 0 <= seed < 10_000:
        raise InputError(f"seed: got {seed}, expected a whole number from 0 to 9999")


def make_motion(
    case: str, motion: str, *, poses: int, nearest: float, focal: float, pixels: float, seed: int
) -> icb.Trajectory:
    """Poses relative to the reference ``M // 2 + 1``, OpenCV axes.

    ``nearest`` in metres, ``focal`` in pixels; ``pixels`` is the extent of the blur at ``nearest``.
    """
    if motion not in MOTIONS:
        raise InputError(f"motion: got {motion!r}, expected one of {', '.join(MOTIONS)}")
    if poses < 3:
        raise InputError(f"poses: got {poses}, expected at least 3")
    translation_axes, rotation_axes = MOTIONS[motion]
    exposure = (poses - 1) / RATES[case]
    shake = icb.Trajectory.shake(seed=seed, exposure=exposure, rate=RATES[case], translation_mm=1, rotation_deg=1)
    length = pixels / float(icb.blur_extent(1.0, focal, nearest))
    if case == "Trucking":
        shifts = icb.Trajectory.truck(
            speed=length / exposure,
            exposure=exposure,
            direction=DIRECTIONS[seed % len(DIRECTIONS)],
            rate=RATES[case],
        ).translations.copy()
        shifts[:, 2:] = _scaled(shake.translations[:, 2:], STANDARD_SHAKE)
    else:
        reach = STANDARD_SHAKE if case == "Standard" else length
        shifts = _with_third(shake.translations, reach, DEPTHWISE_SHARE[case])
    turns = _with_third(_rotation_vectors(shake.rotations), ROTATION_SHARE[case] * pixels / focal, ROLL_SHARE)
    shifts *= [axis in translation_axes for axis in "xyz"]
    turns *= [axis in rotation_axes for axis in "xyz"]
    trajectory = icb.Trajectory.from_motion(shifts, turns, times=shake.times)
    return trajectory.relative_to(poses // 2 + 1)


def _extent(path: np.ndarray) -> float:
    """The largest distance between two points of a path (N, k)."""
    return float(np.linalg.norm(path[:, None] - path[None], axis=-1).max())


def _scaled(path: np.ndarray, extent: float) -> np.ndarray:
    return np.asarray(path * (extent / _extent(path)))


def _with_third(path: np.ndarray, extent: float, share: float) -> np.ndarray:
    """Scale x and y of a path (N, 3) to an extent, and z to a share of that."""
    return np.concatenate([_scaled(path[:, :2], extent), _scaled(path[:, 2:], share * extent)], 1)


def _rotation_vectors(rotations: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(rotations).as_rotvec())


def euler_angles(rotation: np.ndarray) -> tuple[float, float, float]:
    """Pitch, yaw, roll in radians of ``R = Ry(yaw) Rx(pitch) Rz(roll)``, camera to world."""
    pitch = math.asin(float(np.clip(-rotation[1, 2], -1, 1)))
    yaw = math.atan2(rotation[0, 2], rotation[2, 2])
    roll = math.atan2(rotation[1, 0], rotation[1, 1])
    return pitch, yaw, roll
