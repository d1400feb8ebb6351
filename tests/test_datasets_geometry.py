"""Geometry against the pictures themselves: the reference, moved by depth and pose, is found in other frames."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import icb
from datasets.average import Average
from datasets.build import Options, build
from datasets.published import read_sample
from datasets.readers import open_capture
from datasets.sample import Sample
from tests import captures

Built = tuple[list[np.ndarray], Sample]


@pytest.fixture(scope="module", params=["unity", "ios", "ios at 7.5"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A capture's frames in the size of its sample, and the sample."""
    folder = tmp_path_factory.mktemp("geometry")
    if request.param == "unity":
        path = captures.make_unity(folder)
    elif request.param == "ios":
        path = captures.make_ios(folder)
    else:
        path = captures.make_ios(folder, size=(360, 480), seed=3)
    build([path], folder / "out", Options())
    capture, sample = open_capture(path), read_sample(folder / "out", path.name)
    frames = []
    for index in range(len(capture)):
        one = Average((*capture.size, 3))
        one.add(capture.frame(index))
        frames.append(one.result(sample.sharp.shape[:2]))
    return frames, sample


def worst(
    frames: list[np.ndarray],
    sample: Sample,
    *,
    poses: Any = None,
    camera: Any = None,
    depth: Any = None,
    reference: Any = None,
) -> float:
    poses = sample.trajectory.poses if poses is None else poses
    return max(
        captures.misplacement(
            sample.sharp if reference is None else reference,
            frame,
            sample.depth if depth is None else depth,
            pose,
            camera or sample.camera,
        )
        for frame, pose in zip(frames, poses, strict=True)
    )


def test_the_reference_is_found_in_every_frame(built: Built) -> None:
    frames, sample = built
    assert worst(frames, sample) < 0.2
    assert (sample.trajectory.poses[sample.reference] == np.eye(4)).all()
    assert (sample.sharp == frames[sample.reference]).all()


def test_the_frames_do_move(built: Built) -> None:
    frames, sample = built
    assert worst(frames, sample, poses=np.tile(np.eye(4), (len(frames), 1, 1))) > 2


def flipped(axes: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda poses: np.diag(axes) @ poses @ np.diag(axes)


MISTAKES = {
    "flipped y": flipped([1, -1, 1, 1]),
    "flipped x": flipped([-1, 1, 1, 1]),
    "flipped z": flipped([1, 1, -1, 1]),
    "flipped y and z": flipped([1, -1, -1, 1]),
    "inverse": np.linalg.inv,
    "transposed rotation": lambda poses: np.block(
        [[poses[:, :3, :3].swapaxes(1, 2), poses[:, :3, 3:]], [poses[:, 3:, :3], poses[:, 3:, 3:]]]
    ),
    "x and y exchanged": lambda poses: poses[:, [1, 0, 2, 3]][:, :, [1, 0, 2, 3]],
    "reference one too early": lambda poses: poses @ np.linalg.inv(poses[len(poses) // 2]),
    "reference one too late": lambda poses: poses @ np.linalg.inv(poses[len(poses) // 2 + 2]),
    "one pose late": lambda poses: np.roll(poses, 1, axis=0),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_in_the_poses_would_show(built: Built, mistake: str) -> None:
    frames, sample = built
    assert worst(frames, sample, poses=MISTAKES[mistake](sample.trajectory.poses)) > 0.5


def test_mistakes_in_the_intrinsics_would_show(built: Built) -> None:
    frames, sample = built
    height, width = sample.depth.shape
    c = sample.camera
    assert worst(frames, sample, camera=icb.Camera(1.3 * c.fx, 1.3 * c.fy, c.cx, c.cy)) > 0.5
    if sample.dataset == "RealCMB":
        turned_otherwise = icb.Camera(c.fx, c.fy, width - 1 - c.cx, height - 1 - c.cy)
        as_in_landscape = icb.Camera(c.fy, c.fx, c.cy, width - 1 - c.cx)
        for camera in (turned_otherwise, as_in_landscape):
            assert worst(frames, sample, camera=camera) > 0.5


def test_mistakes_in_the_depth_would_show(built: Built) -> None:
    frames, sample = built
    assert worst(frames, sample, depth=sample.depth[::-1, ::-1]) > 0.5
    assert worst(frames, sample, depth=0.7 * sample.depth) > 0.5
