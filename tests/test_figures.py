"""Figures: what is drawn is what was given, nothing is empty or clipped, and the same figure is the same file."""

import hashlib
import itertools
import os
import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from icb import Camera, ImageCompositingBlur, InputError, Trajectory
from icb.figures import (
    Comparison,
    explain,
    plot_blur_variation,
    plot_comparisons,
    plot_curves,
    plot_distributions,
    plot_notice,
    plot_regions,
    save_figure,
)
from icb.figures.comparison import INSET, error_map, largest_difference
from icb.figures.style import LOOKS
from icb.figures.text import fitting, width_of

LONG = "A_rather_long_name_of_a_model_0123456789"
RNG = np.random.default_rng(3)


def check(figure: Figure) -> None:
    """Every text that is drawn lies on the canvas, no two overlap, and every panel has something in it."""
    drawn: list[Text] = []
    draw = Text.draw

    def record(text: Text, renderer: object) -> None:
        drawn.append(text)
        draw(text, renderer)  # type: ignore[arg-type]

    canvas = FigureCanvasAgg(figure)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", record)  # ticks beyond the limits of an axis have texts that are never drawn
        canvas.draw()
    width, height = canvas.get_width_height()
    texts = [text for text in dict.fromkeys(drawn) if text.get_visible() and text.get_text().strip()]
    assert texts
    boxes = [text.get_window_extent() for text in texts]
    for text, box in zip(texts, boxes, strict=True):
        inside = box.x0 >= -0.5 and box.y0 >= -0.5 and box.x1 <= width + 0.5 and box.y1 <= height + 0.5
        assert inside, f"{text.get_text()!r} at {box.extents} of {width} x {height}"
    for one, two in itertools.combinations(range(len(texts)), 2):
        low, high = np.maximum(boxes[one].min, boxes[two].min), np.minimum(boxes[one].max, boxes[two].max)
        assert (high - low).min() < 1.5, f"{texts[one].get_text()!r} and {texts[two].get_text()!r} overlap"
    pixels = np.asarray(canvas.buffer_rgba())
    for axes in figure.axes:
        box = axes.get_window_extent()
        part = pixels[int(height - box.y1) : int(height - box.y0), int(box.x0) : int(box.x1), :3]
        assert part.size and (part != 255).any(), "an empty panel"


