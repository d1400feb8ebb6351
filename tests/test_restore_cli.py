"""``icb deblur`` and ``icb render``, run as a user runs them."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch

import icb
from icb.cli import deblur, main, render
from icb.pictures import read_image, write_image
from icb.restoration import Network, Settings, load_network
from tests.scenes import scene, smooth_picture

SIZE = (32, 45)
QUICK = ["--width", "16", "--epochs", "3"]

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A blurry photo, its depth and the poses, in the current folder."""
    monkeypatch.chdir(tmp_path)
    s = scene(*SIZE, "pan-tilt", 3.0)
    camera = icb.Camera.from_fov(60, SIZE[1], SIZE[0])
    write_image("blurry.png", icb.ICB(s.depth, s.trajectory, camera)(smooth_picture(*SIZE)))
    np.save("depth.npy", s.depth)
    s.trajectory.save("poses.json")
    Path("text").write_text("text")
    return tmp_path


COMMAND = ["deblur", "blurry.png", "depth.npy", "--trajectory", "poses.json"]


@pytest.mark.parametrize("model", ["icb", "pwb"])
def test_deblur_does_what_the_library_does(files: Path, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--model", model, "--network-seed", "4", "--patch", "20", "20", "--save-network", "net.safetensors"]
    assert main([*COMMAND, *QUICK, *options, "-o", "sharp.npy"]) == 0
    camera = icb.Camera.from_fov(60, SIZE[1], SIZE[0])
    depth, trajectory = np.load("depth.npy"), icb.Trajectory.load("poses.json")
    blur = {"icb": icb.ICB, "pwb": icb.PWB}[model](depth, trajectory, camera)
    settings = Settings(width=16, epochs=3, seed=4, patch=(20, 20))
    expected = icb.restore(read_image("blurry.png"), blur, settings)
    np.testing.assert_array_equal(np.load("sharp.npy"), expected.image)
    assert load_network("net.safetensors").settings == settings.complete()
    printed = capsys.readouterr().out
    assert re.fullmatch(
        rf"sharp\.npy: {model.upper()}.*, blurred to the photo with a mean PSNR of {expected.history.psnr[-1]:.2f} dB "
        r"during the last epoch\n",
        printed,
    )


def test_the_progress_shows_loss_and_psnr_and_changes_nothing(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*COMMAND, *QUICK, "-q", "-o", "quiet.npy"]) == 0
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert main([*COMMAND, *QUICK, "--preview", "look.png", "--every", "2", "-o", "sharp.npy"]) == 0
    error = capsys.readouterr().err
    assert re.search(r"3/3 .*epochs/s, PSNR=\d+\.\d\d dB, loss=\d\.\d\de", error), error
    np.testing.assert_array_equal(np.load("sharp.npy"), np.load("quiet.npy"))
    # The preview is of epoch 2, not of the last.
    early = read_image("look.png")
    assert early.shape == (*SIZE, 3)
    assert np.abs(early - np.clip(np.load("sharp.npy"), 0, 1)).max() > 1 / 255


class Stop(Exception):  # noqa: N818
    """Somebody pulled the plug."""


