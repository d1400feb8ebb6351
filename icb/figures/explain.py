"""One picture that explains an ICB blur."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from icb.figures.panels import plot_sequence, show_depth, show_layers, show_picture
from icb.figures.trajectory import plot_trajectory
from icb.layers import Layer

if TYPE_CHECKING:
    from matplotlib.figure import SubFigure

    from icb.camera import Camera
    from icb.compositing import ImageCompositingBlur
    from icb.trajectory import Trajectory

SHOWN_KERNELS = 8


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
    show_picture(photo_axes, photo, "Photo")
    show_picture(blurred_axes, blur(photo), "Blurred by ICB")
    show_depth(depth_axes, depth)
    plot_trajectory(trajectory, trajectory_axes)
    plot_sequence(sequence_axes, blur, trajectory, camera, depth)
    show_layers(layer_axes, blur)
    _show_kernels(rows[2], blur, shown)
    return figure


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
