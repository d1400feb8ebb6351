"""Torch's view of a blur operator: a linear map whose derivative is itself."""

from __future__ import annotations

from typing import Any

import torch

from icb.errors import InputError
from icb.operator import BlurOperator


def apply_linear(operator: BlurOperator, x: torch.Tensor, adjoint: bool) -> torch.Tensor:
    """Apply the operator or its adjoint to ``(..., H, W)``, differentiably."""
    if x.ndim < 2 or tuple(x.shape[-2:]) != operator.shape or x.numel() == 0:
        expected = f"(..., 3, {operator.shape[0]}, {operator.shape[1]}) as the depth map"
        raise InputError(f"image: got shape {tuple(x.shape)}, expected {expected}")
    if x.dtype not in (torch.float32, torch.float64):
        raise InputError(f"image: got {x.dtype}, expected torch.float32 or torch.float64 between 0 and 1")
    result: torch.Tensor = _Linear.apply(x, operator, adjoint)
    return result


class _Linear(torch.autograd.Function):
    """``y = A x``; backwards it applies the transpose, which is again such a function."""

    @staticmethod
    def forward(x: torch.Tensor, operator: BlurOperator, adjoint: bool) -> torch.Tensor:
        compiled = operator.backend == "compiled" or (operator.backend == "auto" and x.device.type == "cpu")
        if not compiled:
            return operator.apply_tensor(x.reshape(-1, x.shape[-2] * x.shape[-1]), adjoint).reshape(x.shape)
        planes = x.detach().cpu().contiguous().reshape(-1, *operator.shape).numpy()
        return torch.from_numpy(operator.apply_planes(planes, 1, adjoint)).to(x.device).reshape(x.shape)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        _, ctx.operator, ctx.adjoint = inputs

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], x: torch.Tensor, operator: BlurOperator, adjoint: bool) -> Any:
        return _Linear.apply(x.movedim(in_dims[0], 0), operator, adjoint), 0

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        return _Linear.apply(gradients[0], ctx.operator, not ctx.adjoint), None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        return _Linear.apply(tangents[0], ctx.operator, ctx.adjoint)
