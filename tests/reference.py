"""Both blur models written down literally, dense and slow, in torch: the truth the fast code is held to.

Everything is spelt out from the equations, shares no code with ``icb`` and is differentiable in ``x``.
Tensors: image (3, H, W), depth (H, W). Kernels are dense, ``k[dy + r, dx + r]``.
"""

import math
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor


def round_half_up(values: Tensor) -> Tensor:
    return torch.floor(values + 0.5)


# --- PWB ---------------------------------------------------------------------------------------------------


def pwb_displacements(depth: Tensor, poses: Tensor, matrix: Tensor) -> Tensor:
    """Delta_m(p) for every pose and pixel, (M, 2, H, W) as x, y: one homography each, nothing shared."""
    height, width = depth.shape
    normal = torch.tensor([0.0, 0.0, 1.0], dtype=torch.float64)
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    pixels = torch.stack([x, y, torch.ones_like(x)], dim=-1).to(torch.float64)  # (H, W, 3)
    found = []
    for pose in poses:
        plane = torch.outer(pose[:3, 3], normal) / depth.to(torch.float64)[..., None, None]
        homography = matrix @ (pose[:3, :3] + plane) @ torch.linalg.inv(matrix)  # (H, W, 3, 3)
        moved = (homography @ pixels[..., None])[..., 0]
        found.append(round_half_up(moved[..., :2] / moved[..., 2:] - pixels[..., :2]).permute(2, 0, 1))
    return torch.stack(found)


def pwb(x: Tensor, depth: Tensor, poses: Tensor, weights: Tensor, matrix: Tensor) -> Tensor:
    """y(p) = sum_m w_m x(p - Delta_m(p)), borders replicated."""
    height, width = depth.shape
    row, column = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    y = torch.zeros_like(x)
    for weight, (dx, dy) in zip(weights, pwb_displacements(depth, poses, matrix), strict=True):
        from_row = (row - dy).clamp(0, height - 1).long()
        from_column = (column - dx).clamp(0, width - 1).long()
        y = y + weight.to(x.dtype) * x[:, from_row, from_column]
    return y


# --- ICB ---------------------------------------------------------------------------------------------------


def depth_sequence(kappa: float, n: float, nearest: float) -> list[float]:
    if kappa == 0:
        return []
    sequence: list[float] = []
    while not sequence or sequence[-1] > nearest:
        sequence.append(2 * kappa / (2 * len(sequence) * n + 1))
    return sequence


def regions(depth: Tensor, bounds: list[float]) -> Tensor:
    """R_0 = {D >= D_0}, R_l = {D_l <= D < D_(l-1)}, (L, H, W); the last bound lies below every depth."""
    depth = depth.to(torch.float64)
    edges = [math.inf, *bounds] if bounds else [math.inf, 0.0]
    masks = [(depth >= near) & (depth < far) for far, near in pairwise(edges)]
    masks[0] |= torch.isinf(depth)
    return torch.stack(masks)


def dense_kernels(depth: Tensor, masks: Tensor, poses: Tensor, weights: Tensor, matrix: Tensor) -> Tensor:
    """k_l = weighted histogram of round(d_m(D*_l) + r_m), (L, 2r+1, 2r+1)."""
    fx, fy = matrix[0, 0], matrix[1, 1]
    parallax = torch.stack([fx * poses[:, 0, 3], fy * poses[:, 1, 3]], dim=1)
    pan = torch.stack([fx * poses[:, 0, 2] / poses[:, 2, 2], fy * poses[:, 1, 2] / poses[:, 2, 2]], dim=1)
    moved = []
    for mask in masks:
        inside = depth.to(torch.float64)[mask]
        inside = inside[torch.isfinite(inside)]
        mean = inside.mean() if len(inside) else torch.tensor(math.inf, dtype=torch.float64)
        moved.append(round_half_up(parallax / mean + pan).long())
    radius = int(max(m.abs().max() for m in moved))
    kernels = torch.zeros(len(masks), 2 * radius + 1, 2 * radius + 1, dtype=torch.float64)
    for kernel, displacements in zip(kernels, moved, strict=True):
        for (dx, dy), weight in zip(displacements.tolist(), weights, strict=True):
            kernel[dy + radius, dx + radius] += weight
    return kernels


