"""Fig. 4: how depth and trajectory cut a picture into regions that blur alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

from icb.figures.panels import plot_sequence, show_depth, show_layers
from icb.figures.style import STYLE, plain
from icb.figures.text import fitting
from icb.figures.trajectory import plot_trajectory

if TYPE_CHECKING:
    import numpy as np

    from icb.camera import Camera
    from icb.compositing import ImageCompositingBlur
    from icb.trajectory import Trajectory


@rc_context(STYLE)
def plot_regions(
    depth: np.ndarray, blur: ImageCompositingBlur, trajectory: Trajectory, camera: Camera, *, title: str = ""
) -> Figure:
    """Depth, the camera's path, the depth sequences of both axes, and the regions they bound."""
    figure = Figure(figsize=(9, 7), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)  # type: ignore[union-attr, call-arg]
    grid = figure.subplots(2, 2)
    show_depth(grid[0, 0], depth)
    plot_trajectory(trajectory, grid[0, 1])
    plot_sequence(grid[1, 0], blur, trajectory, camera, depth)
    show_layers(grid[1, 1], blur)
    for letter, axes in zip("abcd", grid.flat, strict=True):
        axes.set_title(f"({letter}) {axes.get_title()}")
    grid[1, 0].grid(True)
    for picture in (grid[0, 0], grid[1, 1]):
        picture.spines[:].set_visible(True)
    if title:
        figure.suptitle(plain(fitting(title, 8.5, 10)), fontsize=10)
    return figure
