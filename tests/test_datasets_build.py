"""From captures to samples: layout, index, determinism, all or nothing."""

import errno
import fcntl
import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import icb
from datasets import index, published
from datasets.build import Options, Window, build, build_sample, windows
from datasets.cli import main
from datasets.formats import npz, png
from datasets.published import list_samples, read_sample, real
from icb import InputError
from tests.captures import IOS, UNITY, opened, tree


def test_layout_file_for_file(built: Path) -> None:
    files = {name for name, content in tree(built).items() if content}
    logs = {f"VirtualCMB/camera_logs/{UNITY}/camera_logs_{m}.txt" for m in range(9)}
    assert files == logs | {
        f"VirtualCMB/sharp_ref/{UNITY}.png",
        f"VirtualCMB/blurry/{UNITY}.png",
        f"VirtualCMB/depth_ref/{UNITY}.png",
        f"VirtualCMB/param_logs/{UNITY}.txt",
        f"RealCMB/sharp_ref/{IOS}.png",
        f"RealCMB/blurry/{IOS}.png",
        f"RealCMB/depth_ref/{IOS}.npz",
        f"RealCMB/bundle_info/{IOS}.npz",
        f"VirtualCMB/provenance/{UNITY}.json",
        f"RealCMB/provenance/{IOS}.json",
        "index.parquet",
    }


def test_unitys_files_are_kept_byte_for_byte(raw: Path, built: Path) -> None:
    mine = built / "VirtualCMB"
    for made, original in [
        (f"depth_ref/{UNITY}.png", "depth/5.png"),
        (f"param_logs/{UNITY}.txt", "params.txt"),
        (f"camera_logs/{UNITY}/camera_logs_8.txt", "camera_logs/camera_logs_8.txt"),
    ]:
        assert (mine / made).read_bytes() == (raw / UNITY / original).read_bytes()
    assert (png.read(mine / "sharp_ref" / f"{UNITY}.png") == png.read(raw / UNITY / "frames/frame_5.png")).all()


