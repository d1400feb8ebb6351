"""A figure that says why there is nothing to see."""

from matplotlib import rc_context
from matplotlib.figure import Figure

from icb.figures.style import STYLE, plain
from icb.figures.text import fitting

WIDTH = 5.0
"""Inches."""


@rc_context(STYLE)
def plot_notice(text: str) -> Figure:
    """The sentence, alone; of a long one, its beginning and end."""
    figure = Figure(figsize=(WIDTH, 1), layout="constrained")
    figure.text(0.5, 0.5, plain(fitting(text, 0.96 * WIDTH, 9)), ha="center", va="center")
    return figure
