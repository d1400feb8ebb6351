"""Fits that are interrupted or diverge, and files that are not theirs."""

import errno
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.torch
import torch

import icb
from icb import tensors as archive
from icb.restoration import Network, Settings, load_network, restore
from icb.restoration.checkpoint import ROUNDING, identify
from icb.restoration.frame import Frame
from tests.fits import SIZE, SMALL, same
from tests.scenes import scene

pytestmark = pytest.mark.usefixtures("one_thread")


class Stop(Exception):  # noqa: N818
    """Somebody pulled the plug."""


@pytest.mark.parametrize(
    ("network", "stop_after", "threads"), [("siren", 1, 1), ("siren", 4, 2), ("fourier", 1, 2), ("fourier", 4, 1)]
)
def test_an_interrupted_fit_ends_as_an_undisturbed_one(
    blurry: np.ndarray, blur: icb.ICB, tmp_path: Path, network: str, stop_after: int, threads: int
) -> None:
    options = {**SMALL, "network": network, "threads": threads}
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


def test_a_killed_fit_ends_as_an_undisturbed_one(blurry: np.ndarray, blur: icb.ICB, tmp_path: Path) -> None:
    """The process is killed, not asked: what is there then is whole and enough."""
    code = (
        "import sys, icb\n"
        "from tests.fits import SIZE\n"
        "from tests.scenes import scene, smooth_picture\n"
        "s = scene(*SIZE, 'pan-tilt', 4.0)\n"
        "blur = icb.ICB(s.depth, s.trajectory, s.camera)\n"
        "icb.restore(blur(smooth_picture(*SIZE)), blur, width=24, epochs=120, threads=1,\n"
        "            checkpoint=sys.argv[1], checkpoint_seconds=0)\n"
    )
    checkpoint = tmp_path / "fit.safetensors"
    running = subprocess.Popen([sys.executable, "-c", code, str(checkpoint)], cwd=Path(__file__).parent.parent)
    while not checkpoint.exists() and running.poll() is None:
        time.sleep(0.01)
    running.kill()
    assert running.wait() == -signal.SIGKILL and checkpoint.exists()
    for path in tmp_path.glob(".fit*"):  # half a file that the kill left; nobody reads it
        path.unlink()
    seen: list[float] = []
    options: dict[str, Any] = {"width": 24, "epochs": 120, "threads": 1}
    resumed = restore(blurry, blur, checkpoint=checkpoint, on_epoch=lambda row, _: seen.append(row["epoch"]), **options)
    assert 1 < seen[0] < 120
    assert same(resumed, restore(blurry, blur, **options))


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


@pytest.mark.parametrize("fault", [OSError(errno.EIO, "Input/output error"), MemoryError()])
def test_a_machine_at_fault_is_no_fault_of_the_checkpoint(
    blurry: np.ndarray,
    blur: icb.ICB,
    checkpoint: bytes,
    tmp_path: Path,
    fault: Exception,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever sets aside a checkpoint that cannot be used keeps this one."""
    path = tmp_path / "fit.safetensors"
    path.write_bytes(checkpoint)

    def fail(*_: object) -> None:
        raise fault

    monkeypatch.setattr("pathlib.Path.read_bytes" if isinstance(fault, OSError) else "safetensors.torch.load", fail)
    with pytest.raises(type(fault)):
        restore(blurry, blur, checkpoint=path, **SMALL)


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
    cpu = torch.device("cpu")
    probes = [identify(photo, model(d, trajectory, camera), cpu).probe for d in (depth, depth, other)]
    assert torch.equal(probes[0], probes[1])
    assert float((probes[0] - probes[2]).abs().max()) > 100 * ROUNDING
    # Between the compiled code and torch's, there is rounding only.
    again = identify(photo, model(depth, trajectory, camera, backend="torch"), cpu).probe
    assert float((probes[0] - again).abs().max()) < ROUNDING / 10


def test_an_operator_is_asked_on_the_device_of_the_fit() -> None:
    """As one must be whose numbers are on a GPU."""

    class Elsewhere:
        shape, radius = (4, 5), (0, 0)

        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            assert x.device.type == "meta"
            return torch.ones(x.shape)

    identify(np.zeros((4, 5, 3), np.float32), Elsewhere(), torch.device("meta"))


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
