"""What :func:`icb.restore` is given, checked and made ready."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any

import numpy as np
import torch

from icb.errors import InputError
from icb.patches import Blur, Shape
from icb.restoration.frame import Frame
from icb.restoration.network import CHANNELS
from icb.restoration.settings import Settings


def settings_of(settings: Settings | None, changes: dict[str, Any]) -> Settings:
    """The settings with some of them changed."""
    if not isinstance(settings, Settings | None):
        raise InputError(f"settings: got {type(settings).__name__}, expected icb.restoration.Settings")
    known = {field.name for field in dataclasses.fields(Settings)}
    for key in changes:
        if key not in known:
            raise InputError(f"{key}: no such setting, expected one of {', '.join(sorted(known))}")
    return dataclasses.replace(settings or Settings(), **changes)


def frame_of(blur: Blur) -> Frame:
    """The image that an operator blurs, padded as far as the blur reaches."""
    if not (callable(blur) and hasattr(blur, "shape") and hasattr(blur, "radius")):
        raise InputError(f"blur: got {type(blur).__name__}, expected an operator to call, with a shape and a radius")
    height, width = _whole_pair("shape", blur.shape, least=1)
    down, right = _whole_pair("radius", blur.radius, least=0)
    if down > height or right > width:
        raise InputError(
            f"blur: moves by up to {down} rows and {right} columns, expected at most the image's {height} x {width}"
        )
    return Frame(height, width, down, right)


def _whole_pair(name: str, given: Any, least: int) -> Shape:
    try:
        first, second = (operator.index(value) for value in given)  # numpy's too, which no JSON holds
    except (TypeError, ValueError):
        first = second = least - 1
    if min(first, second) < least:
        raise InputError(f"blur: its {name} is {given!r}, expected two whole numbers of at least {least}")
    return first, second


def photo_of(blurry: np.ndarray | torch.Tensor, shape: Shape) -> np.ndarray:
    """The photo, as large as ``shape``, as (H, W, 3) float32."""
    if isinstance(blurry, torch.Tensor):
        blurry = _as_array(blurry)
    if not isinstance(blurry, np.ndarray):
        raise InputError(f"blurry: got {type(blurry).__name__}, expected a numpy array or a torch tensor")
    if blurry.ndim != 3 or blurry.shape[2] != CHANNELS or blurry.size == 0:
        raise InputError(f"blurry: got shape {blurry.shape}, expected (H, W, 3)")
    if blurry.dtype.kind != "f":
        raise InputError(f"blurry: got {blurry.dtype}, expected floats between 0 and 1")
    if blurry.shape[:2] != tuple(shape):
        raise InputError(
            f"blurry: got {blurry.shape[0]} x {blurry.shape[1]} pixels, expected {shape[0]} x {shape[1]}, "
            f"as the operator's"
        )
    strange = ~((blurry > -1) & (blurry < 2))  # noise and resampling may leave the range, other units leave it far
    if strange.any():
        row, column, channel = np.argwhere(strange)[0]
        value = blurry[row, column, channel]
        raise InputError(f"blurry: got {value} at row {row}, column {column}, expected numbers between 0 and 1")
    return np.require(blurry, np.float32, ["C", "W"])


def _as_array(photo: torch.Tensor) -> np.ndarray:
    """(3, H, W) to (H, W, 3)."""
    if photo.ndim != 3 or photo.shape[0] != CHANNELS or photo.numel() == 0:
        raise InputError(f"blurry: got a tensor of shape {tuple(photo.shape)}, expected (3, H, W)")
    small = photo.is_floating_point() and photo.element_size() < 4  # numpy has no bfloat16
    return (photo.float() if small else photo).detach().cpu().movedim(0, -1).numpy()


def device_of(device: str | torch.device | None) -> torch.device:
    """The device that is asked for, which must be there; by default a GPU if torch has one."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
        torch.zeros(1, device=chosen).cpu()
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise InputError(f"device: got {str(device)!r}, expected one that torch can use here: {reason}") from None
    return chosen
