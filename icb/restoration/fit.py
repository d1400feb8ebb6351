"""Sharp images from blur: fit a coordinate network through a blur operator."""

from __future__ import annotations

import dataclasses
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from icb.errors import DivergenceError, InputError
from icb.patches import Linear
from icb.restoration import checkpoint as checkpoints
from icb.restoration.frame import Frame, cut
from icb.restoration.history import History, psnr_of
from icb.restoration.loss import Patch, make_patch, patch_loss
from icb.restoration.network import CHANNELS, Network
from icb.restoration.settings import Settings
from icb.threads import using_threads

OnEpoch = Callable[[dict[str, float], Network], object]

SECONDS_BETWEEN_CHECKPOINTS = 30.0


@dataclass(frozen=True)
class Restoration:
    """What a fit ends in."""

    image: np.ndarray
    """The sharp image, (H, W, 3) float32, nominally between 0 and 1, not clipped."""
    network: Network
    history: History


def restore(
    blurry: np.ndarray | torch.Tensor,
    blur: Linear,
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
    - ``checkpoint``: a file that is written every ``checkpoint_seconds``, at the end of an epoch, and when the
      fit is done. If it is there, the fit goes on from it and ends as if it had not been interrupted.
    - ``on_epoch``: called after every epoch with its row of the history and the network, to look at.
    - ``device``: by default a GPU if torch has one.
    - ``threads``: for torch and ``icb``, during the fit; by default as many as they use anyway.
    """
    settings = _settings(settings, changes)
    photo = _photo(blurry, blur)
    frame = _frame(blur)
    chosen = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    with _threads(threads):
        network = Network(settings, frame).to(chosen)
        optimiser = torch.optim.Adam(network.parameters(), lr=settings.learning_rate)
        inputs = checkpoints.identify(photo, blur) if checkpoint is not None else None
        rows = checkpoints.resume(checkpoint, network, optimiser, inputs) if checkpoint is not None and inputs else []
        target = torch.from_numpy(np.ascontiguousarray(photo.transpose(2, 0, 1))).to(chosen)
        places = cut(frame.height, frame.width, settings.patch)
        patches = [make_patch(target, blur, frame, *place) for place in places] if len(rows) < settings.epochs else []
        written = time.monotonic()
        for epoch in range(len(rows), settings.epochs):
            rows.append(_epoch(network, optimiser, patches, epoch, name))
            late = time.monotonic() - written >= checkpoint_seconds or epoch + 1 == settings.epochs
            if checkpoint is not None and inputs and late:
                checkpoints.save(checkpoint, network, optimiser, rows, inputs)
                written = time.monotonic()
            if on_epoch is not None:
                on_epoch(dict(rows[-1]), network)
        return Restoration(network.render(), network.cpu(), History.of(rows))


def _epoch(
    network: Network, optimiser: torch.optim.Adam, patches: list[Patch], epoch: int, name: str
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
        norm = torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
        found = np.array([float(part.detach()) for part in loss])
        if not (np.isfinite(found).all() and math.isfinite(float(norm))):
            raise DivergenceError(
                f"{name or 'the photo'}: the fit diverged in epoch {epoch + 1} of {settings.epochs}: "
                f"loss {found[0]}, gradient {float(norm)}; expected finite numbers: try a smaller learning rate"
            )
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


def _settings(settings: Settings | None, changes: dict[str, Any]) -> Settings:
    known = {field.name for field in dataclasses.fields(Settings)}
    for key in changes:
        if key not in known:
            raise InputError(f"{key}: no such setting, expected one of {', '.join(sorted(known))}")
    if changes.get("network") not in (None, getattr(settings, "network", "siren")):
        changes = {"width": None, **changes}  # each kind of network has its own
    return dataclasses.replace(settings or Settings(), **changes)


def _photo(blurry: np.ndarray | torch.Tensor, blur: Linear) -> np.ndarray:
    """The photo as (H, W, 3) float32, checked."""
    if isinstance(blurry, torch.Tensor):
        blurry = blurry.detach().cpu().movedim(-3, -1).numpy() if blurry.ndim == CHANNELS else blurry.numpy()
    if not isinstance(blurry, np.ndarray):
        raise InputError(f"blurry: got {type(blurry).__name__}, expected a numpy array or a torch tensor")
    if blurry.ndim != 3 or blurry.shape[2] != CHANNELS or blurry.size == 0:
        raise InputError(f"blurry: got shape {blurry.shape}, expected (H, W, 3)")
    if blurry.dtype.kind != "f":
        raise InputError(f"blurry: got {blurry.dtype}, expected floats between 0 and 1")
    shape = tuple(getattr(blur, "shape", ()))
    if shape != blurry.shape[:2]:
        raise InputError(
            f"blurry: got {blurry.shape[0]} x {blurry.shape[1]} pixels, expected "
            f"{' x '.join(map(str, shape)) or 'an operator that has a shape'}, as the operator's"
        )
    strange = ~((blurry > -1) & (blurry < 2))  # noise and resampling may leave the range, other units leave it far
    if strange.any():
        row, column, channel = np.argwhere(strange)[0]
        value = blurry[row, column, channel]
        raise InputError(f"blurry: got {value} at row {row}, column {column}, expected numbers between 0 and 1")
    return np.require(blurry, np.float32, ["C", "W"])


def _frame(blur: Linear) -> Frame:
    (height, width), (down, right) = blur.shape, blur.radius
    if down > max(height, width) or right > max(height, width):
        raise InputError(
            f"blur: moves by up to {down} rows and {right} columns, expected less than the image's {height} x {width}"
        )
    return Frame(height, width, down, right)


@contextmanager
def _threads(count: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    with using_threads(count):
        torch.set_num_threads(before if count is None else count)
        try:
            yield
        finally:
            torch.set_num_threads(before)
