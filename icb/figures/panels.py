"""Panels that figures share: a picture, depth, the depth sequence, the layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LogNorm
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from icb.figures.style import DEPTH_COLOURS, LAYER_COLOURS, X_COLOUR, Y_COLOUR
from icb.geometry import depth_sequence
from icb.layers import in_plane_motion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from icb.camera import Camera
    from icb.compositing import ImageCompositingBlur
    from icb.trajectory import Trajectory


def show_picture(axes: Axes, image: np.ndarray, title: str) -> None:
    """A picture without a frame."""
    axes.imshow(np.clip(image, 0, 1))
    axes.set_title(title)
    axes.axis("off")


def show_depth(axes: Axes, depth: np.ndarray) -> None:
    """Depth in metres, on a logarithmic scale; black is infinitely far."""
    finite = depth[np.isfinite(depth)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 2.0)
    shown = np.where(np.isfinite(depth), depth, np.nan)
    picture = axes.imshow(shown, cmap=DEPTH_COLOURS, norm=LogNorm(low, max(high, low * 1.01)))
    axes.set_facecolor("black")  # infinitely far
    bar = axes.figure.colorbar(picture, ax=axes, label="depth [m]")
    plain_log_ticks(bar.ax.yaxis)
    axes.set(title="Depth", xticks=[], yticks=[])


def plot_sequence(
    axes: Axes, blur: ImageCompositingBlur, trajectory: Trajectory, camera: Camera, depth: np.ndarray
) -> None:
    """Blur against depth for both axes, with the depths D_l that bound the layers."""
    parallax, _ = in_plane_motion(trajectory, camera)
    nearest = float(depth.min())
    finite = depth[np.isfinite(depth)]
    farthest = float(finite.max()) if finite.size else 10 * nearest
    for kappa, colour, name in zip(np.abs(parallax).max(axis=0), (X_COLOUR, Y_COLOUR), "xy", strict=True):
        if kappa == 0 or not np.isfinite(nearest):
            continue
        bounds = depth_sequence(float(kappa), blur.n, nearest)
        farthest = max(farthest, float(bounds[0]))
        line = np.geomspace(min(nearest, bounds[-1]), farthest, 200)
        axes.plot(line, kappa / line, color=colour, linewidth=1)
        marker = "o" if name == "x" else "s"
        axes.plot(bounds, kappa / bounds, marker, color=colour, markersize=4, label=f"$D_l$ of {name}")
    if axes.get_legend_handles_labels()[0]:
        axes.set_xscale("log")
        plain_log_ticks(axes.xaxis)
        axes.legend()
    else:
        axes.text(0.5, 0.5, "no parallax: one layer", ha="center", transform=axes.transAxes)
    axes.set(xlabel="depth [m]", ylabel="largest displacement [px]", title=f"Depth sequence, n = {blur.n:g}")


def plain_log_ticks(axis: Axis) -> None:
    """1, 2, 5, 10 rather than powers of ten, which depths seldom span."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(LogLocator(subs=range(1, 10)))
    axis.set_minor_formatter(NullFormatter())


def show_layers(axes: Axes, blur: ImageCompositingBlur) -> None:
    """Which layer each pixel is in."""
    colours = colormaps[LAYER_COLOURS].resampled(max(2, len(blur.layers)))
    picture = axes.imshow(blur.layer_map(), cmap=colours, vmin=-0.5, vmax=max(2, len(blur.layers)) - 0.5)
    axes.figure.colorbar(picture, ax=axes, label="layer, far to near", ticks=MaxNLocator(integer=True))
    axes.set(title=f"{len(blur.layers)} layers", xticks=[], yticks=[])
