"""How a fit went, epoch by epoch."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class History:
    """One number per epoch: ``pandas.DataFrame(vars(history))`` is a table. Means are over the epoch's patches."""

    epoch: np.ndarray
    """1, 2, ..."""
    loss: np.ndarray
    data: np.ndarray
    """Mean squared error of the blurred network, for images between -1 and 1."""
    steepness: np.ndarray
    """Mean 1-norm of the gradient, before it is multiplied by lambda."""
    psnr: np.ndarray
    """Of the blurred network against the photo, both between 0 and 1, in dB: each patch as it was before its step."""
    learning_rate: np.ndarray
    seconds: np.ndarray

    @classmethod
    def of(cls, rows: list[dict[str, float]]) -> History:
        """From one row per epoch."""
        return cls(**{name: np.array([row[name] for row in rows], np.float64) for name in cls.columns()})

    @classmethod
    def columns(cls) -> list[str]:
        return [field.name for field in fields(cls)]

    def rows(self) -> list[dict[str, float]]:
        """The reverse of :meth:`of`."""
        return [{name: float(getattr(self, name)[index]) for name in self.columns()} for index in range(len(self))]

    def __len__(self) -> int:
        return len(self.epoch)


def psnr_of(squared_error: float) -> float:
    """In dB, of a mean squared error between images of range 1."""
    return -10 * math.log10(squared_error) if squared_error > 0 else math.inf