def scene(height: int, width: int) -> tuple[np.ndarray, Trajectory, Camera]:
    depth = np.full((height, width), 4.0, np.float32)
    depth[height // 3 :, width // 4 : width // 2] = 0.5
    depth[: height // 4] = np.inf
    trajectory = Trajectory.shake(seed=2, translation_mm=20, rotation_deg=0.1)
    return depth, trajectory, Camera(width * 0.9, width * 0.9, (width - 1) / 2, (height - 1) / 2)


def test_fig_3_is_the_papers_equation() -> None:
    figure = plot_blur_variation()
    assert {text.get_color() for axes in figure.axes for text in axes.texts} == {"black"}  # small, on white
    check(figure)
    left, right = figure.axes
    depths = [float(text.get_text().removesuffix(" m")) for text in left.texts if text.get_text().endswith(" m")]
    assert depths == sorted(depths) and 0.1 in depths and len(left.lines) == len(right.lines) == len(depths)
    # Eq. 6 with s = 3 mm, F = 2.8 mm and pixels of 4 um, literally.
    for near, line in zip(depths, left.lines, strict=True):
        difference, variation = (np.asarray(values, float) for values in line.get_data())
        expected = [3e-3 * 2.8e-3 / (near * (near / d + 1)) / 4e-6 for d in difference]
        np.testing.assert_allclose(variation, expected, rtol=1e-12)
    for near, line in zip(depths, right.lines, strict=True):
        difference, displacement = (np.asarray(values, float) for values in line.get_data())
        made = [
            s / 1e3 * 2.8e-3 / (near * (near / d + 1)) / 4e-6 for s, d in zip(displacement, difference, strict=True)
        ]
        np.testing.assert_allclose(made, 10, rtol=1e-12)
    check(plot_blur_variation(focal=300, displacement=0.1, variation=2.5, depths=[0.3], differences=(0.5, 2)))


@pytest.mark.parametrize(("height", "width"), [(37, 61), (61, 23), (180, 320)])
def test_fig_4_shows_the_regions(height: int, width: int) -> None:
    depth, trajectory, camera = scene(height, width)
    blur = ImageCompositingBlur(depth, trajectory, camera)
    figure = plot_regions(depth, blur, trajectory, camera, title="a_$very$_long_name_" * 12)
    check(figure)
    panels = [axes for axes in figure.axes if axes.get_title()]
    assert [axes.get_title()[:3] for axes in panels] == ["(a)", "(b)", "(c)", "(d)"]
    np.testing.assert_array_equal(panels[3].images[0].get_array(), blur.layer_map())
    np.testing.assert_array_equal(np.asarray(panels[0].images[0].get_array())[-1], depth[-1])


def test_fig_4_without_parallax() -> None:
    depth, _, camera = scene(31, 47)
    still = Trajectory(np.eye(4)[None], times=np.zeros(1))
    check(plot_regions(depth, ImageCompositingBlur(depth, still, camera), still, camera))


def picture(height: int, width: int) -> np.ndarray:
    return RNG.random((height, width, 3))


@pytest.mark.parametrize("models", [("ICB",), ("ICB", "PWB", LONG)])
def test_comparisons_of_any_size(models: tuple[str, ...]) -> None:
    comparisons = []
    for height, width in ((37, 61), (47, 31), (5, 3)):
        reference = picture(height, width)
        estimates = {
            name: reference + 0.02 * place * RNG.standard_normal(reference.shape) for place, name in enumerate(models)
        }
        labels = dict.fromkeys(models, "38.25 dB")
        title = f"{'dataset $name$_of_a_sample_' * 9}(simulated)"
        comparisons.append(Comparison(title, picture(height, width), reference, estimates, labels, "25.00 dB"))
    figure = plot_comparisons(comparisons, given="Sharp", reference="Blurry")
    check(figure)
    columns = 2 + 2 * len(models)
    assert len(figure.axes) == len(comparisons) * (2 * columns + 1)  # two rows and a scale


def test_a_comparison_shows_what_it_was_given() -> None:
    reference = picture(40, 60)
    better, worse = reference + 0.01, reference.copy()
    worse[5:13, 20:33] += 0.2
    figure = plot_comparisons(
        [Comparison("x", picture(40, 60), reference, {"A": better, "B": worse}, {"A": "1 dB"})],
        given="Sharp",
        reference="Blurry",
    )
    check(figure)
    images = [np.asarray(axes.images[0].get_array()) for axes in figure.axes if axes.images and len(axes.patches)]
    whole, insets = images[::2], images[1::2]
    np.testing.assert_array_equal(whole[1], reference)
    np.testing.assert_array_equal(whole[2], np.clip(better, 0, 1))
    np.testing.assert_allclose(whole[4], 0.01, atol=1e-6)
    np.testing.assert_allclose(whole[5], np.abs(worse - reference).mean(axis=2), atol=1e-6)
    # The window is 9 x 13, the part that B got wrong 8 x 13: it is all in it.
    assert insets[5].shape == (9, 13)
    assert (insets[5] > 0.19).sum() == 8 * 13
    texts = [text.get_text() for text in figure.texts]
    assert "A, 1 dB" in texts and "Error of B" in texts
    limits = {
        axes.images[0].get_clim() for axes in figure.axes if axes.images and axes.images[0].get_cmap().name == "magma"
    }
    [(low, high)] = limits  # one scale for both, or they could not be compared
    assert (low, high) == pytest.approx((0, 4 * np.sqrt(np.mean((worse - reference) ** 2))))
    with pytest.raises(InputError, match="expected at least one"):
        plot_comparisons([], given="a", reference="b")
    with pytest.raises(InputError, match="got shape"):
        error_map(reference[1:], reference)


@pytest.mark.parametrize(("rows", "columns", "models"), [(23, 37, 2), (31, 11, 3), (2, 3, 2), (40, 41, 1)])
def test_insets_are_where_errors_differ_most(rows: int, columns: int, models: int) -> None:
    """Against trying every window."""
    errors = [RNG.random((rows, columns)).astype(np.float32) for _ in range(models)]
    height, width = max(1, round(rows * INSET)), max(1, round(columns * INSET))
    best, place = -1.0, (0, 0)
    for top in range(rows - height + 1):
        for left in range(columns - width + 1):
            found = [float(error[top : top + height, left : left + width].mean(dtype=float)) for error in errors]
            spread = max(found) - (min(found) if models > 1 else 0)
            if spread > best + 1e-12:
                best, place = spread, (top, left)
    window = largest_difference(errors)
    assert (window[0].start, window[1].start) == place
    assert (window[0].stop - window[0].start, window[1].stop - window[1].start) == (height, width)


def test_distributions_show_every_value() -> None:
    few = {"ICB": np.array([30.0, 35.0, np.nan]), "PWB": np.array([29.0, 36.0, 31.0])}
    many = {"ICB": RNG.normal(40, 2, 100), "PWB": RNG.normal(38, 2, 100)}
    figure = plot_distributions(
        {"VirtualCMB\nMacro\n3 samples": few, "RealCMB\n100 samples": many}, title="Simulated $x$"
    )
    check(figure)
    (axes,) = figure.axes
    drawn = [np.asarray(points.get_offsets())[:, 1] for points in axes.collections]
    for values, expected in zip(drawn, [*few.values(), *many.values()], strict=True):
        np.testing.assert_array_equal(values, expected[np.isfinite(expected)])
    colours = [tuple(points.get_facecolor()[0][:3]) for points in axes.collections]
    assert colours[0] == colours[2] != colours[1] == colours[3]
    pairs = [line.get_ydata() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_color() == "0.8"]
    np.testing.assert_array_equal(pairs, np.array(list(few.values())).T)
    medians = sorted(float(np.asarray(line.get_ydata())[0]) for line in axes.lines if line.get_color() == "black")
    assert medians == pytest.approx(sorted(np.median(values) for values in many.values()))
    check(plot_distributions({"one": {LONG: np.array([1.0]), LONG[::-1]: np.array([2.0])}}))
    check(plot_distributions({f"VirtualCMB\nCase {n}": few for n in range(9)}))
    infinite = {"ICB": np.array([np.inf, np.inf]), "PWB": np.array([np.inf, np.nan])}
    figure = plot_distributions({"VirtualCMB\n2 samples": infinite})
    check(figure)
    (axes,) = figure.axes
    counts = [f"{n} \N{MULTIPLICATION SIGN} ∞" for n in (2, 1)]
    assert [text.get_text() for text in axes.texts] == [*counts, "no finite value"]
    assert list(axes.get_yticks()) == []
    with pytest.raises(InputError, match="expected at least one"):
        plot_distributions({})


def test_curves_show_fits_and_their_median() -> None:
    def curve(length: int, loss: float) -> dict[str, np.ndarray]:
        epoch = np.arange(1.0, length + 1)
        return {"epoch": epoch, "loss": loss / epoch, "psnr": 20 + epoch}

    figure = plot_curves({"ICB": [curve(7, 1.0), curve(7, 3.0), curve(5, 2.0)], "PWB": [curve(7, 9.0)]}, title="x")
    check(figure)
    losses = {line.get_label(): np.asarray(line.get_ydata()) for line in figure.axes[0].lines}
    np.testing.assert_allclose(losses["ICB"], 2 / np.arange(1, 6))
    np.testing.assert_allclose(losses["PWB"], 9 / np.arange(1, 8))
    assert len(figure.axes[0].lines) == len(figure.axes[1].lines) == 6
    short = plot_curves({LONG: [curve(1, 1.0)], LONG[::-1]: [curve(1, 2.0)], "third": [curve(1, 3.0)]})
    check(short)
    for axes in short.axes:
        left, right = axes.get_xlim()
        assert [tick for tick in axes.get_xticks() if left <= tick <= right] == [1]
    with pytest.raises(InputError, match="expected at least one"):
        plot_curves({"ICB": []})


def test_looks_are_told_apart() -> None:
    """By colour, also without red-green sight, and without any colour by mark or line."""
    assert len({look.colour for look in LOOKS}) == len({look.marker for look in LOOKS}) == len(LOOKS)
    rgb = np.array([[int(look.colour[i : i + 2], 16) for i in (1, 3, 5)] for look in LOOKS], float)
    # Viénot, Brettel and Mollon 1999: what deuteranopes see, in linear light.
    linear = (rgb / 255) ** 2.2
    seen = linear @ np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]).T
    for one, two in itertools.combinations(np.clip(seen, 0, 1) ** (1 / 2.2), 2):
        assert np.abs(one - two).max() > 0.08


