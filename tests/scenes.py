"""Small scenes with known peculiarities, shared by the tests and the benchmark."""

from dataclasses import dataclass

import cv2
import numpy as np
import torch

import icb


@dataclass(frozen=True)
class Scene:
    depth: np.ndarray
    trajectory: icb.Trajectory
    camera: icb.Camera

    def image(self, seed: int = 0, channels: int = 3, dtype: type = np.float32) -> np.ndarray:
        height, width = self.depth.shape
        return np.random.default_rng(seed).random((height, width, channels)).astype(dtype)

    def tensors(self) -> tuple[torch.Tensor, ...]:
        """What the literal models take: depth, poses, weights and the camera's matrix."""
        t = self.trajectory
        return tuple(torch.from_numpy(np.array(a)) for a in (self.depth, t.poses, t.weights, self.camera.matrix))


def smooth_picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Blobs and edges, between 0 and 1."""
    random = np.random.default_rng(seed)
    coarse = random.random((height // 6 + 2, width // 6 + 2, 3)).astype(np.float32)
    picture = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    picture[height // 3 : height // 2, width // 4 : width // 2] = (0.9, 0.2, 0.1)
    return np.clip(picture, 0, 1)


def boxes(height: int, width: int, seed: int = 0, count: int = 12, sizes: tuple[int, int] | None = None) -> np.ndarray:
    """Depth of a floor with boxes standing on it, 0.5 m to 13 m; box sizes in pixels."""
    sizes = sizes or (2, 3 + max(height, width) // 4)
    random = np.random.default_rng(seed)
    depth = np.repeat(2 / (0.15 + 0.85 * np.linspace(0, 1, height))[:, None], width, axis=1)
    for _ in range(count):
        top, left = random.integers(height), random.integers(width)
        size = random.integers(*sizes, 2)
        box = depth[top : top + size[0], left : left + size[1]]
        np.minimum(box, random.uniform(0.5, 9), out=box)
    return depth.astype(np.float32)


def motion(kind: str, pixels: float, nearest: float, focal: float, poses: int = 17, seed: int = 0) -> icb.Trajectory:
    """A trajectory that moves the nearest point by about ``pixels`` pixels."""
    random = np.random.default_rng(seed)
    time = np.linspace(-1, 1, poses)
    reach = 1.0137 * pixels * nearest / focal  # no displacement is exactly half a pixel: ties are noise
    shift = np.zeros((poses, 3))
    turn = np.zeros((poses, 3))
    shift[:, 0] = reach * time
    shift[:, 1] = 0.7 * reach * np.sin(2.3 * time + 0.4 * random.random())
    if kind == "horizontal":
        shift[:, 1] = 0
    if kind == "vertical":
        shift[:, 0] = 0
    if kind == "still":
        shift[:] = 0
    if kind == "pan only":
        shift[:] = 0
    if kind in ("pan-tilt", "6-DoF", "pan only"):
        turn[:, 0] = 0.6 * pixels / focal * np.sin(1.7 * time)
        turn[:, 1] = 0.8 * pixels / focal * time**2
    if kind == "6-DoF":
        shift[:, 2] = 0.05 * nearest * np.sin(2.9 * time)
        turn[:, 2] = 0.02 * time
    if kind == "away from rest":  # no pose leaves the image where it is
        shift[:, 0] += 1.5 * reach
    weights = random.uniform(0.2, 1, poses)
    return icb.Trajectory.from_motion(shift, turn, weights=weights)


KINDS = ("parallax", "horizontal", "vertical", "pan only", "pan-tilt", "6-DoF", "still", "away from rest")


def scene(height: int, width: int, kind: str = "parallax", pixels: float = 5.0, seed: int = 0, **options: int) -> Scene:
    depth = boxes(height, width, seed)
    focal = 0.9 * width
    camera = icb.Camera(focal, 1.1 * focal, 0.48 * width, 0.55 * height)
    return Scene(depth, motion(kind, pixels, float(depth.min()), focal, seed=seed, **options), camera)
