"""Geometry of simulated captures, through the readers: a frame warped by depth and pose is the other frame."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

import icb
from datasets.fill import fill_depth
from datasets.formats.unity_log import unity_to_opencv
from datasets.readers import open_capture
from datasets.simulate import simulate_ios, simulate_unity
from datasets.simulate.render import render
from datasets.simulate.scenes import build_scene


@dataclass(frozen=True)
class Pair:
    """Reference frame with depth, another frame, and the pose that takes one to the other."""

    reference: np.ndarray
    other: np.ndarray
    depth: np.ndarray
    pose: np.ndarray
    camera: icb.Camera
    sure: np.ndarray


def residual_shift(pair: Pair, *, reach: float = 3.0, step: float = 0.25) -> tuple[float, float]:
    """The shift (dx, dy) in pixels that is left after warping: where the two pictures agree best."""
    height, width = pair.depth.shape
    y, x = np.mgrid[:height, :width].astype(np.float64)
    c = pair.camera
    rays = np.stack([(x - c.cx) / c.fx, (y - c.cy) / c.fy, np.ones_like(x)], -1)
    points = rays * pair.depth[..., None] @ pair.pose[:3, :3].T + pair.pose[:3, 3]
    u = c.fx * points[..., 0] / points[..., 2] + c.cx
    v = c.fy * points[..., 1] / points[..., 2] + c.cy
    margin = 4
    inside = (u > margin) & (u < width - 1 - margin) & (v > margin) & (v < height - 1 - margin) & pair.sure
    assert inside.mean() > 0.04
    best, where = np.inf, (0.0, 0.0)
    for dy in np.arange(-reach, reach + step, step):
        for dx in np.arange(-reach, reach + step, step):
            moved = cv2.remap(pair.other, (u + dx).astype(np.float32), (v + dy).astype(np.float32), cv2.INTER_LINEAR)
            error = np.abs(moved - pair.reference)[inside].mean()  # robust: what is hidden does not decide
            if error < best:
                best, where = error, (float(dx), float(dy))
    return where


def corners(pair: Pair) -> list[Pair]:
    """The same with only a quarter of the picture trusted: turns and scales show there."""
    height, width = pair.depth.shape
    quarters = []
    for rows in (slice(0, height // 2), slice(height // 2, height)):
        for columns in (slice(0, width // 2), slice(width // 2, width)):
            sure = np.zeros_like(pair.sure)
            sure[rows, columns] = pair.sure[rows, columns]
            quarters.append(replace(pair, sure=sure))
    return quarters


def read_pair(path: Path, index: int, *, reference: int | None = None) -> Pair:
    capture = open_capture(path)
    chosen = len(capture) // 2 + 1
    start = chosen if reference is None else reference
    depth, confidence = capture.depth(chosen), capture.confidence(chosen)
    assert depth is not None
    size = capture.size[::-1]
    sure = np.ones(capture.size, bool)
    if confidence is not None:
        sure = cv2.resize(confidence, size, interpolation=cv2.INTER_NEAREST) == 2
        depth = cv2.resize(fill_depth(depth, confidence)[0], size, interpolation=cv2.INTER_NEAREST)
    spread = cv2.dilate(depth, np.ones((5, 5))) - cv2.erode(depth, np.ones((5, 5)))
    sure &= spread < 0.1 * depth
    grey = [cv2.cvtColor(capture.frame(i), cv2.COLOR_RGB2GRAY).astype(np.float32) for i in (chosen, index)]
    pose = capture.poses[index] @ np.linalg.inv(capture.poses[start])
    return Pair(grey[0], grey[1], depth.astype(np.float64), pose, capture.camera, sure)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("raw")
    common: dict[str, Any] = {"scene": "Village", "seed": 1, "size": (135, 240), "poses": 5, "blur": 30.0}
    made = {}
    for kind in KINDS[:-1]:
        case, motion = kind.split()
        made[kind] = simulate_unity(folder, case=case, motion=motion, **common)
    made["iOS"] = simulate_ios(
        folder, scene="Village", seed=1, frames=5, image_size=(192, 256), depth_size=(96, 128), blur=30.0
    )
    return made


KINDS = ("Macro parallax", "Macro 6-DoF", "Trucking xy-rotation", "Standard 6-DoF", "iOS")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", [0, 4])
def test_warped_reference_is_the_other_frame(captures: dict[str, Path], kind: str, index: int) -> None:
    pair = read_pair(captures[kind], index)
    near = replace(pair, sure=pair.sure & (pair.depth < np.quantile(pair.depth[pair.sure], 0.4)))
    still = replace(near, pose=np.eye(4))
    assert max(map(abs, residual_shift(still, reach=6, step=0.5))) >= 1.5, "the motion is too small to prove anything"
    assert max(map(abs, residual_shift(pair))) < 0.5
    assert max(map(abs, residual_shift(near))) < 0.5
    for quarter in corners(pair):
        if quarter.sure.mean() > 0.22:
            assert max(map(abs, residual_shift(quarter, reach=1.5))) < 0.5


@pytest.mark.parametrize("kind", ["Macro 6-DoF", "iOS"])
@pytest.mark.parametrize("mistake", ["inverted", "x flipped", "y flipped", "turned", "reference"])
def test_the_test_finds_mistakes(captures: dict[str, Path], kind: str, mistake: str) -> None:
    pair = read_pair(captures[kind], 0)
    if mistake == "inverted":
        pair = replace(pair, pose=np.linalg.inv(pair.pose))
    elif mistake in ("x flipped", "y flipped"):
        flip = np.diag([-1.0, 1, 1, 1] if mistake[0] == "x" else [1.0, -1, 1, 1])
        pair = replace(pair, pose=flip @ pair.pose @ flip)
    elif mistake == "turned":  # the portrait picture with the landscape pose
        turn = np.array([[0.0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        pair = replace(pair, pose=turn @ pair.pose @ turn.T)
    else:
        pair = read_pair(captures[kind], 0, reference=2)
    shifts = [residual_shift(pair), *(residual_shift(q, reach=1.5) for q in corners(pair) if q.sure.mean() > 0.22)]
    assert max(abs(value) for shift in shifts for value in shift) >= 0.5


@pytest.mark.parametrize("flipped", [True, False])
def test_upright_intrinsics_and_pose_are_those_of_the_picture(captures: dict[str, Path], flipped: bool) -> None:
    """Rendered upright with what the reader says, the scene gives the frame; not with cx of the sensor's side."""
    capture = open_capture(captures["iOS"])
    camera = capture.camera
    if not flipped:
        camera = replace(camera, cx=capture.size[1] - 1 - camera.cx)
    to_world = np.linalg.inv(unity_to_opencv(capture.poses[2]))
    again = render(build_scene("Village", 1), camera, to_world, capture.size, samples=4, seed=9)
    grey = [cv2.cvtColor(each, cv2.COLOR_RGB2GRAY).astype(np.float32) for each in (again, capture.frame(2))]
    everywhere = np.ones(capture.size)
    dx, dy = residual_shift(Pair(grey[0], grey[1], everywhere, np.eye(4), camera, everywhere > 0), reach=4)
    assert abs(dy) < 0.25
    assert abs(dx) < 0.25 if flipped else abs(dx) > 2


