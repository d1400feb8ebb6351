"""Raw captures: what was written is what is read, and what is broken is named."""

import json
import shutil
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import icb
from datasets import readers
from datasets.capture import source_hash
from datasets.formats import nv12, packed_depth, png
from datasets.readers import format_of
from icb import InputError
from tests import captures
from tests.captures import opened


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One capture of each format; tests that change one work on a copy."""
    folder = tmp_path_factory.mktemp("raw")
    bundle = captures.make_ios(folder)
    return {
        "unity": captures.make_unity(folder),
        "depth_bundle": bundle,
        "frame_bundle": captures.make_frame_bundle(bundle, folder / "converted"),
    }


@pytest.fixture
def copy_of(raw: dict[str, Path], tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: shutil.copytree(raw[name], tmp_path / raw[name].name)


def test_formats_are_told_apart(raw: dict[str, Path]) -> None:
    assert set(readers.readers()) == set(raw)
    for name, path in raw.items():
        assert format_of(path) == name
    assert format_of(raw["frame_bundle"].parent) == "frame_bundle"


def test_a_capture_is_called_what_it_is_given_by(
    raw: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link's own name, so that two folders of one name can be told apart; the folder's where it is `.`."""
    for name, path in raw.items():
        ending = path.suffix if path.is_file() else ""
        link = tmp_path / f"{name} on Monday{ending}"
        link.symlink_to(path)
        assert opened(link).info.id == f"{name} on Monday"
        if path.is_dir():
            monkeypatch.chdir(path)
            assert opened(Path()).info.id == path.name


def test_what_is_no_capture_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not a capture, expected one of.*Unity.*"):
        opened(tmp_path)
    with pytest.raises(InputError, match="no such"):
        opened(tmp_path / "missing")


def test_a_format_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "zz_new.py").write_text(
        "DESCRIPTION = 'a new format'\ndef recognises(path): return path.suffix == '.new'\n"
        "def open_capture(path): return 'opened ' + path.name\n"
    )
    monkeypatch.setattr(readers, "__path__", [*readers.__path__, str(tmp_path)])
    readers.readers.cache_clear()
    try:
        (tmp_path / "x.new").touch()
        assert opened(tmp_path / "x.new") == "opened x.new"
    finally:
        readers.readers.cache_clear()


def test_unity_capture(raw: dict[str, Path]) -> None:
    path = raw["unity"]
    capture = opened(path)
    assert len(capture) == 9 and capture.size == (90, 160)
    assert (capture.info.scene, capture.info.case, capture.info.motion) == ("Village", "Macro", "6-DoF")
    assert capture.info.dataset == "VirtualCMB" and not capture.info.simulated
    assert np.diff(capture.times) == pytest.approx(1 / 500)
    assert (capture.frame(3) == png.read(path / "frames" / "frame_3.png")).all()
    depth = capture.depth(3)
    assert depth.dtype == np.float32 and 1 < depth.min() < depth.max() < 4
    assert capture.confidence(3) is None
    log = json.loads((path / "camera_logs" / "camera_logs_3.txt").read_text())
    assert capture.poses[3][1, 3] == -log["worldToCamSetMatrix"]["e13"]
    assert capture.poses[3][0, 1] == -log["worldToCamSetMatrix"]["e01"]


@pytest.mark.parametrize(
    ("name", "case", "rate"),
    [("CityTrucking_07", "Trucking", 2000), ("OfficeStandard_1", "Standard", 500), ("x", None, 500)],
)
def test_case_and_rate_come_from_the_name(tmp_path: Path, name: str, case: str | None, rate: float) -> None:
    path = captures.make_unity(tmp_path, name, size=(8, 12), poses=12, modes=("xy", ""), prefix="", all_depths=False)
    capture = opened(path)
    assert capture.info.case == case and capture.info.motion == "parallax"
    assert 1 / np.diff(capture.times) == pytest.approx(rate)
    # Numbers are sorted as numbers: 10 comes after 9.
    assert (capture.frame(10) == png.read(path / "frames" / "10.png")).all()
    assert capture.depth(6) is None and capture.depth(7) is not None


