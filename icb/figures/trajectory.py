"""The camera's path."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from icb.trajectory import Trajectory


def plot_trajectory(trajectory: Trajectory, axes: Axes | None = None) -> Axes:
    """Path of the camera centre in the image plane, in millimetres, coloured by time."""
    if axes is None:
        axes = Figure(figsize=(4, 4), layout="constrained").add_subplot()
    centres = trajectory.centres * 1e3
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
