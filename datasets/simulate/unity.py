"""Raw Unity captures of the simulated scenes."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

import icb
from datasets.capture import reference_index
from datasets.formats import packed_depth, png, unity_log
from datasets.simulate.folders import whole_folder, write_mark
from datasets.simulate.motions import BLUR_SHARE, MOTIONS, check_seed, euler_angles, make_motion
from datasets.simulate.render import Size, cast_depth, check_samples, render
from datasets.simulate.scenes import CASES, build_scene, scene_module
from datasets.simulate.viewpoints import choose_view, nearest_depth
from icb.errors import InputError

DEPTH_RANGE = (0.02, 200.0)
"""Metres: the near and far planes of the logs. What lies beyond, the sky, is written as nothing there."""
SENSOR_WIDTH = 36.0
"""Millimetres."""


def capture_id(scene: str, case: str, motion: str, seed: int) -> str:
    """The name of a capture's folder."""
    return f"{scene}_{case}_{motion}_{seed:03d}"


def simulate_unity(
    folder: str | os.PathLike[str],
    *,
    scene: str,
    case: str,
    motion: str,
    seed: int = 0,
    size: Size = (720, 1280),
    poses: int = 65,
    samples: int = 4,
    blur: float | None = None,
    every_depth: bool = False,
    progress: Callable[[], object] | None = None,
) -> Path:
    """Render a capture into ``folder/<id>/`` and return that folder.

    ``size`` (H, W) of the frames; ``samples`` per pixel; ``blur`` the extent of the blur in pixels at
    the nearest thing; ``every_depth`` writes depth for all poses, not for the reference alone;
    ``progress`` is called after each frame. The same arguments give the same bytes.
    """
    height, width = size
    check(scene, case, motion, seed, size, poses, samples)
    reference = reference_index(poses, "poses")
    model = build_scene(scene, seed)
    view = choose_view(model, case, np.random.default_rng([seed, *f"{scene}{case}".encode()]))
    camera = icb.Camera.from_fov(view.field_of_view, width, height)
    middle = view.camera_to_world
    nearest = nearest_depth(cast_depth(model, camera, middle, size))
    pixels = BLUR_SHARE[case] * width if blur is None else blur
    trajectory = make_motion(case, motion, poses=poses, nearest=nearest, focal=camera.fx, pixels=pixels, seed=seed)
    world_to_camera = unity_log.unity_to_opencv(trajectory.poses) @ np.linalg.inv(middle)
    target = Path(folder) / capture_id(scene, case, motion, seed)
    with whole_folder(target) as temporary:
        for name in ("frames", "depth", "camera_logs"):
            (temporary / name).mkdir()
        for index in range(poses):
            camera_to_world = np.linalg.inv(world_to_camera[index])
            picture = render(model, camera, camera_to_world, size, samples=samples, seed=_frame_seed(seed, index))
            (temporary / "frames" / f"{index}.png").write_bytes(png.encode(picture))
            if every_depth or index == reference:
                depth = cast_depth(model, camera, camera_to_world, size)
                packed = packed_depth.encode(depth, DEPTH_RANGE[1])
                (temporary / "depth" / f"{index}.png").write_bytes(png.encode(packed))
            pitch, yaw, roll = euler_angles(camera_to_world[:3, :3])
            log = unity_log.camera_log(
                world_to_camera[index],
                position=camera_to_world[:3, 3],
                euler_angles=[math.degrees(angle) % 360 for angle in (pitch, yaw, roll)],
                image_size=(width, height),
                depth_range=DEPTH_RANGE,
                focal_mm=camera.fx / width * SENSOR_WIDTH,
                sensor_mm=(SENSOR_WIDTH, SENSOR_WIDTH * height / width),
            )
            (temporary / "camera_logs" / f"camera_logs_{index}.txt").write_text(json.dumps(log, indent=1))
            if progress:
                progress()
        parameters = unity_log.param_log(f"Assets/Scenes/{scene}", *MOTIONS[motion])
        (temporary / "params.txt").write_text(json.dumps(parameters, indent=1))
        write_mark(temporary, {
            "format": "Unity capture", "scene": scene, "case": case, "motion": motion, "seed": seed,
            "size": list(size), "poses": poses, "samples_per_pixel": samples, "blur_pixels": pixels,
            "nearest_depth": nearest, "objects": model.object_count,
        })  # fmt: skip
    return target


def _frame_seed(seed: int, index: int) -> int:
    """A 32-bit number that differs from frame to frame."""
    return (seed * 65537 + index * 7919 + 1) & 0xFFFFFFFF


def check(scene: str, case: str, motion: str, seed: int, size: Size, poses: int, samples: int) -> None:
    """Refuse what cannot be simulated."""
    reference_index(poses, "poses")
    scene_module(scene)
    if case not in CASES:
        raise InputError(f"case: got {case!r}, expected one of {', '.join(CASES)}")
    if scene not in CASES[case]:
        raise InputError(f"scene: got {scene!r}, expected for {case} one of {', '.join(CASES[case])}")
    if motion not in MOTIONS:
        raise InputError(f"motion: got {motion!r}, expected one of {', '.join(MOTIONS)}")
    check_seed(seed)
    if min(size) < 8:
        raise InputError(f"size: got {size[0]} x {size[1]}, expected at least 8 x 8 pixels")
    check_samples(samples)
