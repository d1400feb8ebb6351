"""A figure that says why there is nothing to see."""

from matplotlib import rc_context
from matplotlib.figure import Figure

from icb.figures.style import STYLE, plain


@rc_context(STYLE)
def plot_notice(text: str) -> Figure:
    """The sentence, alone."""
    figure = Figure(figsize=(5, 1), layout="constrained")
    figure.text(0.5, 0.5, plain(text), ha="center", va="center")
    return figure
