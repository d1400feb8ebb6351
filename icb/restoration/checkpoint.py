"""A fit interrupted: all that it needs to go on, and to end as if it had not been."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import time
from pathlib import Path

import numpy as np
import torch

from icb import tensors as archive
from icb.errors import CheckpointError, InputError
from icb.patches import Blur
from icb.restoration.frame import cut
from icb.restoration.history import History
from icb.restoration.network import CHECKPOINT, Network, describe, read_description, shapes

BLOCKS = 32
ROUNDING = 1e-3
"""Of a probe's numbers, the sums of up to some thousand pixels, between one device and another."""


@dataclasses.dataclass(frozen=True)
class Inputs:
    """What tells one photo and one operator from another."""

    photo: str
    """A hash of the photo."""
    probe: torch.Tensor
    """A picture of noise, always the same, blurred: the sums of its blocks, each pixel with a random sign.

    Every pixel counts, and with these signs a change of some does not cancel, as it would in plain sums: blur only
    moves light. Compared to within rounding.
    """


def identify(blurry: np.ndarray, blur: Blur, device: torch.device) -> Inputs:
    """Of a photo (H, W, 3) float32 and an operator, which is asked on the device of the fit."""
    random = np.random.default_rng(0)
    noise = random.random((3, *blur.shape), np.float32)
    with torch.no_grad():
        sums = blur(torch.from_numpy(noise).to(device)).to("cpu", torch.float64).numpy()
    sums = sums * random.choice([-1.0, 1.0], sums.shape)
    for axis in (1, 2):
        size = sums.shape[axis]
        sums = np.add.reduceat(sums, np.arange(min(size, BLOCKS)) * size // min(size, BLOCKS), axis)
    photo = hashlib.sha256(np.ascontiguousarray(blurry).tobytes()).hexdigest()
    return Inputs(photo, torch.from_numpy(sums))


class Keeper:
    """Keeps the checkpoint of a fit up to date, if there is to be one.

    A step may leave weights that are of no use, and that shows only when the network is next evaluated. So a
    checkpoint is first offered, and written when what it holds has been confirmed to give finite numbers.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, seconds: float, photo: np.ndarray, blur: Blur, device: torch.device
    ) -> None:
        self._path, self._seconds = path, seconds
        self._inputs = None if path is None else identify(photo, blur, device)
        self._offered: tuple[int, bytes] | None = None
        self._packed = time.monotonic()
        self._epochs = 0

    def resume(self, network: Network, optimiser: torch.optim.Adam) -> list[dict[str, float]]:
        """Fill network and optimiser as they were; returns the history's rows, none if there is no file yet."""
        if self._path is None or self._inputs is None or not Path(self._path).exists():
            return []
        try:
            rows = resume(self._path, network, optimiser, self._inputs)
        except InputError as error:
            raise CheckpointError(str(error)) from None
        self._epochs = len(rows)
        return rows

    def offer(self, network: Network, optimiser: torch.optim.Adam, rows: list[dict[str, float]], last: bool) -> None:
        """Take the state after whole epochs, if it is the last or the time has come."""
        due = last or time.monotonic() - self._packed >= self._seconds
        if self._inputs is not None and due:
            self._offered = len(rows), pack(network, optimiser, rows, self._inputs)
            self._packed = time.monotonic()

    def confirm(self) -> None:
        """Write what was offered, if anything: the network was evaluated since, and is good."""
        if self._path is not None and self._offered is not None:
            self._epochs, content = self._offered
            archive.write(self._path, content)
            self._offered = None

    @property
    def advice(self) -> str:
        """What can be done with what is kept."""
        if not self._epochs:
            return ""
        return f"; {self._path} keeps epoch {self._epochs}: icb render draws it, other settings need another checkpoint"


def pack(network: Network, optimiser: torch.optim.Adam, rows: list[dict[str, float]], inputs: Inputs) -> bytes:
    """Everything after whole epochs: the order of patches and the learning rate follow from their number."""
    kept = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for name, parameter in network.named_parameters():
        state = optimiser.state[parameter]
        kept |= {f"mean.{name}": state["exp_avg"], f"square.{name}": state["exp_avg_sq"]}
    history = History.of(rows)
    kept |= {f"history.{name}": torch.from_numpy(getattr(history, name)) for name in History.columns()}
    kept["probe"] = inputs.probe
    steps = int(optimiser.state[network.weights[0]]["step"])
    described = {"kind": CHECKPOINT, "steps": steps, "photo": inputs.photo}
    return archive.pack(kept, described | describe(network.settings, network.frame))


def resume(
    path: str | os.PathLike[str], network: Network, optimiser: torch.optim.Adam, inputs: Inputs
) -> list[dict[str, float]]:
    """Fill network and optimiser as a file has them; returns the history's rows."""
    found, described = archive.load(path, CHECKPOINT)
    _require_same(path, described, network, found, inputs)
    expected = {f"network.{name}": shape for name, shape in shapes(network.settings).items()}
    fitted = {name: tuple(parameter.shape) for name, parameter in network.named_parameters()}
    expected |= {f"{kind}.{name}": shape for kind in ("mean", "square") for name, shape in fitted.items()}
    archive.check_shapes(path, found, expected)
    rows = _rows(path, found, network.settings.epochs)
    steps, frame = described.get("steps"), network.frame
    expected_steps = len(rows) * len(cut(frame.height, frame.width, network.settings.patch))
    if not isinstance(steps, int) or steps != expected_steps:
        raise InputError(f"{path}: got {steps!r} steps after {len(rows)} epochs, expected {expected_steps}")
    network.load_state_dict({name: found[f"network.{name}"] for name in network.state_dict()})
    for name, parameter in network.named_parameters():
        optimiser.state[parameter] = {
            "step": torch.tensor(float(steps)),
            "exp_avg": torch.empty_like(parameter, requires_grad=False).copy_(found[f"mean.{name}"]),
            "exp_avg_sq": torch.empty_like(parameter, requires_grad=False).copy_(found[f"square.{name}"]),
        }
    return rows


def _require_same(
    path: str | os.PathLike[str],
    described: dict[str, object],
    network: Network,
    found: dict[str, torch.Tensor],
    inputs: Inputs,
) -> None:
    settings, frame = read_description(path, described)
    for theirs, ours in ((settings, network.settings), (frame, network.frame)):
        for field in dataclasses.fields(ours):
            got, expected = getattr(theirs, field.name), getattr(ours, field.name)
            if got != expected:
                raise InputError(f"{path}: belongs to another fit: {field.name}: got {got!r}, expected {expected!r}")
    if described.get("photo") != inputs.photo:
        raise InputError(f"{path}: belongs to a fit of another photo")
    probe = found.get("probe")
    if (
        probe is None
        or probe.shape != inputs.probe.shape
        or not torch.allclose(probe, inputs.probe, rtol=0, atol=ROUNDING)
    ):
        raise InputError(f"{path}: belongs to a fit through another blur")


def _rows(path: str | os.PathLike[str], found: dict[str, torch.Tensor], epochs: int) -> list[dict[str, float]]:
    columns = {name: found.get(f"history.{name}") for name in History.columns()}
    sizes = {tuple(column.shape) if column is not None else None for column in columns.values()}
    (shape,) = sizes if len(sizes) == 1 else (None,)
    if shape is None or len(shape) != 1 or not 1 <= shape[0] <= epochs:
        raise InputError(f"{path}: its history is broken, expected a number per epoch, up to {epochs}")
    history = History(**{name: column.numpy() for name, column in columns.items() if column is not None})
    if not np.array_equal(history.epoch, np.arange(1, len(history) + 1)):
        raise InputError(f"{path}: its history is broken, expected epochs 1 to {len(history)}")
    for name in History.columns():
        numbers = getattr(history, name)
        # A network that blurs to exactly the photo has a PSNR of infinity.
        if np.isnan(numbers).any() or (name != "psnr" and np.isinf(numbers).any()):
            raise InputError(f"{path}: its history is broken, expected finite numbers as {name}")
    return history.rows()
