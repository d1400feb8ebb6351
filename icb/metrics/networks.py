"""The networks under LPIPS: which convolutions they have, and reading their weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from icb import files
from icb.errors import InputError

if TYPE_CHECKING:
    import torch

Net = Literal["vgg", "alex"]
Weights = dict[str, "torch.Tensor"]

KIND = "backbone of LPIPS"
"""In the description of a file of ours."""


class Convolution(NamedTuple):
    """One convolution; ``place`` is its number in torchvision's ``features``."""

    place: int
    inputs: int
    outputs: int
    size: int = 3
    stride: int = 1
    padding: int = 1


class Stage(NamedTuple):
    """Convolutions, each followed by a ReLU, after the last of which the features are taken."""

    pooled: bool
    convolutions: tuple[Convolution, ...]


@dataclass(frozen=True)
class Network:
    """``file`` is the name of torchvision's weights, ``sha256`` that of the file."""

    net: Net
    file: str
    sha256: str
    weights: str
    pool: int
    least: int
    stages: tuple[Stage, ...]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Of every tensor, by torchvision's name."""
        found: dict[str, tuple[int, ...]] = {}
        for stage in self.stages:
            for c in stage.convolutions:
                found[f"features.{c.place}.weight"] = (c.outputs, c.inputs, c.size, c.size)
                found[f"features.{c.place}.bias"] = (c.outputs,)
        return found


def _vgg16() -> tuple[Stage, ...]:
    stages, inputs, index = [], 3, 0
    for number, (outputs, count) in enumerate(((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))):
        found = []
        for _ in range(count):
            found.append(Convolution(index, inputs, outputs))
            inputs, index = outputs, index + 2
        index += 1
        stages.append(Stage(number > 0, tuple(found)))
    return tuple(stages)


NETWORKS: dict[str, Network] = {
    "vgg": Network(
        "vgg",
        "vgg16-397923af.pth",
        "397923af8e79cdbb6a7127f12361acd7a2f83e06b05044ddf496e83de57a5bf0",
        "VGG16_Weights",
        2,
        16,
        _vgg16(),
    ),
    "alex": Network(
        "alex",
        "alexnet-owt-7be5be79.pth",
        "7be5be791159472b1fbf3c69796f7cb30dca7ad8466c2df70058c37116cdee02",
        "AlexNet_Weights",
        3,
        31,
        (
            Stage(False, (Convolution(0, 3, 64, 11, 4, 2),)),
            Stage(True, (Convolution(3, 64, 192, 5, 1, 2),)),
            Stage(True, (Convolution(6, 192, 384),)),
            Stage(False, (Convolution(8, 384, 256),)),
            Stage(False, (Convolution(10, 256, 256),)),
        ),
    ),
}


def network(net: str) -> Network:
    """A network by name."""
    if net not in NETWORKS:
        raise InputError(f"net: got {net!r}, expected {' or '.join(map(repr, NETWORKS))}")
    return NETWORKS[net]


def read_backbone(path: str | os.PathLike[str], net: str) -> Weights:
    """The convolutions' weights from a file of :func:`write_backbone`'s or of torchvision's; checked."""
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file")
    try:
        found = _read_tensors(Path(path))
    except Exception as error:  # torch raises what it likes on broken files
        if files.machine_at_fault(error):
            raise
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(f"{path}: expected weights as .safetensors or torchvision's .pth: {reason}") from None
    weights: Weights = {}
    for name, shape in network(net).shapes.items():
        tensor = found.get(name)
        if tensor is None or tuple(tensor.shape) != shape or not tensor.is_floating_point():
            shown = "nothing" if tensor is None else f"{tensor.dtype} of shape {tuple(tensor.shape)}"
            raise InputError(f"{path}: got {shown} as {name}, expected floats of shape {shape} for {net!r}")
        weights[name] = tensor.float().contiguous()
    return weights


def _read_tensors(path: Path) -> Weights:
    if path.suffix == ".safetensors":
        from icb.tensors import load_any

        return load_any(path, "weights")[0]
    import torch

    found = torch.load(path, map_location="cpu", weights_only=True)
    if not isinstance(found, dict):
        raise InputError(f"got {type(found).__name__}, expected tensors by name")
    return {str(name): value for name, value in found.items() if isinstance(value, torch.Tensor)}


def write_backbone(path: Path, weights: Weights) -> None:
    """Weights as safetensors, with their checksum, in one step: others may be reading or writing the same file."""
    from icb import tensors

    tensors.write(path, tensors.pack(weights, {"kind": KIND}))


def linear_weights(net: str) -> list[torch.Tensor]:
    """How much each channel of each stage counts, (C,): learnt by the authors of LPIPS, shipped with ``lpips``."""
    import torch

    spec = find_spec("lpips")  # found, not imported: that would import torchvision
    if spec is None or not spec.submodule_search_locations:
        raise InputError("the package `lpips` is not installed, expected it for the weights that it ships")
    path = Path(spec.submodule_search_locations[0]) / "weights" / "v0.1" / f"{net}.pth"
    found = torch.load(path, map_location="cpu", weights_only=True)
    return [found[f"lin{stage}.model.1.weight"].flatten() for stage in range(len(network(net).stages))]
