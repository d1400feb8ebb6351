"""Text that fits: names of files and models may be long."""

from collections.abc import Sequence

from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

POINTS = 72
"""An inch."""


def width_of(text: str, size: float, weight: str = "normal") -> float:
    """Width in inches of one line of text of so many points."""
    if not text.strip():
        return 0.0
    # A dollar sign is as wide as an S, and would begin a formula.
    path = TextPath((0, 0), text.replace("$", "S"), size=size, prop=FontProperties(weight=weight))
    return float(path.get_extents().width) / POINTS


def fitting(text: str, inches: float, size: float, weight: str = "normal") -> str:
    """The text, or as much of its beginning and end as fits."""
    if width_of(text, size, weight) <= inches:
        return text
    short, long = 0, len(text)
    while long - short > 1:
        kept = (short + long) // 2
        if width_of(_cut(text, kept), size, weight) <= inches:
            short = kept
        else:
            long = kept
    return _cut(text, short)


def _cut(text: str, kept: int) -> str:
    return f"{text[: (kept + 1) // 2]}…{text[len(text) - kept // 2 :]}"


def legend_columns(names: Sequence[str], inches: float, size: float = 9) -> int:
    """How many entries of a legend stand beside each other in so much room."""
    widest = max((width_of(name, size) for name in names), default=0.0) + 0.7  # its mark, and some air
    return max(1, min(len(names), int(inches / widest)))
