"""Sec. 3 and 4.1 of the paper as functions, and the camera."""

import numpy as np
import pytest

import icb

FOCAL = 2.8e-3 / 4e-6  # the paper's ultrawide lens: F = 2.8 mm, 4 um pixels


def test_blur_extent_is_disparity() -> None:
    assert icb.blur_extent(3e-3, FOCAL, 0.1) == pytest.approx(21)
    np.testing.assert_allclose(icb.blur_extent(3e-3, FOCAL, [1.0, np.inf]), [2.1, 0])


def test_blur_variation_is_the_difference_of_extents() -> None:
    near, difference = np.array([0.1, 0.5, 2.0])[:, None], np.array([0.01, 0.3, 40.0])
    expected = icb.blur_extent(3e-3, FOCAL, near) - icb.blur_extent(3e-3, FOCAL, near + difference)
    np.testing.assert_allclose(icb.blur_variation(3e-3, FOCAL, near, difference), expected)
    literal = 3e-3 * FOCAL / (near * (near / difference + 1))  # eq. blur_variation
    np.testing.assert_allclose(icb.blur_variation(3e-3, FOCAL, near, difference), literal)


def test_blur_variation_at_its_ends() -> None:
    assert icb.blur_variation(3e-3, FOCAL, 0.1, 0.0) == 0
    assert icb.blur_variation(3e-3, FOCAL, 0.1, np.inf) == pytest.approx(21)  # the bound s F / D


def test_displacement_for_variation_undoes_it() -> None:
    s = icb.displacement_for_variation(10.0, FOCAL, 0.5, 2.0)
    assert icb.blur_variation(s, FOCAL, 0.5, 2.0) == pytest.approx(10)


def test_depth_sequence_starts_at_half_a_pixel_and_steps_by_n() -> None:
    sequence = icb.depth_sequence(6.0, 0.5, 0.7)
    blur = 6.0 / sequence
    assert blur[0] == pytest.approx(0.5)
    np.testing.assert_allclose(np.diff(blur), 0.5)
    assert sequence[-1] <= 0.7 < sequence[-2]


def test_depth_sequence_follows_the_recursion_of_the_supplement() -> None:
    sequence, n, kappa = icb.depth_sequence(3.0, 2.0, count=20), 2.0, 3.0
    np.testing.assert_allclose(sequence[1:], kappa * sequence[:-1] / (n * sequence[:-1] + kappa))


@pytest.mark.parametrize("nearest", [2.0, 5.0, 2.0 / 3, 2.0 / 5])
def test_depth_sequence_covers_exactly(nearest: float) -> None:
    """D_l = 2, 2/3, 2/5, ... for kappa = 1: a bound that equals the nearest depth covers it."""
    sequence = icb.depth_sequence(1.0, 1.0, nearest)
    assert sequence[-1] <= nearest
    assert (sequence[:-1] > nearest).all()


def test_no_motion_has_no_depth_sequence() -> None:
    assert icb.depth_sequence(0.0, 1.0, 0.5).size == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.nan, 1.0, 1.0), "kappa: got nan"),
        ((-1.0, 1.0, 1.0), "kappa: got -1"),
        ((1.0, 0.0, 1.0), "n: got 0.0"),
        ((1.0, 1.0, 0.0), "nearest depth: got 0.0"),
        ((1.0, 1e-9, 1.0), "use a larger n"),
    ],
)
def test_bad_depth_sequences(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        icb.depth_sequence(*arguments)


def test_bad_depths() -> None:
    with pytest.raises(icb.InputError, match=r"depth: got -1\.0, expected metres above 0"):
        icb.blur_extent(1.0, 1.0, [2.0, -1.0])
    with pytest.raises(icb.InputError, match="depth: got nan"):
        icb.blur_variation(1.0, 1.0, np.nan, 1.0)


def test_camera_from_field_of_view() -> None:
    camera = icb.Camera.from_fov(90, 640, 360)
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == pytest.approx((320, 320, 319.5, 179.5))


def test_camera_matrix_round_trip_and_scaling() -> None:
    camera = icb.Camera(500, 510, 99.5, 49.5)
    assert icb.Camera.from_matrix(camera.matrix) == camera
    half = camera.scaled(0.5)
    assert (half.fx, half.fy, half.cx, half.cy) == (250, 255, 49.5, 24.5)  # the middle stays the middle


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((0, 1, 0, 0), "camera fx: got 0, expected a positive number"),
        ((1, -2, 0, 0), "camera fy: got -2"),
        ((1, 1, np.nan, 0), "camera cx: got nan"),
        ((1, 1, 0, "middle"), "camera cy: got 'middle'"),
    ],
)
def test_bad_cameras(values: tuple[object, ...], message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        icb.Camera(*values)


def test_bad_camera_matrices_and_fields_of_view() -> None:
    with pytest.raises(icb.InputError, match=r"camera matrix: got shape \(2, 2\)"):
        icb.Camera.from_matrix(np.eye(2))
    with pytest.raises(icb.InputError, match=r"got skew 0\.1"):
        icb.Camera.from_matrix(np.array([[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]))
    with pytest.raises(icb.InputError, match="field of view: got 180"):
        icb.Camera.from_fov(180, 10, 10)
