"""Restoring as a user does: it restores, the same each time, over interruptions; bad input."""

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import safetensors.torch
import torch

import icb
from icb.metrics import psnr
from icb.patches import patch_of
from icb.restoration import History, Network, Settings, load_network, restore
from icb.restoration import tensors as archive
from icb.restoration.arguments import settings_of
from icb.restoration.checkpoint import ROUNDING, identify
from icb.restoration.frame import Frame
from tests.scenes import scene
from tests.test_restore_patches import Shift

SIZE = (36, 47)
SMALL: dict[str, Any] = {"width": 24, "hidden": 2, "epochs": 6, "patch": (20, 30)}


pytestmark = pytest.mark.usefixtures("one_thread")


def smooth_picture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Blobs and edges, between 0 and 1."""
    random = np.random.default_rng(seed)
    coarse = random.random((height // 6 + 2, width // 6 + 2, 3)).astype(np.float32)
    picture = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    picture[height // 3 : height // 2, width // 4 : width // 2] = (0.9, 0.2, 0.1)
    return np.clip(picture, 0, 1)


@pytest.fixture(scope="module")
def sharp() -> np.ndarray:
    return smooth_picture(*SIZE)


@pytest.fixture(scope="module")
def blur() -> icb.ICB:
    s = scene(*SIZE, "pan-tilt", 4.0)
    return icb.ICB(s.depth, s.trajectory, s.camera)


@pytest.fixture(scope="module")
def blurry(sharp: np.ndarray, blur: icb.ICB) -> np.ndarray:
    return blur(sharp)


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
    # What the history says of the blurred network is so, and it went up.
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


def same(one: icb.restoration.Restoration, other: icb.restoration.Restoration) -> bool:
    alike = all(
        torch.equal(a, b)
        for a, b in zip(one.network.state_dict().values(), other.network.state_dict().values(), strict=True)
    )
    columns = [name for name in History.columns() if name != "seconds"]
    alike = alike and all(np.array_equal(getattr(one.history, c), getattr(other.history, c)) for c in columns)
    return alike and np.array_equal(one.image, other.image)


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


class Stop(Exception):  # noqa: N818
    """Somebody pulled the plug."""


@pytest.mark.parametrize("stop_after", [1, 4])
@pytest.mark.parametrize("network", ["siren", "fourier"])
def test_an_interrupted_fit_ends_as_an_undisturbed_one(
    blurry: np.ndarray, blur: icb.ICB, tmp_path: Path, stop_after: int, network: str
) -> None:
    options = {**SMALL, "network": network}
    path = tmp_path / "fit.safetensors"

    def stop(row: dict[str, float], _: Network) -> None:
        if row["epoch"] == stop_after + 1:  # an epoch is kept once the next one has begun well
            raise Stop

    with pytest.raises(Stop):
        restore(blurry, blur, checkpoint=path, checkpoint_seconds=0, on_epoch=stop, **options)
    epochs = []
    resumed = restore(blurry, blur, checkpoint=path, on_epoch=lambda row, _: epochs.append(row["epoch"]), **options)
    assert epochs == list(range(stop_after + 1, 7))
    assert same(resumed, restore(blurry, blur, **options))
    # A fit that is done is done.
    done = restore(blurry, blur, checkpoint=path, on_epoch=lambda *_: pytest.fail("nothing is left to do"), **options)
    assert same(done, resumed)
    assert [p.name for p in tmp_path.iterdir()] == ["fit.safetensors"]


def test_a_killed_fit_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    """The process is killed, not asked: what is there then is whole and enough."""
    code = (
        "import sys, icb, numpy as np\n"
        "from tests.test_restore import scene, smooth_picture, SIZE\n"
        "s = scene(*SIZE, 'pan-tilt', 4.0)\n"
        "blur = icb.ICB(s.depth, s.trajectory, s.camera)\n"
        "found = icb.restore(blur(smooth_picture(*SIZE)), blur, width=24, epochs=int(sys.argv[2]), threads=1,\n"
        "                    checkpoint=sys.argv[1] or None, checkpoint_seconds=0)\n"
        "np.save(sys.argv[3], found.image)\n"
    )
    checkpoint, image = tmp_path / "fit.safetensors", tmp_path / "image.npy"
    command = [sys.executable, "-c", code, str(checkpoint), "120", str(image)]
    root = Path(__file__).parent.parent
    running = subprocess.Popen(command, cwd=root)
    while not checkpoint.exists() and running.poll() is None:
        time.sleep(0.01)
    running.kill()
    running.wait()
    assert checkpoint.exists() and not image.exists()
    for path in tmp_path.glob(".fit*"):  # half a file that the kill left; nobody reads it
        path.unlink()
    s = scene(*SIZE, "pan-tilt", 4.0)
    blur = icb.ICB(s.depth, s.trajectory, s.camera)
    blurry = blur(smooth_picture(*SIZE))
    seen: list[float] = []
    options: dict[str, Any] = {"width": 24, "epochs": 120, "threads": 1}
    resumed = restore(blurry, blur, checkpoint=checkpoint, on_epoch=lambda row, _: seen.append(row["epoch"]), **options)
    assert 1 < seen[0] < 120
    assert same(resumed, restore(blurry, blur, **options))


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
    assert restore(sharp, blur, **SMALL).history.loss[-1] < 1
    with pytest.raises(icb.InputError, match="adjoint: Identity has none"):
        patch_of(blur, (0, 4), (0, 5)).adjoint(torch.zeros(3, 4, 5))


def test_a_blur_that_leaves_the_image() -> None:
    s = scene(9, 14, "parallax", pixels=40.0)
    blur = icb.ICB(s.depth, s.trajectory, s.camera)
    with pytest.raises(icb.InputError, match=r"blur: moves by up to \d+ rows and 4\d columns, expected at most"):
        restore(np.zeros((9, 14, 3), np.float32), blur)


def test_divergence_names_sample_and_epoch_and_keeps_the_last_good_checkpoint(
    blurry: np.ndarray, blur: icb.ICB, tmp_path: Path
) -> None:
    path = tmp_path / "fit.safetensors"
    kept: list[bytes] = []

    def poison(row: dict[str, float], network: Network) -> None:
        if row["epoch"] == 3:
            kept.append(path.read_bytes())
            with torch.no_grad():
                network.weights[1][0, 0] = float("inf")

    with pytest.raises(icb.DivergenceError, match=r"street 7: the fit diverged in epoch 4 of 6: loss nan") as caught:
        restore(blurry, blur, name="street 7", checkpoint=path, checkpoint_seconds=0, on_epoch=poison, **SMALL)
    kept_is = f"{path} keeps epoch 2: icb render draws it, other settings need another checkpoint"
    assert str(caught.value).endswith(f"try a smaller learning rate; {kept_is}")
    assert path.read_bytes() == kept[0]
    assert np.isfinite(load_network(path).render()).all()
    assert len(restore(blurry, blur, checkpoint=path, **SMALL).history) == 6
    with pytest.raises(icb.InputError, match="the photo: the fit diverged in epoch"):
        restore(blurry, blur, **{**SMALL, "learning_rate": 1e30})


@pytest.mark.parametrize("compiled", [True, False])
def test_divergence_in_the_last_step(
    blurry: np.ndarray, blur: icb.ICB, tmp_path: Path, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether sines of huge angles are NaN or not; and what has not been seen to be good is not kept."""
    monkeypatch.setattr("numba.config.DISABLE_JIT", not compiled)
    options = {**SMALL, "patch": SIZE, "learning_rate": 1e30}
    path = tmp_path / "fit.safetensors"
    with pytest.raises(icb.DivergenceError, match=r"diverged in epoch 1 of 1: colours of .*: try a smaller [a-z ]*$"):
        restore(blurry, blur, checkpoint=path, **{**options, "epochs": 1})
    with pytest.raises(icb.DivergenceError, match=r"diverged in epoch 2 of 6: loss .*: try a smaller [a-z ]*$"):
        restore(blurry, blur, checkpoint=path, checkpoint_seconds=0, **options)
    assert not path.exists()


