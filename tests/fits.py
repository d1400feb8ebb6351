"""Small fits and operators, shared by the tests of restoration."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

import icb
from icb.restoration import History, Restoration, restore
from tests.scenes import scene, smooth_picture

SIZE = (36, 47)
"""Of the photo in the fixtures ``sharp``, ``blur`` and ``blurry``."""
SMALL: dict[str, Any] = {"width": 24, "hidden": 2, "epochs": 6, "patch": (20, 30)}


def same(one: Restoration, other: Restoration) -> bool:
    """Networks, histories but for the time it took, and images."""
    alike = all(
        torch.equal(a, b)
        for a, b in zip(one.network.state_dict().values(), other.network.state_dict().values(), strict=True)
    )
    columns = [name for name in History.columns() if name != "seconds"]
    alike = alike and all(np.array_equal(getattr(one.history, c), getattr(other.history, c)) for c in columns)
    return alike and np.array_equal(one.image, other.image)


def tiny_images() -> dict[str, np.ndarray]:
    """Restored through either model; small enough for blur that is not compiled."""
    s, images = scene(9, 11, "pan-tilt", 2.0), {}
    for name, model in (("icb", icb.ICB), ("pwb", icb.PWB)):
        blur = model(s.depth, s.trajectory, s.camera)
        photo = blur(smooth_picture(9, 11))
        images[name] = restore(photo, blur, width=16, hidden=1, epochs=3, patch=(6, 6), threads=1).image
    return images


class Shift:
    """An operator of somebody else: everything moves down by two pixels and is a third as bright; border zero."""

    shape = (17, 23)
    radius = (2, 0)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.pad(x, (0, 0, 2, 0))[..., :-2, :] / 3

    def adjoint(self, y: torch.Tensor) -> torch.Tensor:
        return F.pad(y, (0, 0, 0, 2))[..., 2:, :] / 3
