"""Trajectories: checks, references, resampling, files, makers, the Köhler reader."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import icb
from icb import Trajectory


def wild_trajectory(count: int = 9, seed: int = 0) -> Trajectory:
    random = np.random.default_rng(seed)
    return Trajectory.from_motion(
        random.normal(size=(count, 3)),
        0.3 * random.normal(size=(count, 3)),
        weights=random.uniform(0.1, 1, count),
        times=np.cumsum(random.uniform(0.1, 1, count)),
    )


def test_weights_are_uniform_by_default_and_sum_to_one() -> None:
    poses = np.tile(np.eye(4), (4, 1, 1))
    np.testing.assert_allclose(Trajectory(poses).weights, 0.25)
    np.testing.assert_allclose(Trajectory(poses, weights=[1, 0, 1, 2]).weights, [0.25, 0, 0.25, 0.5])


def test_poses_cannot_be_changed_behind_its_back() -> None:
    poses = np.tile(np.eye(4), (2, 1, 1))
    trajectory = Trajectory(poses)
    poses[0, 0, 3] = 7
    assert trajectory.poses[0, 0, 3] == 0
    with pytest.raises(ValueError, match="read-only"):
        trajectory.poses[0, 0, 3] = 1


@pytest.mark.parametrize(
    ("poses", "message"),
    [
        (np.zeros((0, 4, 4)), "no poses"),
        (np.eye(4), r"got shape \(4, 4\), expected \(M, 4, 4\)"),
        (2 * np.eye(4)[None], "pose 0: got a matrix that is not a rotation"),
        (np.diag([1.0, 1, -1, 1])[None], "not a rotation"),  # a mirror
        (np.stack([np.eye(4), np.full((4, 4), np.nan)]), "pose 1: got NaN"),
        ("nonsense", "expected an array of numbers"),
    ],
)
def test_bad_poses(poses: object, message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        Trajectory(poses)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": [1, 2]}, r"weights: got shape \(2,\), expected \(3,\)"),
        ({"weights": [1, -1, 1]}, "weights: got -1 to 1"),
        ({"weights": [0, 0, 0]}, "a sum above 0"),
        ({"times": [0, 1, 1]}, "times: expected finite seconds that increase"),
        ({"times": [0, 1]}, "times: got shape"),
    ],
)
def test_bad_weights_and_times(options: dict[str, object], message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        Trajectory(np.tile(np.eye(4), (3, 1, 1)), **options)


def test_relative_to_another_pose_moves_the_same_points() -> None:
    trajectory = wild_trajectory()
    other = trajectory.relative_to(3)
    np.testing.assert_array_equal(other.poses[3], np.eye(4))
    point = np.array([0.3, -0.2, 4.0, 1.0])
    seen_from_3 = trajectory.poses[3] @ point
    np.testing.assert_allclose(other.poses @ seen_from_3, trajectory.poses @ point, atol=1e-12)
    with pytest.raises(icb.InputError, match="reference pose: got 9"):
        trajectory.relative_to(9)


def test_resample_keeps_the_ends_and_the_poses_at_their_times() -> None:
    trajectory = wild_trajectory(5)
    same = Trajectory(trajectory.poses, times=np.arange(5.0)).resample(5)
    np.testing.assert_allclose(same.poses, trajectory.poses, atol=1e-12)
    np.testing.assert_allclose(same.weights, 0.2, atol=1e-12)
    finer = Trajectory(trajectory.poses, times=np.arange(5.0)).resample(9)
    np.testing.assert_allclose(finer.poses[::2], trajectory.poses, atol=1e-12)
    turn = Rotation.from_matrix(finer.rotations)
    half, whole = (turn[1] * turn[0].inv()).magnitude(), (turn[2] * turn[0].inv()).magnitude()
    assert half == pytest.approx(whole / 2)


def test_rounded_logs_can_be_given_another_reference() -> None:
    """Each pose is within what is allowed; the product of two is not, before it is put right."""
    poses = np.array(wild_trajectory().poses)
    poses[::2, :3, :3] *= 1.0004
    poses[1::2, :3, :3] *= 0.9996
    turned = Trajectory(poses).relative_to(3).rotations
    np.testing.assert_allclose(turned @ np.swapaxes(turned, 1, 2), np.tile(np.eye(3), (9, 1, 1)), atol=1e-12)


def test_resample_never_loses_all_weight() -> None:
    trajectory = Trajectory.from_motion(np.eye(3), weights=[0, 1, 0])
    assert trajectory.resample(2).weights.sum() == pytest.approx(1)


def test_resample_spreads_the_dwell_time() -> None:
    """Poses close in time share the weight that their stretch of time had."""
    times = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    trajectory = Trajectory.from_motion(
        np.stack([times, 0 * times, 0 * times], axis=1), weights=[1, 1, 4, 1, 1], times=times
    )
    finer = trajectory.resample(401)
    middle = finer.weights[(finer.times > 1.0) & (finer.times < 3.0)].sum()
    assert middle == pytest.approx(5 / 7, abs=0.01)  # triangles: 0.5 + 4 + 0.5 of 0.5 + ... = 7


def test_one_pose_resamples_to_copies() -> None:
    assert len(Trajectory(np.eye(4)[None]).resample(3)) == 3
    with pytest.raises(icb.InputError, match="number of poses: got 0"):
        wild_trajectory().resample(0)


@pytest.mark.parametrize("suffix", [".npz", ".json"])
def test_save_and_load(tmp_path: Path, suffix: str) -> None:
    trajectory = wild_trajectory()
    path = tmp_path / f"poses{suffix}"
    trajectory.save(path)
    loaded = Trajectory.load(path)
    np.testing.assert_array_equal(loaded.poses, trajectory.poses)
    np.testing.assert_allclose(loaded.weights, trajectory.weights, rtol=1e-15)
    np.testing.assert_array_equal(loaded.times, trajectory.times)
    assert list(tmp_path.iterdir()) == [path]  # nothing temporary left


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"{", "expected JSON"),
        ("a.json", b'{"pose": []}', "expected 'poses'"),
        ("a.json", b"[1]", "expected 'poses'"),
        ("a.json", b'{"poses": [[[1' + b"0" * 400 + b"]]]}", "expected an array of numbers"),
        ("a.json", b'{"poses": 1' + b"0" * 5000 + b"}", "expected JSON"),
        ("a.json", json.dumps({"poses": [[[1, 2], [3, 4]]]}).encode(), r"a.json: poses: got shape"),
        ("a.npz", b"PK not really", "expected an .npz"),
        ("a.npz", b"", "expected an .npz"),
        ("a.xyz", b"", "expected a trajectory as"),
        ("a.txt", b"1, 2, 3", "line 1: got '1, 2, 3', expected six numbers"),
        ("a.txt", b"\xff\xfe", "expected a text file"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(icb.InputError, match=message):
        Trajectory.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(icb.InputError, match=r"nowhere\.json: cannot be read: No such file"):
        Trajectory.load(tmp_path / "nowhere.json")


def test_no_trajectory_file_runs_code(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return Path.touch, (tmp_path / "ran",)

    np.savez(tmp_path / "hostile.npz", poses=np.array([Hostile()], dtype=object))
    with pytest.raises(icb.InputError, match=r"hostile.npz: expected an .npz archive of plain arrays"):
        Trajectory.load(tmp_path / "hostile.npz")
    assert not (tmp_path / "ran").exists()


def test_truck_slides_at_constant_speed() -> None:
    trajectory = Trajectory.truck(speed=2.0, exposure=0.1, rate=1000, direction=90)
    assert len(trajectory) == 101
    np.testing.assert_allclose(trajectory.poses[50], np.eye(4), atol=1e-12)
    # The camera moves up (y down is positive), so the scene moves down: t_y grows.
    np.testing.assert_allclose(np.diff(trajectory.translations[:, 1]), 0.002, atol=1e-12)
    np.testing.assert_allclose(trajectory.translations[:, [0, 2]], 0, atol=1e-12)


def test_shake_has_the_amplitude_and_the_seed_asked_for() -> None:
    trajectory = Trajectory.shake(seed=3, translation_mm=4.0, rotation_deg=0.2, exposure=0.5, rate=400)
    assert len(trajectory) == 201
    np.testing.assert_allclose(trajectory.poses[100], np.eye(4), atol=1e-12)
    assert np.linalg.norm(trajectory.translations, axis=1).max() == pytest.approx(4e-3)
    angles = np.degrees(Rotation.from_matrix(trajectory.rotations).magnitude())
    assert angles.max() == pytest.approx(0.2)
    assert (np.ptp(trajectory.translations, axis=0) > 0).all()  # all axes move
    again = Trajectory.shake(seed=3, translation_mm=4.0, rotation_deg=0.2, exposure=0.5, rate=400)
    other = Trajectory.shake(seed=4, translation_mm=4.0, rotation_deg=0.2, exposure=0.5, rate=400)
    np.testing.assert_array_equal(again.poses, trajectory.poses)
    assert not np.allclose(other.poses, trajectory.poses)


def test_shake_is_tremor_and_drift() -> None:
    """Power lies below 3 Hz and between 8 and 12 Hz, and the tremor's share is what was asked for."""
    trajectory = Trajectory.shake(seed=1, translation_mm=1, rotation_deg=0, exposure=40, rate=100, tremor=0.5)
    signal = trajectory.translations - trajectory.translations.mean(axis=0)
    power = (np.abs(np.fft.rfft(signal * np.hanning(len(signal))[:, None], axis=0)) ** 2).sum(axis=1)
    frequency = np.fft.rfftfreq(len(signal), 1 / 100)
    drift, tremor = (power[(frequency > low) & (frequency < high)].sum() for low, high in ((0, 3.5), (7.5, 12.5)))
    assert (drift + tremor) / power.sum() > 0.999
    assert 0.5 < drift / tremor < 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exposure": 0.0}, "exposure: got 0.0"),
        ({"rate": -1.0}, "rate: got -1.0"),
        ({"rate": 1e12}, "expected 2 to 1,000,000"),
        ({"translation_mm": -1.0}, "translation_mm: got -1.0"),
        ({"rotation_deg": np.nan}, "rotation_deg: got nan"),
        ({"tremor": 2.0}, "tremor: got 2.0"),
        ({"seed": -1}, "seed: got -1"),
    ],
)
def test_bad_shake(options: dict[str, float], message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        Trajectory.shake(**options)


def kohler_file(folder: Path, rows: list[list[float]]) -> Path:
    path = folder / "Frames500" / "walk.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(", ".join(map(str, row)) for row in rows) + "\n")
    return path


def test_kohler_columns_units_signs_and_centre(tmp_path: Path) -> None:
    """Rows are rx, rz, ry in degrees and tx, tz, ty in millimetres, y up; row M // 2 + 1 is the reference."""
    rows = [[0.1 * i, 0.01 * i, 0.2 * i, 1.0 * i, 3.0 * i, 2.0 * i] for i in range(1, 7)]
    trajectory = Trajectory.from_kohler(kohler_file(tmp_path, rows))
    assert len(trajectory) == 7  # the resting row is put in front
    assert trajectory.times is not None
    np.testing.assert_allclose(trajectory.times, np.arange(7) / 500)
    reference = 7 // 2 + 1
    np.testing.assert_allclose(trajectory.poses[reference], np.eye(4), atol=1e-12)
    steps = np.arange(7) - reference
    # Negated, then y turned to point down: x and z change sign, y keeps it.
    np.testing.assert_allclose(trajectory.translations, np.outer(steps, [-1e-3, 2e-3, -3e-3]), atol=1e-12)
    one = trajectory.rotations[reference + 1]
    upright = np.diag([1.0, -1.0, 1.0])
    expected = upright @ Rotation.from_euler("xyz", [-0.1, -0.2, -0.01], degrees=True).as_matrix() @ upright
    np.testing.assert_allclose(one, expected, atol=1e-12)


def test_kohler_options(tmp_path: Path) -> None:
    path = kohler_file(tmp_path, [[1, 2, 3, 4, 5, 6 + i] for i in range(50)])
    assert len(Trajectory.from_kohler(path, exposure=0.02)) == 10
    flat = Trajectory.from_kohler(path, translation="xy", rotation="")
    np.testing.assert_array_equal(flat.rotations, np.tile(np.eye(3), (51, 1, 1)))
    assert (flat.translations[:, 2] == 0).all()
    with pytest.raises(icb.InputError, match="translation: got 'xw'"):
        Trajectory.from_kohler(path, translation="xw")
    with pytest.raises(icb.InputError, match="expected at least 3"):
        Trajectory.from_kohler(path, exposure=0.004)
    loose = tmp_path / "walk.txt"
    loose.write_text(path.read_text())
    assert Trajectory.from_kohler(loose).times is None
    with pytest.raises(icb.InputError, match="exposure needs the rate"):
        Trajectory.from_kohler(loose, exposure=0.1)


def test_plot_shows_the_path_of_the_camera() -> None:
    axes = Trajectory.truck(speed=1.0, exposure=0.02, rate=1000).plot()
    path = axes.lines[0].get_xydata()
    assert path[-1, 0] - path[0, 0] == pytest.approx(20)  # the camera goes 20 mm to the right
    assert "mm" in axes.get_xlabel()
