"""Where pixels lie in the coordinates of a network, and how an image is cut into patches."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from icb.patches import Span

PATCH = (144, 256)
"""The largest patch, in rows and columns, unless another is asked for."""


@dataclass(frozen=True)
class Frame:
    """An image of ``height x width`` pixels and a padding of ``down`` rows and ``right`` columns on each side.

    Coordinates run from -1 to 1 from the first to the last pixel centre of the padded image, on both axes.
    """

    height: int
    width: int
    down: int
    right: int

    def coordinates(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """``(x, y)`` of every row with every column, (R C, 2) float32.

        Rows and columns are pixels of the image, float64: 0 is its first, padding lies below 0, and they
        need not be whole numbers.
        """
        x = _scaled(columns, self.right, self.width)
        y = _scaled(rows, self.down, self.height)
        grid = torch.stack([x.expand(len(y), -1), y[:, None].expand(-1, len(x))], dim=-1)
        return grid.reshape(-1, 2).to(torch.float32)

    def patch(self, rows: Span, columns: Span) -> torch.Tensor:
        """Coordinates of a patch with its padding, ``((h + 2 down) (w + 2 right), 2)``."""
        return self.coordinates(
            torch.arange(rows[0] - self.down, rows[1] + self.down, dtype=torch.float64),
            torch.arange(columns[0] - self.right, columns[1] + self.right, dtype=torch.float64),
        )

    @property
    def spacing(self) -> tuple[float, float]:
        """From one pixel to the next in y and x."""
        return 2 / max(self.height + 2 * self.down - 1, 1), 2 / max(self.width + 2 * self.right - 1, 1)


def _scaled(pixels: torch.Tensor, padding: int, size: int) -> torch.Tensor:
    if size + 2 * padding == 1:
        return 2 * pixels  # a single pixel, at 0, which reaches from -1 to 1
    return 2 * (pixels + padding) / (size + 2 * padding - 1) - 1


def cut(height: int, width: int, patch: tuple[int, int] | None) -> list[tuple[Span, Span]]:
    """Cut an image into a grid of patches, as even as can be: ``(rows, columns)`` of each.

    No patch is larger than the one given. Without one, it is that of the paper: at most 144 x 256, and at
    least two each way, which is 96 x 128 for an image of 192 x 256.
    """
    least, largest = (2, PATCH) if patch is None else (1, patch)
    down, right = (max(least, -(-size // most)) for size, most in zip((height, width), largest, strict=True))
    return [(rows, columns) for rows in _even(height, down) for columns in _even(width, right)]


def _even(size: int, pieces: int) -> list[Span]:
    edges = [int(edge) for edge in np.arange(pieces + 1) * size // pieces]
    return [(first, last) for first, last in pairwise(edges) if first < last]
