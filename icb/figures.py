"""Pictures that explain a blur. Imports matplotlib, so it is imported only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from icb.geometry import depth_sequence
from icb.layers import Layer, in_plane_motion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import SubFigure

    from icb.camera import Camera
    from icb.compositing import ImageCompositingBlur
    from icb.trajectory import Trajectory

X_COLOUR, Y_COLOUR = "#0072B2", "#D55E00"  # told apart by everyone (Okabe and Ito)
DEPTH_COLOURS, LAYER_COLOURS = "cividis_r", "viridis"
SHOWN_KERNELS = 8


def plot_trajectory(trajectory: Trajectory, axes: Axes | None = None) -> Axes:
    """Path of the camera centre in the image plane, in millimetres, coloured by time."""
    if axes is None:
        axes = Figure(figsize=(4, 4), layout="constrained").add_subplot()
    centres = -np.einsum("mji,mj->mi", trajectory.rotations, trajectory.translations) * 1e3
    axes.plot(centres[:, 0], centres[:, 1], color="0.6", linewidth=1, zorder=1)
    order = np.linspace(0, 1, len(trajectory)) if trajectory.times is None else trajectory.times
    sizes = 12 * np.clip(trajectory.weights * len(trajectory), 0.2, 5)
    dots = axes.scatter(centres[:, 0], centres[:, 1], c=order, s=sizes, cmap="viridis", zorder=2)
    label = "order of poses" if trajectory.times is None else "time [s]"
    axes.figure.colorbar(dots, ax=axes, label=label)
    axes.set(xlabel="x, to the right [mm]", ylabel="y, downwards [mm]", title="Camera trajectory")
    # Equal steps on both axes, and no vanishing range when the camera hardly moves along one.
    middle = (centres[:, :2].max(axis=0) + centres[:, :2].min(axis=0)) / 2
    half = max(np.ptp(centres[:, :2], axis=0).max() * 0.55, 1e-3)
    axes.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] + half, middle[1] - half), aspect="equal")
    return axes


def explain(
    photo: np.ndarray, depth: np.ndarray, blur: ImageCompositingBlur, trajectory: Trajectory, camera: Camera
) -> Figure:
    """One picture of an ICB blur: photo, result, depth, trajectory, depth sequence, layers, kernels, mattes."""
    shown = _layers_to_show(blur.layers)
    columns = max(4, len(shown))
    figure = Figure(figsize=(2.4 * columns, 11.5), layout="constrained")
    rows = list(np.asarray(figure.subfigures(3, 1, height_ratios=[1.15, 1.15, 1.5], hspace=0.04)))
    photo_axes, blurred_axes, depth_axes = rows[0].subplots(1, 3)
    trajectory_axes, sequence_axes, layer_axes = rows[1].subplots(1, 3)
    _show(photo_axes, photo, "Photo")
    _show(blurred_axes, blur(photo), "Blurred by ICB")
    _show_depth(depth_axes, depth)
    plot_trajectory(trajectory, trajectory_axes)
    _plot_sequence(sequence_axes, blur, trajectory, camera, depth)
    _show_layers(layer_axes, blur)
    _show_kernels(rows[2], blur, shown)
    return figure


def _show(axes: Axes, image: np.ndarray, title: str) -> None:
    axes.imshow(np.clip(image, 0, 1))
    axes.set_title(title)
    axes.axis("off")


def _show_depth(axes: Axes, depth: np.ndarray) -> None:
    finite = depth[np.isfinite(depth)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (1.0, 2.0)
    shown = np.where(np.isfinite(depth), depth, np.nan)
    picture = axes.imshow(shown, cmap=DEPTH_COLOURS, norm=LogNorm(low, max(high, low * 1.01)))
    axes.set_facecolor("black")  # infinitely far
    bar = axes.figure.colorbar(picture, ax=axes, label="depth [m]")
    _plain_log_ticks(bar.ax.yaxis)
    axes.set(title="Depth", xticks=[], yticks=[])


def _plot_sequence(
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
        _plain_log_ticks(axes.xaxis)
        axes.legend()
    else:
        axes.text(0.5, 0.5, "no parallax: one layer", ha="center", transform=axes.transAxes)
    axes.set(xlabel="depth [m]", ylabel="largest displacement [px]", title=f"Depth sequence, n = {blur.n:g}")


def _plain_log_ticks(axis: Axis) -> None:
    """1, 2, 5, 10 rather than powers of ten, which depths seldom span."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(LogLocator(subs=range(1, 10)))
    axis.set_minor_formatter(NullFormatter())


def _show_layers(axes: Axes, blur: ImageCompositingBlur) -> None:
    colours = colormaps[LAYER_COLOURS].resampled(max(2, len(blur.layers)))
    picture = axes.imshow(blur.layer_map(), cmap=colours, vmin=-0.5, vmax=max(2, len(blur.layers)) - 0.5)
    axes.figure.colorbar(picture, ax=axes, label="layer, far to near", ticks=MaxNLocator(integer=True))
    axes.set(title=f"{len(blur.layers)} layers", xticks=[], yticks=[])


def _show_kernels(figure: SubFigure, blur: ImageCompositingBlur, shown: list[Layer]) -> None:
    figure.suptitle("Kernels (above) and mattes (below), from far to near")
    grid = figure.subplots(2, len(shown), squeeze=False)
    mattes = blur.mattes([layer.index for layer in shown])
    radius = max(int(np.abs(layer.taps).max(initial=0)) for layer in shown) + 1
    for layer, matte, above, below in zip(shown, mattes, grid[0], grid[1], strict=True):
        kernel = layer.kernel()
        margin = radius - len(kernel) // 2
        extent = (-radius - 0.5, radius + 0.5, radius + 0.5, -radius - 0.5)
        above.imshow(np.pad(kernel, margin), cmap="gray_r", extent=extent)
        at = "no finite depth" if np.isinf(layer.depth) else f"{layer.depth:.3g} m"
        above.set_title(f"layer {layer.index}\n{at}, {layer.share:.1%}", fontsize=9)
        above.tick_params(labelsize=7)
        below.imshow(matte, cmap="gray", vmin=0, vmax=1)
        below.set(xticks=[], yticks=[])
    grid[0][0].set_ylabel("displacement [px]", fontsize=8)


def _layers_to_show(layers: list[Layer]) -> list[Layer]:
    """Spread over those that have pixels, the first and last included."""
    filled = [layer for layer in layers if layer.share > 0]
    picks = np.unique(np.linspace(0, len(filled) - 1, min(SHOWN_KERNELS, len(filled))).round().astype(int))
    return [filled[pick] for pick in picks]
