"""A patch of a blurred picture, from as much of the sharp picture as it depends on.

The blur of a patch of ``(h, w)`` pixels sees the sharp picture up to the kernel radius ``(down, right)``
beyond it, so a patch takes ``(h + 2 down, w + 2 right)`` pixels to ``(h, w)``. Nothing is replicated: at
the border of the image the padded patch reaches over it, and what lies there is asked of the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from icb.errors import InputError

if TYPE_CHECKING:
    import torch

Image = TypeVar("Image", "np.ndarray", "torch.Tensor")
Shape = tuple[int, int]
Span = tuple[int, int]
"""The first row or column and the one after the last."""


class Blur(Protocol):
    """What a blur operator must offer to be restored from: :class:`icb.BlurOperator` does.

    ``blur(x)`` takes torch ``(3, H, W)`` to the same and is differentiable; a pixel depends on those up to
    ``radius`` rows and columns away.
    """

    @property
    def shape(self) -> Shape: ...

    @property
    def radius(self) -> Shape: ...

    def __call__(self, x: Any) -> Any: ...


class BlurPatch:
    """Some rows of a blur operator: ``y = patch(x)`` takes a padded patch to the blurred patch.

    As with the whole operator, numpy ``(h, w)`` or ``(h, w, C)`` and torch ``(..., h, w)`` are understood,
    torch results are differentiable, and ``patch.adjoint`` is the exact transpose if the operator has one.

    ``operator`` blurs a canvas into which the padded patch is laid at ``origin``; what sticks out is cut
    off, what is not covered is zero.
    """

    def __init__(self, operator: Blur, shape: Shape, radius: Shape, origin: Shape) -> None:
        self.shape, self.radius, self.padded_shape = shape, radius, padded_shape(shape, radius)
        self._operator, self._origin = operator, origin

    def __call__(self, x: Image) -> Image:
        """Blur a padded patch."""
        self._check(x, self.padded_shape)
        top, left = self._origin
        blurred = self._operator(place(x, top, left, self._operator.shape))
        patch: Image = place(blurred, -top - self.radius[0], -left - self.radius[1], self.shape)
        return patch

    def adjoint(self, y: Image) -> Image:
        """The transpose, from a patch to a padded one: ``<patch(x), y> = <x, patch.adjoint(y)>``."""
        self._check(y, self.shape)
        top, left = self._origin
        if not hasattr(self._operator, "adjoint"):
            raise InputError(f"adjoint: {type(self._operator).__name__} has none")
        spread = self._operator.adjoint(place(y, top + self.radius[0], left + self.radius[1], self._operator.shape))
        padded: Image = place(spread, -top, -left, self.padded_shape)
        return padded

    def _check(self, image: Any, shape: Shape) -> None:
        found = tuple(getattr(image, "shape", ()))
        if (found[:2] if isinstance(image, np.ndarray) else found[-2:]) != shape:
            raise InputError(f"patch: got shape {found}, expected {shape[0]} x {shape[1]} pixels")


def patch_of(blur: Blur, rows: Span, columns: Span) -> BlurPatch:
    """The patch of any operator: its own ``patch(rows, columns)``, or one through the whole picture.

    The latter blurs all of the picture for each patch, and at the image's borders the operator's own rule
    holds, because it cannot be told what lies beyond them.
    """
    if hasattr(blur, "patch"):
        patch: BlurPatch = blur.patch(rows, columns)
        return patch
    return whole_patch(blur, rows, columns)


def whole_patch(blur: Blur, rows: Span, columns: Span) -> BlurPatch:
    """A patch by blurring the whole picture, zero around the padded patch."""
    check_patch(blur.shape, rows, columns)
    shape = (rows[1] - rows[0], columns[1] - columns[0])
    return BlurPatch(blur, shape, blur.radius, origin=(rows[0] - blur.radius[0], columns[0] - blur.radius[1]))


def padded_shape(shape: Shape, radius: Shape) -> Shape:
    """``(h + 2 down, w + 2 right)``."""
    return shape[0] + 2 * radius[0], shape[1] + 2 * radius[1]


def check_patch(shape: Shape, rows: Span, columns: Span) -> None:
    """Refuse a patch that is empty or not inside the image."""
    for name, (first, last), size in (("rows", rows, shape[0]), ("columns", columns, shape[1])):
        if not 0 <= first < last <= size:
            raise InputError(f"{name}: got {first} to {last}, expected some of 0 to {size}")


def place(image: Image, top: int, left: int, shape: Shape) -> Image:
    """Lay an image at ``(top, left)`` into one of the given shape; cut off what sticks out, zero elsewhere."""
    if isinstance(image, np.ndarray):
        result = np.zeros((*shape, *image.shape[2:]), image.dtype)
        rows, columns = _overlap(top, image.shape[0], shape[0]), _overlap(left, image.shape[1], shape[1])
        result[slice(*rows), slice(*columns)] = image[
            rows[0] - top : rows[1] - top, columns[0] - left : columns[1] - left
        ]
        return result
    bottom, right = shape[0] - top - image.shape[-2], shape[1] - left - image.shape[-1]
    if not any((top, left, bottom, right)):
        return image
    import torch.nn.functional as F

    return F.pad(image, (left, right, top, bottom))


def _overlap(offset: int, size: int, limit: int) -> Span:
    first, last = max(offset, 0), min(offset + size, limit)
    return first, max(first, last)
