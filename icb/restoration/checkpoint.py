"""A fit interrupted: all that it needs to go on, and to end as if it had not been."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from pathlib import Path

import numpy as np
import torch

from icb.errors import InputError
from icb.patches import Linear
from icb.restoration import tensors as archive
from icb.restoration.history import History
from icb.restoration.network import Network, describe, read_description, shapes

KIND = "checkpoint of a fit"
PROBES = 1024


@dataclasses.dataclass(frozen=True)
class Inputs:
    """What tells one photo and one operator from another."""

    photo: str
    """A hash of the photo."""
    probe: torch.Tensor
    """Some pixels of a blurred picture of noise, which is always the same: compared to within rounding."""


def identify(blurry: np.ndarray, blur: Linear) -> Inputs:
    """Of a photo (H, W, 3) float32 and an operator."""
    noise = np.random.default_rng(0).random((3, *blur.shape), np.float32)
    with torch.no_grad():
        blurred = blur(torch.from_numpy(noise)).flatten()
    chosen = torch.linspace(0, len(blurred) - 1, min(PROBES, len(blurred)), dtype=torch.float64).long()
    photo = hashlib.sha256(np.ascontiguousarray(blurry).tobytes()).hexdigest()
    return Inputs(photo, blurred[chosen].to("cpu", torch.float32))


def save(
    path: str | os.PathLike[str],
    network: Network,
    optimiser: torch.optim.Adam,
    rows: list[dict[str, float]],
    inputs: Inputs,
) -> None:
    """Write everything after whole epochs: the order of patches and the learning rate follow from their number."""
    kept = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for name, parameter in network.named_parameters():
        state = optimiser.state[parameter]
        kept |= {f"mean.{name}": state["exp_avg"], f"square.{name}": state["exp_avg_sq"]}
    history = History.of(rows)
    kept |= {f"history.{name}": torch.from_numpy(getattr(history, name)) for name in History.columns()}
    kept["probe"] = inputs.probe
    steps = int(optimiser.state[network.weights[0]]["step"])
    described = {"kind": KIND, "steps": steps, "photo": inputs.photo, **describe(network.settings, network.frame)}
    archive.save(path, kept, described)


def resume(
    path: str | os.PathLike[str], network: Network, optimiser: torch.optim.Adam, inputs: Inputs
) -> list[dict[str, float]]:
    """Fill network and optimiser as they were; returns the history's rows, none if there is no file yet."""
    if not Path(path).exists():
        return []
    found, described = archive.load(path, KIND)
    _require_same(path, described, network, found, inputs)
    expected = {f"network.{name}": shape for name, shape in shapes(network.settings).items()}
    fitted = {name: tuple(parameter.shape) for name, parameter in network.named_parameters()}
    expected |= {f"{kind}.{name}": shape for kind in ("mean", "square") for name, shape in fitted.items()}
    archive.check_shapes(path, found, expected)
    rows = _rows(path, found, network.settings.epochs)
    steps = described.get("steps")
    if not isinstance(steps, int) or steps < len(rows):
        raise InputError(f"{path}: got {steps!r} steps after {len(rows)} epochs, expected more")
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
    if probe is None or probe.shape != inputs.probe.shape or not torch.allclose(probe, inputs.probe, rtol=0, atol=1e-4):
        raise InputError(f"{path}: belongs to a fit through another blur")


def _rows(path: str | os.PathLike[str], found: dict[str, torch.Tensor], epochs: int) -> list[dict[str, float]]:
    columns = {name: found.get(f"history.{name}") for name in History.columns()}
    sizes = {tuple(column.shape) if column is not None else None for column in columns.values()}
    (shape,) = sizes if len(sizes) == 1 else (None,)
    if shape is None or len(shape) != 1 or not 1 <= shape[0] <= epochs:
        raise InputError(f"{path}: its history is broken, expected a number per epoch, up to {epochs}")
    return History(**{name: column.numpy() for name, column in columns.items() if column is not None}).rows()