def test_a_notice_is_legible() -> None:
    check(plot_notice("No sample was restored."))
    check(plot_notice(f"No sample matches {LONG}, {LONG}, {LONG}."))


def test_the_explaining_figure_still_has_all_its_panels() -> None:
    depth, trajectory, camera = scene(37, 61)
    blur = ImageCompositingBlur(depth, trajectory, camera)
    figure = explain(picture(37, 61).astype(np.float32), depth, blur, trajectory, camera)
    titles = [axes.get_title() for axes in figure.axes]
    assert {"Photo", "Blurred by ICB", "Depth", "Camera trajectory", "Depth sequence, n = 1"} <= set(titles)


def chunks(data: bytes) -> list[bytes]:
    """Names of the chunks of a PNG."""
    found, place = [], 8
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        found.append(data[place + 4 : place + 8])
        place += size + 12
    return found


def test_files_are_the_same_every_time_and_carry_no_date(tmp_path: Path) -> None:
    for ending in ("png", "pdf"):
        save_figure(plot_blur_variation(), tmp_path / f"a.{ending}")
    program = (
        "from icb.figures import plot_blur_variation, save_figure\n"
        f"for ending in ('png', 'pdf'): save_figure(plot_blur_variation(), {str(tmp_path)!r} + '/b.' + ending)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77", "TZ": "Asia/Kolkata"}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    for ending in ("png", "pdf"):
        first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
        assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()
    png, pdf = (tmp_path / "a.png").read_bytes(), (tmp_path / "a.pdf").read_bytes()
    assert set(chunks(png)) <= {b"IHDR", b"pHYs", b"IDAT", b"IEND"}
    assert not re.search(rb"CreationDate|Producer|Creator|Matplotlib", pdf)
    image = cv2.imread(str(tmp_path / "a.png"))
    assert image is not None and image.shape == (720, 1720, 3)
    # Lines are lines and text is text.
    streams = b"".join(_inflated(pdf))
    assert streams.count(b" l\n") > 400 and re.search(rb"T[jJ]\b", streams) and b"/Subtype /Image" not in pdf


def _inflated(pdf: bytes) -> list[bytes]:
    found = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL):
        try:
            found.append(zlib.decompress(stream))
        except zlib.error:
            continue
    return found


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.jpg: got '\.jpg', expected \.png or \.pdf"):
        save_figure(plot_notice("x"), tmp_path / "a.jpg")


@pytest.mark.parametrize("text", ["short", "a much longer name than fits " * 3, "$$$$$$$$$$$$$$$$$$$$$$$$$$$$", ""])
def test_text_is_made_to_fit(text: str) -> None:
    made = fitting(text, 1.0, 9)
    assert width_of(made, 9) <= 1.0
    if width_of(text, 9) <= 1.0:
        assert made == text
    else:
        head, _, tail = made.partition("…")
        assert text.startswith(head) and text.endswith(tail) and len(made) > 8
