"""A fit written down literally: plain modules, double backward, dense convolutions. Shares no code with ``icb``."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Sine(nn.Module):
    def __init__(self, inputs: int, outputs: int, omega: float = 30.0) -> None:
        super().__init__()
        self.linear, self.omega = nn.Linear(inputs, outputs), omega

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(self.omega * self.linear(x))


class Fourier(nn.Module):
    def __init__(self, frequencies: Tensor) -> None:
        super().__init__()
        self.frequencies = frequencies

    def forward(self, x: Tensor) -> Tensor:
        angle = 2 * math.pi * (x @ self.frequencies.T)
        return torch.cat([torch.sin(angle), torch.cos(angle)], dim=-1)


def siren(width: int, hidden: int = 4, omega: float = 30.0) -> nn.Sequential:
    """Sine layers, a linear one; weights within 1 / inputs, then sqrt(6 / inputs) / omega [Sitzmann et al. 2020]."""
    net = nn.Sequential(Sine(2, width, omega), *(Sine(width, width, omega) for _ in range(hidden)), nn.Linear(width, 3))
    linears = [module for module in net.modules() if isinstance(module, nn.Linear)]
    for index, linear in enumerate(linears):
        bound = 1 / linear.in_features if index == 0 else math.sqrt(6 / linear.in_features) / omega
        nn.init.uniform_(linear.weight, -bound, bound)
    return net


def fourier(frequencies: Tensor, hidden: int = 4) -> nn.Sequential:
    width = 2 * len(frequencies)
    layers: list[nn.Module] = [Fourier(frequencies)]
    for _ in range(hidden):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, 3))


def grid(height: int, width: int, radius: tuple[int, int]) -> Tensor:
    """Coordinates (x, y) of the padded image, (H + 2 down, W + 2 right, 2)."""
    y = torch.linspace(-1, 1, height + 2 * radius[0], dtype=torch.float64)
    x = torch.linspace(-1, 1, width + 2 * radius[1], dtype=torch.float64)
    return torch.stack(torch.meshgrid(x, y, indexing="xy"), dim=-1)


def dense_blur(picture: Tensor, mattes: Tensor, kernels: Tensor) -> Tensor:
    """sum_l A_l (x * k_l) of a padded picture (3, h + 2r, w + 2r), with dense kernels (L, 2r + 1, 2r + 1)."""
    y = torch.zeros(3, *mattes.shape[1:], dtype=picture.dtype)
    for matte, kernel in zip(mattes, kernels, strict=True):
        y = y + matte * F.conv2d(picture[:, None], kernel.flip(0, 1)[None, None])[:, 0]
    return y


def loss(net: nn.Module, points: Tensor, blur: object, target: Tensor, penalty: float) -> Tensor:
    """``points`` (h', w', 2); ``target`` (3, h, w) between -1 and 1. Leaves gradients in the net's parameters."""
    coordinates = points.clone().requires_grad_()
    values = net(coordinates)
    (slope,) = torch.autograd.grad(values.sum(), coordinates, create_graph=True)
    error = ((blur(values.permute(2, 0, 1)) - target) ** 2).mean()
    total = error + penalty * slope.abs().sum(dim=-1).mean()
    total.backward()
    return total.detach()
