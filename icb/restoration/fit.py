"""Sharp images from blur: fit a coordinate network through a blur operator."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from icb.errors import DivergenceError
from icb.patches import Blur
from icb.restoration.arguments import device_of, frame_of, photo_of, settings_of
from icb.restoration.checkpoint import Keeper
from icb.restoration.frame import cut
from icb.restoration.history import History, psnr_of
from icb.restoration.loss import Patch, make_patch, patch_loss
from icb.restoration.network import Network
from icb.restoration.settings import Settings
from icb.threads import using_threads

OnEpoch = Callable[[dict[str, float], Network], object]

SECONDS_BETWEEN_CHECKPOINTS = 30.0
LARGEST_COLOUR = 1e18
"""Beyond, the square of a colour is no float32, and so no loss is finite."""


@dataclass(frozen=True)
class Restoration:
    """What a fit ends in."""

    image: np.ndarray
    """The sharp image, (H, W, 3) float32, nominally between 0 and 1, not clipped."""
    network: Network
    history: History
    device: str
    """Where it was fitted: ``"cpu"``, ``"cuda"``, ..."""


def restore(
    blurry: np.ndarray | torch.Tensor,
    blur: Blur,
    settings: Settings | None = None,
    *,
    name: str = "",
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = SECONDS_BETWEEN_CHECKPOINTS,
    on_epoch: OnEpoch | None = None,
    device: str | torch.device | None = None,
    threads: int | None = None,
    **changes: Any,
) -> Restoration:
    """The sharp image whose blur is the photo, as a network [Sec. Neural representations from blur].

    Every epoch takes one step of Adam for each patch, in an order that depends on seed and epoch alone. The
    same seed on the same machine with the same number of threads gives the same image.

    - ``blurry``: the photo, numpy (H, W, 3) or torch (3, H, W), floats between 0 and 1.
    - ``blur``: :class:`icb.ICB`, :class:`icb.PWB`, or any operator with ``shape``, ``radius`` and a call that is
      differentiable in torch ``(3, H, W)``; with ``patch(rows, columns)`` as :class:`icb.BlurOperator` has it,
      patches cost less and the border is exact.
    - ``settings``, ``changes``: the paper's, or others: ``restore(y, blur, epochs=60, network="fourier")``.
    - ``name``: what messages call the sample.
    - ``checkpoint``: a file that is written every ``checkpoint_seconds``, with what there was at the end of an epoch
      and the next step found to be good, and when the fit is done. If it is there, the fit goes on from it and ends
      as if it had not been interrupted.
    - ``on_epoch``: called after every epoch with its row of the history and the network, to look at.
    - ``device``: by default a GPU if torch has one.
    - ``threads``: for torch and ``icb``, during the fit; by default as many as they use anyway.
    """
    settings = settings_of(settings, changes)
    frame = frame_of(blur)
    photo = photo_of(blurry, (frame.height, frame.width))
    chosen = device_of(device)
    with _threads(threads):
        network = Network(settings, frame).to(chosen)
        optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        keeper = Keeper(checkpoint, checkpoint_seconds, photo, blur, chosen)
        rows = keeper.resume(network, optimiser)
        target = torch.from_numpy(np.ascontiguousarray(photo.transpose(2, 0, 1))).to(chosen)
        places = cut(frame.height, frame.width, settings.patch)
        patches = [make_patch(target, blur, frame, *place) for place in places] if len(rows) < settings.epochs else []
        for epoch in range(len(rows), settings.epochs):
            rows.append(_epoch(network, optimiser, patches, epoch, name, keeper))
            keeper.offer(network, optimiser, rows, last=epoch + 1 == settings.epochs)
            if on_epoch is not None:
                on_epoch(dict(rows[-1]), network)
        image = network.render()
        largest = float(np.abs(image).max())
        if not largest < LARGEST_COLOUR:
            raise _divergence(name, settings.epochs - 1, settings, f"colours of {largest}", keeper)
        keeper.confirm()
        return Restoration(image, network.cpu(), History.of(rows), str(chosen))


def _epoch(
    network: Network, optimiser: torch.optim.Adam, patches: list[Patch], epoch: int, name: str, keeper: Keeper
) -> dict[str, float]:
    """One step for each patch; returns the epoch's row of the history."""
    began, settings = time.perf_counter(), network.settings
    rate = settings.learning_rate_at(epoch)
    for group in optimiser.param_groups:
        group["lr"] = rate
    sums, error, pixels = np.zeros(3), 0.0, 0
    for index in np.random.default_rng([settings.seed, epoch]).permutation(len(patches)):
        patch = patches[index]
        optimiser.zero_grad(set_to_none=True)
        loss = patch_loss(network, patch)
        loss.total.backward()  # type: ignore[no-untyped-call]
        norm = float(torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip))
        found = np.array([float(part.detach()) for part in loss])
        if not (np.isfinite(found).all() and math.isfinite(norm)):
            raise _divergence(name, epoch, settings, f"loss {found[0]}, gradient {norm}", keeper)
        keeper.confirm()
        optimiser.step()
        sums += found
        error += found[1] / 4 * patch.target.numel()
        pixels += patch.target.numel()
    total, data, steepness = (float(value) for value in sums / len(patches))
    return {
        "epoch": float(epoch + 1),
        "loss": total,
        "data": data,
        "steepness": steepness,
        "psnr": psnr_of(error / pixels),
        "learning_rate": rate,
        "seconds": time.perf_counter() - began,
    }


def _divergence(name: str, epoch: int, settings: Settings, found: str, keeper: Keeper) -> DivergenceError:
    return DivergenceError(
        f"{name or 'the photo'}: the fit diverged in epoch {epoch + 1} of {settings.epochs}: {found}; "
        f"expected finite numbers: try a smaller learning rate{keeper.advice}"
    )


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    with using_threads(count):
        torch.set_num_threads(before if count is None else count)
        try:
            yield
        finally:
            torch.set_num_threads(before)
