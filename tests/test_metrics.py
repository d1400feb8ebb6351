"""PSNR, SSIM and the edge band: the library's values, literal references, and errors that say what is wrong."""

import math
import subprocess
import sys

import numpy as np
import pytest
from skimage.metrics import peak_signal_noise_ratio
from skimage.metrics import structural_similarity as library_ssim
from skimage.util.dtype import dtype_range

import icb
from icb import metrics

SIZES = [(7, 7), (23, 37), (41, 8), (75, 51), (140, 9)]  # one window; odd and unequal; more than one band of rows
FLOATS = [np.float32, np.float64]
CONTENT = ["noise", "flat", "smooth"]

sizes = pytest.mark.parametrize("size", SIZES)
dtypes = pytest.mark.parametrize("dtype", FLOATS)


def pair(size: tuple[int, int], dtype: type = np.float32, content: str = "noise") -> tuple[np.ndarray, np.ndarray]:
    """(estimate, reference); the estimate leaves [0, 1]."""
    random = np.random.default_rng(sum(size))
    reference = random.random((*size, 3))
    if content == "flat":  # where variances are rounding errors
        reference = 0.7 + 1e-4 * reference
    if content == "smooth":
        reference = np.cumsum(reference, axis=1) / (0.8 * size[1])
    estimate = 1.1 * reference - 0.1 + 0.05 * random.standard_normal(reference.shape) * (content != "flat")
    return estimate.astype(dtype), reference.astype(dtype)


@sizes
@dtypes
def test_psnr_is_the_librarys(size: tuple[int, int], dtype: type) -> None:
    estimate, reference = pair(size, dtype)
    expected = peak_signal_noise_ratio(reference, estimate, data_range=1)
    assert metrics.psnr(estimate, reference) == pytest.approx(expected, abs=1e-9)
    if size[0] * size[1] > 49:
        assert estimate.min() < 0 and expected != peak_signal_noise_ratio(reference, estimate.clip(0, 1), data_range=1)


def test_psnr_of_a_tenth_is_20_db() -> None:
    reference = np.full((5, 6, 3), 0.25)
    assert metrics.psnr(reference + 0.1, reference) == pytest.approx(20, abs=1e-9)


@sizes
@dtypes
@pytest.mark.parametrize("content", CONTENT)
def test_ssim_is_the_librarys(size: tuple[int, int], dtype: type, content: str) -> None:
    estimate, reference = pair(size, dtype, content)
    # The library returns float32 for float32.
    tolerance = 2e-7 if dtype == np.float32 else 1e-11
    for function, data_range in ((metrics.ssim, 1), (metrics.ssim_paper, 2)):
        expected = library_ssim(estimate, reference, channel_axis=2, data_range=data_range)
        assert function(estimate, reference) == pytest.approx(float(expected), abs=tolerance)


def test_the_papers_data_range_is_the_librarys_range_of_floats() -> None:
    """What ``structural_similarity`` took for floats when nothing was said: scikit-image 0.18, ``dmax - dmin``."""
    least, most = dtype_range[np.float32]
    estimate, reference = pair((23, 37))
    expected = library_ssim(estimate, reference, channel_axis=2, data_range=most - least)
    assert metrics.ssim_paper(estimate, reference) == pytest.approx(float(expected), abs=2e-7)
    assert metrics.ssim_paper(estimate, reference) > metrics.ssim(estimate, reference) + 1e-4


def test_ssim_is_the_written_formula() -> None:
    estimate, reference = pair((9, 12), np.float64)
    for data_range, function in ((1.0, metrics.ssim), (2.0, metrics.ssim_paper)):
        found = []
        for row in range(3):
            for column in range(6):
                for channel in range(3):
                    x = estimate[row : row + 7, column : column + 7, channel].ravel()
                    y = reference[row : row + 7, column : column + 7, channel].ravel()
                    c1, c2 = (0.01 * data_range) ** 2, (0.03 * data_range) ** 2
                    (vx, vxy), (_, vy) = np.cov(x, y, ddof=1)
                    mx, my = x.mean(), y.mean()
                    found.append((2 * mx * my + c1) * (2 * vxy + c2) / ((mx**2 + my**2 + c1) * (vx + vy + c2)))
        assert function(estimate, reference) == pytest.approx(np.mean(found), abs=1e-12)


def test_ssims_computed_together_and_by_any_number_of_threads_are_the_same() -> None:
    estimate, reference = pair((201, 33))
    both = metrics.structural_similarity(estimate, reference)
    assert both == (metrics.ssim(estimate, reference), metrics.ssim_paper(estimate, reference))
    try:
        for threads in (1, 3):
            icb.set_num_threads(threads)
            assert metrics.structural_similarity(estimate, reference) == both
    finally:
        icb.set_num_threads(None)


