"""A network's values and the steepness of what it draws, with gradients in one backward pass.

Layers are ``s_l = f(a_l)``, ``a_l = s_(l-1) W_l' + b_l``, for l = 0 ... L, with ``s_(-1)`` the coordinates p; values
are ``s_L V' + b``. The gradient of the sum of the channels is written out from the last layer to the first,

``u_L = sum_c V_c``,  ``h_l = u_l f'(a_l)``,  ``u_(l-1) = h_l W_l``,  ``grad_p = u_(-1)``,

instead of being asked of autograd, and so is the way back through it: with ``sign(grad_p)`` for
``d steepness / d grad_p``, it runs from the first layer to the last and needs nothing of the loss, so it is done at
once, while everything is still in the processor's cache. Points are taken in chunks that fit there, by
several threads; sums over chunks are added in their order, so that results do not depend on the threads, and as soon
as it is their turn, so that few of them are in memory at a time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import torch
from numba import config
from torch.autograd.function import once_differentiable

from icb.compiled.sine import sine_and_cosine
from icb.restoration import workers

CHUNK = {"cpu": 200_000}
"""Points times units worked on at a time, by device; elsewhere :data:`CHUNK_ELSEWHERE`."""
CHUNK_ELSEWHERE = 2**24

KEPT_BYTES = 5 * 2**27
"""What may be kept from the way forward for the way back; the chunks beyond are evaluated anew."""

Tensors = Sequence[torch.Tensor]
Result = TypeVar("Result")


class _Kept(NamedTuple):
    """Per layer, of one chunk: ``s_l``, ``f'(a_l)`` and how the steepness pulls at ``a_l``, with its sign turned."""

    outputs: list[torch.Tensor]
    slopes: list[torch.Tensor]
    bends: list[torch.Tensor | None]


