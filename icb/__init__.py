"""Camera motion blur that knows about depth: the ICB and PWB models, exact, differentiable and fast.

Conventions (axes, units, rounding, borders) are written down once, in ``docs/conventions.md``.
"""

from icb.camera import Camera
from icb.compositing import ImageCompositingBlur
from icb.errors import InputError
from icb.geometry import blur_extent, blur_variation, depth_sequence, displacement_for_variation
from icb.layers import Layer
from icb.operator import BlurOperator
from icb.pixelwise import PixelWiseBlur
from icb.threads import num_threads, set_num_threads
from icb.trajectory import Trajectory
from icb.version import __version__

ICB = ImageCompositingBlur
PWB = PixelWiseBlur

__all__ = [
    "ICB",
    "PWB",
    "BlurOperator",
    "Camera",
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
    "num_threads",
    "set_num_threads",
]
