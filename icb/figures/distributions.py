"""How a metric is distributed, model beside model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from icb.errors import InputError
from icb.figures.style import STYLE, Look, looks, plain
from icb.figures.text import legend_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOXED = 5
"""From so many samples on there is a box: the quartiles, and whiskers to 5 and 95 percent."""

PAIRED = 60
"""Up to so many, a line joins what the models made of the same sample."""

WIDTH = 0.7


@rc_context(STYLE)
def plot_distributions(
    groups: Mapping[str, Mapping[str, np.ndarray]], *, label: str = "PSNR [dB]", title: str = ""
) -> Figure:
    """One column for each group and model: ``{group: {model: values}}``, every model's values in the same order.

    How many are infinite is written above the column; a value that there is not is left out.
    """
    if not groups:
        raise InputError("groups: got none, expected at least one")
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    styles = looks(names)
    figure = Figure(figsize=(max(4.5, 1.6 + 1.3 * len(groups)), 3.8), layout="constrained")
    axes = figure.subplots()
    offsets = (np.arange(len(names)) - (len(names) - 1) / 2) * WIDTH / len(names)
    for place, group in enumerate(groups.values()):
        centres = {name: place + offset for name, offset in zip(names, offsets, strict=True) if name in group}
        points = {name: _spread(group[name], centre, WIDTH / len(names)) for name, centre in centres.items()}
        if len(centres) > 1 and max(len(values) for values in group.values()) <= PAIRED:
            axes.plot(np.array(list(points.values())), np.array([group[name] for name in centres]), color="0.8",
                      linewidth=0.7, zorder=1)  # fmt: skip
        for name, centre in centres.items():
            _column(axes, group[name], points[name], centre, WIDTH / len(names), styles[name])
    for name in names:
        look = styles[name]
        axes.plot([], [], look.marker, color=look.colour, label=plain(name))
    axes.set(ylabel=label, xlim=(-0.6, len(groups) - 0.4))
    axes.set_xticks(range(len(groups)), [plain(group) for group in groups])
    if not any(np.isfinite(values).any() for group in groups.values() for values in group.values()):
        axes.set_yticks([])  # nothing has a place on this scale
        axes.text(0.5, 0.5, "no finite value", transform=axes.transAxes, ha="center")
    axes.grid(True, axis="y")
    figure.legend(
        loc="outside upper center", ncols=legend_columns(names, figure.get_figwidth()), title=plain(title) or None
    )
    return figure


def _spread(values: np.ndarray, centre: float, width: float) -> np.ndarray:
    """Places beside each other, the same every time."""
    if len(values) == 1:
        return np.array([centre])
    steps = (np.arange(len(values)) * 0.618034) % 1  # evenly, and no pattern
    return np.asarray(centre + (steps - 0.5) * width * 0.6)


def _column(axes: Axes, values: np.ndarray, places: np.ndarray, centre: float, width: float, look: Look) -> None:
    finite = np.isfinite(values)
    if infinite := int(np.isinf(values).sum()):
        count = f"{infinite} \N{MULTIPLICATION SIGN} ∞"
        axes.text(centre, 1, count, transform=axes.get_xaxis_transform(), ha="center", color=look.colour, fontsize=8)
    values, places = np.asarray(values)[finite], places[finite]
    size = 22 if len(values) <= PAIRED else 5
    axes.scatter(places, values, size, color=look.colour, marker=look.marker, alpha=0.7, linewidths=0, zorder=2)
    if len(values) >= BOXED:
        axes.boxplot(
            values,
            positions=[centre],
            widths=width * 0.85,
            whis=(5, 95),
            showfliers=False,
            manage_ticks=False,
            boxprops={"color": look.colour},
            whiskerprops={"color": look.colour},
            capprops={"color": look.colour},
            medianprops={"color": "black", "linewidth": 1.5},
            zorder=3,
        )
