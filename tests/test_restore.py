"""Restoring as a user does: it restores, the same each time, and refuses bad input."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import icb
from icb.metrics import psnr
from icb.patches import patch_of
from icb.restoration import History, Network, Settings, load_network, restore
from icb.restoration.arguments import settings_of
from icb.restoration.frame import Frame
from tests.fits import SIZE, SMALL, Shift, same
from tests.scenes import scene, smooth_picture

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def undisturbed(blurry: np.ndarray, blur: icb.ICB) -> icb.restoration.Restoration:
    return restore(blurry, blur, **SMALL)


FOURIER = {"network": "fourier", "width": 48, "hidden": 2, "scale": 2.0, "learning_rate": 1e-2}


@pytest.mark.parametrize(
    ("model", "options"),
    [("icb", {}), ("pwb", {}), ("icb", {"gradient": "finite-difference"}), ("icb", FOURIER), ("pwb", FOURIER)],
)
def test_it_restores(model: str, options: dict[str, Any], sharp: np.ndarray) -> None:
    """A smaller network and fewer epochs than the paper's, for a smaller picture."""
    s = scene(*SIZE, "pan-tilt", 4.0)
    blur = {"icb": icb.ICB, "pwb": icb.PWB}[model](s.depth, s.trajectory, s.camera)
    blurry = blur(sharp)
    found = restore(blurry, blur, **{"width": 64, "epochs": 80, **options})
    assert found.image.shape == sharp.shape and found.image.dtype == np.float32
    assert psnr(found.image, sharp) > psnr(blurry, sharp) + 3
    assert psnr(blur(found.image), blurry) > 25
    assert found.history.psnr[-1] > found.history.psnr[0] + 5
    np.testing.assert_allclose(found.network.render(), found.image, atol=0)


def test_the_border_is_the_networks_and_not_replicated(sharp: np.ndarray) -> None:
    """A photo whose blur drew in what lies beyond its left edge: black there, and the restoration knows."""
    depth = np.full(SIZE, 2.0, np.float32)
    camera = icb.Camera.centred(100, SIZE[1], SIZE[0])
    trajectory = icb.Trajectory.from_motion([[0, 0, 0], [0.08, 0, 0], [0.16, 0, 0]])  # up to 8 pixels to the right
    blur = icb.ICB(depth, trajectory, camera)
    wide = np.concatenate([np.zeros((SIZE[0], 8, 3), np.float32), np.full((*SIZE, 3), 0.6, np.float32)], axis=1)
    blurry = np.mean([wide[:, 8 - dx : 8 - dx + SIZE[1]] for dx in (0, 4, 8)], axis=0, dtype=np.float32)
    found = restore(blurry, blur, epochs=60, width=64)
    beyond = found.network.render(box=(5, -6, 26, 5)).mean()
    inside = found.image[5:31, 2:8].mean()
    assert beyond < 0.15 < 0.5 < inside


def test_history_is_a_table_of_the_epochs(undisturbed: icb.restoration.Restoration) -> None:
    history = undisturbed.history
    assert len(history) == 6 and history.epoch.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(history.loss, history.data + 8e-6 * history.steepness)
    assert history.learning_rate[0] == 5e-4
    # Half a cosine from 5e-4 to 5e-6 over 6 epochs, at the fourth: the middle.
    assert history.learning_rate[3] == pytest.approx((5e-4 + 5e-6) / 2)
    assert (history.seconds > 0).all() and set(vars(history)) == set(History.columns())
    # Every pixel has the same weight, whatever the patch: 4 of 18 x 23 and 18 x 24 pixels.
    np.testing.assert_allclose(history.psnr, -10 * np.log10(history.data / 4), atol=0.2)


def test_history_tells_how_near_the_blurred_network_is_to_the_photo(blurry: np.ndarray, blur: icb.ICB) -> None:
    """Of one patch, and of a step so small that the network afterwards is the one before."""
    found = restore(blurry, blur, **{**SMALL, "epochs": 1, "patch": SIZE, "learning_rate": 1e-12})
    (height, width), (down, right) = SIZE, blur.radius
    padded = found.network.render(box=(-down, -right, height + 2 * down, width + 2 * right))
    reblurred = blur.patch((0, height), (0, width))(padded)
    assert found.history.psnr[0] == pytest.approx(psnr(reblurred, blurry), abs=1e-3)
    assert found.history.data[0] == pytest.approx(4 * np.square(reblurred - blurry).mean(), rel=1e-4)


def test_same_seed_same_image_watched_or_not(
    blurry: np.ndarray, blur: icb.ICB, undisturbed: icb.restoration.Restoration, tmp_path: Path
) -> None:
    seen = []

    def watch(row: dict[str, float], network: Network) -> None:
        seen.append((row["epoch"], network.render(scale=0.5).shape))
        torch.rand(7), np.random.rand(7)  # noqa: NPY002 (other people's random numbers are none of ours)
        row.clear()

    again = restore(blurry, blur, on_epoch=watch, checkpoint=tmp_path / "c.safetensors", checkpoint_seconds=0, **SMALL)
    assert seen == [(float(epoch), (18, 24, 3)) for epoch in range(1, 7)]
    assert same(again, undisturbed)
    tensor = torch.from_numpy(blurry).permute(2, 0, 1)
    assert same(restore(tensor, blur, Settings(**SMALL)), undisturbed)
    assert not np.array_equal(restore(blurry, blur, seed=1, **SMALL).image, undisturbed.image)


