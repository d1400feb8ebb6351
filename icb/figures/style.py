"""Colours and type that all figures share, told apart by everyone (Okabe and Ito; cividis, viridis and magma)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

X_COLOUR, Y_COLOUR = "#0072B2", "#D55E00"
DEPTH_COLOURS, LAYER_COLOURS, ERROR_COLOURS = "cividis_r", "viridis", "magma"
INSET_COLOUR = "#56B4E9"

#: For ``matplotlib.rc_context``.
STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "legend.fontsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.color": "0.85",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "pdf.fonttype": 42,  # text stays text
    "image.interpolation": "auto",
}


@dataclass(frozen=True)
class Look:
    """How a model is drawn: no two share a colour, a mark and a line."""

    colour: str
    marker: str
    line: str


LOOKS = (
    Look("#0072B2", "o", "-"),
    Look("#D55E00", "s", "--"),
    Look("#009E73", "^", "-."),
    Look("#CC79A7", "D", ":"),
    Look("#E69F00", "v", "-"),
    Look("#56B4E9", "P", "--"),
    Look("#000000", "X", "-."),
)


def looks(names: Iterable[str]) -> dict[str, Look]:
    """A look for each name, in order; after seven they come again."""
    return {name: LOOKS[place % len(LOOKS)] for place, name in enumerate(names)}


def plain(text: str) -> str:
    """Text that is shown as it is: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")