def test_pictures_and_depth_of_the_samples(raw: Path, built: Path) -> None:
    for name in (UNITY, IOS):
        capture, sample = opened(raw / name), read_sample(built, name)
        frames = np.array([capture.frame(m) for m in range(9)], np.float64)
        step = capture.size[0] // sample.sharp.shape[0]  # a whole number here
        small = frames.reshape(9, capture.size[0] // step, step, capture.size[1] // step, step, 3).mean(axis=(2, 4))
        assert (sample.blurry == np.floor(small.mean(axis=0) + 0.5)).all()
        assert (sample.sharp == np.floor(small[5] + 0.5)).all()
        assert (sample.depth == capture.depth(5)).all()
        assert sample.reference == 5
        expected = icb.Trajectory(capture.poses).relative_to(5).poses
        assert sample.trajectory.poses == pytest.approx(expected, abs=1e-6)
        assert sample.trajectory.times == pytest.approx(capture.times)
        scaled = capture.camera_of(5).scaled(1 / step)
        assert sample.camera.matrix == pytest.approx(scaled.matrix)


def test_real_sample_as_others_read_it(raw: Path, built: Path) -> None:
    """With numpy alone, by the published description."""
    depth = np.load(built / "RealCMB/depth_ref" / f"{IOS}.npz")["depth_ref"]
    infos = np.load(built / "RealCMB/bundle_info" / f"{IOS}.npz", allow_pickle=True)["bundle_info"]
    assert depth.shape == (64, 48) and depth.dtype == np.float32
    assert infos.shape == (9,) and set(infos[0]) == {
        "timestamp",
        "euler_angles",
        "world_pose",
        "intrinsics",
        "world_to_camera",
    }
    assert infos[0]["timestamp"] == 0 and infos[3]["timestamp"] == pytest.approx(3 / 60)
    flip = np.diag([1, -1, -1, 1])
    relative = flip @ infos[2]["world_to_camera"] @ np.linalg.inv(infos[5]["world_to_camera"]) @ flip
    assert read_sample(built, IOS).trajectory.poses[2] == pytest.approx(relative, abs=1e-6)
    # K of the landscape sensor turned upright and shrunk 5 times, from the formulas.
    k = np.array([[320.0, 0, 0.56 * 320], [0, 1.04 * 320, 0.38 * 240], [0, 0, 1]])
    upright = [k[1, 1] / 5, k[0, 0] / 5, (239 - k[1, 2] + 0.5) / 5 - 0.5, (k[0, 2] + 0.5) / 5 - 0.5]
    stored = infos[5]["intrinsics"]
    assert [stored[0, 0], stored[1, 1], stored[0, 2], stored[1, 2]] == pytest.approx(upright)


def test_same_input_same_bytes(raw: Path, built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 2.5e9)
    icb.set_num_threads(1)
    try:
        build([raw / IOS, raw / UNITY], tmp_path / "again", Options())
    finally:
        icb.set_num_threads(None)
    assert tree(tmp_path / "again") == tree(built)
    build([raw / UNITY], tmp_path / "again", Options())  # over what is there
    assert tree(tmp_path / "again") == tree(built)


def test_written_back_from_what_was_read(built: Path) -> None:
    """The RealCMB layout is its own inverse, byte for byte."""
    sample = read_sample(built, IOS)
    infos = np.load(built / "RealCMB/bundle_info" / f"{IOS}.npz", allow_pickle=True)["bundle_info"]
    contents = real.contents(IOS, sample.sharp, sample.blurry, depth=sample.depth, infos=list(infos))
    for name, data in contents.items():
        assert (built / "RealCMB" / name).read_bytes() == data


def test_index_has_a_declared_schema_and_all_facts(raw: Path, built: Path) -> None:
    assert pq.read_schema(built / "index.parquet").equals(index.SCHEMA)
    rows = {row["id"]: row for row in index.read_index(built)}
    assert list(rows) == [IOS, UNITY]  # sorted by dataset, then id
    unity, real_row = rows[UNITY], rows[IOS]
    assert (unity["scene"], unity["case"], unity["motion"]) == ("Village", "Macro", "6-DoF")
    assert (unity["height"], unity["width"], unity["poses"], unity["reference"]) == (90, 160, 9, 5)
    assert unity["exposure"] == pytest.approx(8 / 500) and unity["frame_rate"] == pytest.approx(500)
    extent = [unity[f"extent_{axis}"] for axis in "xyz"]
    assert extent == pytest.approx(np.ptp(read_sample(built, UNITY).trajectory.centres, axis=0))
    assert unity["depth_min"] == pytest.approx(read_sample(built, UNITY).depth.min())
    assert unity["averaging"] == "plain" and unity["share_filled"] == 0 and unity["simulated"] is False
    assert unity["icb_version"] == icb.__version__ and len(unity["source_sha256"]) == 64
    assert real_row["scene"] is None and real_row["intrinsics_source"] == "stored image"
    assert real_row["exposure"] == pytest.approx(8 / 60) and real_row["source_format"] == "depth_bundle"
    assert (real_row["fx"], real_row["fy"]) == pytest.approx((1.04 * 64, 64))


def test_averaging_mode_is_used_and_recorded(raw: Path, built: Path, tmp_path: Path) -> None:
    build([raw / UNITY, raw / IOS], tmp_path, Options(averaging="srgb"))
    assert {row["averaging"] for row in index.read_index(tmp_path)} == {"srgb"}
    for name in (UNITY, IOS):
        plain, light = read_sample(built, name), read_sample(tmp_path, name)
        assert light.blurry.mean() > plain.blurry.mean() + 0.5
    assert (read_sample(built, UNITY).sharp == read_sample(tmp_path, UNITY).sharp).all()


def test_windows_of_a_recording(raw: Path, tmp_path: Path) -> None:
    capture = opened(raw / IOS)
    assert windows(capture, Options()) == [Window(IOS, 0, 9)]
    parts = windows(capture, Options(window=5, stride=2))
    assert parts == [Window(f"{IOS}_{first}", first, 5) for first in (0, 2, 4)]
    assert [part.reference for part in parts] == [3, 5, 7]
    assert len(windows(capture, Options(window=4))) == 2
    assert windows(opened(raw / UNITY), Options(window=4)) == [Window(UNITY, 0, 9)]
    build([raw / IOS], tmp_path, Options(window=5, stride=4))
    sample = read_sample(tmp_path, f"{IOS}_4")
    assert (sample.depth == capture.depth(7)).all() and np.asarray(sample.trajectory.times)[0] == 0
    assert [row["first_frame"] for row in index.read_index(tmp_path)] == [0, 4]
    with pytest.raises(InputError, match=f"{IOS}: got 9 frames, expected at least the window of 10"):
        build([raw / IOS], tmp_path / "none", Options(window=10))


@pytest.mark.parametrize("options", [{"window": 2}, {"window": 5, "stride": 0}, {"stride": 3}, {"averaging": "mean"}])
def test_options_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="expected"):
        Options(**options)


