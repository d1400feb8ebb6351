"""What a fit may be told; the defaults are the paper's."""

import math
from dataclasses import dataclass
from typing import Any

from icb.errors import InputError

WIDTHS = {"siren": 192, "fourier": 448}
GRADIENTS = ("analytic", "finite-difference")


@dataclass(frozen=True)
class Settings:
    """A coordinate network and how it is fitted [Sec. Neural representations from blur; supplement B]."""

    network: str = "siren"
    """``"siren"``, or ``"fourier"``: Fourier features and rectified linear units."""
    width: int | None = None
    """Units of a layer: by default 192 (siren) or 448 (fourier, even)."""
    hidden: int = 4
    """Hidden layers after the first."""
    omega: float = 30.0
    """siren: the factor inside the sines, of the first layer and the hidden ones."""
    scale: float = 5.0
    """fourier: standard deviation of the frequencies."""
    gradient: str = "analytic"
    """The penalty's gradient: ``"analytic"``, or ``"finite-difference"`` between neighbouring pixels."""
    penalty: float = 8e-6
    """lambda, for images between -1 and 1."""
    epochs: int = 400
    """Times that every patch is visited."""
    learning_rate: float = 5e-4
    """At the first epoch ..."""
    final_learning_rate: float = 5e-6
    """... and, along half a cosine, towards the last."""
    clip: float = 1.0
    """The largest norm of the loss's gradient."""
    patch: tuple[int, int] | None = None
    """The largest patch, in rows and columns: see :func:`icb.restoration.frame.cut`."""
    seed: int = 0
    """Of the network's first weights and of the order of the patches."""

    def __post_init__(self) -> None:
        _choice("network", self.network, tuple(WIDTHS))
        _choice("gradient", self.gradient, GRADIENTS)
        if self.width is None:
            object.__setattr__(self, "width", WIDTHS[self.network])
        _whole("width", self.width, 1)
        if self.network == "fourier" and self.units % 2:
            raise InputError(f"width: got {self.width}, expected an even number: sines and cosines")
        _whole("hidden", self.hidden, 0)
        _whole("epochs", self.epochs, 1)
        _whole("seed", self.seed, 0)
        for name in ("omega", "scale", "learning_rate", "final_learning_rate", "clip"):
            _number(name, getattr(self, name), above_zero=True)
        _number("penalty", self.penalty, above_zero=False)
        if self.patch is not None:
            if not isinstance(self.patch, tuple | list) or len(self.patch) != 2:
                raise InputError(f"patch: got {self.patch!r}, expected rows and columns")
            for size in self.patch:
                _whole("patch", size, 1)
            object.__setattr__(self, "patch", (int(self.patch[0]), int(self.patch[1])))

    @property
    def units(self) -> int:
        """The width that is used."""
        return self.width if self.width is not None else WIDTHS[self.network]

    def learning_rate_at(self, epoch: int) -> float:
        """Cosine annealing: that of epoch 0, 1, ..."""
        share = (1 + math.cos(math.pi * epoch / self.epochs)) / 2
        return self.final_learning_rate + (self.learning_rate - self.final_learning_rate) * share


def _choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name}: got {value!r}, expected {' or '.join(map(repr, known))}")


def _whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: got {value!r}, expected a whole number of at least {least}")


def _number(name: str, value: Any, above_zero: bool) -> None:
    fine = isinstance(value, int | float) and math.isfinite(value) and (value > 0 or (value == 0 and not above_zero))
    if not fine:
        raise InputError(f"{name}: got {value!r}, expected a number {'above 0' if above_zero else 'of at least 0'}")
