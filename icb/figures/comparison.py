"""Figs. 5 and 6: estimates beside what they should be, with error maps, and a closer look where they differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter

from icb.errors import InputError
from icb.figures.style import ERROR_COLOURS, INSET_COLOUR, STYLE, plain
from icb.figures.text import fitting, width_of
from icb.metrics import psnr

INSET = 0.22
"""Part of a picture's height and width that is looked at closely."""

DEVIATIONS, LEAST = 4, 1 / 255
"""Errors are shown up to so many times their root mean square, and at least as far as 8 bits can tell."""

RIM = [withStroke(linewidth=3, foreground="black")]
"""So that the frame of an inset is seen on every ground."""

# In inches.
PANEL, GAP, MARGIN, TITLE, NAME, BAR = 1.75, 0.06, 0.1, 0.24, 0.26, 0.6


@dataclass(frozen=True)
class Comparison:
    """One sample: (H, W, 3) pictures between 0 and 1."""

    title: str
    given: np.ndarray  #: what the estimates were made from
    reference: np.ndarray  #: what they should be
    estimates: Mapping[str, np.ndarray]  #: by model
    labels: Mapping[str, str] = field(default_factory=dict)  #: more about each of these, such as its PSNR
    given_label: str = ""


@rc_context(STYLE)
def plot_comparisons(comparisons: Sequence[Comparison], *, given: str, reference: str) -> Figure:
    """Two rows for each sample, whole pictures and insets; ``given`` and ``reference`` are what these are called."""
    if not comparisons:
        raise InputError("comparisons: got none, expected at least one sample")
    columns = 2 + 2 * max(len(comparison.estimates) for comparison in comparisons)
    width = 2 * MARGIN + columns * PANEL + (columns - 1) * GAP + BAR
    heights = [NAME + TITLE + 2 * _panel_height(comparison) + GAP for comparison in comparisons]
    height = 2 * MARGIN + sum(heights) + (len(heights) - 1) * 2 * MARGIN
    figure = Figure(figsize=(width, height))
    top = height - MARGIN
    for comparison, used in zip(comparisons, heights, strict=True):
        _draw(figure, comparison, top, given, reference)
        top -= used + 2 * MARGIN
    return figure


def _draw(figure: Figure, comparison: Comparison, top: float, given: str, reference: str) -> None:
    errors = {name: error_map(estimate, comparison.reference) for name, estimate in comparison.estimates.items()}
    scale = error_scale(min(psnr(estimate, comparison.reference) for estimate in comparison.estimates.values()))
    window = largest_difference(list(errors.values()))
    tall = _panel_height(comparison)
    title = fitting(comparison.title, (2 + len(errors)) * PANEL, 10, "bold")
    _text(figure, MARGIN, top - NAME / 2, title, size=10, weight="bold")
    top -= NAME + TITLE
    shown: list[tuple[str, np.ndarray, float | None]] = [
        (_named("", given, comparison.given_label), comparison.given, None),
        (reference, comparison.reference, None),
        *((_named("", name, comparison.labels.get(name, "")), comparison.estimates[name], None) for name in errors),
        *((_named("Error of ", name, ""), error, scale) for name, error in errors.items()),
    ]
    for place, (name, picture, limit) in enumerate(shown):
        left = MARGIN + place * (PANEL + GAP)
        above = _panel(figure, left, top - tall, tall, picture, limit)
        _text(figure, left, top + TITLE / 2, name, size=9)
        rows, cols = window
        below = _panel(figure, left, top - 2 * tall - GAP, tall, picture[rows, cols], limit)
        for axes, corner, size in (
            (above, (cols.start - 0.5, rows.start - 0.5), (cols.stop - cols.start, rows.stop - rows.start)),
            (below, (-0.5, -0.5), (cols.stop - cols.start, rows.stop - rows.start)),
        ):
            axes.add_patch(
                Rectangle(corner, *size, fill=False, edgecolor=INSET_COLOUR, linewidth=1.5, path_effects=RIM)
            )
    _bar(figure, MARGIN + len(shown) * (PANEL + GAP), top - tall, tall, above)


def _named(before: str, name: str, label: str) -> str:
    """What stands above a panel; a long name makes room for the rest."""
    after = f", {label}" if label else ""
    return before + fitting(name, PANEL - width_of(before + after, 9) - GAP, 9) + after


def _panel(figure: Figure, left: float, bottom: float, tall: float, picture: np.ndarray, limit: float | None) -> Axes:
    width, height = figure.get_size_inches()
    axes = figure.add_axes((left / width, bottom / height, PANEL / width, tall / height))
    if limit is None:
        axes.imshow(np.clip(picture, 0, 1), aspect="auto")
    else:
        axes.imshow(picture, cmap=ERROR_COLOURS, vmin=0, vmax=limit, aspect="auto")
    axes.axis("off")
    return axes


def _bar(figure: Figure, left: float, bottom: float, tall: float, axes: Axes) -> None:
    """The scale of the error maps, which all of a sample share."""
    width, height = figure.get_size_inches()
    place = figure.add_axes((left / width, bottom / height, 0.1 / width, tall / height))
    figure.colorbar(axes.images[0], cax=place)
    _text(figure, left, bottom + tall + TITLE / 2, "|error|", size=9)
    place.tick_params(labelsize=8)
    place.locator_params(nbins=4)
    place.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _text(figure: Figure, left: float, middle: float, text: str, *, size: int, weight: str = "normal") -> None:
    width, height = figure.get_size_inches()
    figure.text(left / width, middle / height, plain(text), fontsize=size, fontweight=weight, va="center")


def _panel_height(comparison: Comparison) -> float:
    rows, columns = comparison.reference.shape[:2]
    return float(PANEL * rows / columns)


def error_map(estimate: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Absolute difference, the mean over channels, (H, W)."""
    if estimate.shape != reference.shape:
        raise InputError(f"estimate: got shape {estimate.shape}, expected {reference.shape} as the reference")
    difference = np.abs(np.asarray(estimate, np.float64) - reference)
    return np.asarray(difference.mean(axis=2), np.float32)


def error_scale(worst: float) -> float:
    """Up to where error maps of a sample go, from the lowest PSNR among its estimates."""
    return float(max(DEVIATIONS * 10 ** (-worst / 20), LEAST))


def largest_difference(errors: Sequence[np.ndarray]) -> tuple[slice, slice]:
    """The window, of :data:`INSET` of a picture, in which the mean errors of the models differ most.

    With one model, where its error is largest.
    """
    rows, columns = errors[0].shape
    size = max(1, round(rows * INSET)), max(1, round(columns * INSET))
    # Anchored at its first pixel, so that the mean at (i, j) is that of the window that begins there.
    means = [
        cv2.boxFilter(error, cv2.CV_64F, size[::-1], anchor=(0, 0), borderType=cv2.BORDER_CONSTANT) for error in errors
    ]
    spread = np.max(means, axis=0) - (np.min(means, axis=0) if len(means) > 1 else 0)
    inside = spread[: rows - size[0] + 1, : columns - size[1] + 1]
    top, left = (int(place) for place in np.unravel_index(np.argmax(inside), inside.shape))
    return slice(top, top + size[0]), slice(left, left + size[1])
