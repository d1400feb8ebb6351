"""Where the camera stands: views that scenes propose, and the choice among them by what they see."""

from typing import NamedTuple

import numpy as np

import icb
from datasets.simulate import lidar
from datasets.simulate.model import Scene
from datasets.simulate.shapes import rotation

Range = tuple[float, float]

NEAREST: dict[str, Range] = {"Macro": (0.12, 0.3), "Trucking": (1.8, 6.0), "Standard": (2.2, 40.0),
                    "iOS": (0.22, 0.42)}  # fmt: skip
"""Metres between which the nearest thing in view must lie."""
TRIES = 24


class View(NamedTuple):
    """Position (metres, x right, y up, z forward), Unity's yaw and pitch (degrees, pitch down positive),
    horizontal field of view (degrees).
    """

    position: tuple[float, float, float]
    yaw: float
    pitch: float
    field_of_view: float

    @property
    def camera_to_world(self) -> np.ndarray:
        """4x4, axes x right, y up, z forward."""
        pose = np.eye(4)
        pose[:3, :3] = rotation(self.yaw, self.pitch)
        pose[:3, 3] = self.position
        return pose


def nearest_depth(depth: np.ndarray) -> float:
    """The depth that one pixel in two hundred is nearer than: one stray leaf does not count."""
    return float(np.quantile(depth, 0.005))


def choose_view(
    scene: Scene,
    case: str,
    random: np.random.Generator,
    *,
    camera: icb.Camera | None = None,
    size: tuple[int, int] = (36, 64),
    turn: np.ndarray | None = None,
) -> View:
    """The best of several views that the scene proposes: things at many depths, none too near.

    They are judged on depth maps of ``size`` seen by ``camera`` (by default one with the view's own field
    of view), turned by ``turn`` (4x4). Case ``iOS`` looks at what Macro sees from above, so that little is
    beyond the LiDAR's range.
    """
    from datasets.simulate.render import cast_depth
    from datasets.simulate.scenes import scene_module

    best: View | None = None
    best_score = -np.inf
    for _ in range(TRIES):
        view: View = scene_module(scene.name).view("Macro" if case == "iOS" else case, random)
        if case == "iOS":
            view = _from_above(view, random)
        lens = camera or icb.Camera.from_fov(view.field_of_view, size[1], size[0])
        pose = view.camera_to_world if turn is None else view.camera_to_world @ turn
        depth = cast_depth(scene, lens, pose, size)
        score = _score(depth, NEAREST[case])
        if case == "iOS":
            score -= 6 * float(np.mean(depth > lidar.RANGE))
        if score > best_score:
            best, best_score = view, score
    assert best is not None
    return best


def _from_above(view: View, random: np.random.Generator) -> View:
    """Turn a view about a point in front of it to look down by 20 to 40 degrees, from a little further off."""
    middle = np.asarray(view.position) + 0.35 * view.camera_to_world[:3, 2]
    turned = view._replace(pitch=float(random.uniform(20, 40)))
    x, y, z = middle - random.uniform(0.36, 0.5) * turned.camera_to_world[:3, 2]
    return turned._replace(position=(float(x), float(y), float(z)))


def _score(depth: np.ndarray, nearest: Range) -> float:
    """How evenly the picture is spread over depths, less what the nearest depth is off its range."""
    near = nearest_depth(depth)
    off = max(nearest[0] / near, near / nearest[1], 1.0) if near > 0 else np.inf
    # Steps in depth of a factor 1.5, everything beyond a hundred times the nearest in one.
    step = np.clip(np.log(np.minimum(depth, 1e6) / max(near, 1e-3)) / np.log(1.5), 0, 11).astype(int)
    share = np.bincount(step.ravel(), minlength=12) / depth.size
    spread = -float(np.sum(share[share > 0] * np.log(share[share > 0])))
    # One thing that fills the picture leaves nothing to see behind it.
    return spread - 4 * float(np.log(off)) - 3 * max(0.0, float(share[:2].sum()) - 0.45)