def test_layers_beat_single_kernels_on_simulated_parallax(tmp_path: Path) -> None:
    """ICB over PWB under parallax, and both far over no blur, against the averaged frames.

    A recording is 6-DoF: PWB follows motion along the optical axis, which ICB neglects, and which of the
    two is nearer differs from recording to recording. There only the gain over no blur is asked for.
    """
    folders = [
        simulate_unity(tmp_path, scene="Village", case=case, motion="parallax", seed=0, size=(135, 240), poses=25)
        for case in ("Macro", "Trucking")
    ]
    folders.append(simulate_ios(tmp_path, scene="Village", seed=0, frames=25, image_size=(192, 256), samples=2))
    for folder in folders:
        capture = open_capture(folder)
        middle = len(capture) // 2 + 1
        frames = np.stack([capture.frame(index) for index in range(len(capture))]).astype(np.float32) / 255
        depth = fill_depth(np.asarray(capture.depth(middle)), capture.confidence(middle))[0]
        trajectory = icb.Trajectory(capture.poses).relative_to(middle)
        blurred, sharp = frames.mean(0), frames[middle]
        none, pixel_wise, layered = (
            -10 * np.log10(np.mean((estimate - blurred) ** 2))
            for estimate in (
                sharp,
                icb.PWB(depth, trajectory, capture.camera)(sharp),
                icb.ICB(depth, trajectory, capture.camera)(sharp),
            )
        )
        assert min(layered, pixel_wise) > none + 5, folder.name
        if capture.info.dataset == "VirtualCMB":
            assert layered > pixel_wise, folder.name
