"""LPIPS: the distance between two images in the features of a network."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from icb.errors import InputError
from icb.metrics.networks import Network, linear_weights, network, read_backbone
from icb.metrics.pictures import check_finite, check_image, check_least

if TYPE_CHECKING:
    import torch

SHIFT, SCALE = (-0.030, -0.088, -0.188), (0.458, 0.448, 0.450)
"""What LPIPS takes from images in [-1, 1] and divides them by: ImageNet's statistics."""

EPSILON = 1e-10
ROWS_AT_ONCE = 8
"""Features are compared so many rows at a time, which stay in the processor's cache and need little memory."""


@dataclass(frozen=True)
class Features:
    """An image's features, of length 1 at every pixel, one (1, C, h, w) map per stage.

    At 1280 x 720 those of VGG take 450 MB.
    """

    maps: tuple[torch.Tensor, ...]
    shape: tuple[int, ...]
    net: str
    paper: bool


class Lpips:
    """LPIPS 0.1 of one network, as the package ``lpips`` computes it: ``sum_l mean_p sum_c w_lc (a_lc - b_lc)^2``.

    a and b are the two images' features after stage l, divided at every pixel by their length over the channels.
    Images are (H, W, 3) in [0, 1] and go into the network as ``2 x - 1``; with ``paper=True`` as
    ``x / 127.5 - 1``, as the paper's authors did, whose values are therefore far smaller. Nothing is clipped.

    :meth:`features` and :meth:`distance` take one pass of the network each, so that a reference costs one pass
    however many estimates are compared with it.

    Parameters
    ----------
    weights : the network's convolutions: what :func:`icb.metrics.obtain_backbone` returns, or torchvision's file.
    net : ``"vgg"``, as in the paper, or ``"alex"``.
    device : a torch device.

    """

    def __init__(
        self, weights: str | os.PathLike[str], net: str = "vgg", *, device: str | torch.device = "cpu"
    ) -> None:
        import torch

        self.network: Network = network(net)
        # Channels last is faster on CPUs, and keeps what is summed over, the channels, together.
        layout = torch.channels_last
        found = read_backbone(weights, net)
        self._weights = {
            name: value.to(device, memory_format=layout if value.ndim == 4 else torch.contiguous_format)
            for name, value in found.items()
        }
        self._linear = [value.to(device)[None, :, None, None] for value in linear_weights(net)]
        self._shift, self._scale = (
            torch.tensor(values, device=device)[None, :, None, None] for values in (SHIFT, SCALE)
        )

    def __call__(self, estimate: np.ndarray, reference: np.ndarray, *, paper: bool = False) -> float:
        """The distance of two images."""
        return self.distance(self.features(reference, paper=paper), estimate)

    def features(self, image: np.ndarray, *, paper: bool = False) -> Features:
        """What :meth:`distance` compares with: one pass of the network."""
        maps: list[torch.Tensor] = []

        def keep(stage: int, found: torch.Tensor) -> None:
            kept = found.clone()
            for rows in _rows(found):
                _normalise(kept[:, :, rows])
            maps.append(kept)

        self._pass("reference", image, paper, keep)
        return Features(tuple(maps), image.shape, self.network.net, paper)

    def distance(self, features: Features, estimate: np.ndarray) -> float:
        """LPIPS of an estimate, in the convention of ``features``: one pass of the network."""
        check_image("estimate", estimate)
        if estimate.shape != features.shape:
            raise InputError(f"estimate: got shape {estimate.shape}, expected {features.shape} as the reference")
        if features.net != self.network.net:
            raise InputError(f"features: got those of {features.net!r}, expected {self.network.net!r}")
        means: list[float] = []

        def compare(stage: int, found: torch.Tensor) -> None:
            reference, total = features.maps[stage], 0.0
            for rows in _rows(found):
                difference = _normalise(found[:, :, rows].clone()).sub_(reference[:, :, rows]).square_()
                total += float(difference.mul_(self._linear[stage]).sum(dim=1).double().sum())
            means.append(total / (found.shape[2] * found.shape[3]))

        self._pass("estimate", estimate, features.paper, compare)
        return math.fsum(means)

    def _pass(self, name: str, image: np.ndarray, paper: bool, visit: Callable[[int, torch.Tensor], None]) -> None:
        """Run the network, showing ``visit`` the features of each stage; none is kept longer than needed."""
        import torch
        from torch.nn import functional

        check_image(name, image)
        check_least(image, self.network.least, f"LPIPS of {self.network.net!r}")
        check_finite(name, image)
        scaled = image / 127.5 - 1 if paper else 2 * image - 1
        with torch.inference_mode(), _full_precision():
            x = torch.from_numpy(np.ascontiguousarray(scaled, np.float32)).to(self._shift.device)
            x = (x.permute(2, 0, 1)[None] - self._shift) / self._scale
            for number, stage in enumerate(self.network.stages):
                if stage.pooled:
                    x = functional.max_pool2d(x, self.network.pool, stride=2)
                for c in stage.convolutions:
                    weight, bias = (self._weights[f"features.{c.place}.{part}"] for part in ("weight", "bias"))
                    x = functional.conv2d(x, weight, bias, stride=c.stride, padding=c.padding).relu_()
                visit(number, x)


def _normalise(part: torch.Tensor) -> torch.Tensor:
    """Divide by the length over the channels, in place."""
    return part.div_(part.square().sum(dim=1, keepdim=True).sqrt_().add_(EPSILON))


def _rows(maps: torch.Tensor) -> Iterator[slice]:
    return (slice(first, first + ROWS_AT_ONCE) for first in range(0, maps.shape[2], ROWS_AT_ONCE))


@contextmanager
def _full_precision() -> Iterator[None]:
    """Keep GPUs from rounding to TF32, which they do by default: a table should not depend on the device."""
    import torch

    if not torch.cuda.is_available():
        yield
        return
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before
