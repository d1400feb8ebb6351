"""What a fit makes small: the blurred network's distance from the photo, and the steepness of the network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from icb.patches import Blur, BlurPatch, Span, patch_of
from icb.restoration.frame import Frame
from icb.restoration.network import Network


@dataclass(frozen=True)
class Patch:
    """Everything about a patch that stays the same during a fit."""

    points: torch.Tensor
    """Coordinates of the patch and its padding, (h' w', 2)."""
    blur: BlurPatch
    target: torch.Tensor
    """The blurry photo, between 0 and 1, (3, h, w)."""


class Loss(NamedTuple):
    """``total = data + lambda steepness``, of images between -1 and 1."""

    total: torch.Tensor
    data: torch.Tensor
    steepness: torch.Tensor


def make_patch(blurry: torch.Tensor, blur: Blur, frame: Frame, rows: Span, columns: Span) -> Patch:
    """The patch of a photo (3, H, W), on the photo's device."""
    target = blurry[:, slice(*rows), slice(*columns)].contiguous()
    return Patch(frame.patch(rows, columns).to(blurry.device), patch_of(blur, rows, columns), target)


def patch_loss(network: Network, patch: Patch) -> Loss:
    """``mean |b(Phi) - y|^2 + lambda mean |grad_p sum_c Phi_c|_1``, with y the photo and both between -1 and 1.

    The first mean is over the pixels and channels of the patch, the second over all points at which the
    network is evaluated, its padding included.
    """
    settings = network.settings
    analytic = settings.gradient == "analytic" and settings.penalty > 0
    values, steepness = network.evaluate(patch.points, steepness=analytic)
    # Blur acts on intensities, which are between 0 and 1; the factor 2 makes the distance that of the paper.
    picture = ((values + 1) / 2).t().reshape(-1, *patch.blur.padded_shape)
    data = (2 * (patch.blur(picture) - patch.target)).square().mean()
    if settings.gradient == "finite-difference":
        steepness = finite_steepness(2 * picture.sum(0), network.frame.spacing)
    return Loss(data + settings.penalty * steepness, data, steepness)


def finite_steepness(sums: torch.Tensor, spacing: tuple[float, float]) -> torch.Tensor:
    """The mean of ``|d/dx| + |d/dy|`` of a picture (h, w), by differences of pixels ``spacing`` (y, x) apart."""
    total = sums.new_zeros(())
    for axis, step in enumerate(spacing):
        if sums.shape[axis] > 1:
            total = total + sums.diff(dim=axis).abs().mean() / step
    return total
