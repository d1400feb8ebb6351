"""DepthBundleRecorder captures (an iPhone's LiDAR, 60 frames a second) of the simulated scenes."""

import os
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

import icb
from datasets.capture import reference_index
from datasets.formats import nv12, swift_header, unity_log
from datasets.simulate.folders import whole_folder, write_mark
from datasets.simulate.lidar import measure
from datasets.simulate.motions import BLUR_SHARE, RATES, check_seed, euler_angles, make_motion
from datasets.simulate.render import Size, cast_depth, cast_surface, check_samples, render
from datasets.simulate.scenes import CASES, SCENES, build_scene, scene_module
from datasets.simulate.viewpoints import choose_view, nearest_depth
from icb.errors import InputError

FOCAL_SHARE = 0.755
"""Focal length over the landscape width, as a phone's main camera has it."""
PRINCIPAL_POINT = (0.5068, 0.4921)
"""Share of width and height: a little off the middle, as calibration finds it."""

QUARTER_TURN = np.array([[0.0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
"""Landscape camera to portrait camera, both y up: up in landscape is right in portrait."""
ARKIT = np.diag([1.0, 1.0, -1.0, 1.0])
"""Unity's axes (z forward) to ARKit's (z towards the viewer), for cameras and for the world."""


def landscape_camera(size: Size) -> icb.Camera:
    """Intrinsics of the landscape picture (H, W)."""
    height, width = size
    focal = FOCAL_SHARE * width
    return icb.Camera(focal, focal, PRINCIPAL_POINT[0] * width - 0.5, PRINCIPAL_POINT[1] * height - 0.5)


def bundle_name(scene: str, seed: int) -> str:
    """The folder's name; its date stands for the seed."""
    moment = datetime(2024, 1, 1, 9) + timedelta(seconds=3607 * seed + 611 * list(SCENES).index(scene))
    return f"bundle-{moment:%Y-%m-%d_%H-%M-%S}-{scene}"


def simulate_ios(
    folder: str | os.PathLike[str],
    *,
    scene: str,
    seed: int = 0,
    frames: int = 31,
    image_size: Size = (1440, 1920),
    depth_size: Size = (192, 256),
    samples: int = 4,
    blur: float | None = None,
    progress: Callable[[], object] | None = None,
) -> Path:
    """Record a near thing, hand-held, into ``folder/bundle-<date>-<scene>/`` and return that folder.

    Sizes are (H, W) of the landscape sensor; ``blur`` is the extent, over all frames, in pixels of the
    frames at the nearest thing. The same arguments give the same bytes.
    """
    check(scene, seed, image_size, depth_size, frames, samples)
    model = build_scene(scene, seed)
    random = np.random.default_rng([seed, *f"{scene}iOS".encode()])
    camera = landscape_camera(image_size)
    height, width = image_size
    small = camera.scaled(64 / width, 48 / height)
    view = choose_view(model, "iOS", random, camera=small, size=(48, 64), turn=QUARTER_TURN)
    nearest = nearest_depth(cast_depth(model, camera, view.camera_to_world @ QUARTER_TURN, image_size))
    pixels = BLUR_SHARE["iOS"] * height if blur is None else blur
    trajectory = make_motion("iOS", "6-DoF", poses=frames, nearest=nearest, focal=camera.fx, pixels=pixels, seed=seed)
    portrait = unity_log.unity_to_opencv(trajectory.poses) @ np.linalg.inv(view.camera_to_world)
    start = 1000.0 + float(random.uniform(0, 9000))
    target = Path(folder) / bundle_name(scene, seed)
    with whole_folder(target) as temporary:
        for index in range(frames):
            header = _header(portrait[index], camera, start + index / RATES["iOS"])
            camera_to_world = np.linalg.inv(portrait[index]) @ QUARTER_TURN
            picture = render(
                model, camera, camera_to_world, image_size, samples=samples, seed=seed * 65537 + index * 7919 + 2
            )
            _write_image(temporary, index, picture)
            depth_camera = camera.scaled(depth_size[1] / width, depth_size[0] / height)
            true, slant, _ = cast_surface(model, depth_camera, camera_to_world, depth_size)
            _write_depth(temporary, index, header, *measure(true, slant, np.random.default_rng([seed, index])))
            if progress:
                progress()
        write_mark(temporary, {
            "format": "DepthBundleRecorder", "scene": scene, "case": "Macro", "motion": "6-DoF", "seed": seed,
            "image_size": list(image_size), "depth_size": list(depth_size), "frames": frames,
            "samples_per_pixel": samples, "blur_pixels": pixels, "nearest_depth": nearest,
            "objects": model.object_count,
        })  # fmt: skip
    return target


def _header(world_to_portrait: np.ndarray, camera: icb.Camera, time: float) -> swift_header.Header:
    """What ARKit says of a frame; ``world_to_portrait`` is in Unity's axes."""
    world_to_camera = ARKIT @ world_to_portrait @ ARKIT
    world_pose = np.linalg.inv(world_to_camera) @ QUARTER_TURN
    return swift_header.Header(time, arkit_angles(world_pose), world_pose, camera.matrix, world_to_camera)


def arkit_angles(world_pose: np.ndarray) -> np.ndarray:
    """ARKit's ``eulerAngles``: pitch, yaw, roll in radians."""
    return np.array(euler_angles(world_pose[:3, :3]))


def _write_image(folder: Path, index: int, picture: np.ndarray) -> None:
    height, width = picture.shape[:2]
    luma, chroma = nv12.encode(picture)
    name = f"image_P0_{width}x{height}_P1_{width // 2}x{height // 2}_{index}.bin"
    (folder / name).write_bytes(luma.tobytes() + chroma.tobytes())


def _write_depth(
    folder: Path, index: int, header: swift_header.Header, depth: np.ndarray, confidence: np.ndarray
) -> None:
    height, width = depth.shape
    content = swift_header.format_header(header) + depth.astype("<f4").tobytes()
    (folder / f"depth_{width}x{height}_{index}.bin").write_bytes(content)
    (folder / f"conf_{width}x{height}_{index}.bin").write_bytes(confidence.tobytes())


def check(scene: str, seed: int, image_size: Size, depth_size: Size, frames: int, samples: int) -> None:
    """Refuse what cannot be simulated."""
    scene_module(scene)
    reference_index(frames, "frames")
    check_seed(seed)
    check_samples(samples)
    if scene not in CASES["Macro"]:
        raise InputError(f"scene: got {scene!r}, expected for iOS one of {', '.join(CASES['Macro'])}")
    if min(*image_size, *depth_size) < 8 or image_size[0] % 2 or image_size[1] % 2:
        raise InputError(f"image size: got {image_size[0]} x {image_size[1]}, expected even numbers of at least 8")
    if image_size[0] * depth_size[1] != image_size[1] * depth_size[0]:
        raise InputError(f"depth size: got {depth_size}, expected the same shape as the image's {image_size}")