def gaussian_window(kernel: Tensor, sigma: float) -> Tensor:
    rows, columns = int((kernel > 0).any(dim=1).sum()), int((kernel > 0).any(dim=0).sum())
    size = 2 * (max(rows, columns) // 2) + 1
    line = torch.arange(size, dtype=torch.float64) - size // 2
    line = torch.exp(-0.5 * (line / sigma) ** 2)
    window = torch.outer(line, line)
    return window / window.sum()


def convolve(image: Tensor, kernel: Tensor, border: str) -> Tensor:
    """sum_u k(u) image(p - u) for (C, H, W)."""
    radius = kernel.shape[0] // 2
    padded = F.pad(image[None], (radius,) * 4, mode=border)[0] if radius else image
    flipped = kernel.flip(0, 1).to(image.dtype)[None, None]
    return F.conv2d(padded[:, None], flipped)[:, 0]


def mattes(masks: Tensor, kernels: Tensor, sigma: float, dtype: torch.dtype = torch.float64) -> Tensor:
    """A_l = R^_l M_l / sum, with R^_l = (R_l dilated by supp k_l) * G, (L, H, W)."""
    smooth = []
    for mask, kernel in zip(masks, kernels, strict=True):
        support = (kernel > 0).to(torch.float64)
        grown = (convolve(mask[None].to(dtype), support, "constant") > 0.5).to(dtype)
        smooth.append(convolve(grown, gaussian_window(kernel, sigma), "replicate")[0])
    alphas = []
    for layer, matte in enumerate(smooth):
        behind = torch.ones_like(matte)
        for nearer in smooth[layer + 1 :]:
            behind = behind * (1 - nearer)
        alphas.append(matte * behind)
    stack = torch.stack(alphas)
    total = stack.sum(dim=0)
    unreached = total == 0
    stack = torch.where(unreached, masks.to(dtype), stack)
    return stack / torch.where(unreached, torch.ones_like(total), total)


def icb_parts(
    depth: Tensor,
    poses: Tensor,
    weights: Tensor,
    matrix: Tensor,
    n: float = 1.0,
    sigma: float = 4.0,
    dtype: torch.dtype = torch.float64,
) -> tuple[Tensor, Tensor]:
    """The mattes (L, H, W) and dense kernels (L, K, K)."""
    nearest = float(depth.min())
    bounds: set[float] = set()
    for axis, focal in ((0, float(matrix[0, 0])), (1, float(matrix[1, 1]))):
        bounds |= set(depth_sequence(float((focal * poses[:, axis, 3]).abs().max()), n, nearest))
    beyond = [bound for bound in bounds if bound > nearest]
    covering = [bound for bound in bounds if bound <= nearest]
    masks = regions(depth, sorted(beyond, reverse=True) + ([max(covering)] if covering else []))
    kernels = dense_kernels(depth, masks, poses, weights, matrix)
    return mattes(masks, kernels, sigma, dtype), kernels


def icb(x: Tensor, depth: Tensor, poses: Tensor, weights: Tensor, matrix: Tensor, **options: float) -> Tensor:
    """y = sum_l A_l (x * k_l), borders replicated."""
    alphas, kernels = icb_parts(depth, poses, weights, matrix, dtype=x.dtype, **options)
    y = torch.zeros_like(x)
    for alpha, kernel in zip(alphas, kernels, strict=True):
        y = y + alpha * convolve(x, kernel, "replicate")
    return y


# --- both, on padded pictures --------------------------------------------------------------------------------


def padded(
    model: str, x: Tensor, radius: tuple[int, int], depth: Tensor, poses: Tensor, weights: Tensor, matrix: Tensor
) -> Tensor:
    """The blurred image (3, H, W) from a sharp picture (3, H + 2 down, W + 2 right) that needs no border."""
    (height, width), (down, right) = depth.shape, radius
    y = torch.zeros(3, height, width, dtype=x.dtype)
    if model == "icb":
        found, kernels = icb_parts(depth, poses, weights, matrix)
        middle = kernels.shape[1] // 2
        for matte, kernel in zip(found, kernels, strict=True):
            small = kernel[middle - down : middle + down + 1, middle - right : middle + right + 1]
            if float(matte.max()) == 0:  # a layer without pixels has a kernel here, and none in the operator
                continue
            assert abs(float(small.sum() - kernel.sum())) < 1e-6
            y = y + matte * F.conv2d(x[:, None], small.flip(0, 1)[None, None])[:, 0]
        return y
    row, column = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    for weight, (dx, dy) in zip(weights, pwb_displacements(depth, poses, matrix), strict=True):
        y = y + weight * x[:, (row - dy + down).long(), (column - dx + right).long()]
    return y
