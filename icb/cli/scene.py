"""Arguments shared by the commands that need a photo, its depth, a camera and a motion."""

import argparse
import math
from dataclasses import dataclass

import numpy as np

from icb.camera import Camera
from icb.compositing import ImageCompositingBlur
from icb.errors import InputError
from icb.operator import BlurOperator
from icb.trajectory import Trajectory


@dataclass(frozen=True)
class SceneInput:
    """What the arguments describe, read and checked."""

    photo: np.ndarray
    depth: np.ndarray
    camera: Camera
    trajectory: Trajectory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Everything that describes the scene and how the camera moved."""
    parser.add_argument("photo", metavar="PHOTO", help="an image: .png, .jpg, .tif, ...")
    parser.add_argument("depth", metavar="DEPTH", help="metres along the view: .npy, .npz, .exr or 16-bit .png")

    depth = parser.add_argument_group("depth")
    depth.add_argument("--depth-unit", type=float, metavar="M", help="metres per count, e.g. 0.001 for a PNG in mm")
    depth.add_argument("--depth-key", metavar="NAME", help="array of an .npz or channel of an .exr")
    depth.add_argument("--resize-depth", action="store_true", help="resize a depth map of another size (nearest)")
    depth.add_argument(
        "--missing-depth",
        choices=("error", "far", "nearest"),
        default="error",
        help="what 0 and NaN mean: an error (default), infinitely far, or as far as the nearest known pixel",
    )

    camera = parser.add_argument_group("camera")
    lens = camera.add_mutually_exclusive_group()
    lens.add_argument("--focal", type=float, metavar="PX", help="focal length in pixels of the photo")
    lens.add_argument("--fov", type=float, metavar="DEG", help="horizontal field of view (default 60)")
    camera.add_argument(
        "--principal", type=float, nargs=2, metavar=("CX", "CY"), help="principal point (default: the middle)"
    )

    motion = parser.add_argument_group("motion (one of the first three)")
    kind = motion.add_mutually_exclusive_group(required=True)
    kind.add_argument("--trajectory", metavar="FILE", help="poses: .npz, .json, or .txt of Köhler et al.")
    kind.add_argument("--shake", type=float, metavar="MM", help="hand shake, so many millimetres at the most")
    kind.add_argument("--truck", type=float, metavar="MM", help="slide sideways by so many millimetres")
    motion.add_argument("--rotation", type=float, metavar="DEG", help="shake: rotation (default 0.1)")
    motion.add_argument("--seed", type=int, help="shake: another seed, another motion (default 0)")
    motion.add_argument("--exposure", type=float, metavar="S", help="shake: seconds (default 0.125)")
    motion.add_argument("--direction", type=float, metavar="DEG", help="truck: 0 right, 90 up (default 0)")
    motion.add_argument("--poses", type=int, help="shake, truck: number of poses (default 65)")


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Which blur model, and its parameters."""
    model = parser.add_argument_group("model")
    model.add_argument("--model", choices=("icb", "pwb"), default="icb", help="layers (default) or one kernel a pixel")
    add_icb_arguments(model)


def add_icb_arguments(group: "argparse._ArgumentGroup") -> None:
    """ICB's parameters."""
    group.add_argument("-n", type=float, metavar="PX", help="ICB: blur variation between layers (default 1)")
    group.add_argument("--sigma", type=float, metavar="PX", help="ICB: softness of the mattes (default 4)")


def build_model(options: argparse.Namespace) -> tuple[SceneInput, BlurOperator, str]:
    """The scene, the blur operator that the options ask for, and a word on it."""
    from icb import PWB

    if options.model != "icb":
        require_only(options, ("n", "sigma"), "--model icb")
    given = load(options)
    if options.model == "pwb":
        return given, PWB(given.depth, given.trajectory, given.camera), "PWB"
    blur = build_icb(options, given)
    return given, blur, f"ICB, {len(blur.layers)} layers"


