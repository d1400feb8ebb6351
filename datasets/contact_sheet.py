"""What is in a capture: in words, and on one sheet. Imports matplotlib."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

import icb
from datasets.capture import Capture
from datasets.readers import format_of
from icb.figures import DEPTH_COLOURS, plot_trajectory

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_FRAMES = 5
LONGEST_SIDE = 480  # pixels a frame is drawn with


def describe(capture: Capture) -> str:
    """A few lines: kind, size, frames, camera, motion, depth."""
    info, times, camera = capture.info, capture.times, capture.camera
    reference = _middle(capture)
    moved = icb.Trajectory(capture.poses).relative_to(reference)
    angles = np.degrees(np.arccos(np.clip((np.trace(moved.rotations, axis1=1, axis2=2) - 1) / 2, -1, 1)))
    lines = [
        f"{info.id}: {format_of(capture.path)}, for {info.dataset}{', simulated' if info.simulated else ''}",
        f"scene     {info.scene or 'unknown'}, case {info.case or 'unknown'}, motion {info.motion or 'unknown'}",
        f"frames    {len(capture)} of {capture.size[1]} x {capture.size[0]} pixels over {times[-1]:.4g} s",
        f"camera    fx {camera.fx:.2f}, fy {camera.fy:.2f}, cx {camera.cx:.2f}, cy {camera.cy:.2f} pixels",
        f"motion    up to {1e3 * np.linalg.norm(moved.translations, axis=1).max():.3g} mm and {angles.max():.3g} "
        f"degrees from frame {reference}, the reference",
        f"depth     {_describe_depth(capture, reference)}",
    ]
    return "\n".join(lines)


def draw(capture: Capture) -> Figure:
    """Frames along the top; depth, confidence where there is any, and trajectory below."""
    reference = _middle(capture)
    shown = sorted({*np.linspace(0, len(capture) - 1, SHOWN_FRAMES).round().astype(int).tolist(), reference})
    tall = capture.size[0] > capture.size[1]
    figure = Figure(figsize=(2.6 * max(4, len(shown)), 8.0 if tall else 6.2), layout="constrained")
    info = capture.info
    known = ", ".join(word for word in (info.scene, info.case, info.motion) if word)
    title = f"{info.id} ({known})" if known else info.id
    figure.suptitle(title + (" - simulated" if info.simulated else ""))
    top, bottom = np.asarray(figure.subfigures(2, 1, height_ratios=[1.0, 1.15] if tall else [0.6, 1.0]))
    for axes, index in zip(np.atleast_1d(top.subplots(1, len(shown))), shown, strict=True):
        _show(axes, _small(capture.frame(index)))
        mark = "\nreference" if index == reference else ""
        axes.set_title(f"frame {index}, {1e3 * capture.times[index]:.4g} ms{mark}", fontsize=9)
    confidence = capture.confidence(reference)
    panels = list(bottom.subplots(1, 2 if confidence is None else 3))
    _show_depth(panels[0], capture.depth(reference))
    if confidence is not None:
        _show_confidence(panels[1], confidence)
    plot_trajectory(icb.Trajectory(capture.poses, times=capture.times).relative_to(reference), panels[-1])
    return figure


def _middle(capture: Capture) -> int:
    """The reference, or the last frame of what is too short to have one."""
    return min(len(capture) // 2 + 1, len(capture) - 1)


def _describe_depth(capture: Capture, index: int) -> str:
    depth, confidence = capture.depth(index), capture.confidence(index)
    if depth is None:
        return f"none at the reference ({capture.depth_name(index)} is missing)"
    known = np.isfinite(depth)
    text = f"{depth.shape[1]} x {depth.shape[0]} pixels at the reference, {known.mean():.1%} known"
    if known.any():
        text += f", {depth[known].min():.3g} to {depth[known].max():.3g} m"
    if confidence is not None:
        high, medium = (confidence == 2).mean(), (confidence == 1).mean()
        text += f", confidence high {high:.1%}, medium {medium:.1%}"
    return text


def _small(image: np.ndarray) -> np.ndarray:
    step = max(1, -(-max(image.shape[:2]) // LONGEST_SIDE))
    return image[::step, ::step]


def _show(axes: "Axes", image: np.ndarray) -> None:
    axes.imshow(image)
    axes.axis("off")


def _show_depth(axes: "Axes", depth: np.ndarray | None) -> None:
    axes.set(title="Depth at the reference", xticks=[], yticks=[])
    if depth is None or not np.isfinite(depth).any():
        axes.text(0.5, 0.5, "no depth", ha="center", transform=axes.transAxes)
        return
    low, high = float(np.nanmin(depth)), float(np.nanmax(depth))
    picture = axes.imshow(depth, cmap=DEPTH_COLOURS, norm=LogNorm(low, max(high, 1.01 * low)))
    axes.set_facecolor("black")  # unknown
    bar = axes.figure.colorbar(picture, ax=axes, label="depth [m]")
    ticks = np.geomspace(low, max(high, 1.01 * low), 4)
    bar.set_ticks(list(ticks), labels=[f"{tick:.3g}" for tick in ticks])
    bar.minorticks_off()


def _show_confidence(axes: "Axes", confidence: np.ndarray) -> None:
    axes.set(title="Confidence", xticks=[], yticks=[])
    picture = axes.imshow(confidence, cmap="gray", vmin=0, vmax=2)
    axes.figure.colorbar(picture, ax=axes).set_ticks([0, 1, 2], labels=["low", "medium", "high"])
