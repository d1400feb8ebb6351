"""What every reader of raw captures gives."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np

import icb
from icb import InputError, files

SIMULATED = "simulated.json"
"""A capture with this file in its folder comes from the simulator."""


@dataclass(frozen=True)
class CaptureInfo:
    """What is known about a capture."""

    id: str  #: see :func:`name_of`
    dataset: str  #: ``VirtualCMB`` or ``RealCMB``: what it is made into
    scene: str | None  #: None for real iOS recordings
    case: str | None  #: ``Macro``, ``Trucking``, ``Standard`` or None
    motion: str | None  #: ``parallax``, ``xy-rotation``, ``6-DoF`` or None
    simulated: bool


class Capture(Protocol):
    """M frames, read one at a time: a reader holds poses and names, never pictures.

    Pictures of iOS captures are turned upright. Pixel centres are at integers, axes are OpenCV's.
    """

    path: Path
    info: CaptureInfo
    size: tuple[int, int]  #: (H, W) of the frames
    camera: icb.Camera  #: of the reference frame
    poses: np.ndarray  #: (M, 4, 4) float64, world to camera m
    times: np.ndarray  #: (M,) seconds from the first

    def __len__(self) -> int: ...

    def frame(self, index: int) -> np.ndarray:
        """(H, W, 3) uint8 RGB."""
        ...

    def depth(self, index: int) -> np.ndarray | None:
        """(h, w) float32 metres in a size of its own, NaN where unknown; None if the frame has none."""
        ...

    def depth_name(self, index: int) -> str:
        """Where the depth of a frame is, or would be."""
        ...

    def confidence(self, index: int) -> np.ndarray | None:
        """(h, w) uint8: 0 low, 1 medium, 2 high; None if the frame has none."""
        ...

    def camera_of(self, index: int) -> icb.Camera:
        """Intrinsics of one frame."""
        ...

    def files(self) -> list[Path]:
        """Everything it is made of, in a fixed order."""
        ...


def name_of(path: Path) -> str:
    """What a capture is called: the name it is given by, which a link may have chosen, not that of its target."""
    return Path(os.path.abspath(path)).name  # noqa: PTH100 - `absolute` keeps `.` and `..`


def reference_index(poses: int, name: object) -> int:
    """``M // 2 + 1``, the pose that the published sets keep sharp; ``name`` is for the message."""
    index = poses // 2 + 1
    if index >= poses:
        raise InputError(f"{name}: got {poses} frame{'s' * (poses != 1)}, expected at least 3")
    return index


def source_hash(capture: Capture) -> str:
    """SHA-256 over the names and bytes of all files of a capture, read in pieces."""
    return hash_files(capture.files(), capture.path if capture.path.is_dir() else capture.path.parent)


def hash_files(paths: Sequence[Path], root: Path) -> str:
    """SHA-256 over names (relative to ``root``), sizes and bytes."""
    digest = hashlib.sha256()
    for path in paths:
        try:
            files.check_plain(path)
            digest.update(f"{path.relative_to(root).as_posix()}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as stream:
                while piece := stream.read(1 << 20):
                    digest.update(piece)
        except OSError as error:
            raise files.unreadable(path, error) from None
    return digest.hexdigest()


def numbered(names: dict[int, Path], folder: Path, pattern: str) -> list[int]:
    """The numbers of files in order; a gap is a missing file. ``pattern`` with ``{}`` names it."""
    numbers = sorted(names)
    for before, after in pairwise(numbers):
        if after != before + 1:
            raise InputError(f"{folder / pattern.format(before + 1)}: missing, expected one file for each frame")
    return numbers


def read_mark(path: Path) -> tuple[str | None, str | None, str | None]:
    """Scene, case and motion from the simulator's mark, each None where the file does not say."""
    mark = files.load_json(path)
    if not isinstance(mark, dict):
        raise InputError(f"{path}: got {type(mark).__name__}, expected a JSON object")
    for key in ("scene", "case", "motion"):
        value = mark.get(key, "")
        # They are printed and indexed, which lone surrogates cannot be.
        if not isinstance(value, str) or not value.isprintable():
            raise InputError(f"{path}: got {value!r} for {key!r}, expected a line of text")
    return mark.get("scene"), mark.get("case"), mark.get("motion")


def check_poses(poses: np.ndarray, names: Sequence[object]) -> np.ndarray:
    """Rigid motions, or an error that names the file of the first that is not."""
    for pose, name in zip(poses, names, strict=True):
        try:
            icb.Trajectory(pose[None])
        except InputError as error:
            raise InputError(f"{name}: {str(error).removeprefix('pose 0: ')}") from None
    return poses
