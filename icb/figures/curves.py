"""How fits went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from icb.errors import InputError
from icb.figures.style import STYLE, looks, plain
from icb.figures.text import legend_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Curve = Mapping[str, np.ndarray]


@rc_context(STYLE)
def plot_curves(fits: Mapping[str, Sequence[Curve]], *, title: str = "") -> Figure:
    """Loss and PSNR of the blurred network against epochs: ``{method: [{"epoch", "loss", "psnr"}, ...]}``.

    Thin lines are fits, thick ones their median.
    """
    if not any(fits.values()):
        raise InputError("fits: got none, expected at least one")
    figure = Figure(figsize=(8.6, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for axes, name, label in ((left, "loss", "loss"), (right, "psnr", "PSNR of the blurred estimate [dB]")):
        _plot(axes, fits, name)
        axes.set(xlabel="epoch", ylabel=label)
        # One tick is enough for one epoch, beside which there is no other whole number.
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
        axes.grid(True)
    left.set_yscale("log")
    handles, labels = left.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper center",
        ncols=legend_columns(labels, figure.get_figwidth()),
        title=plain(title) or None,
    )
    return figure


def _plot(axes: Axes, fits: Mapping[str, Sequence[Curve]], name: str) -> None:
    styles = looks(fits)
    for method, curves in fits.items():
        look = styles[method]
        for curve in curves:
            axes.plot(curve["epoch"], curve[name], color=look.colour, linewidth=0.6, alpha=0.35)
        if curves:
            length = min(len(curve["epoch"]) for curve in curves)
            median = np.median([curve[name][:length] for curve in curves], axis=0)
            mark = look.marker if length == 1 else None
            epochs = curves[0]["epoch"][:length]
            axes.plot(epochs, median, look.line, marker=mark, color=look.colour, linewidth=2, label=plain(method))
