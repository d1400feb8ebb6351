"""The command line, run as a user runs it."""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np
import OpenEXR
import pytest

import icb
from icb.cli import main
from icb.cli.command import run_command
from icb.example import load_example
from icb.pictures import read_image

SUFFIXES = (".png", ".jpg", ".npy", ".json", ".npz")


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A small photo and its depth in several formats."""
    random = np.random.default_rng(0)
    depth = random.uniform(0.4, 3, (40, 56)).astype(np.float32)
    depth[10:30, 20:40] = 0.4
    cv2.imwrite(str(tmp_path / "photo.png"), random.integers(0, 256, (40, 56, 3), np.uint8))
    np.save(tmp_path / "depth.npy", depth)
    cv2.imwrite(str(tmp_path / "depth.png"), np.round(depth * 1000).astype(np.uint16))
    return tmp_path


def run(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


@pytest.mark.parametrize("model", ["icb", "pwb"])
def test_blur_does_what_the_library_does(pictures: Path, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    out, poses = pictures / "out.npy", pictures / "poses.json"
    options = ["--model", model, "--shake", 20, "--seed", 5, "--rotation", 0.5, "--focal", 50, "--principal", 20, 25]
    assert (
        run("blur", pictures / "photo.png", pictures / "depth.npy", *options, "-o", out, "--save-trajectory", poses)
        == 0
    )
    kind = {"icb": icb.ICB, "pwb": icb.PWB}[model]
    blur = kind(np.load(pictures / "depth.npy"), icb.Trajectory.load(poses), icb.Camera(50, 50, 20, 25))
    np.testing.assert_array_equal(np.load(out), blur(read_image(pictures / "photo.png")))
    assert re.search(rf"out\.npy: {model.upper()}.*up to \d+ pixels", capsys.readouterr().out)
    # The saved poses give the same picture again.
    again = pictures / "again.npy"
    options = ["--model", model, "--trajectory", poses, "--focal", 50, "--principal", 20, 25]
    assert run("blur", pictures / "photo.png", pictures / "depth.npy", *options, "-o", again, "-q") == 0
    np.testing.assert_array_equal(np.load(again), np.load(out))
    assert capsys.readouterr().out == ""


def test_truck_moves_by_the_length_given(pictures: Path) -> None:
    poses = pictures / "poses.npz"
    scene = [pictures / "photo.png", pictures / "depth.png", "--depth-unit", 0.001]
    motion = ["--truck", 30, "--direction", 180, "--poses", 21, "--save-trajectory", poses]
    assert run("blur", *scene, *motion, "-o", pictures / "out.png") == 0
    trajectory = icb.Trajectory.load(poses)
    assert len(trajectory) == 21
    assert trajectory.translations[-1, 0] - trajectory.translations[0, 0] == pytest.approx(0.03)  # camera to the left


def test_depth_of_another_size_and_with_holes(pictures: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = np.load(pictures / "depth.npy")[::2, ::2].copy()
    small[3, 4] = 0
    small[5, 6] = np.nan
    np.save(pictures / "small.npy", small)
    command = ["blur", pictures / "photo.png", pictures / "small.npy", "--truck", 10, "-o", pictures / "out.png"]
    assert run(*command) == 2
    assert "got 0 at row 3, column 4" in capsys.readouterr().err
    assert run(*command, "--missing-depth", "far") == 2
    assert re.search(r"small\.npy: got 20 x 28 pixels, expected 40 x 56 .*--resize-depth", capsys.readouterr().err)
    for meaning in ("far", "nearest"):
        assert run(*command, "--missing-depth", meaning, "--resize-depth") == 0


def test_explain_draws_a_picture(pictures: Path) -> None:
    out = pictures / "explained.png"
    assert run("explain", pictures / "photo.png", pictures / "depth.npy", "--shake", 30, "-o", out) == 0
    image = read_image(out)
    assert min(image.shape[:2]) > 500
    assert image.std() > 0.1


@pytest.mark.parametrize(
    "motion", [["--shake", "0", "--rotation", "0"], ["--truck", "5"], ["--shake", "0", "--rotation", "2"]]
)
def test_explain_survives_little_motion(pictures: Path, motion: list[str]) -> None:
    np.save(pictures / "depth.npy", np.full((40, 56), np.inf, np.float32))
    assert run("explain", pictures / "photo.png", pictures / "depth.npy", *motion, "-o", pictures / "e.svg") == 0


def test_example_is_a_photo_with_its_depth(tmp_path: Path) -> None:
    assert run("example", tmp_path) == 0
    photo, depth, camera = load_example()
    np.testing.assert_allclose(read_image(tmp_path / "motorcycle.png"), photo, atol=0.002)
    stored = icb.pictures.read_depth(tmp_path / "motorcycle-depth.png", unit=0.001)
    np.testing.assert_allclose(stored, depth, atol=0.00051)
    assert 2 < depth.min() < depth.max() < 6  # metres, as the calibration says
    assert depth[300, 300] < depth[50, 300]  # the motorcycle stands before the shelf
    assert camera.fx == 994.978


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["blur", "nowhere.png", "{depth}", "--truck", "1", "-o", "o.png"], r"nowhere\.png: cannot be read"),
        (["blur", "{depth}", "{depth}", "--truck", "1", "-o", "o.png"], r"depth\.npy: not an image"),
        (["blur", "{photo}", "{photo}", "--truck", "1", "-o", "o.png"], "needs its unit"),
        (["blur", "{photo}", "{depth}", "--truck", "1", "-o", "o.doc"], r"o\.doc: got '\.doc'"),
        (["blur", "{photo}", "{depth}", "--truck", "nan", "-o", "o.png"], "--truck: got nan"),
        (["blur", "{photo}", "{depth}", "--shake", "-1", "-o", "o.png"], "translation_mm: got -1"),
        (["blur", "{photo}", "{depth}", "--shake", "1", "--poses", "1", "-o", "o.png"], "--poses: got 1"),
        (["blur", "{photo}", "{depth}", "--shake", "1", "--exposure", "0", "-o", "o.png"], "exposure: got 0"),
        (["blur", "{photo}", "{depth}", "--truck", "1", "--fov", "200", "-o", "o.png"], "field of view: got 200"),
        (["blur", "{photo}", "{depth}", "--truck", "1", "-n", "0", "-o", "o.png"], "n: got 0.0"),
        (["blur", "{photo}", "{depth}", "--truck", "1", "--sigma", "-2", "-o", "o.png"], "sigma: got -2"),
        (["blur", "{photo}", "{depth}", "--trajectory", "{photo}", "-o", "o.png"], "expected a trajectory as"),
        (["blur", "{photo}", "{depth}", "--trajectory", "", "-o", "o.png"], "expected a trajectory as"),
        (
            ["blur", "{photo}", "{depth}", "--truck", "1", "--seed", "3", "-o", "o.png"],
            "--seed: got 3, expected only with",
        ),
        (["blur", "{photo}", "{depth}", "--shake", "1", "--direction", "9", "-o", "o.png"], "--direction: got 9"),
        (["blur", "{photo}", "{depth}", "--truck", "1", "--model", "pwb", "-n", "2", "-o", "o.png"], "-n: got 2"),
        (["blur", "{photo}", "{depth}", "--truck", "1e300", "-o", "o.png"], "use a larger n"),
        (["explain", "{photo}", "{depth}", "--truck", "1", "-o", "o.doc"], r"expected a picture as \.png"),
    ],
)
def test_mistakes_end_in_one_line(
    pictures: Path,
    arguments: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(pictures)
    before = sorted(pictures.iterdir())
    filled = [a.format(photo=pictures / "photo.png", depth=pictures / "depth.npy") for a in arguments]
    assert main(filled) == 2
    error = capsys.readouterr().err
    assert error.startswith("icb: ") and error.count("\n") == 1
    assert re.search(message, error), error
    assert sorted(pictures.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "required: COMMAND"),
        (["blr"], "invalid choice: 'blr'"),
        (["blur", "a", "b", "-o", "c"], "one of the arguments --trajectory --shake --truck is required"),
        (["blur", "a", "b", "-o", "c", "--truck", "1", "--colour"], "unrecognized arguments: --colour"),
        (["blur", "a", "b", "-o", "c", "--truck", "wide"], "invalid float value: 'wide'"),
        (["blur", "a", "b", "-o", "c", "--truck", "1", "--model", "pws"], "invalid choice: 'pws'"),
    ],
)
def test_unknown_options(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["blur"], ["explain"], ["example"]])
def test_help_explains(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([*command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert "usage:" in text
    if command in (["blur"], ["explain"]):
        assert "examples:" in text


def test_examples_in_the_help_are_right(
    pictures: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every command the help shows is run."""
    from icb.cli import blur, explain

    monkeypatch.chdir(pictures)
    cv2.imwrite("photo.jpg", cv2.imread("photo.png"))
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, {"Z": np.load("depth.npy")}).write("depth.exr")
    icb.Trajectory.truck(speed=1, exposure=0.01).save("poses.json")
    ran = 0
    for text in (blur.EXAMPLES, explain.EXAMPLES):
        for line in re.findall(r"^  icb (.*)$", text, re.MULTILINE):
            arguments = shlex.split(line)
            assert main(arguments) == 0, line
            ran += 1
    assert ran == 5