def test_size_of_choice(raw: Path, tmp_path: Path) -> None:
    build([raw / IOS], tmp_path, Options(size=(128, 96)))
    sample = read_sample(tmp_path, IOS)
    assert sample.sharp.shape == (128, 96, 3) and sample.depth.shape == (128, 96)
    assert (sample.depth == np.repeat(np.repeat(opened(raw / IOS).depth(5), 2, 0), 2, 1)).all()
    assert sample.camera.fx == pytest.approx(1.04 * 320 * 96 / 240)
    with pytest.raises(InputError, match=r"got a size of \(400, 96\)"):
        build([raw / IOS], tmp_path, Options(size=(400, 96)))


def test_holes_are_filled_and_the_share_is_recorded(raw: Path, tmp_path: Path) -> None:
    path = shutil.copytree(raw / IOS, tmp_path / IOS)
    file = path / "depth_64x48_12.bin"
    data = bytearray(file.read_bytes())
    data[1024 : 1024 + 4 * 64] = np.full(64, np.nan, "<f4").tobytes()  # the first row of the sensor
    file.write_bytes(data)
    confidence = np.full((48, 64), 2, np.uint8)
    confidence[1] = 0
    (path / "conf_64x48_12.bin").write_bytes(confidence.tobytes())
    (row,) = build([path], tmp_path / "out", Options())
    depth = read_sample(tmp_path / "out", IOS).depth
    assert row["share_filled"] == pytest.approx(2 / 48)
    assert (depth[:, -1] == depth[:, -3]).all() and (depth[:, -2] == depth[:, -3]).all()


