"""The simulated scenes: what is in them, and how they are drawn."""

import numpy as np
import pytest

import icb
from datasets.simulate import textures
from datasets.simulate.lidar import GRAZING, RANGE, measure, noise_deviation
from datasets.simulate.model import Builder, Light, Material, Scene
from datasets.simulate.motions import MOTIONS, euler_angles, make_motion
from datasets.simulate.patterns import SIZE
from datasets.simulate.render import cast_depth, cast_surface, render, strata
from datasets.simulate.scenes import CASES, SCENES, build_scene
from datasets.simulate.shapes import rotation
from datasets.simulate.viewpoints import NEAREST, choose_view, nearest_depth

DARK = Light(sun=(0, 0, 0), sky=(0, 0, 0), zenith=(1, 1, 1), horizon=(1, 1, 1), haze=0)
BRIGHT = Light(sun=(0, 0, 0), sky=(1, 1, 1), reach=0.01, haze=0)


def silhouette() -> Scene:
    """A black square of 2 m at 5 m before a white sky, its edges slanted."""
    builder = Builder(np.random.default_rng(0))
    builder.box((0.013, -1, 5.5), (2, 2, 1), Material("plain"), roll=7)
    return builder.finish("silhouette", DARK)


@pytest.mark.parametrize("name", SCENES)
def test_scenes_hold_hundreds_of_things_at_many_depths(name: str) -> None:
    scene = build_scene(name, 1)
    assert scene.object_count >= 150
    for case, scenes in CASES.items():
        if name not in scenes:
            continue
        view = choose_view(scene, case, np.random.default_rng(3))
        camera = icb.Camera.from_fov(view.field_of_view, 96, 54)
        depth, _, triangle = cast_surface(scene, camera, view.camera_to_world, (54, 96))
        low, high = NEAREST[case]
        assert 0.8 * low < nearest_depth(depth) < 1.25 * high
        seen = depth[np.isfinite(depth)]
        assert np.quantile(seen, 0.98) > 2.5 * np.quantile(seen, 0.02), f"{name} {case} is flat"
        share = np.histogram(np.log(seen), bins=np.log(nearest_depth(depth)) + np.arange(12) * np.log(1.4))[0]
        assert (share > 0.01 * depth.size).sum() >= 4
        visible = scene.objects[triangle[np.isfinite(depth)]]
        assert len(np.unique(visible)) >= (8 if case == "Macro" else 20)
        # Occlusion: neighbours that belong to different things at clearly different depths.
        jump = np.abs(np.diff(np.log(np.minimum(depth, 1e3)), axis=1)) > 0.2
        assert jump.mean() > 0.02


def test_scene_is_the_same_every_time_and_differs_by_seed() -> None:
    first = build_scene("Studio", 1)
    build_scene.cache_clear()
    again = build_scene("Studio", 1)
    other = build_scene("Studio", 2)
    assert np.array_equal(first.corners, again.corners)
    assert first.corners.shape != other.corners.shape or not np.array_equal(first.corners, other.corners)


def test_edges_are_anti_aliased_by_coverage() -> None:
    scene, camera = silhouette(), icb.Camera.centred(40, 41, 41)
    rough = render(scene, camera, np.eye(4), (41, 41), samples=1).astype(int)
    smooth = render(scene, camera, np.eye(4), (41, 41), samples=16, seed=1).astype(int)
    assert set(np.unique(rough)) == {0, 255}
    between = (smooth > 20) & (smooth < 235)
    assert between[..., 0].sum() > 25
    # The dark square covers (2 f / 5)^2 pixels, whatever its angle.
    assert (255 - smooth[..., 0]).sum() / 255 == pytest.approx((2 * 40 / 5) ** 2, rel=0.01)
    assert (255 - rough[..., 0]).sum() / 255 != pytest.approx((2 * 40 / 5) ** 2, rel=0.001)


def test_pixel_centres_are_at_integers() -> None:
    """A square placed by projection covers exactly the pixels whose centres it covers."""
    builder = Builder(np.random.default_rng(0))
    builder.box((0.5, -1.0, 4.5), (1, 1, 1), Material("plain"))  # x 0 to 1, y -1 to 0, front at z = 4
    scene = builder.finish("quadrant", DARK)
    camera = icb.Camera(40, 40, 9.75, 7.25)
    depth = cast_depth(scene, camera, np.eye(4), (20, 24))
    rows, columns = np.nonzero(np.isfinite(depth))
    assert (columns.min(), columns.max()) == (10, 19)  # 9.75 to 19.75
    assert (rows.min(), rows.max()) == (8, 17)  # y points up in the scene: 7.25 to 17.25
    assert depth[10, 12] == pytest.approx(4.0, abs=1e-5)