def test_unity_depth_of_nothing_is_beyond_everything(raw: dict[str, Path], copy_of: Callable[[str], Path]) -> None:
    path = copy_of("unity")
    depth = np.full((90, 160), 3.0)
    depth[0, 0] = np.inf
    (path / "depth" / "5.png").write_bytes(png.encode(packed_depth.encode(depth, 20.0)))
    read = opened(path).depth(5)
    assert read[0, 0] == 30.0 and read[1, 1] == pytest.approx(3.0)


def test_depth_bundle(raw: dict[str, Path]) -> None:
    capture = opened(raw["depth_bundle"])
    assert len(capture) == 9 and capture.size == (320, 240)  # upright
    assert capture.info.dataset == "RealCMB" and capture.info.scene is None
    assert np.diff(capture.times) == pytest.approx(1 / 60) and capture.times[0] == 0
    assert capture.depth(0).shape == (64, 48) and capture.confidence(0).shape == (64, 48)
    assert (capture.confidence(0) == 2).all()
    assert capture.camera_of(2).fx == pytest.approx(1.04 * 320) and capture.camera_of(2).fy == pytest.approx(320)


def test_frames_are_the_colours_that_were_recorded(tmp_path: Path) -> None:
    path = captures.make_ios(tmp_path, size=(48, 64), depth_size=(12, 16), frames=3)
    capture = opened(path)
    image = np.zeros((48, 64, 3), np.uint8)
    image[:24, 32:] = 200, 30, 40  # top right of the sensor is bottom right upright
    luma, chroma = nv12.encode(image)
    (path / "image_P0_64x48_P1_32x24_8.bin").write_bytes(luma.tobytes() + chroma.tobytes())
    frame = capture.frame(1)
    assert frame.shape == (64, 48, 3)
    assert np.abs(frame[40, 40].astype(int) - [200, 30, 40]).max() <= 2
    assert frame[10, 40].max() <= 2 and frame[40, 10].max() <= 2


def test_converted_bundle_is_the_same_as_the_folder(raw: dict[str, Path]) -> None:
    folder, archive = opened(raw["depth_bundle"]), opened(raw["frame_bundle"])
    assert archive.info.id == "converted"
    assert folder.size == archive.size and len(folder) == len(archive)
    assert folder.poses == pytest.approx(archive.poses, abs=1e-6)
    assert folder.times == pytest.approx(archive.times)
    for index in (0, 8):
        assert (folder.frame(index) == archive.frame(index)).all()
        assert (folder.depth(index) == archive.depth(index)).all()
        assert (folder.confidence(index) == archive.confidence(index)).all()
        ours, theirs = folder.camera_of(index), archive.camera_of(index)
        assert (ours.fx, ours.fy, ours.cx, ours.cy) == pytest.approx((theirs.fx, theirs.fy, theirs.cx, theirs.cy))


def test_holes_of_the_sensor_are_unknown(copy_of: Callable[[str], Path]) -> None:
    path = copy_of("depth_bundle")
    file = path / "depth_64x48_7.bin"
    data = bytearray(file.read_bytes())
    data[1024:1036] = np.array([0, np.nan, -1], "<f4").tobytes()
    file.write_bytes(data)
    depth = opened(path).depth(0)
    assert np.isnan(depth).sum() == 3 and np.isnan(depth[:3, -1]).all()


def test_frames_without_depth_take_their_pose_from_an_info_file(copy_of: Callable[[str], Path]) -> None:
    path = copy_of("depth_bundle")
    depth = path / "depth_64x48_9.bin"
    before = opened(path).poses
    (path / "info_9.bin").write_bytes(depth.read_bytes()[:1024])
    depth.unlink()
    capture = opened(path)
    assert capture.depth(2) is None and (capture.poses == before).all()


def test_simulated_captures_say_so(raw: dict[str, Path], copy_of: Callable[[str], Path]) -> None:
    for name in ("unity", "depth_bundle"):
        path = copy_of(name)
        before = source_hash(opened(path))
        (path / "simulated.json").write_text("{}")
        capture = opened(path)
        assert capture.info.simulated
        assert source_hash(capture) != before


def test_hash_depends_on_names_and_bytes(copy_of: Callable[[str], Path]) -> None:
    path = copy_of("depth_bundle")
    before = source_hash(opened(path))
    assert source_hash(opened(path)) == before
    file = path / "conf_64x48_9.bin"
    data = file.read_bytes()
    file.write_bytes(b"\0" + data[1:])
    changed = source_hash(opened(path))
    file.write_bytes(data)
    assert source_hash(opened(path)) == before != changed


