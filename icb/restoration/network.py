"""Coordinate networks: an image as a function of where one looks."""

from __future__ import annotations

import dataclasses
import math
import os
from typing import Any

import numpy as np
import torch

from icb import tensors as archive
from icb.errors import InputError
from icb.restoration.evaluate import evaluate
from icb.restoration.frame import Frame
from icb.restoration.settings import Settings

NETWORK, CHECKPOINT = "network", "checkpoint of a fit"
"""Kinds of files."""
CHANNELS = 3
PIXELS_AT_ONCE = 2**14
"""Pixels rendered at a time: with their activations some tens of megabytes."""
MOST_PIXELS = 2**30
"""Of a picture: as many as OpenCV would read again."""

Box = tuple[float, float, float, float]


class Network(torch.nn.Module):
    """``Phi: p -> RGB``, coordinates between -1 and 1 to colours between -1 and 1, nominally.

    ``"siren"``: ``s_0 = sin(omega (W_0 p + b_0))``, then as many such layers as ``hidden`` says, and a linear one.
    Weights start uniform within ``1 / 2`` (first layer, 2 being the coordinates) and ``sqrt(6 / width) / omega``.
    ``"fourier"``: ``s_0 = [sin 2 pi B p, cos 2 pi B p]``, with fixed normal frequencies B of standard deviation
    ``scale``, then rectified linear units, and a linear layer. Biases, and the weights of ``"fourier"``, start
    as those of ``torch.nn.Linear``: uniform within ``1 / sqrt(inputs)``.
    """

    frequencies: torch.Tensor

    def __init__(self, settings: Settings, frame: Frame) -> None:
        super().__init__()
        self.settings, self.frame = settings.complete(), frame
        generator = torch.Generator().manual_seed(settings.seed)
        self.weights, self.biases = torch.nn.ParameterList(), torch.nn.ParameterList()
        siren, units = settings.network == "siren", settings.units
        if not siren:
            frequencies = settings.scale * torch.randn(units // 2, 2, generator=generator)
            self.register_buffer("frequencies", frequencies)
        for layer, (outputs, inputs) in enumerate(_sizes(settings)):
            usual = 1 / math.sqrt(inputs)
            sines = 1 / inputs if layer == 0 else math.sqrt(6 / inputs) / settings.omega
            self.weights.append(_uniform((outputs, inputs), sines if siren else usual, generator))
            self.biases.append(_uniform((outputs,), usual, generator))

    def layers(self) -> tuple[list[str], list[torch.Tensor]]:
        """The layers' functions, and their weights and biases in turn, all factors included; the linear one last."""
        siren, count = self.settings.network == "siren", len(self.weights)
        kinds, made = [], []
        if not siren:
            turn = 2 * math.pi * self.frequencies
            quarter = turn.new_zeros(len(turn)), turn.new_full((len(turn),), math.pi / 2)
            made += [torch.cat([turn, turn]), torch.cat(quarter)]  # cos a = sin(a + pi / 2)
            kinds.append("sine")
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            factor = self.settings.omega if siren and layer < count - 1 else 1.0
            made += [factor * weight, factor * bias]
            kinds.append("sine" if siren else "relu")
        return kinds[:-1], made

    def forward(self, points: torch.Tensor) -> torch.Tensor:
        """Colours (..., 3) at points (..., 2); differentiable in both as often as one likes."""
        kinds, made = self.layers()
        x = points
        for layer, kind in enumerate(kinds):
            x = torch.nn.functional.linear(x, made[2 * layer], made[2 * layer + 1])
            x = torch.sin(x) if kind == "sine" else torch.relu(x)
        return torch.nn.functional.linear(x, made[-2], made[-1])

    def evaluate(self, points: torch.Tensor, steepness: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Colours (N, 3) and their mean steepness, to be differentiated once: :func:`icb.restoration.evaluate`."""
        return evaluate(points, *self.layers(), steepness)

    def render(
        self,
        size: tuple[int, int] | None = None,
        box: Box | None = None,
        scale: float = 1.0,
    ) -> np.ndarray:
        """The image as RGB float32, (height, width, 3), nominally between 0 and 1, not clipped.

        ``box`` is the part to show, ``(top, left, height, width)`` in pixels of the image, by default all of
        it; it may reach into the padding. ``size`` is that of the result, by default ``scale`` times the box's.
        Pixels are areas: the box's edges are the outer edges of its outermost pixels.
        """
        top, left, tall, wide = self._box(box)
        if size is None:
            if not (math.isfinite(scale) and scale > 0):
                raise InputError(f"scale: got {scale}, expected a number above 0")
            if max(tall, wide) * scale > MOST_PIXELS:
                raise InputError(f"scale: got {scale}, expected a picture of at most {MOST_PIXELS:,} pixels")
            size = max(1, math.floor(tall * scale + 0.5)), max(1, math.floor(wide * scale + 0.5))
        picture = _empty_picture(*size)
        height, width = size
        rows = top - 0.5 + (torch.arange(height, dtype=torch.float64) + 0.5) * (tall / height)
        columns = left - 0.5 + (torch.arange(width, dtype=torch.float64) + 0.5) * (wide / width)
        device = self.weights[0].device
        across = min(width, PIXELS_AT_ONCE)
        down = max(1, PIXELS_AT_ONCE // across)
        with torch.no_grad():
            for y in range(0, height, down):
                for x in range(0, width, across):
                    part = rows[y : y + down], columns[x : x + across]
                    colours, _ = self.evaluate(self.frame.coordinates(*part).to(device), steepness=False)
                    shown = ((colours + 1) / 2).reshape(len(part[0]), len(part[1]), CHANNELS)
                    picture[y : y + down, x : x + across] = shown.cpu().numpy()
        return picture

    def _box(self, box: Box | None) -> Box:
        frame = self.frame
        if box is None:
            return 0, 0, frame.height, frame.width
        top, left, tall, wide = box
        inside = -frame.down <= top and top + tall <= frame.height + frame.down
        inside = inside and -frame.right <= left and left + wide <= frame.width + frame.right
        if not (inside and tall > 0 and wide > 0):
            limits = f"{frame.height} x {frame.width} pixels, padded by {frame.down} and {frame.right}"
            raise InputError(f"part: got {tall:g} x {wide:g} pixels at {top:g}, {left:g}, expected some of {limits}")
        return box

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network, its settings and its frame: ``safetensors``."""
        described = {"kind": NETWORK, **describe(self.settings, self.frame)}
        archive.write(path, archive.pack(self.state_dict(), described))


def load_network(path: str | os.PathLike[str]) -> Network:
    """A network written by :meth:`Network.save`, or as far as it had come when a checkpoint was written."""
    found, described = archive.load(path, NETWORK, CHECKPOINT)
    settings, frame = read_description(path, described)
    if described["kind"] == CHECKPOINT:
        found = {name.removeprefix("network."): found[name] for name in found if name.startswith("network.")}
    archive.check_shapes(path, found, shapes(settings))
    network = Network(settings, frame)
    network.load_state_dict({name: found[name] for name in network.state_dict()})
    return network


def describe(settings: Settings, frame: Frame) -> dict[str, Any]:
    """Settings and frame as plain values."""
    return {"settings": dataclasses.asdict(settings), "frame": dataclasses.asdict(frame)}


def read_description(path: str | os.PathLike[str], described: dict[str, Any]) -> tuple[Settings, Frame]:
    """The reverse of :func:`describe`; the values are checked."""
    try:
        settings, frame = Settings(**described["settings"]), Frame(**described["frame"])
        sizes = [frame.height, frame.width, frame.down + 1, frame.right + 1]
        if not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise InputError(f"frame: got {frame}, expected whole numbers of pixels")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: its description is incomplete: {error}") from None
    return settings, frame


def shapes(settings: Settings) -> dict[str, tuple[int, ...]]:
    """The tensors of a network, without making it: a file may name any width."""
    expected: dict[str, tuple[int, ...]] = {}
    if settings.network == "fourier":
        expected["frequencies"] = (settings.units // 2, 2)
    for layer, (outputs, inputs) in enumerate(_sizes(settings)):
        expected[f"weights.{layer}"], expected[f"biases.{layer}"] = (outputs, inputs), (outputs,)
    return expected


def _sizes(settings: Settings) -> list[tuple[int, int]]:
    """Outputs and inputs of every layer that is fitted."""
    units = settings.units
    first = [(units, 2)] if settings.network == "siren" else []
    return [*first, *[(units, units)] * settings.hidden, (CHANNELS, units)]


def _empty_picture(height: int, width: int) -> np.ndarray:
    if height < 1 or width < 1 or height * width > MOST_PIXELS:
        expected = f"at least one pixel and at most {MOST_PIXELS:,}"
        raise InputError(f"size: got {height} x {width} pixels, expected {expected}")
    try:
        return np.empty((height, width, CHANNELS), np.float32)
    except MemoryError:
        raise InputError(f"size: got {height} x {width} pixels, expected as many as fit in memory") from None


def _uniform(shape: tuple[int, ...], bound: float, generator: torch.Generator) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))