@dtypes
def test_equal_images(dtype: type) -> None:
    _, reference = pair((23, 37), dtype)
    assert metrics.psnr(reference, reference.copy()) == math.inf
    assert metrics.structural_similarity(reference, reference.copy()) == pytest.approx((1, 1), abs=1e-12)


def test_any_layout_of_memory_gives_the_same_and_stays_as_it_is() -> None:
    estimate, reference = pair((23, 37))
    expected = metrics.psnr(estimate, reference), *metrics.structural_similarity(estimate, reference)
    for image in (estimate.astype(">f4"), np.asfortranarray(estimate), np.repeat(estimate, 2, axis=1)[:, ::2]):
        image.flags.writeable = False
        before = image.copy()
        assert (metrics.psnr(image, reference), *metrics.structural_similarity(image, reference)) == expected
        assert (image == before).all()
    mixed = metrics.ssim(estimate.astype(np.float64), reference)
    wide = library_ssim(estimate.astype(np.float64), reference.astype(np.float64), channel_axis=2, data_range=1)
    assert mixed == pytest.approx(wide, abs=1e-12)


def test_psnr_within_a_mask() -> None:
    estimate, reference = pair((23, 37))
    mask = np.zeros((23, 37), bool)
    mask[3:9, 5:30] = True
    expected = metrics.psnr(estimate[3:9, 5:30], reference[3:9, 5:30])
    assert metrics.psnr(estimate, reference, mask=mask) == pytest.approx(expected, abs=1e-9)
    assert math.isnan(metrics.psnr(estimate, reference, mask=np.zeros_like(mask)))
    with pytest.raises(icb.InputError, match=r"mask: got uint8 of shape \(23, 37\), expected bool of shape \(23, 37\)"):
        metrics.psnr(estimate, reference, mask=mask.astype(np.uint8))
    with pytest.raises(icb.InputError, match=r"mask: got bool of shape \(37, 23\)"):
        metrics.psnr(estimate, reference, mask=mask.T)
    with pytest.raises(icb.InputError, match="mask: got list"):
        metrics.psnr(estimate, reference, mask=[True])


GOOD = np.zeros((9, 9, 3), np.float32)


