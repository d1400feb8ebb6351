"""Pictures. They import matplotlib, so they are imported only when something is drawn."""

from icb.figures.comparison import Comparison, plot_comparisons
from icb.figures.curves import plot_curves
from icb.figures.distributions import plot_distributions
from icb.figures.explain import explain
from icb.figures.notice import plot_notice
from icb.figures.regions import plot_regions
from icb.figures.saving import save_figure
from icb.figures.style import DEPTH_COLOURS
from icb.figures.trajectory import plot_trajectory
from icb.figures.variation import plot_blur_variation

__all__ = [
    "DEPTH_COLOURS",
    "Comparison",
    "explain",
    "plot_blur_variation",
    "plot_comparisons",
    "plot_curves",
    "plot_distributions",
    "plot_notice",
    "plot_regions",
    "plot_trajectory",
    "save_figure",
]
