"""Camera trajectories: M rigid poses with weights and, if known, times."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from icb import files
from icb.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RIGID_TOLERANCE = 1e-3  # logs print floats with six digits or so


class Trajectory:
    """Poses ``X_m = R_m X_ref + t_m`` from the reference camera to camera m, OpenCV axes, metres.

    ``weights`` are the dwell times w_m (uniform by default, normalised to sum 1); ``times`` are seconds,
    increasing, one per pose.
    """

    poses: np.ndarray
    weights: np.ndarray
    times: np.ndarray | None

    def __init__(self, poses: ArrayLike, weights: ArrayLike | None = None, times: ArrayLike | None = None) -> None:
        self.poses = _frozen(_check_poses(poses))
        self.weights = _frozen(_check_weights(weights, len(self.poses)))
        self.times = None if times is None else _frozen(_check_times(times, len(self.poses)))

    def __len__(self) -> int:
        return len(self.poses)

    def __repr__(self) -> str:
        extent = np.ptp(self.translations, axis=0) * 1e3
        duration = "" if self.times is None else f", {self.times[-1] - self.times[0]:g} s"
        return f"Trajectory({len(self)} poses, extent {extent[0]:.3g} x {extent[1]:.3g} x {extent[2]:.3g} mm{duration})"

    @property
    def rotations(self) -> np.ndarray:
        """R_m, (M, 3, 3)."""
        return self.poses[:, :3, :3]

    @property
    def translations(self) -> np.ndarray:
        """t_m in metres, (M, 3)."""
        return self.poses[:, :3, 3]

    @property
    def centres(self) -> np.ndarray:
        """The camera's centre at each pose in the axes of the reference camera, ``-R't``, (M, 3) in metres."""
        return np.asarray(-np.einsum("mji,mj->mi", self.rotations, self.translations))

    @classmethod
    def from_motion(
        cls, translations: ArrayLike, rotation_vectors: ArrayLike | None = None, **options: Any
    ) -> Trajectory:
        """From translations t_m (M, 3) in metres and rotation vectors (M, 3) in radians."""
        t = _numbers("translations", translations)
        if t.ndim != 2 or t.shape[1] != 3:
            raise InputError(f"translations: got shape {t.shape}, expected (M, 3)")
        poses = np.tile(np.eye(4), (len(t), 1, 1))
        poses[:, :3, 3] = t
        if rotation_vectors is not None:
            from scipy.spatial.transform import Rotation

            vectors = _numbers("rotation vectors", rotation_vectors)
            if vectors.shape != t.shape:
                raise InputError(f"rotation vectors: got shape {vectors.shape}, expected {t.shape} as the translations")
            poses[:, :3, :3] = Rotation.from_rotvec(vectors).as_matrix()
        return cls(poses, **options)

    def relative_to(self, index: int) -> Trajectory:
        """The same motion with pose ``index`` as the reference: ``P_m inv(P_index)``."""
        if not -len(self) <= index < len(self):
            raise InputError(f"reference pose: got {index}, expected an index of {len(self)} poses")
        poses = self.poses @ np.linalg.inv(self.poses[index])
        # Logs are rounded; a product of two such poses is off by more than either.
        left, _, right = np.linalg.svd(poses[:, :3, :3])
        poses[:, :3, :3] = left @ right
        poses[index] = np.eye(4)
        return Trajectory(poses, self.weights, self.times)

    def resample(self, count: int) -> Trajectory:
        """``count`` poses at equal steps of time (of the index where times are unknown).

        Rotations are interpolated on the sphere, translations linearly; the weights, as a density
        over time, likewise.
        """
        if count < 1:
            raise InputError(f"number of poses: got {count}, expected at least 1")
        clock = np.arange(len(self), dtype=np.float64) if self.times is None else self.times
        if len(self) == 1:
            repeated = np.repeat(self.poses, count, axis=0)
            return Trajectory(repeated, times=None if self.times is None or count > 1 else self.times)
        ticks = np.linspace(clock[0], clock[-1], count) if count > 1 else np.array([(clock[0] + clock[-1]) / 2])
        from scipy.spatial.transform import Rotation, Slerp

        poses = np.tile(np.eye(4), (count, 1, 1))
        poses[:, :3, :3] = Slerp(clock, Rotation.from_matrix(self.rotations))(ticks).as_matrix()
        for axis in range(3):
            poses[:, axis, 3] = np.interp(ticks, clock, self.translations[:, axis])
        density = self.weights / np.gradient(clock)
        weights = np.interp(ticks, clock, density)
        if weights.sum() == 0:  # all of it lies between the ticks
            nearest = np.abs(ticks[:, None] - clock).argmin(axis=0)
            weights = np.bincount(nearest, self.weights, minlength=count)
        return Trajectory(poses, weights, None if self.times is None else ticks)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write ``.npz`` or ``.json``: ``poses``, ``weights`` and, if known, ``times``."""
        path = Path(path)
        content = {"poses": self.poses, "weights": self.weights}
        if self.times is not None:
            content["times"] = self.times
        if path.suffix.lower() == ".npz":
            files.write(path, lambda temporary: _savez(temporary, content))
        elif path.suffix.lower() == ".json":
            text = json.dumps({key: value.tolist() for key, value in content.items()})
            files.write(path, lambda temporary: temporary.write_text(text))
        else:
            raise InputError(f"{path}: got {path.suffix!r}, expected a trajectory to be .npz or .json")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read what :meth:`save` wrote, or a Köhler file (``.txt``, ``.csv``)."""
        path = Path(path)
        suffix = path.suffix.lower()
        if suffix in (".txt", ".csv"):
            return cls.from_kohler(path)
        if suffix == ".npz":
            content = files.load_npz(path)
        elif suffix == ".json":
            content = files.load_json(path)
        else:
            raise InputError(f"{path}: expected a trajectory as .npz, .json, or .txt (Köhler)")
        if not isinstance(content, dict) or "poses" not in content:
            found = ", ".join(sorted(content)) if isinstance(content, dict) else type(content).__name__
            raise InputError(f"{path}: expected 'poses' (M, 4, 4), found {found or 'nothing'}")
        try:
            return cls(content["poses"], content.get("weights"), content.get("times"))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    @classmethod
    def truck(cls, **options: Any) -> Trajectory:
        """Straight, even motion parallel to the image plane: see :func:`icb.motion.truck`."""
        from icb.motion import truck

        return truck(**options)

    @classmethod
    def shake(cls, **options: Any) -> Trajectory:
        """Hand shake: see :func:`icb.motion.shake`."""
        from icb.motion import shake

        return shake(**options)

    @classmethod
    def from_kohler(cls, path: str | os.PathLike[str], **options: Any) -> Trajectory:
        """A recorded trajectory of Köhler et al. 2012: see :func:`icb.motion.read_kohler`."""
        from icb.motion import read_kohler

        return read_kohler(path, **options)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the path of the camera in the image plane, seen from behind the camera."""
        from icb.figures import plot_trajectory

        return plot_trajectory(self, axes)


