"""Photos and depth maps as files."""

from pathlib import Path

import cv2
import numpy as np
import OpenEXR
import pytest
from PIL import Image

import icb
from icb.pictures import read_depth, read_image, write_image


def photo(height: int = 7, width: int = 12) -> np.ndarray:
    return np.random.default_rng(0).random((height, width, 3)).astype(np.float32)


@pytest.mark.parametrize(
    ("name", "bits", "error"), [("a.png", 8, 0.5 / 255), ("a.png", 16, 0.5 / 65535), ("a.tif", 16, 0.5 / 65535)]
)
def test_round_trip(tmp_path: Path, name: str, bits: int, error: float) -> None:
    image = photo()
    write_image(tmp_path / name, image, bits=bits)
    back = read_image(tmp_path / name)
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, image, atol=error + 1e-7)


def test_channels_are_red_green_blue(tmp_path: Path) -> None:
    red = np.zeros((4, 5, 3), np.float32)
    red[..., 0] = 1
    write_image(tmp_path / "red.png", red)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "red.png"))[0, 0], [0, 0, 255])  # OpenCV: blue first
    np.testing.assert_array_equal(read_image(tmp_path / "red.png"), red)


def test_values_are_clipped_and_rounded_once(tmp_path: Path) -> None:
    image = np.array([[[-0.5, 1.5, 0.5 / 255]]], np.float32)
    write_image(tmp_path / "a.png", image)
    np.testing.assert_allclose(read_image(tmp_path / "a.png")[0, 0] * 255, [0, 255, 1])


@pytest.mark.parametrize("name", ["a.npy", "A.NPY"])
def test_floats_are_kept_in_npy(tmp_path: Path, name: str) -> None:
    image = photo() * 3 - 1
    write_image(tmp_path / name, image)
    np.testing.assert_array_equal(np.load(tmp_path / name), image)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_mark_of_orientation_is_heeded(tmp_path: Path) -> None:
    upright = np.zeros((4, 6, 3), np.uint8)
    upright[0, 0] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by a quarter, clockwise, to view
    Image.fromarray(upright).save(tmp_path / "turned.png", exif=exif)
    image = read_image(tmp_path / "turned.png")
    assert image.shape == (6, 4, 3)
    assert image[0, 3, 0] == 1


def test_half_floats_are_not_scaled_as_such(tmp_path: Path) -> None:
    depth = depth_map().astype(np.float16)
    np.save(tmp_path / "d.npy", depth)
    np.testing.assert_allclose(read_depth(tmp_path / "d.npy", unit=1e-3), depth.astype(np.float64) / 1e3, rtol=1e-6)
    np.testing.assert_allclose(read_depth(tmp_path / "d.npy", unit=1e5), depth.astype(np.float64) * 1e5, rtol=1e-6)
    with pytest.raises(icb.InputError, match=r"d\.npy: got .* times a unit of 1e\+60"):
        read_depth(tmp_path / "d.npy", unit=1e60)


def test_a_grey_picture_is_not_mirrored(tmp_path: Path) -> None:
    grey = np.linspace(0, 1, 12, dtype=np.float32)[None].repeat(3, axis=0)
    write_image(tmp_path / "grey.png", grey)
    np.testing.assert_allclose(read_image(tmp_path / "grey.png")[..., 0], grey, atol=0.002)


@pytest.mark.parametrize(
    ("name", "content"), [("a.png", b"not an image"), ("a.jpg", b""), ("a.png", b"\x89PNG\r\n\x1a\n")]
)
def test_not_an_image(tmp_path: Path, name: str, content: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(icb.InputError, match=rf"{name}: not an image"):
        read_image(tmp_path / name)
    assert capfd.readouterr().err == ""  # OpenCV's own chatter


def test_bad_output_names(tmp_path: Path) -> None:
    with pytest.raises(icb.InputError, match=r"got '\.xyz', expected an image"):
        write_image(tmp_path / "a.xyz", photo())
    with pytest.raises(icb.InputError, match="16 bits need"):
        write_image(tmp_path / "a.jpg", photo(), bits=16)
    (tmp_path / "file").touch()
    with pytest.raises(icb.InputError, match="cannot be written"):
        write_image(tmp_path / "file" / "a.png", photo())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["file"]


def depth_map() -> np.ndarray:
    return np.random.default_rng(1).uniform(0.3, 9, (6, 8)).astype(np.float32)


def test_depth_as_npy_npz_exr(tmp_path: Path) -> None:
    depth = depth_map()
    np.save(tmp_path / "d.npy", depth)
    np.savez(tmp_path / "d.npz", depth=depth, other=depth + 1)
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, {"Z": depth, "R": depth + 1}).write(str(tmp_path / "d.exr"))
    for name in ("d.npy", "d.npz", "d.exr"):
        np.testing.assert_array_equal(read_depth(tmp_path / name), depth)
    np.testing.assert_array_equal(read_depth(tmp_path / "d.npz", key="other"), depth + 1)
    np.testing.assert_array_equal(read_depth(tmp_path / "d.exr", key="R"), depth + 1)
    np.testing.assert_allclose(read_depth(tmp_path / "d.npy", unit=0.001), depth / 1000, rtol=1e-6)


def test_depth_as_png_in_its_unit(tmp_path: Path) -> None:
    counts = np.round(depth_map() * 1000).astype(np.uint16)
    cv2.imwrite(str(tmp_path / "d.png"), counts)
    np.testing.assert_allclose(read_depth(tmp_path / "d.png", unit=0.001), counts / 1000, rtol=1e-6)
    with pytest.raises(icb.InputError, match="needs its unit"):
        read_depth(tmp_path / "d.png")
    with pytest.raises(icb.InputError, match="depth unit: got 0"):
        read_depth(tmp_path / "d.png", unit=0)


def test_bad_depth_files(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "rgb.png"), np.zeros((4, 4, 3), np.uint8))
    np.savez(tmp_path / "two.npz", a=depth_map(), b=depth_map())
    np.save(tmp_path / "cube.npy", np.ones((2, 3, 4)))
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object))
    (tmp_path / "broken.exr").write_bytes(b"v/1\x01 no")
    (tmp_path / "words.txt").write_text("far")
    (tmp_path / "huge.npy").write_bytes(
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999, 99999999), }".ljust(117)
        + b"\n"
    )
    (tmp_path / "garbled.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + b"{'descr': (".ljust(117) + b"\n")
    np.savez_compressed(tmp_path / "torn.npz", depth=np.random.default_rng(0).random((40, 40)))
    torn = bytearray((tmp_path / "torn.npz").read_bytes())
    torn[200:400] = bytes(200)
    (tmp_path / "torn.npz").write_bytes(torn)
    for name, message in {
        "rgb.png": "got 8-bit, 3 channels, expected a 16-bit PNG of one channel",
        "two.npz": "name the array that is the depth, one of a, b",
        "cube.npy": r"got float64 of shape \(2, 3, 4\), expected numbers of shape \(H, W\)",
        "objects.npy": "expected an .npy file of a plain array",
        "huge.npy": "expected an .npy file of a plain array",
        "garbled.npy": "expected an .npy file of a plain array",
        "torn.npz": "expected an .npz archive of plain arrays",
        "broken.exr": "not an EXR image",
        "words.txt": "expected a depth map as",
        "missing.npy": "no such file",
    }.items():
        with pytest.raises(icb.InputError, match=message):
            read_depth(tmp_path / name, unit=1.0)
    with pytest.raises(icb.InputError, match="has no array 'c', expected one of a, b"):
        read_depth(tmp_path / "two.npz", key="c")
