"""Fig. 3: where depth matters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from icb.figures.panels import plain_log_ticks
from icb.figures.style import LAYER_COLOURS, STYLE
from icb.geometry import blur_variation, displacement_for_variation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FOCAL = 2.8e-3 / 4e-6
"""The paper's: a focal length of 2.8 mm and pixels of 4 micrometres."""

LEAST, FARTHEST = 0.01, 1e4
"""Pixels that nobody sees, and millimetres that no camera moves during an exposure: nothing beyond is shown."""

DEPTHS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)


@rc_context(STYLE)
def plot_blur_variation(
    *,
    focal: float = FOCAL,
    displacement: float = 3e-3,
    variation: float = 10.0,
    depths: Sequence[float] = DEPTHS,
    differences: tuple[float, float] = (0.01, 10.0),
) -> Figure:
    """Blur variation for one camera displacement, and displacement for one blur variation, against depth difference.

    ``focal`` and ``variation`` are in pixels, the rest in metres; one line for each depth of the closest point.
    """
    figure = Figure(figsize=(8.6, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    difference = np.geomspace(*differences, 200)
    _plot(left, difference, [blur_variation(displacement, focal, near, difference) for near in depths], depths)
    left.set(ylabel="blur variation [px]", title=f"(a) Variation for a displacement of {displacement * 1e3:g} mm")
    left.set_ylim(bottom=LEAST)
    needed = [displacement_for_variation(variation, focal, near, difference) * 1e3 for near in depths]
    _plot(right, difference, needed, depths)
    right.set(ylabel="camera displacement [mm]", title=f"(b) Displacement for a variation of {variation:g} px")
    right.set_ylim(top=FARTHEST)
    return figure


def _plot(axes: Axes, difference: np.ndarray, lines: Sequence[np.ndarray], depths: Sequence[float]) -> None:
    colours = colormaps[LAYER_COLOURS](np.linspace(0, 0.85, len(depths)))  # its brightest end is lost on white
    for line, near, colour in zip(lines, depths, colours, strict=True):
        axes.plot(difference, line, color=colour, linewidth=1.5)
        axes.annotate(
            f"{near:g} m", (difference[-1], line[-1]), (4, 0), textcoords="offset points", va="center", fontsize=8
        )
    axes.set(xscale="log", yscale="log", xlabel="depth difference [m]", xlim=(difference[0], difference[-1]))
    plain_log_ticks(axes.xaxis)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(True)
    axes.annotate("closest\npoint at", (1, 1), (4, 8), xycoords="axes fraction", textcoords="offset points",
                  fontsize=8, va="bottom")  # fmt: skip
