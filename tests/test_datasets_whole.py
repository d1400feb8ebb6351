"""A sample is written whole or not at all."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets import build as building
from datasets import index
from datasets.build import Options, build
from datasets.cli import main
from datasets.formats import packed_depth, png
from icb import InputError
from tests import captures
from tests.captures import IOS, UNITY, tree


def broken(change: Callable[..., Any]) -> Any:
    return pytest.param(change, id=change.__name__)


def missing_frame(unity: Path, ios: Path) -> tuple[Path, str]:
    (unity / "frames/frame_4.png").unlink()
    return unity, "frames/frame_4.png: missing"


def truncated_frame(unity: Path, ios: Path) -> tuple[Path, str]:
    file = unity / "frames/frame_8.png"  # the last: everything else is done by then
    file.write_bytes(file.read_bytes()[:-20])
    return unity, "frame_8.png: the PNG ends too early"


def wrong_size(unity: Path, ios: Path) -> tuple[Path, str]:
    (unity / "frames/frame_7.png").write_bytes(png.encode(np.zeros((9, 16, 3), np.uint8)))
    return unity, "frame_7.png: got 16 x 9 pixels, expected 160 x 90"


def log_is_not_json(unity: Path, ios: Path) -> tuple[Path, str]:
    (unity / "camera_logs/camera_logs_2.txt").write_text("no")
    return unity, "camera_logs_2.txt: expected JSON"


def no_depth_at_the_reference(unity: Path, ios: Path) -> tuple[Path, str]:
    (unity / "depth/5.png").unlink()
    return unity, "depth/5.png: missing, expected the depth of the reference"


def broken_depth_at_the_reference(unity: Path, ios: Path) -> tuple[Path, str]:
    (unity / "depth/5.png").write_bytes(png.encode(packed_depth.encode(np.ones((90, 16)), 20.0)))
    return unity, "depth/5.png: got 16 x 90 pixels, expected 160 x 90"


def one_frame_only(unity: Path, ios: Path) -> tuple[Path, str]:
    for number in range(1, 9):
        (unity / f"frames/frame_{number}.png").unlink()
        (unity / f"camera_logs/camera_logs_{number}.txt").unlink()
    return unity, f"{UNITY}: got 1 frame, expected at least 3"


def header_without_its_end(unity: Path, ios: Path) -> tuple[Path, str]:
    file = ios / "depth_64x48_9.bin"
    file.write_bytes(file.read_bytes().replace(b"<ENDHEADER>", b"<          "))
    return ios, "depth_64x48_9.bin: the header has no end"


def nan_pose(unity: Path, ios: Path) -> tuple[Path, str]:
    file = ios / "depth_64x48_9.bin"
    file.write_bytes(captures.re_header(file.read_bytes(), "WorldToCamera", "nan"))
    return ios, "depth_64x48_9.bin: got NaN"


def truncated_recording(unity: Path, ios: Path) -> tuple[Path, str]:
    file = ios / "image_P0_320x240_P1_160x120_15.bin"
    file.write_bytes(file.read_bytes()[:1000])
    return ios, "_15.bin: got 1000 bytes, expected 115200"


def recording_without_depth_at_the_reference(unity: Path, ios: Path) -> tuple[Path, str]:
    file = ios / "depth_64x48_12.bin"
    (ios / "info_12.bin").write_bytes(file.read_bytes()[:1024])
    file.unlink()
    return ios, "depth_64x48_12.bin: missing, expected the depth of the reference"


def recording_with_empty_depth(unity: Path, ios: Path) -> tuple[Path, str]:
    file = ios / "depth_64x48_12.bin"
    file.write_bytes(file.read_bytes()[:1024] + bytes(4 * 48 * 64))
    return ios, "depth_64x48_12.bin: got no depth at all"


@pytest.mark.parametrize(
    "damage",
    [
        broken(change)
        for change in (
            missing_frame,
            truncated_frame,
            wrong_size,
            log_is_not_json,
            no_depth_at_the_reference,
            broken_depth_at_the_reference,
            one_frame_only,
            header_without_its_end,
            nan_pose,
            truncated_recording,
            recording_without_depth_at_the_reference,
            recording_with_empty_depth,
        )
    ],
)
def test_broken_capture_leaves_nothing_behind(
    raw: Path, built: Path, tmp_path: Path, damage: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    unity, ios = (shutil.copytree(raw / name, tmp_path / name) for name in (UNITY, IOS))
    path, said = damage(unity, ios)
    fresh, used = tmp_path / "fresh" / "out", shutil.copytree(built, tmp_path / "used")
    for out in (fresh, used):
        assert main(["build", str(path), "-o", str(out)]) == 2
        message = capsys.readouterr().err
        assert said in message and len(message.splitlines()) == 1
    assert not fresh.parent.exists()
    assert tree(used) == tree(built)  # what was there before stays


@pytest.mark.parametrize("step", range(6))
def test_failure_at_any_move_leaves_nothing_behind(
    raw: Path, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """The disk fails at one step or another, or the index cannot be written."""
    used = shutil.copytree(built, tmp_path / "used")
    kept = tree(used)
    path_class = type(tmp_path)
    original = path_class.rename
    moves: list[Path] = []

    def failing(self: Path, target: Path) -> Any:
        if ".building" in str(self) and "old" not in self.parts and len(moves) == step:
            raise OSError(28, "No space left on device")
        if ".building" in str(self):
            moves.append(target)
        return original(self, target)

    def failing_index(*arguments: Any) -> None:
        raise InputError("index.parquet: cannot be written")

    if step < 5:
        monkeypatch.setattr(path_class, "rename", failing)
    else:
        monkeypatch.setattr(building, "merge_rows", failing_index)
    for out in (tmp_path / "fresh", used):
        moves.clear()
        with pytest.raises(InputError, match="cannot be written"):
            build([raw / UNITY], out, Options(averaging="gamma"))
    assert not (tmp_path / "fresh").exists()
    assert tree(used) == kept


def test_interrupted_build_leaves_nothing_behind(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "merge_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        build([raw / UNITY], tmp_path / "out", Options())
    assert not (tmp_path / "out").exists()


def test_samples_before_a_broken_capture_stay(raw: Path, built: Path, tmp_path: Path) -> None:
    path = shutil.copytree(raw / UNITY, tmp_path / "BrokenMacro_2")
    (path / "frames/frame_4.png").write_bytes(b"")  # found when it is read, not when the capture is opened
    with pytest.raises(InputError, match=r"frame_4\.png"):
        build([raw / UNITY, path], tmp_path / "out", Options())
    assert [row["id"] for row in index.read_index(tmp_path / "out")] == [UNITY]
    assert {name for name in tree(tmp_path / "out") if "RealCMB" in name or "building" in name} == set()


BUILD = """
import os, signal, sys, time
from pathlib import Path
from datasets.build import Options, build
original = Path.rename
done = []
def rename(self, target):
    if len(done) == int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(target)
    time.sleep(0.002)  # so that two at once would meet
    return original(self, target)