def test_the_progress_goes_on_where_the_fit_does(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(row: dict[str, float], _: Network) -> None:
        if row["epoch"] == 3:
            raise Stop

    camera = icb.Camera.from_fov(60, SIZE[1], SIZE[0])
    blur = icb.ICB(np.load("depth.npy"), icb.Trajectory.load("poses.json"), camera)
    options = {"width": 16, "epochs": 3, "checkpoint": "fit.safetensors", "checkpoint_seconds": 0}
    with pytest.raises(Stop):
        icb.restore(read_image("blurry.png"), blur, on_epoch=stop, **options)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    for shown in (["2/3", "3/3"], ["3/3"]):  # an epoch is left, none is left
        assert main([*COMMAND, *QUICK, "--checkpoint", "fit.safetensors", "-o", "sharp.npy"]) == 0
        counts = re.findall(r"(\d/\d) \[", capsys.readouterr().err)
        assert list(dict.fromkeys(counts)) == ["0/3", *shown]


def test_a_preview_that_cannot_be_written_does_not_end_the_fit(
    files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def in_the_way(_: str) -> None:
        Path("folder/look.png").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr("icb.files.check_place", in_the_way)  # after the check, somebody makes a folder there
    assert main([*COMMAND, *QUICK, "--preview", "folder/look.png", "--every", "2", "-q", "-o", "sharp.npy"]) == 0
    assert re.match(r"icb: no preview of epoch 2: folder/look\.png: cannot be written: ", capsys.readouterr().err)
    assert np.load("sharp.npy").shape == (*SIZE, 3)


def test_deblur_goes_on_from_a_checkpoint(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = ["--checkpoint", "fit.safetensors"]
    assert main([*COMMAND, *QUICK, *kept, "-o", "one.npy"]) == 0
    before = Path("fit.safetensors").read_bytes()
    assert main([*COMMAND, *QUICK, *kept, "-o", "two.npy"]) == 0
    np.testing.assert_array_equal(np.load("one.npy"), np.load("two.npy"))
    assert Path("fit.safetensors").read_bytes() == before
    assert main(["render", "fit.safetensors", "-o", "drawn.npy"]) == 0
    np.testing.assert_array_equal(np.load("drawn.npy"), np.load("one.npy"))
    capsys.readouterr()
    assert main([*COMMAND, *QUICK, *kept, "--network", "fourier", "-o", "three.npy"]) == 2
    assert "fit.safetensors: belongs to another fit: network: got 'siren'" in capsys.readouterr().err


def test_render_draws_any_size_and_part(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, *QUICK, "--save-network", "net.safetensors", "-o", "sharp.npy", "-q"]) == 0
    assert main(["render", "net.safetensors", "-o", "same.npy"]) == 0
    assert capsys.readouterr().out == "same.npy: 32 x 45 pixels\n"
    np.testing.assert_array_equal(np.load("same.npy"), np.load("sharp.npy"))
    assert main(["render", "net.safetensors", "--scale", "3", "-o", "large.npy"]) == 0
    np.testing.assert_allclose(np.load("large.npy")[1::3, 1::3], np.load("sharp.npy"), atol=1e-5)
    assert main(["render", "net.safetensors", "--crop", "3", "5", "4", "6", "--size", "8", "18", "-o", "p.png"]) == 0
    expected = load_network("net.safetensors").render((8, 18), (3, 5, 4, 6))
    np.testing.assert_allclose(read_image("p.png"), np.clip(expected, 0, 1), atol=0.5 / 255 + 1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epochs", "0"], "epochs: got 0, expected a whole number of at least 1"),
        (["--width", "0"], "width: got 0"),
        (["--patch", "0", "9"], "patch: got 0"),
        (["--threads", "0"], "number of threads: got 0"),
        (["--every", "5"], "--every: got 5, expected only with --preview"),
        (["--preview", "p.png", "--every", "0"], "--every: got 0, expected at least 1"),
        (["--preview", "p.doc"], r"p\.doc: got '\.doc'"),
        (["-o", "o.doc"], r"o\.doc: got '\.doc'"),
        (["-o", "o.jpg", "--bits", "16"], r"o\.jpg: 16 bits need"),
        (["--model", "pwb", "-n", "2"], "-n: got 2.0, expected only with --model icb"),
        (["--checkpoint", "text"], r"text: expected a checkpoint"),
        (["--checkpoint", "blurry.png"], r"--checkpoint: got blurry\.png, expected another file than that of PHOTO"),
        (["--preview", "./blurry.png"], r"--preview: got \./blurry\.png, expected another file than that of PHOTO"),
        (["--save-network", "poses.json"], r"--save-network: got poses\.json, .* than that of --trajectory"),
        (["-o", "depth.npy"], r"-o: got depth\.npy, expected another file than that of DEPTH"),
        (["--device", "gpu"], "device: got 'gpu', expected one that torch can use here"),
        (["--device", "cuda:99"], "device: got 'cuda:99', expected one that torch can use here"),
        (["--network-seed", "-3"], "seed: got -3"),
        (["--seed", "3"], "--seed: got 3, expected only with --shake"),
        (["--network-seed", "99999999999999999999999"], "seed: got 99999999999999999999999, expected at most"),
        (["--learning-rate", "1e39"], r"learning_rate: got 1e\+39, expected at most"),
        (["--checkpoint", "."], r"\.: is a folder, expected a file"),
        (["-o", "/proc/o.png"], r"/proc/o\.png: cannot be written"),
        (["--save-network", "/proc/n.safetensors"], r"/proc/n\.safetensors: cannot be written"),
        (["--checkpoint", "/proc/c.safetensors"], r"/proc/c\.safetensors: cannot be written"),
        (["--preview", "blurry.png/p.png"], r"blurry\.png/p\.png: cannot be written: Not a directory"),
        (["--save-network", "c.st", "--checkpoint", "./c.st"], "--checkpoint: got ./c.st, .*that of --save-network"),
    ],
)
def test_mistakes_end_in_one_line(
    files: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = sorted(files.iterdir())
    monkeypatch.setattr("icb.restoration.fit.patch_loss", lambda *_: pytest.fail("there was a fit"))
    assert main([*COMMAND, "-o", "o.png", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("icb: ") and error.count("\n") == 1
    assert re.search(message, error), error
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.safetensors", "-o", "o.png"], r"nowhere\.safetensors: no such file"),
        (["blurry.png", "-o", "o.png"], r"blurry\.png: expected a network or checkpoint of a fit as \.safetensors"),
        ([".", "-o", "o.png"], r"\.: is a folder, expected a file"),
        (["blurry.png", "-o", "o.doc"], r"o\.doc: got '\.doc'"),
    ],
)
def test_mistakes_of_render(
    files: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and re.search(message, error), error


def test_examples_in_the_help_are_right(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command the help shows is run, with a smaller network and fewer epochs."""
    ran = 0
    for text in (deblur.EXAMPLES, render.EXAMPLES):
        for line in re.findall(r"^  icb (.*)$", text.replace("\\\n", " "), re.MULTILINE):
            arguments = shlex.split(line)
            assert main([*arguments, *(QUICK if arguments[0] == "deblur" else [])]) == 0, line
            ran += 1
    assert ran == 6
    for command in ("deblur", "render"):
        with pytest.raises(SystemExit) as stopped:
            main([command, "--help"])
        assert stopped.value.code == 0
        assert "examples:" in capsys.readouterr().out


def test_a_diverging_fit_is_one_line(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, *QUICK, "--learning-rate", "1e30", "-q", "-o", "o.png"]) == 2
    assert re.search(r"^icb: blurry\.png: the fit diverged in epoch \d of 3: loss nan", capsys.readouterr().err)
    assert not Path("o.png").exists()
    assert torch.get_num_threads() == 1