@pytest.mark.parametrize("function", [metrics.psnr, metrics.ssim, metrics.ssim_paper])
@pytest.mark.parametrize(
    ("estimate", "message"),
    [
        (np.zeros((9, 8, 3), np.float32), r"estimate: got shape \(9, 8, 3\), expected \(9, 9, 3\) as the reference"),
        (np.zeros((9, 9), np.float32), r"estimate: got shape \(9, 9\), expected \(H, W, 3\)"),
        (np.zeros((9, 9, 4), np.float32), r"estimate: got shape \(9, 9, 4\), expected \(H, W, 3\)"),
        (np.zeros((0, 9, 3), np.float32), r"estimate: got shape \(0, 9, 3\)"),
        (np.zeros((9, 9, 3), np.uint8), "estimate: got uint8, expected float32 or float64 between 0 and 1"),
        ([[0.0]], "estimate: got list, expected a numpy array"),
    ],
)
def test_bad_images(function: object, estimate: object, message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        function(estimate, GOOD)


@pytest.mark.parametrize("function", [metrics.psnr, metrics.ssim, metrics.ssim_paper])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(function: object, value: float) -> None:
    bad = GOOD.copy()
    bad[2, 5, 1] = value
    with pytest.raises(icb.InputError, match=f"estimate: got {value} at row 2, column 5, expected finite values"):
        function(bad, GOOD)
    with pytest.raises(icb.InputError, match=f"reference: got {value} at row 2, column 5"):
        function(GOOD, bad)


def test_too_small_for_a_window() -> None:
    small = np.zeros((6, 20, 3))
    with pytest.raises(icb.InputError, match=r"got 6 x 20 pixels, expected at least 7 x 7 for windows of 7 x 7"):
        metrics.ssim(small, small)
    assert metrics.psnr(small, small) == math.inf


# --- the edge band -----------------------------------------------------------------------------------------


def literal_band(depth: np.ndarray, width: int, jump: float) -> np.ndarray:
    height, columns = depth.shape
    inverse = [[1 / float(value) for value in row] for row in depth]
    near = np.percentile(np.array(inverse), 99)
    band = np.zeros(depth.shape, bool)
    for i in range(height):
        for j in range(columns):
            for k, m in ((i + 1, j), (i, j + 1)):
                if k < height and m < columns and abs(inverse[i][j] - inverse[k][m]) > jump * near:
                    for p, q in ((i, j), (k, m)):
                        band[max(p - width, 0) : p + width + 1, max(q - width, 0) : q + width + 1] = True
    return band


@pytest.mark.parametrize(("width", "jump"), [(0, 0.05), (1, 0.2), (4, 0.05)])
@dtypes
def test_edge_band_is_the_written_definition(width: int, jump: float, dtype: type) -> None:
    depth = np.full((31, 44), 4.0, dtype)
    depth[5:14, 9:20] = 1.5
    depth[20:24, 30:] = 3.0
    depth[28:, :6] = np.inf
    band = metrics.edge_band(depth, width=width, jump=jump)
    assert band.dtype == bool and 0 < band.sum() < band.size
    assert (band == literal_band(depth, width, jump)).all()


def test_edge_band_of_a_step_is_eight_pixels_on_both_sides() -> None:
    depth = np.full((3, 40), 2.0)
    depth[:, 20:] = 1.0
    assert np.flatnonzero(metrics.edge_band(depth)[1]).tolist() == list(range(11, 29))


def test_edge_band_scales_with_the_scene() -> None:
    depth = np.random.default_rng(0).choice([1.0, 1.04, 3.0], (25, 33), p=[0.1, 0.6, 0.3])
    assert (metrics.edge_band(depth, width=0) == metrics.edge_band(1000 * depth, width=0)).all()


def test_what_is_no_edge() -> None:
    rows, _ = np.mgrid[:120, :160]
    floor = 300 / (rows + 1.0)  # up to the horizon, where depth doubles from one row to the next
    noise = 2 * (1 + 0.01 * np.random.default_rng(0).standard_normal(rows.shape).clip(-2, 2))
    far = np.full(rows.shape, np.inf)
    for depth in (floor, noise, far, np.ones((1, 1))):
        assert not metrics.edge_band(depth).any()
    floor[40:60, 50:70] = 2.0
    assert metrics.edge_band(floor)[40:60, 50:70].any()
    stray = np.full(rows.shape, 3.0)
    stray[:, 80:] = 1.5
    expected = metrics.edge_band(stray)
    stray[60, 80] = 0.01  # a single pixel almost at the lens does not hide the rest
    assert metrics.edge_band(stray)[expected].all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": -1}, "width: got -1, expected a whole number of pixels"),
        ({"width": 1.5}, "width: got 1.5"),
        ({"jump": 0.0}, "jump: got 0.0, expected a positive number"),
    ],
)
def test_bad_edge_options(options: dict[str, float], message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        metrics.edge_band(np.ones((4, 5)), **options)
    with pytest.raises(icb.InputError, match=r"depth: got 0.0 at row 0, column 0"):
        metrics.edge_band(np.zeros((4, 5)))


# --- all at once -------------------------------------------------------------------------------------------


def test_score_has_every_column_and_null_where_there_is_no_value() -> None:
    estimate, reference = pair((23, 37))
    depth = np.full((23, 37), 2.0)
    depth[:, 30:] = 1.0
    rows = metrics.score({"a": estimate, "reference": reference}, reference, depth=depth)
    assert list(rows) == ["a", "reference"] and all(tuple(row) == metrics.COLUMNS for row in rows.values())
    assert rows["a"]["psnr"] == metrics.psnr(estimate, reference)
    assert (rows["a"]["ssim"], rows["a"]["ssim_paper"]) == metrics.structural_similarity(estimate, reference)
    assert rows["a"]["psnr_edge"] == metrics.psnr(estimate, reference, mask=metrics.edge_band(depth))
    assert rows["a"]["psnr_edge"] != rows["a"]["psnr"]
    assert rows["a"]["lpips"] is None and rows["a"]["lpips_paper"] is None
    assert rows["reference"]["psnr"] == rows["reference"]["psnr_edge"] == math.inf
    assert metrics.score({"a": estimate}, reference, depth=np.ones((23, 37)))["a"]["psnr_edge"] is None
    assert metrics.score({"a": estimate}, reference)["a"]["psnr_edge"] is None
    with pytest.raises(icb.InputError, match=r"depth: got shape \(23, 36\), expected \(23, 37\) as the reference"):
        metrics.score({"a": estimate}, reference, depth=depth[:, 1:])


def test_importing_the_metrics_is_cheap() -> None:
    code = "import sys, icb.metrics; print(*{'torch', 'torchvision', 'skimage', 'cv2', 'lpips'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