def everything(path: Path) -> None:
    """Read all there is."""
    capture = opened(path)
    for index in range(len(capture)):
        capture.frame(index)
        capture.depth(index)
        capture.confidence(index)


def cut(path: Path, size: int = -7) -> None:
    path.write_bytes(path.read_bytes()[:size])


def replace(path: Path, old: bytes, new: bytes) -> None:
    text = path.read_bytes()
    assert old in text
    path.write_bytes(text.replace(old, new))


def not_a_number(path: Path) -> None:
    log = json.loads(path.read_text())
    log["worldToCamSetMatrix"]["e03"] = float("nan")
    path.write_text(json.dumps(log))


def skewed(path: Path) -> None:
    log = json.loads(path.read_text())
    for key in ("worldToCamSetMatrix", "camSetToWorldMatrix"):
        log[key] = {f"e{i}{j}": (2.0 if key[0] == "w" else 0.5) * (i == j) for i in range(4) for j in range(4)}
    path.write_text(json.dumps(log))


IMAGE = "image_P0_320x240_P1_160x120_11.bin"
BROKEN_UNITY: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing frame": ("frames/frame_4.png", lambda p: p.unlink(), r"frames/frame_4\.png: missing"),
    "missing log": ("camera_logs/camera_logs_4.txt", lambda p: p.unlink(), "camera_logs_4.txt: missing"),
    "truncated frame": ("frames/frame_4.png", cut, "frame_4.png: the PNG ends too early"),
    "empty frame": ("frames/frame_4.png", lambda p: p.write_bytes(b""), "frame_4.png: expected a PNG"),
    "wrong size": (
        "frames/frame_4.png",
        lambda p: p.write_bytes(png.encode(np.zeros((80, 160, 3), np.uint8))),
        "frame_4.png: got 160 x 80 pixels, expected 160 x 90",
    ),
    "wrong size of all": (
        "frames/frame_0.png",
        lambda p: p.write_bytes(png.encode(np.zeros((80, 160, 3), np.uint8))),
        "frame_0.png: got 160 x 80 pixels, expected 160 x 90",
    ),
    "truncated depth": ("depth/5.png", cut, "depth/5.png"),
    "log is not JSON": (
        "camera_logs/camera_logs_4.txt",
        lambda p: p.write_text("{x"),
        "camera_logs_4.txt: expected JSON",
    ),
    "log is a list": (
        "camera_logs/camera_logs_4.txt",
        lambda p: p.write_text("[1]"),
        "camera_logs_4.txt: expected a JSON",
    ),
    "log without size": (
        "camera_logs/camera_logs_4.txt",
        lambda p: replace(p, b"imageSize", b"size"),
        "camera_logs_4.txt: expected 'imageSize'",
    ),
    "parameters are not JSON": ("params.txt", lambda p: p.write_text(""), "params.txt: expected JSON"),
    "no parameters": ("params.txt", lambda p: p.unlink(), "params.txt"),
    "parameters lack a mode": ("params.txt", lambda p: replace(p, b"traslation", b"translation"), "'traslationMode'"),
    "NaN pose": ("camera_logs/camera_logs_4.txt", not_a_number, "camera_logs_4.txt: got nan for 'e03'"),
    "pose that scales": (
        "camera_logs/camera_logs_4.txt",
        skewed,
        "camera_logs_4.txt: got a matrix that is not a rotation",
    ),
    "frame twice": ("frames/frame_4.png", lambda p: shutil.copy(p, p.with_name("4.png")), "number 4 is there twice"),
    "no frames at all": ("frames", shutil.rmtree, "frames: no such folder"),
}
BROKEN_BUNDLE: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "missing picture": (IMAGE, lambda p: p.unlink(), f"{IMAGE}: missing"),
    "missing depth and pose": ("depth_64x48_11.bin", lambda p: p.unlink(), "depth_64x48_11.bin: missing"),
    "truncated picture": (IMAGE, cut, f"{IMAGE}: got 115193 bytes, expected 115200"),
    "truncated depth": ("depth_64x48_11.bin", cut, "depth_64x48_11.bin: got 13305 bytes, expected 13312"),
    "truncated header": ("depth_64x48_11.bin", lambda p: cut(p, 500), "depth_64x48_11.bin: got 500 bytes"),
    "truncated confidence": ("conf_64x48_11.bin", cut, "conf_64x48_11.bin: got 3065 bytes, expected 3072"),
    "picture of another size": (
        IMAGE,
        lambda p: p.rename(p.with_name(IMAGE.replace("320x240", "640x480"))),
        r"image_P0_640x480_P1_160x120_11.bin: got a size of \(640, 480, 160, 120\)",
    ),
    "header without its end": (
        "depth_64x48_11.bin",
        lambda p: replace(p, b"<ENDHEADER>", b"<ENDHEADEN>"),
        "depth_64x48_11.bin: the header has no end",
    ),
    "NaN pose": (
        "depth_64x48_11.bin",
        lambda p: p.write_bytes(captures.re_header(p.read_bytes(), "WorldToCamera", "nan")),
        "depth_64x48_11.bin: got NaN or infinity in the header's WorldToCamera",
    ),
    "time stands still": (
        "depth_64x48_11.bin",
        lambda p: p.write_bytes((p.parent / "depth_64x48_10.bin").read_bytes()),
        "depth_64x48_11.bin: got time",
    ),
}


