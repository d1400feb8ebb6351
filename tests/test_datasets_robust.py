"""Captures that claim what they do not hold: refused early, by the name of the file that is wrong."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from datasets.average import MOST_FRAMES, STEPS, Average
from datasets.contact_sheet import describe
from datasets.sample import check_id
from datasets.simulate.ios import simulate_ios
from icb import InputError
from tests import captures
from tests.captures import opened


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captures.make_ios(tmp_path_factory.mktemp("ios"), size=(48, 64), depth_size=(12, 16), frames=4)


@pytest.fixture
def bundle(recording: Path, tmp_path: Path) -> Path:
    """A copy to damage, of frames 7 to 10."""
    return shutil.copytree(recording, tmp_path / recording.name)


def renamed(folder: Path, old: str, new: str) -> None:
    for path in folder.glob(f"*{old}*"):
        path.rename(path.with_name(path.name.replace(old, new)))


def conf_of_another_size(folder: Path, number: int) -> None:
    (folder / f"conf_16x12_{number}.bin").unlink()
    (folder / f"conf_8x6_{number}.bin").write_bytes(bytes(48))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "P0_64x48_P1_32x24",
            "P0_2560000x1920000_P1_1280000x960000",
            "image_P0_2560000x1920000_P1_1280000x960000_10.bin: got 4608 bytes, expected 7372800000000",
        ),
        ("depth_16x12", "depth_160000x120000", "depth_160000x120000_10.bin: got 1792 bytes, expected 76800001024"),
        ("conf_16x12", "conf_160000x120000", "conf_160000x120000_10.bin: got a size of (160000, 120000)"),
        ("depth_16x12_8", "depth_0x0_8", "depth_0x0_8.bin: got a size of (0, 0), expected at least 1 pixel"),
        ("P0_64x48_P1_32x24", "P0_0x0_P1_0x0", "expected at least 1 pixel"),
        ("conf_16x12", "conf_0x12", "expected at least 1 pixel"),
    ],
)
def test_sizes_in_names_are_not_believed(bundle: Path, old: str, new: str, said: str) -> None:
    renamed(bundle, old, new)
    with pytest.raises(InputError, match=re.escape(said)):
        opened(bundle)


@pytest.mark.parametrize("name", ["image_P0_64x48_P1_32x24_9.bin", "depth_16x12_9.bin", "conf_16x12_9.bin"])
@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0", lambda data: b""])
def test_files_of_the_wrong_length_are_named_on_opening(
    bundle: Path, name: str, change: Callable[[bytes], bytes]
) -> None:
    path = bundle / name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=rf"{name}: got \d+ bytes, expected \d+"):
        opened(bundle)


def test_files_that_cannot_be_read_are_named_on_opening(bundle: Path) -> None:
    (bundle / "conf_16x12_9.bin").unlink()
    (bundle / "conf_16x12_9.bin").symlink_to("nowhere")
    with pytest.raises(InputError, match=r"conf_16x12_9\.bin: cannot be read"):
        opened(bundle)


# "10" is the first of the names in the order of the alphabet, 7 the first of the numbers.
@pytest.mark.parametrize("number", [7, 9, 10])
def test_the_odd_confidence_map_is_blamed(bundle: Path, number: int) -> None:
    conf_of_another_size(bundle, number)
    said = rf"conf_8x6_{number}\.bin: got a size of \(8, 6\), expected \(16, 12\) as the depth"
    with pytest.raises(InputError, match=said):
        opened(bundle)


def test_confidence_of_another_size_than_depth_is_not_blamed_on_depth(bundle: Path) -> None:
    for number in range(7, 11):
        conf_of_another_size(bundle, number)
    with pytest.raises(InputError, match=r"conf_8x6_\d+\.bin: got a size of \(8, 6\), expected \(16, 12\)"):
        opened(bundle)


@pytest.mark.parametrize("number", [7, 9, 10])
def test_the_odd_depth_map_is_blamed(bundle: Path, number: int) -> None:
    renamed(bundle, f"depth_16x12_{number}.", f"depth_12x16_{number}.")
    with pytest.raises(InputError, match=rf"depth_12x16_{number}\.bin: got a size of \(12, 16\)"):
        opened(bundle)


def test_a_frame_that_is_there_twice_is_named(bundle: Path) -> None:
    shutil.copy(bundle / "conf_16x12_7.bin", bundle / "conf_16x12_07.bin")
    with pytest.raises(InputError, match="frame 7 is there twice"):
        opened(bundle)


def test_ids_are_utf8() -> None:
    assert check_id("caf\u00e9_1") == "caf\u00e9_1"
    with pytest.raises(InputError, match="expected a name in UTF-8") as caught:
        check_id(os.fsdecode(b"a\xff"))
    assert r"a\udcff" in str(caught.value)
    str(caught.value).encode("ascii")


def test_simulated_recordings_know_their_scene(tmp_path: Path) -> None:
    path = simulate_ios(tmp_path, scene="Studio", frames=3, image_size=(48, 64), depth_size=(24, 32), samples=1, seed=3)
    info = opened(path).info
    assert info.simulated and (info.scene, info.case, info.motion) == ("Studio", "Macro", "6-DoF")
    assert "scene     Studio, case Macro, motion 6-DoF" in describe(opened(path))


def test_converted_recordings_know_their_scene(recording: Path, tmp_path: Path) -> None:
    path = captures.make_frame_bundle(recording, tmp_path)
    (tmp_path / "simulated.json").write_text('{"scene": "Studio"}')
    info = opened(path).info
    assert info.simulated and (info.scene, info.case, info.motion) == ("Studio", None, None)


def test_real_recordings_know_none(recording: Path) -> None:
    info = opened(recording).info
    assert not info.simulated and (info.scene, info.case, info.motion) == (None, None, None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"scene": 3}', "got 3 for 'scene', expected a line of text"),
        ('{"case": null}', "got None for 'case'"),
        ('{"motion": ["6-DoF"]}', "got ['6-DoF'] for 'motion'"),
        ('{"scene": "\\ud800"}', r"got '\ud800' for 'scene'"),
        ("[]", "got list, expected a JSON object"),
        ("{", "expected JSON"),
        ("\u00ff", "expected"),
    ],
)
def test_a_broken_mark_is_named(bundle: Path, content: str, said: str) -> None:
    (bundle / "simulated.json").write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match=rf"simulated\.json: .*{re.escape(said)}"):
        opened(bundle)


@pytest.mark.parametrize("mode", ["gamma", "srgb"])
def test_as_many_white_frames_as_are_allowed_fit(mode: str) -> None:
    assert MOST_FRAMES * STEPS < 2**64 <= (MOST_FRAMES + 1) * STEPS
    white = np.full((1, 1, 3), 255, np.uint8)
    average = Average(white.shape, mode)
    # As if all but the last had been added.
    average.count = MOST_FRAMES - 1
    average._sum[:] = average.count * STEPS
    average.add(white)
    assert (average._sum == MOST_FRAMES * STEPS).all() and (average.result() == 255).all()
    with pytest.raises(InputError, match=f"more than {MOST_FRAMES} frames"):
        average.add(white)


def test_plain_sums_fit_too() -> None:
    average = Average((1, 1, 3))
    assert np.iinfo(average._sum.dtype).max >= 255 * MOST_FRAMES


@pytest.mark.parametrize(
    ("name", "missing"), [("frame_{}.png", "frame_3.png"), ("{}.png", "3.png"), ("frame_{:04d}.png", "frame_0003.png")]
)
@pytest.mark.parametrize("log_too", [False, True])
def test_a_missing_frame_is_called_what_the_folder_calls_it(
    tmp_path: Path, name: str, missing: str, log_too: bool
) -> None:
    path = captures.make_unity(tmp_path, size=(8, 12), poses=5, prefix="")
    frames = path / "frames"
    for number in range(5):
        (frames / f"{number}.png").rename(frames / name.format(number))
    opened(path)
    (frames / missing).unlink()
    if log_too:
        (path / "camera_logs" / "camera_logs_3.txt").unlink()
    with pytest.raises(InputError, match=rf"/frames/{re.escape(missing)}: missing"):
        opened(path)
