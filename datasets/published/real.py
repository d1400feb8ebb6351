"""RealCMB: recorded with an iOS device and its LiDAR."""

from pathlib import Path
from typing import Any

import numpy as np

from datasets.capture import check_poses, reference_index
from datasets.formats import ios, png
from datasets.formats.npz import load_npz_objects, npz_bytes, objects
from datasets.sample import Sample
from icb import InputError, Trajectory

DATASET = "RealCMB"


def entries(key: str) -> list[str]:
    """Files of a sample."""
    return [f"sharp_ref/{key}.png", f"blurry/{key}.png", f"depth_ref/{key}.npz", f"bundle_info/{key}.npz"]


def contents(
    key: str, sharp: np.ndarray, blurry: np.ndarray, *, depth: np.ndarray, infos: list[dict[str, Any]]
) -> dict[str, bytes]:
    """A sample's files; ``infos`` has one entry a frame, from :func:`datasets.formats.ios.to_dict`."""
    sharp_ref, blurred, depth_ref, bundle_info = entries(key)
    sharp_png, blurry_png = png.encode_all(sharp, blurry)
    return {
        sharp_ref: sharp_png,
        blurred: blurry_png,
        depth_ref: npz_bytes(depth_ref=np.asarray(depth, np.float32)),
        bundle_info: npz_bytes(bundle_info=objects(infos)),
    }


def read(folder: Path, key: str) -> Sample:
    """Read a sample."""
    sharp_ref, blurred, depth_ref, bundle_info = (folder / entry for entry in entries(key))
    infos = load_npz_objects(bundle_info, ["bundle_info"])["bundle_info"]
    if infos.dtype != np.dtype(object) or infos.ndim != 1:
        raise InputError(f"{bundle_info}: got {infos.dtype} {infos.shape}, expected one dictionary a frame")
    reference = reference_index(len(infos), bundle_info)
    origins = [f"{bundle_info}, frame {index}" for index in range(len(infos))]
    headers = [ios.from_dict(info, origin) for info, origin in zip(infos, origins, strict=True)]
    poses = check_poses(ios.opengl_to_opencv([header.world_to_camera for header in headers]), origins)
    sharp = png.read(sharp_ref)
    size = (sharp.shape[0], sharp.shape[1])
    try:
        times = [header.time - headers[0].time for header in headers]
        trajectory = Trajectory(poses, times=times).relative_to(reference)
        camera, source = ios.stored_camera(headers[reference].intrinsics, size)
    except InputError as error:
        raise InputError(f"{bundle_info}: {error}") from None
    depth = load_npz_objects(depth_ref, ["depth_ref"])["depth_ref"]
    if depth.shape != size or depth.dtype.kind != "f":
        raise InputError(f"{depth_ref}: got {depth.dtype} {depth.shape}, expected metres of shape {size}")
    if not depth.min() > 0:  # NaN wins
        raise InputError(f"{depth_ref}: got {depth.min()}, expected metres above 0")
    return Sample(
        id=key,
        dataset=DATASET,
        scene=None,
        case=None,
        motion=None,
        sharp=sharp,
        blurry=png.read(blurred, size),
        depth=depth.astype(np.float32),
        trajectory=trajectory,
        camera=camera,
        reference=reference,
        intrinsics_source=source,
    )