Path.rename = rename
build([sys.argv[1]], sys.argv[2], Options())
"""


def start_build(capture: Path, out: Path, kill_at: int) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", BUILD, str(capture), str(out), str(kill_at)])


@pytest.mark.parametrize("kill_at", [0, 1, 3, 5])
def test_a_killed_build_leaves_no_half_of_a_sample_and_the_next_cleans_up(
    raw: Path, built: Path, tmp_path: Path, kill_at: int
) -> None:
    out = tmp_path / "out"
    assert start_build(raw / UNITY, out, kill_at).wait() == -signal.SIGKILL
    assert not (out / "VirtualCMB/sharp_ref" / f"{UNITY}.png").exists()  # what samples are found by
    assert list(out.glob(".building-*"))
    build([raw / UNITY], out, Options())
    mine = {name: content for name, content in tree(built).items() if name.startswith("VirtualCMB/")}
    assert {name: content for name, content in tree(out).items() if name.startswith("VirtualCMB/")} == mine
    assert not list(out.glob(".building-*"))


def test_two_builds_of_one_sample_at_once(raw: Path, built: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for process in [start_build(raw / UNITY, out, 10**6) for _ in range(3)]:
        assert process.wait() == 0
    mine = {name: content for name, content in tree(built).items() if name.startswith("VirtualCMB/")}
    assert {name: content for name, content in tree(out).items() if name.startswith("VirtualCMB/")} == mine
    assert not list(out.glob(".building-*"))


def test_no_message_names_a_hidden_folder(raw: Path, tmp_path: Path) -> None:
    capture = shutil.copytree(raw / UNITY, tmp_path / UNITY)
    picture = capture / "depth/5.png"
    picture.write_bytes(picture.read_bytes()[:300])
    with pytest.raises(InputError, match=r"depth/5\.png: ") as caught:
        build([capture], tmp_path / "out", Options())
    assert ".building" not in str(caught.value)