def test_far_textures_are_filtered() -> None:
    """A chequered wall with several squares to a pixel is grey, not noise."""
    builder = Builder(np.random.default_rng(0))
    builder.box((0, -40, 100), (80, 80, 1), Material("checker", 1.0))
    scene = builder.finish("wall", BRIGHT)
    picture = render(scene, icb.Camera.centred(60, 32, 32), np.eye(4), (32, 32), samples=4, seed=5)
    near = render(scene, icb.Camera.centred(6000, 32, 32), np.eye(4), (32, 32), samples=4, seed=5)
    assert picture.std() < 6
    assert near.std() > 40
    assert picture.mean() == pytest.approx(textures.texture("checker").mean() * 0.72, abs=4)  # walls see less sky


def test_mip_levels_keep_the_mean() -> None:
    texels, offsets = textures.atlas()
    assert texels.shape[0] == len(textures.names()) >= 35
    for level in (1, 5, 9):
        size = SIZE >> level
        part = texels[:, offsets[level] : offsets[level] + size**2]
        assert np.abs(part.mean(1) - texels[:, : offsets[1]].mean(1)).max() < 0.6


def test_strata_cover_the_pixel() -> None:
    assert [strata(count) for count in (1, 4, 6, 7, 12, 16)] == [(1, 1), (2, 2), (3, 2), (7, 1), (4, 3), (4, 4)]


@pytest.mark.parametrize("case", ["Macro", "Trucking", "Standard", "iOS"])
@pytest.mark.parametrize("motion", MOTIONS)
def test_motions_move_only_their_axes_by_the_blur_wanted(case: str, motion: str) -> None:
    trajectory = make_motion(case, motion, poses=17, nearest=0.25, focal=300.0, pixels=9.0, seed=4)
    assert np.array_equal(trajectory.poses[17 // 2 + 1], np.eye(4))
    shifts, turns = trajectory.translations, trajectory.rotations - np.eye(3)
    across = np.linalg.norm(shifts[:, None, :2] - shifts[None, :, :2], axis=-1).max() * 300 / 0.25
    if motion == "parallax":
        assert np.abs(turns).max() == 0 and np.abs(shifts[:, 2]).max() == 0
        assert across == pytest.approx(3e-3 * 300 / 0.25 if case == "Standard" else 9.0)
    elif motion == "xy-rotation":
        assert np.abs(turns[:, 2, :2]).max() > 1e-4
        assert np.abs(turns[:, 0, 1]).max() < 1e-4  # no roll but what pan and tilt make together
    else:
        assert np.abs(turns[:, 0, 1]).max() > 1e-4 and np.ptp(shifts[:, 2]) > 1e-4
    if case == "Trucking" and motion == "parallax":
        steps = np.diff(shifts, axis=0)
        assert np.allclose(steps, steps[0])
        assert trajectory.times is not None
        assert trajectory.times[1] - trajectory.times[0] == pytest.approx(1 / 2000)


def test_euler_angles_give_back_the_rotation() -> None:
    pitch, yaw, roll = euler_angles(rotation(yaw=20, pitch=-35, roll=8))
    assert np.degrees([pitch, yaw, roll]) == pytest.approx([-35, 20, 8])


def test_lidar_noise_steps_and_confidence() -> None:
    depth = np.full((120, 160), 0.8, np.float32)
    depth[:, 80:] = 1.6
    slant = np.ones_like(depth)
    slant[80:100, :60] = 0.8 * GRAZING[1]
    slant[100:, :60] = 0.5 * sum(GRAZING)
    depth[:15] = RANGE + 1
    depth[:8] = np.inf
    measured, confidence = measure(depth, slant, np.random.default_rng(0))
    assert measured.dtype == np.float32 and np.isfinite(measured).all()
    assert np.array_equal(measured, measured.astype(np.float16).astype(np.float32))
    for side, metres in ((slice(5, 70), 0.8), (slice(90, 155), 1.6)):
        error = measured[22:75, side] - metres
        assert error.std() == pytest.approx(noise_deviation(np.array(metres)), rel=0.15)
        assert abs(error.mean()) < 0.35 * error.std()
        assert np.corrcoef(error[:, 1:].ravel(), error[:, :-1].ravel())[0, 1] > 0.4
        assert (confidence[22:75, side] == 2).all()
    assert (confidence[20:, 79:81] == 0).all()  # the step
    assert set(np.unique(confidence[20:75, 77:83])) == {0, 1, 2}
    assert (confidence[82:98, :58] == 0).all() and (confidence[102:, :58] == 1).all()
    assert (confidence[:7] == 0).all() and (confidence[10:13, :] == 1).all()
    other = measure(depth, slant, np.random.default_rng(1))[0]
    assert not np.array_equal(other, measured)
