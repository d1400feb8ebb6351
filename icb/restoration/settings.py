"""What a fit may be told; the defaults are the paper's."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from icb.errors import InputError

WIDTHS = {"siren": 192, "fourier": 448}
GRADIENTS = ("analytic", "finite-difference")
LARGEST_WHOLE = 2**63 - 1
LARGEST = 1e30
"""Of the numbers: they and ten times as much, which Adam begins with, are float32."""


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
    final_learning_rate: float | None = None
    """... and, along half a cosine, towards the last: by default a hundredth."""
    clip: float = 1.0
    """The largest norm of the loss's gradient."""
    patch: tuple[int, int] | None = None
    """The largest patch, in rows and columns: see :func:`icb.restoration.frame.cut`."""
    seed: int = 0
    """Of the network's first weights and of the order of the patches."""

    def __post_init__(self) -> None:
        _choice("network", self.network, tuple(WIDTHS))
        _choice("gradient", self.gradient, GRADIENTS)
        for name, least in (("hidden", 0), ("epochs", 1), ("seed", 0)):
            self._set(name, _whole(name, getattr(self, name), least))
        if self.width is not None:
            self._set("width", _whole("width", self.width, 1))
            if self.network == "fourier" and self.width % 2:
                raise InputError(f"width: got {self.width}, expected an even number: sines and cosines")
        for name in ("omega", "scale", "learning_rate", "clip"):
            self._set(name, _number(name, getattr(self, name), above_zero=True))
        self._set("penalty", _number("penalty", self.penalty, above_zero=False))
        if self.final_learning_rate is not None:
            final = _number("final_learning_rate", self.final_learning_rate, above_zero=True)
            if final > self.learning_rate:
                raise InputError(f"final_learning_rate: got {final}, expected at most the first, {self.learning_rate}")
            self._set("final_learning_rate", final)
        if self.patch is not None:
            if not isinstance(self.patch, tuple | list) or len(self.patch) != 2:
                raise InputError(f"patch: got {self.patch!r}, expected rows and columns")
            self._set("patch", tuple(_whole("patch", size, 1) for size in self.patch))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def complete(self) -> "Settings":
        """The same, with nothing left to defaults that depend on other settings."""
        return replace(self, width=self.units, final_learning_rate=self.last_learning_rate)

    @property
    def units(self) -> int:
        """The width that is used."""
        return self.width if self.width is not None else WIDTHS[self.network]

    @property
    def last_learning_rate(self) -> float:
        """The final learning rate that is used."""
        return self.learning_rate / 100 if self.final_learning_rate is None else self.final_learning_rate

    def learning_rate_at(self, epoch: int) -> float:
        """Cosine annealing: that of epoch 0, 1, ..."""
        share = (1 + math.cos(math.pi * epoch / self.epochs)) / 2
        return self.last_learning_rate + (self.learning_rate - self.last_learning_rate) * share


def _choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name}: got {value!r}, expected {' or '.join(map(repr, known))}")


def _whole(name: str, value: Any, least: int) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise InputError(f"{name}: got {value!r}, expected a whole number of at least {least}")
    if value > LARGEST_WHOLE:
        raise InputError(f"{name}: got {value!r}, expected at most {LARGEST_WHOLE}")
    return int(value)


def _number(name: str, value: Any, above_zero: bool) -> float:
    fine = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not (fine and (value > 0 or (value == 0 and not above_zero))):
        raise InputError(f"{name}: got {value!r}, expected a number {'above 0' if above_zero else 'of at least 0'}")
    if value > LARGEST:
        raise InputError(f"{name}: got {value!r}, expected at most {LARGEST:g}")
    return float(value)