def test_threads_are_used_during_the_fit_and_given_back(blurry: np.ndarray, blur: icb.ICB) -> None:
    seen: list[tuple[int, int]] = []
    before = torch.get_num_threads(), icb.num_threads()
    watch = lambda *_: seen.append((torch.get_num_threads(), icb.num_threads()))  # noqa: E731
    restore(blurry, blur, threads=3, on_epoch=watch, **{**SMALL, "epochs": 1})
    with pytest.raises(icb.DivergenceError):
        restore(blurry, blur, threads=3, **{**SMALL, "learning_rate": 1e30})
    assert seen == [(3, 3)]
    assert (torch.get_num_threads(), icb.num_threads()) == before


def test_any_operator_with_the_same_interface(sharp: np.ndarray) -> None:
    blur = Shift()
    picture = smooth_picture(*blur.shape, seed=2)
    shifted = blur(torch.from_numpy(picture).permute(2, 0, 1))
    found = restore(shifted, blur, width=48, epochs=100, learning_rate=1e-3, patch=(9, 12))
    # The last two rows leave no trace in what was seen.
    assert psnr(found.image[:-2], picture[:-2]) > 35


def test_no_motion_and_a_single_pixel() -> None:
    for height, width in ((13, 9), (1, 1), (1, 7)):
        s = scene(height, width, "still")
        photo = np.full((height, width, 3), 0.8, np.float32)
        found = restore(
            photo, icb.PWB(s.depth, s.trajectory, s.camera), width=32, hidden=1, epochs=150, learning_rate=1e-3
        )
        assert found.image.shape == photo.shape
        np.testing.assert_allclose(found.image, photo, atol=0.05)


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y[:-1], r"blurry: got 35 x 47 pixels, expected 36 x 47, as the operator's"),
        (lambda y: y[..., :2], r"blurry: got shape \(36, 47, 2\), expected \(H, W, 3\)"),
        (lambda y: y[..., 0], r"blurry: got shape \(36, 47\)"),
        (lambda y: torch.from_numpy(y), r"blurry: got a tensor of shape \(36, 47, 3\), expected \(3, H, W\)"),
        (lambda y: torch.from_numpy(y[..., 0]).requires_grad_(), r"blurry: got a tensor of shape \(36, 47\), expected"),
        (lambda y: torch.zeros(3, 36, 47, dtype=torch.uint8), "blurry: got uint8, expected floats"),
        (lambda y: (255 * y).astype(np.uint8), "blurry: got uint8, expected floats between 0 and 1"),
        (lambda y: 255 * y, "blurry: got .* at row 0, column 0, expected numbers between 0 and 1"),
        (lambda y: np.where(np.arange(47)[:, None] == 5, np.nan, y), "blurry: got nan at row 0, column 5"),
        (lambda y: np.where(np.arange(47)[:, None] == 6, np.inf, y), "blurry: got inf at row 0, column 6"),
        (lambda y: y.tolist(), "blurry: got list, expected a numpy array or a torch tensor"),
    ],
)
def test_bad_photos(blurry: np.ndarray, blur: icb.ICB, change: Any, message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        restore(change(blurry.copy()), blur)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "epochs: got 0, expected a whole number of at least 1"),
        ({"epochs": -3}, "epochs: got -3"),
        ({"epochs": 2.5}, "epochs: got 2.5"),
        ({"settings": {"epochs": 1}}, "settings: got dict, expected icb.restoration.Settings"),
        ({"device": "gpu"}, "device: got 'gpu', expected one that torch can use here"),
        ({"device": "meta"}, "device: got 'meta', expected one that torch can use here"),
        ({"device": "cuda:99"}, "device: got 'cuda:99', expected one that torch can use here"),
        ({"learning_rate": 1e39}, "learning_rate: got 1e[+]39, expected at most 1e[+]30"),
        ({"final_learning_rate": 1e-3}, "final_learning_rate: got 0.001, expected at most the first, 0.0005"),
        ({"seed": 10**22}, "seed: got 1000000.*, expected at most 9223372036854775807"),
        ({"network": "cnn"}, "network: got 'cnn', expected 'siren' or 'fourier'"),
        ({"network": "fourier", "width": 25}, "width: got 25, expected an even number"),
        ({"gradient": "numeric"}, "gradient: got 'numeric', expected 'analytic' or 'finite-difference'"),
        ({"learning_rate": 0.0}, "learning_rate: got 0.0, expected a number above 0"),
        ({"penalty": -1.0}, "penalty: got -1.0, expected a number of at least 0"),
        ({"clip": float("nan")}, "clip: got nan"),
        ({"patch": (0, 5)}, "patch: got 0, expected a whole number of at least 1"),
        ({"patch": 64}, "patch: got 64, expected rows and columns"),
        ({"seed": -1}, "seed: got -1"),
        ({"eopchs": 3}, "eopchs: no such setting, expected one of clip, epochs"),
    ],
)
def test_bad_settings(blurry: np.ndarray, blur: icb.ICB, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        restore(blurry, blur, **settings)


def test_settings_that_follow_from_others() -> None:
    assert [Settings(network=kind).complete().width for kind in ("siren", "fourier")] == [192, 448]
    assert Settings().complete().final_learning_rate == 5e-6
    assert Settings(learning_rate=1e-6).learning_rate_at(399) < 1e-6
    assert Settings(learning_rate=1e-3, final_learning_rate=1e-3).learning_rate_at(7) == 1e-3
    # What was said stays, and what was not follows.
    assert settings_of(Settings(width=64), {"network": "fourier"}).complete().width == 64
    assert settings_of(Settings(), {"network": "fourier"}).complete().width == 448
    assert settings_of(Settings(), {"learning_rate": 1e-2}).complete().final_learning_rate == 1e-4
    counted = Settings(epochs=np.int64(2), omega=np.float32(15), patch=(np.int32(3), 4))  # type: ignore[arg-type]
    assert counted == Settings(epochs=2, omega=15.0, patch=(3, 4))
    assert type(counted.epochs) is int and type(counted.omega) is float


def test_photos_of_few_bits_are_taken(blurry: np.ndarray, blur: icb.ICB) -> None:
    photo = torch.from_numpy(blurry).permute(2, 0, 1).bfloat16().requires_grad_()
    found = restore(photo, blur, **{**SMALL, "epochs": 1})
    expected = restore(photo.detach().float(), blur, **{**SMALL, "epochs": 1})
    np.testing.assert_array_equal(found.image, expected.image)


def test_operators_without_what_is_needed(blurry: np.ndarray) -> None:
    with pytest.raises(icb.InputError, match="blur: got function, expected an operator to call, with a shape and a"):
        restore(blurry, lambda x: x)


@pytest.mark.parametrize(
    ("shape", "radius", "message"),
    [
        (SIZE, 2, "blur: its radius is 2, expected two whole numbers of at least 0"),
        (SIZE, (1.5, 0), r"blur: its radius is \(1.5, 0\), expected"),
        (SIZE, (-1, 0), r"blur: its radius is \(-1, 0\), expected"),
        ((*SIZE, 3), (0, 0), r"blur: its shape is \(36, 47, 3\), expected two whole numbers of at least 1"),
        ((0, 47), (0, 0), r"blur: its shape is \(0, 47\), expected"),
    ],
)
def test_operators_of_strange_sizes(blurry: np.ndarray, shape: Any, radius: Any, message: str) -> None:
    with pytest.raises(icb.InputError, match=message):
        restore(blurry, Identity(shape, radius))


def test_sizes_of_an_operator_may_be_numbers_of_numpy(sharp: np.ndarray, tmp_path: Path) -> None:
    blur = Identity(tuple(np.array(SIZE)), tuple(np.array([1, 2])))
    found = restore(sharp, blur, checkpoint=tmp_path / "fit.safetensors", **{**SMALL, "epochs": 1})
    found.network.save(tmp_path / "network.safetensors")
    assert load_network(tmp_path / "network.safetensors").frame == Frame(*SIZE, 1, 2)


@pytest.mark.parametrize("moves", [(20, 1), (1, 20)])
def test_a_blur_that_leaves_a_narrow_image(moves: tuple[int, int]) -> None:
    """Rows are compared with the height, columns with the width."""
    shape = (9, 60) if moves[0] > moves[1] else (60, 9)
    blur = Identity(shape, moves)
    with pytest.raises(icb.InputError, match=f"blur: moves by up to {moves[0]} rows and {moves[1]} columns, expected"):
        restore(np.zeros((*shape, 3), np.float32), blur)


@dataclass(frozen=True)
class Identity:
    """All that an operator needs, and no more."""

    shape: tuple[int, int]
    radius: tuple[int, int] = (0, 0)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return 1 * x


def test_an_operator_needs_no_adjoint(sharp: np.ndarray) -> None:
    blur = Identity(SIZE)
    loss = restore(sharp, blur, learning_rate=5e-3, **SMALL).history.loss
    assert loss[-1] < 0.8 * loss[0]
    with pytest.raises(icb.InputError, match="adjoint: Identity has none"):
        patch_of(blur, (0, 4), (0, 5)).adjoint(torch.zeros(3, 4, 5))


def test_a_blur_that_leaves_the_image() -> None:
    s = scene(9, 14, "parallax", pixels=40.0)
    blur = icb.ICB(s.depth, s.trajectory, s.camera)
    with pytest.raises(icb.InputError, match=r"blur: moves by up to \d+ rows and 4\d columns, expected at most"):
        restore(np.zeros((9, 14, 3), np.float32), blur)
