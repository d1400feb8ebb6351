"""Tensors in files with a description beside them: ``safetensors``, whose metadata holds one JSON object.

A checksum over both tells when a file is not what was written: most damage leaves numbers that look like any.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import torch

from icb import files
from icb.errors import InputError

KEY, CHECKSUM = "icb", "sha256"
"""Of the metadata, and in the object there."""

Tensors = dict[str, torch.Tensor]


def pack(tensors: Mapping[str, torch.Tensor], described: Mapping[str, Any]) -> bytes:
    """Tensors and what they are, as the content of a file."""
    from safetensors.torch import save

    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    sealed = {**described, CHECKSUM: checksum(described, ready)}
    # A single entry, because the library writes several in any order: the same content is the same file.
    return save(ready, {KEY: json.dumps(sealed, sort_keys=True)})


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write what :func:`pack` made, whole or not at all."""
    files.write(path, lambda temporary: temporary.write_bytes(content))


def load(path: str | os.PathLike[str], *kinds: str) -> tuple[Tensors, dict[str, Any]]:
    """The tensors of a file and its description, whose ``"kind"`` must be one of those given."""
    expected = f"a {' or '.join(kinds)}"
    tensors, described = load_any(path, expected)
    if described is None or described.get("kind") not in kinds:
        found = "something else" if described is None else described.get("kind")
        raise InputError(f"{path}: got {found}, expected {expected}")
    return tensors, described


def load_any(path: str | os.PathLike[str], expected: str) -> tuple[Tensors, dict[str, Any] | None]:
    """The tensors of any ``safetensors`` file, and its description if :func:`pack` made it.

    ``expected`` is what messages say there should be. Where the machine is at fault, its error is raised as it is.
    """
    from safetensors.torch import load as unpack

    files.require_file(path)
    content = files.read_bytes(path)
    try:
        tensors = unpack(content)
        header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        described = json.loads(header.get("__metadata__", {}).get(KEY, "null"))
    except Exception as error:  # the library raises what it likes on broken files
        if files.machine_at_fault(error):
            raise
        raise InputError(f"{path}: expected {expected} as .safetensors: {error}") from None
    if not isinstance(described, dict):
        return tensors, None
    if described.pop(CHECKSUM, None) != checksum(described, tensors):
        raise InputError(f"{path}: is damaged: its checksum is another, expected {expected} as it was written")
    return tensors, described


def checksum(described: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> str:
    """SHA-256 of a description and of names, types, shapes and numbers of the tensors."""
    digest = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"\n{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


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
