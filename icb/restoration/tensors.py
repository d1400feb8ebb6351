"""Tensors in files with a description beside them: ``safetensors``, whose metadata holds one JSON object."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from icb import files
from icb.errors import InputError

KEY = "icb"


def save(path: str | os.PathLike[str], tensors: Mapping[str, torch.Tensor], described: Mapping[str, Any]) -> None:
    """Write tensors and what they are, whole or not at all."""
    from safetensors.torch import save_file

    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    metadata = {KEY: json.dumps(described, sort_keys=True)}
    files.write(path, lambda temporary: save_file(ready, temporary, metadata))


def load(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The tensors of a file and its description, whose ``"kind"`` must be the one given."""
    from safetensors import safe_open

    if not Path(path).is_file():
        raise InputError(f"{path}: no such file")
    try:
        with safe_open(path, framework="pt") as archive:
            described = json.loads((archive.metadata() or {}).get(KEY, "null"))
            # Copies: what is mapped from a file changes with it, and lies wherever the file has it.
            tensors = {name: archive.get_tensor(name).clone() for name in archive.keys()}  # noqa: SIM118
    except Exception as error:  # the library raises what it likes on broken files
        raise InputError(f"{path}: expected a {kind} as .safetensors: {error}") from None
    if not isinstance(described, dict) or described.get("kind") != kind:
        found = described.get("kind") if isinstance(described, dict) else "something else"
        raise InputError(f"{path}: got {found}, expected a {kind}")
    return tensors, described


def check_shapes(
    path: str | os.PathLike[str], tensors: Mapping[str, torch.Tensor], expected: Mapping[str, tuple[int, ...]]
) -> None:
    """Every tensor there, of its shape, in float32 and finite."""
    for name, shape in expected.items():
        if name not in tensors:
            raise InputError(f"{path}: has no {name!r}, expected numbers of shape {shape}")
        found = tensors[name]
        if tuple(found.shape) != shape or found.dtype != torch.float32:
            raise InputError(
                f"{path}: {name!r} is {found.dtype} of shape {tuple(found.shape)}, expected float32 of {shape}"
            )
        if not bool(torch.isfinite(found).all()):
            raise InputError(f"{path}: {name!r} holds numbers that are not finite")