def test_a_second_run_starts_quickly_and_without_torch(pictures: Path) -> None:
    """No time limit, which would be noise: what costs seconds is importing torch and compiling."""
    code = (
        "import sys; from icb.cli import main; import numba; from numba.core import event\n"
        "compiled = []\n"
        "class Count(event.Listener):\n"
        "    def on_start(self, e): compiled.append(e)\n"
        "    def on_end(self, e): pass\n"
        "event.register('numba:compile', Count())\n"
        "assert main(sys.argv[1:]) == 0\n"
        "print(len(compiled), 'torch' in sys.modules, 'matplotlib' in sys.modules)"
    )
    command = [sys.executable, "-c", code, "blur", str(pictures / "photo.png"), str(pictures / "depth.npy"), "-q"]
    command += ["--truck", "9", "-o", str(pictures / "o.png")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(pictures / "cache")}
    results = [
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.split()
        for _ in range(2)
    ]
    assert int(results[0][0]) > 0  # the first run compiles ...
    assert results[1] == ["0", "False", "False"]  # ... the second loads


def test_the_installed_command_and_the_module_are_the_same() -> None:
    command = Path(sys.executable).with_name("icb")
    for start in ([str(command)], [sys.executable, "-m", "icb"]):
        done = subprocess.run([*start, "--version"], check=True, capture_output=True, text=True)
        assert done.stdout == f"icb {icb.__version__}\n"