def _savez(path: Path, content: dict[str, np.ndarray]) -> None:
    with path.open("wb") as stream:  # given a name, numpy may add an ending to it
        np.savez(stream, allow_pickle=False, **content)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _numbers(name: str, values: ArrayLike) -> np.ndarray:
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: expected an array of numbers") from None


def _check_poses(values: ArrayLike) -> np.ndarray:
    poses = _numbers("poses", values)
    if poses.size == 0:
        raise InputError("trajectory: got no poses, expected at least one")
    if poses.ndim != 3 or poses.shape[1:] != (4, 4):
        raise InputError(f"poses: got shape {poses.shape}, expected (M, 4, 4)")
    finite = np.isfinite(poses).all(axis=(1, 2))
    if not finite.all():
        raise InputError(f"pose {np.argmin(finite)}: got NaN or infinity, expected finite numbers")
    gram = np.swapaxes(poses[:, :3, :3], 1, 2) @ poses[:, :3, :3]
    off = np.abs(gram - np.eye(3)).max(axis=(1, 2))
    off = np.maximum(off, np.abs(poses[:, 3] - [0, 0, 0, 1]).max(axis=1))
    off = np.where(np.linalg.det(poses[:, :3, :3]) < 0, np.inf, off)
    worst = int(np.argmax(off))
    if off[worst] > RIGID_TOLERANCE:
        raise InputError(
            f"pose {worst}: got a matrix that is not a rotation and a translation (off by {off[worst]:.3g}), "
            f"expected a rigid motion with last row 0 0 0 1"
        )
    return poses


def _check_weights(values: ArrayLike | None, count: int) -> np.ndarray:
    if values is None:
        return np.full(count, 1 / count)
    weights = _numbers("weights", values)
    if weights.shape != (count,):
        raise InputError(f"weights: got shape {weights.shape}, expected ({count},), one for each pose")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise InputError(
            f"weights: got {weights.min():g} to {weights.max():g}, expected none below 0 and a sum above 0"
        )
    return np.asarray(weights / weights.sum())


def _check_times(values: ArrayLike, count: int) -> np.ndarray:
    times = _numbers("times", values)
    if times.shape != (count,):
        raise InputError(f"times: got shape {times.shape}, expected ({count},), one for each pose")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise InputError("times: expected finite seconds that increase from pose to pose")
    return times