def test_simulated_samples_are_marked(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = shutil.copytree(raw / UNITY, tmp_path / UNITY)
    (path / "simulated.json").write_text("{}")
    assert main(["build", str(path), "-o", str(tmp_path / "out")]) == 0
    assert "simulated" in capsys.readouterr().out
    assert index.read_index(tmp_path / "out")[0]["simulated"] is True


def test_same_sample_twice_is_refused(raw: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="twice"):
        build([raw / UNITY, raw / UNITY], tmp_path / "out", Options())
    assert not (tmp_path / "out").exists()


def test_rows_can_be_merged_later(raw: Path, built: Path, tmp_path: Path) -> None:
    rows = []
    for name in (UNITY, IOS):
        capture = opened(raw / name)
        (window,) = windows(capture, Options())
        rows.append(build_sample(capture, window, tmp_path, Options(), record=False))
    assert not (tmp_path / "index.parquet").exists()
    index.write_index(rows, tmp_path / "index.parquet")
    assert tree(tmp_path) == tree(built)
    with pytest.raises(InputError, match="twice"):
        index.write_index(rows + rows[:1], tmp_path / "index.parquet")
    with pytest.raises(InputError, match="does not fit"):
        index.write_index([{**rows[0], "height": None}], tmp_path / "index.parquet")


def test_builds_side_by_side_lose_no_row(built: Path, tmp_path: Path) -> None:
    row = index.read_index(built)[0]

    def add(number: int) -> None:
        index.update_index(tmp_path / "index.parquet", [{**row, "id": f"sample{number:02}"}])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert [entry["id"] for entry in index.read_index(tmp_path)] == [f"sample{number:02}" for number in range(24)]


def test_a_build_goes_on_without_locks(raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(errno.ENOTSUP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unknown)
    of_another = tmp_path / ".building-0"  # who may be at work: nobody can tell
    of_another.mkdir()
    build([raw / UNITY], tmp_path, Options())
    assert list_samples(tmp_path) == [("VirtualCMB", UNITY)]
    assert of_another.exists()


def test_ids_stay_in_their_folder(built: Path) -> None:
    for name in ("../x", "a/b", "..", ".hidden", "", "a\\b", "a\0b"):
        with pytest.raises(InputError, match="sample id"):
            read_sample(built, name)


def test_published_sets_are_read_and_indexed_the_same(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = shutil.copytree(built, tmp_path / "published")
    (root / "index.parquet").unlink()
    for dataset in ("RealCMB", "VirtualCMB"):
        shutil.rmtree(root / dataset / "provenance")  # which others' sets do not have
    (root / "RealCMB/sharp_ref/._hidden.png").touch()  # which some archives do
    assert list_samples(root) == [("RealCMB", IOS), ("VirtualCMB", UNITY)]
    assert main(["index", str(root)]) == 0
    ours = {row["id"]: row for row in index.read_index(built)}
    for row in index.read_index(root):
        assert row["source_format"] == "published" and row["share_filled"] is None
        for column in ("poses", "fx", "cx", "depth_max", "exposure", "sample_sha256", "reference", "motion"):
            assert row[column] == ours[row["id"]][column]
    assert main(["index", str(root)]) == 2  # there is one already
    assert read_sample(root / "RealCMB", IOS).camera == read_sample(root, IOS).camera
    with pytest.raises(InputError, match="no dataset"):
        list_samples(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="expected once"):
        read_sample(root, "nothing")


def test_full_landscape_intrinsics_of_a_published_set_are_said(built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "published")
    file = root / "RealCMB/bundle_info" / f"{IOS}.npz"
    infos = np.load(file, allow_pickle=True)["bundle_info"]
    for info in infos:
        info["intrinsics"] = np.array([[1500.0, 0, 962], [0, 1510, 718], [0, 0, 1]], np.float32)
    np.savez(file, bundle_info=infos)
    rows = {row["id"]: row for row in index.index_published(root)}
    assert rows[IOS]["intrinsics_source"] == "full landscape"
    assert rows[IOS]["fx"] == pytest.approx(1510 * 48 / 1440)
    assert rows[IOS]["cx"] == pytest.approx((1439 - 718 + 0.5) * 48 / 1440 - 0.5)


class Touch:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))


def test_hostile_published_sample_is_refused(built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "published")
    np.savez(root / "RealCMB/bundle_info" / f"{IOS}.npz", bundle_info=npz.objects([Touch(tmp_path / "victim")] * 3))
    with pytest.raises(InputError, match=rf"bundle_info/{IOS}\.npz.*refused"):
        read_sample(root, IOS)
    assert not (tmp_path / "victim").exists()


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("VirtualCMB/blurry/*.png", lambda p: p.write_bytes(b"x"), "blurry.*expected a PNG"),
        ("VirtualCMB/camera_logs/*/camera_logs_3.txt", lambda p: p.unlink(), "camera_logs_3.txt: missing"),
        ("VirtualCMB/param_logs/*.txt", lambda p: p.unlink(), "param_logs.*cannot be read"),
        (
            "RealCMB/depth_ref/*.npz",
            lambda p: np.savez(p, depth_ref=np.ones((3, 4))),
            "depth_ref.*expected metres of shape",
        ),
        ("RealCMB/depth_ref/*.npz", lambda p: np.savez(p, depth=np.ones((64, 48))), "no array 'depth_ref'"),
        ("RealCMB/bundle_info/*.npz", lambda p: np.savez(p, bundle_info=np.ones(9)), "one dictionary a frame"),
        ("RealCMB/bundle_info/*.npz", lambda p: np.savez(p, bundle_info=npz.objects([{}] * 9)), "frame 0: has no"),
    ],
)
def test_broken_published_sample_is_named(
    built: Path, tmp_path: Path, name: str, damage: Callable[..., Any], said: str
) -> None:
    root = shutil.copytree(built, tmp_path / "published")
    (path,) = root.glob(name)
    damage(path)
    with pytest.raises(InputError, match=said):
        index.index_published(root)


