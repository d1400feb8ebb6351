"""Small fits and operators, shared by the tests of restoration."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from icb.restoration import History, Restoration

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


class Shift:
    """An operator of somebody else: everything moves down by two pixels and is a third as bright; border zero."""

    shape = (17, 23)
    radius = (2, 0)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return F.pad(x, (0, 0, 2, 0))[..., :-2, :] / 3

    def adjoint(self, y: torch.Tensor) -> torch.Tensor:
        return F.pad(y, (0, 0, 0, 2))[..., 2:, :] / 3