@pytest.mark.parametrize("buffering", ["", "1"])
def test_output_that_nobody_takes(pictures: Path, buffering: str) -> None:
    """A reader that has gone is no error worth a word; a full disk is one line."""
    blur = ["blur", pictures / "photo.png", pictures / "depth.npy", "--truck", 5, "-o", pictures / "o.png"]
    environment = {**os.environ, "PYTHONUNBUFFERED": buffering}
    for arguments in (["--help"], blur):
        command = shlex.join([sys.executable, "-m", "icb", *map(str, arguments)])
        for sink, code, error in (
            ("| (exec <&-; sleep 2)", 141, ""),
            ("> /dev/full", 2, "icb: standard output: No space"),
        ):
            shell = ["bash", "-c", f"{command} {sink}; exit ${{PIPESTATUS[0]}}"]
            done = subprocess.run(shell, capture_output=True, text=True, check=False, env=environment)
            assert done.stderr.count("\n") <= 1
            if arguments is blur:  # argparse itself passes over a help that cannot be written
                assert (done.returncode, done.stderr[: len(error)]) == (code, error)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "MemoryError"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "DefaultCPUAllocator: can't allocate memory"),
        (RuntimeError("CUDA error: out of memory\nCompile with TORCH_USE_CUDA_DSA"), "CUDA error: out of memory"),
    ],
)
def test_too_little_memory_is_one_line(error: Exception, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_: object) -> None:
        raise error

    def parser() -> argparse.ArgumentParser:
        parser = argparse.ArgumentParser()
        parser.set_defaults(run=fail)
        return parser

    assert run_command("icb", parser, []) == 2
    assert capsys.readouterr().err == f"icb: the machine cannot do this: {said}\n"


def test_a_mistake_of_ours_is_not_hidden() -> None:
    parser = argparse.ArgumentParser()
    parser.set_defaults(run=lambda _: {}["x"])
    with pytest.raises(KeyError):
        run_command("icb", lambda: parser, [])


def test_it_runs_where_nothing_can_be_written(pictures: Path) -> None:
    """Compiled code is then not kept, rather than an error; here by a cache folder that is a file."""
    (pictures / "file").touch()
    code = "import icb.compiled as c, icb; print(c.OPTIONS['cache'])"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(pictures / "file")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "False\n"
