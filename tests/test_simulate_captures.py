"""Simulated captures as files: the same bytes every time, complete, and what the readers make of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import icb
from datasets.cli import main
from datasets.formats import packed_depth, png, unity_log
from datasets.readers import open_capture
from datasets.simulate import default_set, simulate_ios, simulate_set, simulate_unity, unity
from datasets.simulate.ios import landscape_camera
from datasets.simulate.render import cast_depth
from datasets.simulate.scenes import build_scene

UNITY: dict[str, Any] = {"scene": "Studio", "case": "Macro", "motion": "6-DoF", "seed": 3, "size": (36, 64), "poses": 5}
IOS: dict[str, Any] = {"scene": "Studio", "seed": 3, "frames": 3, "image_size": (48, 64), "depth_size": (24, 32)}


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("simulate", "options"), [(simulate_unity, UNITY), (simulate_ios, IOS)])
def test_same_arguments_same_bytes_for_any_number_of_threads(simulate, options, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    results = []
    for run, threads in enumerate((1, 2, 2)):
        icb.set_num_threads(threads)
        build_scene.cache_clear()
        try:
            folder = simulate(tmp_path / str(run), **options)
        finally:
            icb.set_num_threads(None)
        results.append((folder.name, content(folder)))
    assert results[0] == results[1] == results[2]
    other = simulate(tmp_path / "other", **{**options, "seed": 4})
    assert content(other).keys() == results[0][1].keys()
    assert content(other) != results[0][1]


def test_unity_folder_has_every_file_and_key(tmp_path: Path) -> None:
    folder = simulate_unity(tmp_path, **UNITY)
    assert "Macro_" in folder.name and folder.name.startswith("Studio")
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    expected = {f"frames/{m}.png" for m in range(5)} | {f"camera_logs/camera_logs_{m}.txt" for m in range(5)}
    assert names == expected | {"depth/3.png", "params.txt", "simulated.json"}  # 5 // 2 + 1 = 3
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]  # nothing temporary is left
    log = json.loads((folder / "camera_logs/camera_logs_2.txt").read_text())
    assert log.keys() == {
        "cameraPos", "cameraIntrinsics", "depthRange", "worldToCamSetMatrix", "camSetToWorldMatrix",
    }  # fmt: skip
    assert log["cameraIntrinsics"].keys() == {
        "focalLength", "sensorSize", "imageSize", "projectionMatrix", "worldToCameraMatrix", "cameraToWorldMatrix",
    }  # fmt: skip
    matrix = {name: np.array([[log[name][f"e{i}{j}"] for j in range(4)] for i in range(4)])
              for name in ("worldToCamSetMatrix", "camSetToWorldMatrix")}  # fmt: skip
    position = [log["cameraPos"]["pos"][axis] for axis in "xyz"]
    assert matrix["camSetToWorldMatrix"][:3, 3] == pytest.approx(position)
    assert json.loads((folder / "params.txt").read_text()) == {
        "sceneName": "Assets/Scenes/Studio", "traslationMode": "xyz", "rotationMode": "xyz",
    }  # fmt: skip
    mark = json.loads((folder / "simulated.json").read_text())
    assert mark["simulated"] is True and mark["seed"] == 3 and "open3d" in mark["versions"]


def test_unity_depth_is_the_ray_casters(tmp_path: Path) -> None:
    folder = simulate_unity(tmp_path, **{**UNITY, "scene": "Village"}, every_depth=True)
    scene = build_scene("Village", 3)
    capture = open_capture(folder)
    assert capture.info.simulated and capture.info.case == "Macro" and capture.info.motion == "6-DoF"
    for index in (0, 3):
        log = unity_log.parse_camera_log(folder / f"camera_logs/camera_logs_{index}.txt")
        true = cast_depth(scene, log.camera, log.camset_to_world, (36, 64))
        near, far = log.depth_range
        stored = packed_depth.decode(png.read(folder / f"depth/{index}.png"), near, far)
        known = true <= far
        assert known.mean() > 0.5
        assert np.abs(stored - true)[known].max() <= far / 255**3 + 1e-6 * far
        assert (stored[~known] == 1.5 * far).all()
        assert np.array_equal(np.asarray(capture.depth(index)), stored)


def test_unity_frame_zero_is_rendered_as_its_log_says(tmp_path: Path) -> None:
    from datasets.simulate.render import render

    folder = simulate_unity(tmp_path, **UNITY, samples=2)
    log = unity_log.parse_camera_log(folder / "camera_logs/camera_logs_0.txt")
    picture = render(build_scene("Studio", 3), log.camera, log.camset_to_world, (36, 64), samples=2,
                     seed=unity._frame_seed(3, 0))  # fmt: skip
    assert np.abs(picture.astype(int) - open_capture(folder).frame(0)).max() <= 1


def test_ios_folder_reads_back_as_recorded(tmp_path: Path) -> None:
    folder = simulate_ios(tmp_path, **IOS)
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [f"image_P0_64x48_P1_32x24_{i}.bin" for i in range(3)]
        + [f"{kind}_32x24_{i}.bin" for kind in ("depth", "conf") for i in range(3)]
        + ["simulated.json"]
    )
    assert (folder / "depth_32x24_0.bin").stat().st_size == 1024 + 24 * 32 * 4
    assert (folder / "image_P0_64x48_P1_32x24_0.bin").stat().st_size == 48 * 64 * 3 // 2
    capture = open_capture(folder)
    assert capture.info.simulated and capture.size == (64, 48)
    sensor = landscape_camera((48, 64))
    upright = (sensor.fy, sensor.fx, 47 - sensor.cy, sensor.cx)
    camera = capture.camera
    assert (camera.fx, camera.fy, camera.cx, camera.cy) == pytest.approx(upright, rel=1e-6)
    assert camera.cx != pytest.approx(23.5, abs=0.1)  # a centred principal point would hide mistakes
    assert np.diff(capture.times) == pytest.approx(1 / 60, abs=1e-6)
    assert set(np.unique(np.asarray(capture.confidence(2)))) == {0, 1, 2}


def test_ios_world_pose_is_the_landscape_camera(tmp_path: Path) -> None:
    """Seen from the sensor, up is what is right in the upright picture."""
    from datasets.formats.swift_header import parse_header

    folder = simulate_ios(tmp_path, **IOS)
    header = parse_header((folder / "depth_32x24_1.bin").read_bytes()[:1024], "header")
    turn = header.world_to_camera @ header.world_pose
    assert turn == pytest.approx(np.array([[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]]), abs=1e-6)
    # The phone is upright: up in the world is nearly up in the portrait picture.
    assert header.world_to_camera[1, 1] > 0.7


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def broken(*_: object, **__: object) -> np.ndarray:
        calls.append(1)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return np.zeros((36, 64, 3), np.uint8)

    monkeypatch.setattr(unity, "render", broken)
    with pytest.raises(KeyboardInterrupt):
        simulate_unity(tmp_path / "raw", **UNITY)
    assert list((tmp_path / "raw").iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scene": "Moon"}, "expected one of Village"),
        ({"scene": "CityStreet"}, "expected for Macro one of"),
        ({"case": "Micro"}, "expected one of Macro"),
        ({"motion": "wobble"}, "expected one of parallax"),
        ({"seed": -1}, "whole number"),
        ({"poses": 1}, "at least 3"),
        ({"samples": 0}, "expected 1 to 256"),
        ({"size": (4, 64)}, "at least 8"),
    ],
)
def test_what_cannot_be_simulated_is_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(icb.InputError, match=message):
        simulate_unity(tmp_path, **{**UNITY, **change})
    assert list(tmp_path.iterdir()) == []


def test_existing_capture_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "Studio_Macro_6-DoF_003").mkdir()
    with pytest.raises(icb.InputError, match="is there already"):
        simulate_unity(tmp_path, **UNITY)


def test_default_set_has_every_case_motion_and_scene() -> None:
    captures = default_set()
    kinds = {(capture.case, capture.motion) for capture in captures}
    assert kinds == {
        *((case, motion) for case in ("Macro", "Trucking") for motion in ("parallax", "xy-rotation", "6-DoF")),
        ("Standard", "6-DoF"), ("iOS", "6-DoF"),
    }  # fmt: skip
    assert len(captures) == 10
    assert {capture.scene for capture in captures} == {"Village", "IndustrialYard", "CityStreet", "Studio", "Office"}


def test_set_in_processes_is_the_same(tmp_path: Path) -> None:
    captures = default_set(scenes=["Studio"], cases=["Macro"], motions=["parallax"], seeds=[1], ios_count=1)
    small: dict[str, Any] = {
        "size": (18, 32),
        "poses": 3,
        "ios_size": (24, 32),
        "ios_depth_size": (24, 32),
        "ios_frames": 3,
    }
    steps: list[int] = []
    one = simulate_set(tmp_path / "one", captures, **small, progress=lambda: steps.append(1))
    two = simulate_set(tmp_path / "two", captures, **small, jobs=2)
    assert [path.name for path in one] == [path.name for path in two]
    assert [content(path) for path in one] == [content(path) for path in two]
    assert len(steps) == 6


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["simulate", "-o", str(tmp_path), "--scene", "Studio", "--case", "Macro", "--motion", "parallax", "--ios",
               "0", "--size", "18", "32", "--poses", "3", "--samples-per-pixel", "1"]  # fmt: skip
    assert main(options) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["Studio_Macro_parallax_000"]
    assert "1 simulated captures" in capsys.readouterr().out
    assert main(options) == 2  # it is there already
    assert "is there already" in capsys.readouterr().err
    assert main([*options[:3], "--scene", "Studio", "--case", "Trucking"]) == 2
    assert "expected for Trucking one of Village" in capsys.readouterr().err
