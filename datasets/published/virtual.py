"""VirtualCMB: rendered by Unity."""

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from datasets.capture import numbered, reference_index
from datasets.formats import packed_depth, png, unity_log
from datasets.readers import unity
from datasets.sample import Sample
from icb import InputError, Trajectory

DATASET = "VirtualCMB"


def entries(key: str) -> list[str]:
    """Files and folders of a sample."""
    return [
        f"sharp_ref/{key}.png",
        f"blurry/{key}.png",
        f"depth_ref/{key}.png",
        f"param_logs/{key}.txt",
        f"camera_logs/{key}",
    ]


def contents(
    key: str, sharp: np.ndarray, blurry: np.ndarray, *, depth_png: bytes, params: bytes, logs: Mapping[int, bytes]
) -> dict[str, bytes]:
    """A sample's files. Packed depth and logs are Unity's own, byte for byte."""
    sharp_ref, blurred, depth_ref, param_log, camera_logs = entries(key)
    sharp_png, blurry_png = png.encode_all(sharp, blurry)
    return {
        sharp_ref: sharp_png,
        blurred: blurry_png,
        depth_ref: depth_png,
        param_log: params,
        **{f"{camera_logs}/camera_logs_{number}.txt": log for number, log in logs.items()},
    }


def read(folder: Path, key: str) -> Sample:
    """Read a sample."""
    sharp_ref, blurred, depth_ref, param_log, camera_logs = (folder / entry for entry in entries(key))
    if not camera_logs.is_dir():
        raise InputError(f"{camera_logs}: missing, expected the camera logs of the sample")
    names = unity.find(camera_logs, re.compile(r"camera_logs_(\d+)\.txt"))
    numbers = numbered(names, camera_logs, "camera_logs_{}.txt")
    paths = [names[number] for number in numbers]
    reference = reference_index(len(paths), camera_logs)
    logs = unity.read_logs(paths)
    unity.opencv_poses(logs, paths)  # names the file of a pose that is none
    width, height = logs[0].image_size
    sharp, blurry, packed = png.read_all(sharp_ref, blurred, depth_ref, expected=(height, width))
    scene, motion = unity_log.parse_param_log(param_log)
    case = unity.case_of(key)
    return Sample(
        id=key,
        dataset=DATASET,
        scene=scene,
        case=case,
        motion=motion,
        sharp=sharp,
        blurry=blurry,
        depth=packed_depth.decode(packed, *logs[reference].depth_range),
        trajectory=_relative(logs, reference, unity.pose_rate(case)),
        camera=logs[reference].camera,
        reference=reference,
        intrinsics_source="camera log",
    )


def _relative(logs: list[unity_log.UnityPose], reference: int, rate: float) -> Trajectory:
    """``worldToCamSet(m) camSetToWorld(ref)``, in OpenCV's axes."""
    poses = np.array([log.world_to_camset for log in logs]) @ logs[reference].camset_to_world
    poses = unity_log.unity_to_opencv(poses)
    poses[reference] = np.eye(4)
    return Trajectory(poses, times=np.arange(len(logs)) / rate)