def build_icb(options: argparse.Namespace, given: SceneInput) -> ImageCompositingBlur:
    """ICB of the scene, with the parameters that were given."""
    parameters = {name: getattr(options, name) for name in ("n", "sigma") if getattr(options, name) is not None}
    return ImageCompositingBlur(given.depth, given.trajectory, given.camera, **parameters)


def load(options: argparse.Namespace) -> SceneInput:
    """Read and check what the arguments name."""
    from icb import pictures

    trajectory = _trajectory(options)
    photo = pictures.read_image(options.photo)
    depth = pictures.read_depth(options.depth, unit=options.depth_unit, key=options.depth_key)
    depth = _fill(depth, options)
    if depth.shape != photo.shape[:2]:
        depth = _resized(depth, photo.shape, options)
    height, width = photo.shape[:2]
    if options.focal is not None:
        camera = Camera.centred(options.focal, width, height)
    else:
        camera = Camera.from_fov(60.0 if options.fov is None else options.fov, width, height)
    if options.principal:
        camera = Camera(camera.fx, camera.fy, *options.principal)
    return SceneInput(photo, depth, camera, trajectory)


def require_only(options: argparse.Namespace, names: tuple[str, ...], where: str) -> None:
    """Options that would have no effect are mistakes."""
    for name in names:
        if getattr(options, name) is not None:
            flag = f"--{name}" if len(name) > 1 else f"-{name}"
            raise InputError(f"{flag}: got {getattr(options, name)}, expected only with {where}")


def _trajectory(options: argparse.Namespace) -> Trajectory:
    if options.shake is None:
        require_only(options, ("rotation", "seed", "exposure"), "--shake")
    if options.truck is None:
        require_only(options, ("direction",), "--truck")
    if options.trajectory is not None:
        require_only(options, ("poses",), "--shake or --truck")
        return Trajectory.load(options.trajectory)
    poses = 65 if options.poses is None else options.poses
    if poses < 2:
        raise InputError(f"--poses: got {poses}, expected at least 2")
    if options.truck is not None:
        if not math.isfinite(options.truck):
            raise InputError(f"--truck: got {options.truck}, expected millimetres")
        direction = 0.0 if options.direction is None else options.direction
        return Trajectory.truck(speed=options.truck / 1e3, exposure=1.0, rate=poses - 1.0, direction=direction)
    exposure = 0.125 if options.exposure is None else options.exposure
    return Trajectory.shake(
        seed=0 if options.seed is None else options.seed,
        translation_mm=options.shake,
        rotation_deg=0.1 if options.rotation is None else options.rotation,
        exposure=exposure,
        rate=(poses - 1) / exposure if exposure > 0 else 1.0,
    )


def _fill(depth: np.ndarray, options: argparse.Namespace) -> np.ndarray:
    missing = np.isnan(depth) | (depth == 0)
    if options.missing_depth == "error" or not missing.any():
        if missing.any():
            row, column = np.argwhere(missing)[0]
            raise InputError(
                f"{options.depth}: got {depth[row, column]:g} at row {row}, column {column} "
                f"({missing.mean():.1%} of the pixels), expected metres above 0; "
                f"say what it means with --missing-depth far or nearest"
            )
        return depth
    if options.missing_depth == "far":
        return np.where(missing, np.float32(np.inf), depth)
    if missing.all():
        raise InputError(f"{options.depth}: has no depth at all, expected metres above 0")
    from icb.holes import nearest_valid

    return nearest_valid(depth, ~missing)


def _resized(depth: np.ndarray, shape: tuple[int, ...], options: argparse.Namespace) -> np.ndarray:
    if not options.resize_depth:
        raise InputError(
            f"{options.depth}: got {depth.shape[0]} x {depth.shape[1]} pixels, expected {shape[0]} x {shape[1]} as "
            f"{options.photo}; --resize-depth fits it"
        )
    import cv2

    return cv2.resize(depth, (shape[1], shape[0]), interpolation=cv2.INTER_NEAREST_EXACT)