@pytest.fixture(scope="module")
def checkpoint(blurry: np.ndarray, blur: icb.ICB, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("checkpoint") / "fit.safetensors"
    restore(blurry, blur, checkpoint=path, **SMALL)
    return path.read_bytes()


def unpacked(content: bytes) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Tensors and description of a safetensors file: 8 bytes of length, JSON, numbers."""
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    described = json.loads(header["__metadata__"]["icb"])
    del described["sha256"]
    return safetensors.torch.load(content), described


def edited(content: bytes, key: str, value: Any) -> bytes:
    """The file as it would be with another value of the description."""
    tensors, described = unpacked(content)
    place = described
    *outer, last = key.split(".")
    for name in outer:
        place = place[name]
    place[last] = value
    return archive.pack(tensors, described)


def repainted(content: bytes, name: str, values: list[float]) -> bytes:
    """The file as it would be with other numbers in a tensor."""
    tensors, described = unpacked(content)
    return archive.pack({**tensors, name: torch.tensor(values, dtype=tensors[name].dtype)}, described)


def flipped(content: bytes, place: int) -> bytes:
    """The file with one bit turned over."""
    changed = bytearray(content)
    changed[place] ^= 2
    return bytes(changed)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c[:1000], "fit.safetensors: expected a checkpoint of a fit as .safetensors"),
        (lambda c: c[:-5], "fit.safetensors: expected a checkpoint of a fit as .safetensors"),
        (lambda c: b"", "fit.safetensors: expected a checkpoint"),
        (lambda c: b"\x80\x04\x95" + c, "fit.safetensors: expected a checkpoint"),
        (lambda c: edited(c, "kind", "network"), "got network, expected a checkpoint of a fit"),
        (lambda c: edited(c, "settings.epochs", 7), "belongs to another fit: epochs: got 7, expected 6"),
        (lambda c: edited(c, "settings.network", "fourier"), "another fit: network: got 'fourier', expected 'siren'"),
        (lambda c: edited(c, "settings.width", 10**9), "another fit: width: got 1000000000, expected 24"),
        (lambda c: edited(c, "settings.width", -1), "width: got -1, expected a whole number"),
        (lambda c: edited(c, "settings.colour", 1), "its description is incomplete"),
        (lambda c: edited(c, "frame.down", 1), "another fit: down: got 1"),
        (lambda c: edited(c, "frame.down", "1"), "its description is incomplete"),
        (lambda c: edited(c, "settings", None), "its description is incomplete"),
        (lambda c: edited(c, "photo", "0"), "belongs to a fit of another photo"),
        (lambda c: edited(c, "steps", 25), "got 25 steps after 6 epochs, expected 24"),
        (lambda c: repainted(c, "mean.biases.2", 24 * [float("nan")]), "holds numbers that are not finite"),
        (lambda c: repainted(c, "history.loss", 6 * [float("nan")]), "expected finite numbers as loss"),
        (lambda c: repainted(c, "history.epoch", [1, 2, 3, 5, 4, 6]), "expected epochs 1 to 6"),
        (lambda c: flipped(c, -1), "is damaged: its checksum is another"),
        (lambda c: flipped(c, c.index(b"0.0005")), "is damaged: its checksum is another"),
    ],
)
def test_checkpoints_that_cannot_be_gone_on_with(
    blurry: np.ndarray, blur: icb.ICB, checkpoint: bytes, tmp_path: Path, change: Any, message: str
) -> None:
    path = tmp_path / "fit.safetensors"
    path.write_bytes(change(checkpoint))
    with pytest.raises(icb.CheckpointError, match=message) as caught:
        restore(blurry, blur, checkpoint=path, **SMALL)
    assert str(caught.value).startswith(str(path))
    assert path.read_bytes() == change(checkpoint)


def test_checkpoints_of_another_photo_or_blur(
    blurry: np.ndarray, blur: icb.ICB, checkpoint: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "fit.safetensors"
    path.write_bytes(checkpoint)
    with pytest.raises(icb.InputError, match="belongs to a fit of another photo"):
        restore(blurry[::-1].copy(), blur, checkpoint=path, **SMALL)
    s = scene(*SIZE, "pan-tilt", 4.0)
    other = icb.ICB(s.depth * np.float32(1.02), s.trajectory, s.camera)
    assert other.radius == blur.radius
    with pytest.raises(icb.InputError, match="belongs to a fit through another blur"):
        restore(blurry, other, checkpoint=path, **SMALL)


@pytest.mark.parametrize("model", [icb.ICB, icb.PWB])
def test_a_blur_that_differs_in_a_small_part_is_another(model: type[icb.ICB | icb.PWB]) -> None:
    shape = (144, 256)
    depth = np.full(shape, 2.0, np.float32)
    depth[40:52, 40:52] = 1.0
    other = depth.copy()
    other[80:84, 120:124] = 1.0
    camera = icb.Camera.centred(500, shape[1], shape[0])
    trajectory = icb.Trajectory.from_motion([[0, 0, 0], [0.01, 0, 0], [0.02, 0, 0]])
    photo = np.zeros((*shape, 3), np.float32)
    probes = [identify(photo, model(d, trajectory, camera)).probe for d in (depth, depth, other)]
    assert torch.equal(probes[0], probes[1])
    assert float((probes[0] - probes[2]).abs().max()) > 100 * ROUNDING
    # Between the compiled code and torch's, there is rounding only.
    again = identify(photo, model(depth, trajectory, camera, backend="torch")).probe
    assert float((probes[0] - again).abs().max()) < ROUNDING / 10


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: edited(c, "settings.width", 25), r"'weights.0' is torch.float32 of shape \(24, 2\), expected"),
        (lambda c: edited(c, "settings.width", 10**12), "expected float32 of"),
        (lambda c: edited(c, "settings.hidden", 9), "'weights.3' is torch.float32 of shape"),
        (lambda c: edited(c, "kind", "checkpoint of a fit"), "has no 'weights.0'"),
        (lambda c: edited(c, "kind", "picture"), "got picture, expected a network or checkpoint of a fit"),
        (lambda c: flipped(c, -1), "is damaged: its checksum is another"),
        (lambda c: flipped(c, c.index(b"30.0")), "is damaged: its checksum is another"),
        (lambda c: edited(c, "frame.height", 0), "frame: got Frame"),
        (lambda c: c[:99], "expected a network or checkpoint of a fit as .safetensors"),
    ],
)
def test_files_that_are_no_network(tmp_path: Path, change: Any, message: str) -> None:
    path = tmp_path / "n.safetensors"
    Network(Settings(width=24, hidden=2), Frame(11, 17, 3, 2)).save(path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(icb.InputError, match=message):
        load_network(path)
    with pytest.raises(icb.InputError, match="nowhere: no such file"):
        load_network("nowhere")
    with pytest.raises(icb.InputError, match=f"{tmp_path}: is a folder, expected a file"):
        load_network(tmp_path)


def test_importing_the_library_does_not_import_torch() -> None:
    code = "import sys, icb, icb.cli; assert 'torch' not in sys.modules; icb.restore; assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'retsore'"):
        icb.retsore  # noqa: B018
