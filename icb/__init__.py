"""Camera motion blur that knows about depth: the ICB and PWB models, exact, differentiable and fast.

Conventions (axes, units, rounding, borders) are written down once, in ``docs/conventions.md``.
"""

from typing import TYPE_CHECKING, Any

from icb.camera import Camera
from icb.compositing import ImageCompositingBlur
from icb.errors import CheckpointError, DivergenceError, InputError
from icb.geometry import blur_extent, blur_variation, depth_sequence, displacement_for_variation
from icb.layers import Layer
from icb.operator import BlurOperator
from icb.pixelwise import PixelWiseBlur
from icb.threads import num_threads, set_num_threads
from icb.trajectory import Trajectory
from icb.version import __version__

if TYPE_CHECKING:
    from icb.restoration import load_network, restore

ICB = ImageCompositingBlur
PWB = PixelWiseBlur

__all__ = [
    "ICB",
    "PWB",
    "BlurOperator",
    "Camera",
    "CheckpointError",
    "DivergenceError",
    "ImageCompositingBlur",
    "InputError",
    "Layer",
    "PixelWiseBlur",
    "Trajectory",
    "__version__",
    "blur_extent",
    "blur_variation",
    "depth_sequence",
    "displacement_for_variation",
    "load_network",
    "num_threads",
    "restore",
    "set_num_threads",
]


def __getattr__(name: str) -> Any:
    """What needs torch is imported when it is first asked for: that takes seconds."""
    if name in ("load_network", "restore"):
        from icb import restoration

        return getattr(restoration, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
