"""What is given is checked before anything is computed from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from icb.errors import InputError

if TYPE_CHECKING:
    import torch

FLOATS = (np.float32, np.float64)


def check_depth(depth: np.ndarray | torch.Tensor) -> np.ndarray:
    """Depth as a contiguous float32 or float64 array; its values are checked."""
    if not isinstance(depth, np.ndarray):
        if not hasattr(depth, "detach"):
            raise InputError(f"depth: got {type(depth).__name__}, expected a numpy array or a torch tensor")
        tensor = depth.detach().cpu()
        small = tensor.is_floating_point() and tensor.element_size() < 4  # numpy has no bfloat16
        depth = (tensor.float() if small else tensor).numpy()
    if depth.ndim != 2 or depth.size == 0:
        raise InputError(f"depth: got shape {depth.shape}, expected (H, W)")
    if depth.dtype.newbyteorder("=") not in FLOATS:
        if depth.dtype.kind not in "fiu":
            raise InputError(f"depth: got {depth.dtype}, expected metres as float32 or float64")
        depth = depth.astype(np.float32)
    nearest = depth.min()  # NaN wins
    if not nearest > 0:
        row, column = np.argwhere(~(depth > 0))[0]
        raise InputError(f"depth: got {depth[row, column]} at row {row}, column {column}, expected metres above 0")
    return np.require(depth, depth.dtype.newbyteorder("="), ["C", "W"])


def check_positive(name: str, value: float, unit: str) -> float:
    """A positive, finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise InputError(f"{name}: got {value!r}, expected a positive number of {unit}")
    return number