def evaluate(
    points: torch.Tensor, kinds: Sequence[str], tensors: Tensors, steepness: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Values (N, 3), and the mean over the points of ``|d/dx sum_c| + |d/dy sum_c|``, 0 if it is not asked for.

    ``kinds`` are the layers' functions, ``"sine"`` or ``"relu"``; ``tensors`` are their weights and biases
    in turn, those of the values last. Differentiable in ``tensors``, once.
    """
    values, mean = _Evaluation.apply(points, tuple(kinds), steepness, *tensors)  # type: ignore[no-untyped-call]
    return values, mean


class _Evaluation(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, points: torch.Tensor, kinds: tuple[str, ...], steepness: bool, *tensors: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        values = points.new_empty(len(points), tensors[-2].shape[0])
        wanted = any(ctx.needs_input_grad)
        chunks = _chunks(points, tensors)
        room = chunks_kept(points, kinds, tensors, steepness)
        added = _InOrder()

        def work(index: int) -> tuple[_Kept | None, torch.Tensor]:
            chunk = chunks[index]
            made = _forward(points[chunk], kinds, tensors, values[chunk])
            sums = [torch.zeros_like(tensor) for tensor in tensors] if steepness and wanted else []
            total = _steepness(made, kinds, tensors, sums) if steepness else points.new_zeros(())
            added.add(index, sums)
            return made if wanted and index < room else None, total

        done = _each(work, len(chunks), points.device)
        ctx.save_for_backward(points, *tensors)
        ctx.kinds, ctx.steepness = kinds, steepness
        ctx.kept, ctx.sums = [part[0] for part in done], added.sums
        return values, torch.stack([part[1] for part in done]).sum() / len(points)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *pulls: torch.Tensor) -> Any:
        points, *tensors = ctx.saved_tensors
        share, chunks = float(pulls[1]) / len(points), _chunks(points, tensors)
        added = _InOrder()

        def work(index: int) -> None:
            chunk, made = chunks[index], ctx.kept[index]
            if made is None:
                made = _forward(points[chunk], ctx.kinds, tensors, None)
                if ctx.steepness:
                    _steepness(made, ctx.kinds, tensors, [])
            sums = [torch.zeros_like(tensor) for tensor in tensors]
            _backward(made, tensors, points[chunk], pulls[0][chunk], share, sums)
            added.add(index, sums)

        _each(work, len(chunks), points.device)
        for total, more in zip(added.sums, ctx.sums, strict=False):
            total.add_(more, alpha=share)
        ctx.kept = ctx.sums = None
        return None, None, None, *added.sums


def _each(work: Callable[[int], Result], count: int, device: torch.device) -> list[Result]:
    if device.type == "cpu":
        return workers.each(work, range(count))
    return [work(index) for index in range(count)]


class _InOrder:
    """Sums of the chunks' first tensors, of their second ones, ..., added in the order of the chunks."""

    def __init__(self) -> None:
        self.sums: list[torch.Tensor] = []
        self._early: dict[int, list[torch.Tensor]] = {}
        self._next, self._lock = 0, threading.Lock()

    def add(self, index: int, tensors: list[torch.Tensor]) -> None:
        """Take over the tensors of a chunk, and add them and those that waited for them."""
        with self._lock:
            self._early[index] = tensors
            while self._next in self._early:
                ready = self._early.pop(self._next)
                for total, more in zip(self.sums, ready, strict=False):
                    total.add_(more)
                self.sums = self.sums or ready
                self._next += 1


def _chunks(points: torch.Tensor, tensors: Tensors) -> list[slice]:
    size = _chunk_size(points, tensors)
    return [slice(first, first + size) for first in range(0, len(points), size)]


def _chunk_size(points: torch.Tensor, tensors: Tensors) -> int:
    """Points of a chunk: all there are, if they are few."""
    largest = max(1, CHUNK.get(points.device.type, CHUNK_ELSEWHERE) // tensors[0].shape[0])
    return max(1, min(len(points), largest))


def chunks_kept(points: torch.Tensor, kinds: Sequence[str], tensors: Tensors, steepness: bool) -> int:
    """How many chunks fit into :data:`KEPT_BYTES`: of each point, the :class:`_Kept` numbers of every unit."""
    arrays = 2 * len(kinds) + (kinds.count("sine") if steepness else 0)
    chunk = _chunk_size(points, tensors) * tensors[0].shape[0]
    return KEPT_BYTES // (arrays * chunk * points.element_size())


def _forward(points: torch.Tensor, kinds: Sequence[str], tensors: Tensors, values: torch.Tensor | None) -> _Kept:
    """All layers; fills ``values``."""
    outputs, slopes, x = [], [], points
    for layer, kind in enumerate(kinds):
        x = torch.addmm(tensors[2 * layer + 1], x, tensors[2 * layer].t())
        slopes.append(_sine(x) if kind == "sine" else _rectify(x))
        outputs.append(x)
    if values is not None:
        torch.addmm(tensors[-1], x, tensors[-2].t(), out=values)
    return _Kept(outputs, slopes, [None] * len(kinds))


def _steepness(made: _Kept, kinds: Sequence[str], tensors: Tensors, sums: list[torch.Tensor]) -> torch.Tensor:
    """The sum of ``|grad_p|``; fills ``made.bends`` and adds the rest of its gradient to ``sums``, if there are any."""
    u, weights = tensors[-2].sum(0), tensors[:-2:2]
    pulled: list[torch.Tensor] = [u] * len(kinds)
    passed: list[torch.Tensor] = [u] * len(kinds)
    for layer in reversed(range(len(kinds))):
        pulled[layer], passed[layer] = u, made.slopes[layer] * u
        u = passed[layer] @ weights[layer]
    back = torch.sign(u)
    for layer, kind in enumerate(kinds):
        pull = back @ weights[layer].t()
        if sums:
            sums[2 * layer].addmm_(passed[layer].t(), back)
        back = pull * made.slopes[layer]
        if kind == "sine":  # f'' = -f; rectified linear units have none
            made.bends[layer] = pull.mul_(pulled[layer]).mul_(made.outputs[layer])
    if sums:
        sums[-2].add_(back.sum(0))
    return u.abs().sum()


def _backward(
    made: _Kept, tensors: Tensors, points: torch.Tensor, pull: torch.Tensor, share: float, sums: list[torch.Tensor]
) -> None:
    """Add the gradient that passes by the layers' arguments: of the values, and ``share`` times the bends."""
    sums[-2].addmm_(pull.t(), made.outputs[-1])
    sums[-1].add_(pull.sum(0))
    back = pull @ tensors[-2]
    for layer in reversed(range(len(made.outputs))):
        back.mul_(made.slopes[layer])
        bend = made.bends[layer]
        if bend is not None:
            back.sub_(bend, alpha=share)
        sums[2 * layer].addmm_(back.t(), made.outputs[layer - 1] if layer else points)
        sums[2 * layer + 1].add_(back.sum(0))
        if layer:
            back = back @ tensors[2 * layer]


def _sine(angles: torch.Tensor) -> torch.Tensor:
    """Replace angles by their sines; returns the cosines."""
    if uses_compiled_sine(angles):
        cosines = torch.empty_like(angles)
        sine_and_cosine(angles.view(-1).numpy(), cosines.view(-1).numpy())
        return cosines
    cosines = torch.cos(angles)
    angles.sin_()
    return cosines


def uses_compiled_sine(angles: torch.Tensor) -> bool:
    """Whether the compiled sine can be used; torch's is slower, and gives the same to 2e-7.

    Numba is always there, as it is required; with ``NUMBA_DISABLE_JIT=1`` it compiles nothing.
    """
    settings: Any = config
    return angles.device.type == "cpu" and angles.dtype == torch.float32 and not settings.DISABLE_JIT


def _rectify(x: torch.Tensor) -> torch.Tensor:
    """Replace negative numbers by 0; returns 1 where they were not."""
    slopes = (x > 0).to(x.dtype)
    x.clamp_(min=0)
    return slopes