@pytest.mark.parametrize("case", BROKEN_UNITY)
def test_broken_unity_capture_is_named(copy_of: Callable[[str], Path], case: str) -> None:
    name, damage, said = BROKEN_UNITY[case]
    path = copy_of("unity")
    everything(path)
    damage(path / name)
    with pytest.raises(InputError, match=said):
        everything(path)


@pytest.mark.parametrize("case", BROKEN_BUNDLE)
def test_broken_depth_bundle_is_named(copy_of: Callable[[str], Path], case: str) -> None:
    name, damage, said = BROKEN_BUNDLE[case]
    path = copy_of("depth_bundle")
    everything(path)
    damage(path / name)
    with pytest.raises(InputError, match=said):
        everything(path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"img_4": None}, "has no array 'img_4'"),
        ({"info_4": None}, "has no array 'info_4'"),
        ({"num_frames": None}, "has no array 'num_frames'"),
        ({"num_frames": np.array(10**9)}, "expected the number of frames"),
        ({"img_4": np.zeros((3, 4, 3), np.uint8)}, "got img_4 of"),
        ({"img_4": np.zeros((320, 240), np.uint8)}, "got img_4 as"),
        ({"depth_4": np.zeros(7, np.float32)}, "got depth_4 as"),
        ({"info_4": {"timestamp": 1.0}}, "array 'info_4': has no 'euler_angles'"),
        ({"info_4": [1]}, "array 'info_4': got"),
    ],
)
def test_broken_frame_bundle_is_named(raw: dict[str, Path], tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    with np.load(raw["frame_bundle"], allow_pickle=True) as archive:
        arrays = {key: archive[key] for key in archive.files} | changes
    path = tmp_path / "frame_bundle.npz"
    np.savez(path, **{key: value for key, value in arrays.items() if value is not None})
    with pytest.raises(InputError, match=f"frame_bundle.npz.*{said}"):
        everything(path)


def test_archive_of_many_frames_is_parsed_once(
    raw: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with np.load(raw["frame_bundle"], allow_pickle=True) as archive:
        info = archive["info_0"].item()
    arrays: dict[str, Any] = {"num_frames": np.array(800)}
    for index in range(800):
        arrays[f"img_{index}"] = np.full((4, 3, 3), index % 251, np.uint8)
        arrays[f"info_{index}"] = info | {"timestamp": float(index)}
    np.savez(tmp_path / "frame_bundle.npz", **arrays)
    parsed, real = [], zipfile.ZipFile._RealGetContents  # type: ignore[attr-defined]
    monkeypatch.setattr(zipfile.ZipFile, "_RealGetContents", lambda archive: (parsed.append(1), real(archive)))
    capture = opened(tmp_path / "frame_bundle.npz")
    with ThreadPoolExecutor(8) as threads:
        seen = list(threads.map(lambda index: int(capture.frame(index)[0, 0, 0]), range(800)))
    assert seen == [index % 251 for index in range(800)]
    assert len(parsed) == 1


def test_reader_holds_no_pictures(raw: dict[str, Path]) -> None:
    for path in raw.values():
        capture = opened(path)
        held = [value for value in vars(capture).values() if isinstance(value, np.ndarray)]
        assert sum(array.nbytes for array in held) < 200 * len(capture)
        assert isinstance(capture.camera, icb.Camera)