@pytest.mark.parametrize("name", [UNITY, IOS, "converted"])
def test_inspect(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    sheet = tmp_path / "sheet.png"
    assert main(["inspect", str(raw / name), "-o", str(sheet)]) == 0
    text = capsys.readouterr().out
    assert "9 of" in text and "depth" in text and str(sheet) in text
    picture = png.read(sheet)
    assert picture.shape[1] > 900 and len(np.unique(picture.reshape(-1, 3), axis=0)) > 1000
    assert main(["inspect", str(raw / name), "-o", "sheet.txt"]) == 2


def test_command_line_builds_windows(raw: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--window", "5", "--stride", "4", "--size", "32", "24", "--averaging", "gamma"]
    assert main(["build", str(raw / "converted"), *arguments, "-o", str(tmp_path / "out")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    rows = index.read_index(tmp_path / "out")
    assert [(row["id"], row["height"], row["averaging"]) for row in rows] == [
        ("converted_0", 32, "gamma"),
        ("converted_4", 32, "gamma"),
    ]
    assert set(published.folders(tmp_path / "out")) == {"RealCMB"}
    assert json.dumps(rows)  # plain values


def test_the_mark_of_the_simulator_survives_the_loss_of_the_index(raw: Path, tmp_path: Path) -> None:
    marked = shutil.copytree(raw / IOS, tmp_path / IOS)
    facts = {"scene": "Office", "case": "Macro", "motion": "6-DoF"}
    (marked / "simulated.json").write_text(json.dumps(facts))
    out = tmp_path / "out"
    (before,) = build([marked], out, Options(averaging="srgb"))
    assert before["simulated"] is True
    assert {name: before[name] for name in facts} == facts
    assert read_sample(out, IOS).simulated
    (out / "index.parquet").unlink()
    assert main(["index", str(out)]) == 0
    assert index.read_index(out) == [before]


def test_a_damaged_provenance_is_named(built: Path, tmp_path: Path) -> None:
    root = shutil.copytree(built, tmp_path / "damaged")
    path = root / "RealCMB/provenance" / f"{IOS}.json"
    content = json.loads(path.read_text())
    for change, message in (({"simulated": "no"}, "got simulated 'no'"), ({"more": 1}, "expected exactly")):
        path.write_text(json.dumps({**content, **change}))
        with pytest.raises(InputError, match=rf"{IOS}\.json: {message}"):
            read_sample(root, IOS)


def test_a_broken_capture_is_left_out_and_the_rest_is_built(
    raw: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = shutil.copytree(raw / UNITY, tmp_path / "BrokenMacro_1")
    (broken / "camera_logs/camera_logs_2.txt").write_text("{")
    command = ["build", str(broken), str(raw / UNITY), "-o"]
    assert main([*command, str(tmp_path / "out")]) == 2
    error = capfd.readouterr().err
    assert re.search(r"left out: .*camera_logs_2\.txt: expected JSON", error)
    assert "datasets: 1 of 2 captures left out" in error
    assert [row["id"] for row in index.read_index(tmp_path / "out")] == [UNITY]
    assert main([*command, str(tmp_path / "strict"), "--strict"]) == 2
    assert not (tmp_path / "strict").exists()


def test_an_output_that_cannot_be_written_is_not_the_captures_fault(
    raw: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert main(["build", str(raw / UNITY), str(raw / IOS), "-o", str(tmp_path / "file")]) == 2
    error = capfd.readouterr().err
    assert "left out" not in error and error.count("\n") == 1
    (tmp_path / "out").mkdir()
    (tmp_path / "out/index.parquet").write_text("no index")
    assert main(["build", str(raw / UNITY), str(raw / IOS), "-o", str(tmp_path / "out")]) == 2
    assert "left out" not in capfd.readouterr().err


def test_another_table_is_no_index(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "index.parquet")
    with pytest.raises(InputError, match=r"expected an index of samples, it has no .*simulated"):
        index.read_index(tmp_path)
