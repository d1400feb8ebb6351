"""Encodings of single files: literal references, outside values, round trips, hostile input."""

import io
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.formats import ios, npz, nv12, packed_depth, png, swift_header, unity_log
from icb import InputError, restricted_pickle


def test_packed_depth_is_the_written_formula() -> None:
    packed = np.array([[[3, 141, 59, 26], [255, 254, 253, 0]]], np.uint8)
    r, g, b = (packed[..., channel].astype(float) for channel in range(3))
    expected = (r + g / 255 + b / 65025 + 255 / 16581375) / 255 * 37.5
    assert packed_depth.decode(packed, 0.1, 37.5) == pytest.approx(expected, rel=1e-7)


def test_packed_depth_round_trip() -> None:
    depth = np.random.default_rng(0).uniform(0.3, 40, (31, 17)).astype(np.float32)
    depth[0, :3] = 40.0, 0.3, 1e-3
    packed = packed_depth.encode(depth, 40.0)
    assert packed.shape == (31, 17, 4) and (packed[..., 3] == 255).all()
    again = packed_depth.decode(packed, 0.0, 40.0)
    # Half a step of the format, and the rounding to float32.
    assert np.abs(again - depth).max() <= 0.51 * 40 / 255**3 + 2e-6
    assert (packed_depth.encode(again, 40.0) == packed).all()


def test_packed_depth_of_nothing() -> None:
    nothing = np.array([[np.inf, np.nan, 0.0, -1.0, 40.1, 0.05]])
    assert packed_depth.decode(packed_depth.encode(nothing, 40.0), 0.1, 40.0) == pytest.approx(60.0)


def test_nv12_of_primary_colours() -> None:
    # ITU-R BT.709: Y = 0.2126 R + 0.7152 G + 0.0722 B; full range; Cb = (B - Y) / 1.8556, Cr = (R - Y) / 1.5748.
    colours = {(255, 255, 255): (255, 128, 128), (0, 0, 0): (0, 128, 128), (128, 128, 128): (128, 128, 128)}
    colours |= {(0, 0, 200): (14, 228, 119), (200, 0, 0): (43, 105, 228)}
    for rgb, (y, u, v) in colours.items():
        luma, chroma = nv12.encode(np.full((2, 2, 3), rgb, np.uint8))
        assert np.abs(luma.astype(int) - y).max() <= 1
        assert np.abs(chroma.astype(int) - (u, v)).max() <= 1


def test_nv12_decoding_is_the_written_formula() -> None:
    random = np.random.default_rng(1)
    luma = random.integers(0, 256, (6, 10), dtype=np.uint8)
    chroma = random.integers(90, 166, (3, 5, 2), dtype=np.uint8)
    u, v = (np.kron(chroma[..., channel].astype(float) - 128, np.ones((2, 2))) for channel in (0, 1))
    r, b = luma + v / 0.6350, luma + u / 0.5389
    g = (luma - 0.2126 * r - 0.0722 * b) / 0.7152
    expected = np.floor(np.clip(np.stack([r, g, b], -1), 0, 255) + 0.5)
    assert (nv12.decode(luma, chroma) == np.minimum(expected, 255)).all()


def test_nv12_round_trip_of_even_blocks() -> None:
    small = np.random.default_rng(2).integers(0, 256, (7, 9, 3), dtype=np.uint8)
    rgb = np.repeat(np.repeat(small, 2, axis=0), 2, axis=1)
    assert np.abs(nv12.decode(*nv12.encode(rgb)).astype(int) - rgb).max() <= 2


HEADER = (
    b"Time:78231.5,EulerAngles:SIMD3<Float>(-0.5, 1e-05, 3.0)),"
    b"WorldPose:simd_float4x4([[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], "
    b"[4.0, 5.0, 6.0, 1.0]]),"
    b"Intrinsics:Optional(simd_float3x3([[1500.0, 0.0, 0.0], [0.0, 1501.0, 0.0], [960.5, 720.25, 1.0]])),"
    b"WorldToCamera:Optional(simd_float4x4([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], "
    b"[7.0, 8.0, 9.0, 1.0]]))<ENDHEADER>"
)


def test_header_lists_columns() -> None:
    header = swift_header.parse_header(HEADER.ljust(1024, b"\xfe"), "x.bin")
    assert header.time == 78231.5
    assert header.euler_angles.tolist() == [-0.5, 1e-5, 3]
    assert header.world_pose.tolist() == [[0, -1, 0, 4], [1, 0, 0, 5], [0, 0, 1, 6], [0, 0, 0, 1]]
    assert header.intrinsics.tolist() == [[1500, 0, 960.5], [0, 1501, 720.25], [0, 0, 1]]
    assert header.world_to_camera[:, 3].tolist() == [7, 8, 9, 1]


def test_header_is_written_as_the_app_does() -> None:
    header = swift_header.parse_header(HEADER.ljust(1024, b"\xfe"), "x.bin")
    written = swift_header.format_header(header)
    assert len(written) == 1024 and written.startswith(HEADER)
    assert written == swift_header.format_header(header)
    with pytest.raises(UnicodeDecodeError):
        written.decode()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"<ENDHEADER>", b"", "<ENDHEADER>"),
        (b"[7.0, 8.0", b"[nan, 8.0", "WorldToCamera"),
        (b"1500.0", b"inf", "Intrinsics"),
        (
            b"Optional(simd_float3x3([[1500.0, 0.0, 0.0], [0.0, 1501.0, 0.0], [960.5, 720.25, 1.0]]))",
            b"nil",
            "Intrinsics",
        ),
        (b"[4.0, 5.0, 6.0, 1.0]", b"[4.0, 5.0, 6.0]", "WorldPose"),
        (b"Time:78231.5,", b"", "Time"),
    ],
)
def test_broken_header_is_named(old: bytes, new: bytes, said: str) -> None:
    assert old in HEADER
    with pytest.raises(InputError, match=f"some.bin.*{said}"):
        swift_header.parse_header(HEADER.replace(old, new).ljust(1024, b"\xfe"), "some.bin")


def test_camera_log_round_trip() -> None:
    angle = 0.3
    pose = np.eye(4)
    pose[:3, :3] = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    pose[:3, 3] = 1, 2, 3
    log = unity_log.camera_log(
        pose,
        position=np.zeros(3),
        euler_angles=(1, 2, 3),
        focal_mm=50,
        sensor_mm=(36, 24),
        image_size=(1200, 800),
        depth_range=(0.3, 100),
    )
    read = unity_log.parse_camera_log(log)
    assert (read.world_to_camset == pose).all()
    assert read.camset_to_world @ pose == pytest.approx(np.eye(4))
    assert (read.camera.fx, read.camera.fy) == pytest.approx((50 / 36 * 1200, 50 / 24 * 800))
    assert [read.camera.cx, read.camera.cy] == [599.5, 399.5]
    assert [*read.image_size, *read.depth_range] == [1200, 800, 0.3, 100]
    # What is up in Unity is at smaller rows for us; left-handed or not, the determinant stays.
    flipped = unity_log.unity_to_opencv(pose)
    assert (flipped @ [0, -1, 0, 1]).tolist() == pytest.approx((pose @ [0, 1, 0, 1] * [1, -1, 1, 1]).tolist())


def test_upright_camera_follows_the_turned_pixels() -> None:
    k = np.array([[300.0, 0, 170], [0, 310, 100], [0, 0, 1]])
    landscape = np.zeros((240, 320), np.uint8)
    landscape[100, 170] = 255  # the principal point
    camera = ios.upright_camera(k, 240)
    turned = ios.upright(landscape)
    assert (turned == np.flip(landscape.T, 1)).all()
    assert turned[int(camera.cy), int(camera.cx)] == 255
    assert (camera.fx, camera.fy) == (310, 300)


def test_intrinsics_of_the_full_sensor_are_told_from_those_of_the_picture() -> None:
    full = np.array([[1500.0, 0, 962], [0, 1510, 718], [0, 0, 1]])
    camera, source = ios.stored_camera(full, (256, 192))
    assert source == "full landscape"
    assert camera.cx == pytest.approx((1439 - 718 + 0.5) / 7.5 - 0.5)
    assert camera.cy == pytest.approx((962 + 0.5) / 7.5 - 0.5)
    assert (camera.fx, camera.fy) == pytest.approx((1510 / 7.5, 1500 / 7.5))
    again, source = ios.stored_camera(camera.matrix, (256, 192))
    assert source == "stored image" and again == camera


def test_png_keeps_colours_in_order(tmp_path: Path) -> None:
    image = np.random.default_rng(3).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    (tmp_path / "a.png").write_bytes(png.encode(image))
    assert (png.read(tmp_path / "a.png") == image).all()
    assert (np.asarray(cv2.imread(str(tmp_path / "a.png")))[..., ::-1] == image).all()
    assert png.size(tmp_path / "a.png") == (5, 7)


@pytest.mark.parametrize("kept", [0, 20, 60, -13, -5])
def test_truncated_png_is_refused(tmp_path: Path, kept: int) -> None:
    data = png.encode(np.random.default_rng(3).integers(0, 256, (9, 8, 3), dtype=np.uint8))
    (tmp_path / "a.png").write_bytes(data[:kept])
    with pytest.raises(InputError, match=r"a\.png"):
        png.read(tmp_path / "a.png")


def test_png_of_other_kinds_is_refused(tmp_path: Path) -> None:
    for image in (np.zeros((4, 4, 3), np.uint16), np.zeros((4, 4), np.uint8)):
        cv2.imwrite(str(tmp_path / "a.png"), image)
        with pytest.raises(InputError, match=r"a\.png.*8-bit RGB"):
            png.read(tmp_path / "a.png")


def test_npz_has_the_same_bytes_every_time_and_numpy_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    infos = [{"timestamp": 0.5 * i, "pose": np.eye(4) * i} for i in range(3)]
    arrays = {"numbers": np.arange(6, dtype=np.float32).reshape(2, 3), "infos": npz.objects(infos)}
    data = npz.npz_bytes(**arrays)
    monkeypatch.setattr("time.time", lambda: 2e9)
    copy = [{"timestamp": 0.5 * i, "pose": np.eye(4) * i} for i in range(3)]
    assert npz.npz_bytes(numbers=arrays["numbers"].copy(), infos=npz.objects(copy)) == data
    assert b"numpy._core" not in data  # older versions of numpy do not have it
    with np.load(io.BytesIO(data), allow_pickle=True) as numpys:
        assert (numpys["numbers"] == arrays["numbers"]).all()
        assert numpys["infos"][2]["timestamp"] == 1.0 and (numpys["infos"][2]["pose"] == 2 * np.eye(4)).all()
    (tmp_path / "a.npz").write_bytes(data)
    ours = npz.load_npz_objects(tmp_path / "a.npz")
    assert (ours["infos"][2]["pose"] == 2 * np.eye(4)).all() and ours["infos"].shape == (3,)


@pytest.mark.parametrize("protocol", range(6))
def test_plain_pickles_are_read_in_every_protocol_that_numpy_uses(protocol: int) -> None:
    value = {
        "a": [1, 2.5, "text", None, True, (1, 2)],
        "f": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big-endian": np.arange(3, dtype=">i4"),
        "scalar": np.float32(1.5),
        "objects": npz.objects([{"x": 1}, [2]]),
    }
    data = pickle.dumps(value, protocol)
    if protocol < 3:  # bytes went through a function then, which is refused like any other
        with pytest.raises(InputError, match="refused"):
            restricted_pickle.loads(data, "x")
        return
    read = restricted_pickle.loads(data, "x")
    assert read["a"] == value["a"] and read["scalar"] == 1.5
    assert (read["f"] == value["f"]).all() and (read["big-endian"] == [0, 1, 2]).all()
    assert read["objects"].tolist() == [{"x": 1}, [2]]


class Hostile:
    def __init__(self, function: Any, *arguments: Any) -> None:
        self.reduced = (function, arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.reduced


def hostile_payloads(victim: Path) -> Iterator[Any]:
    touch = f"open({str(victim)!r}, 'w').close()"
    yield Hostile(os.system, f"touch {victim}")
    yield Hostile(exec, touch)
    yield Hostile(eval, touch)
    yield {"inside": [Hostile(os.mkdir, str(victim))]}


@pytest.mark.parametrize("which", range(4))
def test_hostile_object_array_is_refused_and_not_run(tmp_path: Path, which: int) -> None:
    victim, path = tmp_path / "victim", tmp_path / "evil.npz"
    payload = list(hostile_payloads(victim))[which]
    np.savez(path, bundle_info=npz.objects([payload, 1]))
    assert not victim.exists()
    with pytest.raises(InputError, match=r"evil\.npz.*refused"):
        npz.load_npz_objects(path)
    assert not victim.exists()
    np.load(path, allow_pickle=True)["bundle_info"]  # the payload does work where it is let in
    assert victim.exists()


def test_unpickling_never_reaches_numpys_own_functions() -> None:
    # A made-up dtype whose object field points at raw bytes would crash the interpreter.
    evil = (
        b"\x80\x03cnumpy\ndtype\nX\x02\x00\x00\x00V8K\x00K\x01\x87R(K\x03X\x01\x00\x00\x00|"
        b"N(X\x01\x00\x00\x00at}X\x01\x00\x00\x00aK\x00sK\x08K\x01K\x00tb."
    )
    for data in (evil, pickle.dumps(np.zeros(2, [("a", "O")]), 3), pickle.dumps(np.zeros(2, "M8[s]"), 3)):
        with pytest.raises(InputError, match=r"some\.npz"):
            restricted_pickle.loads(data, "some.npz")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        b"\x80\x03]q\x00h\x00a.",  # a list that contains itself
        b"\x80\x03r\xff\xff\xff\x7f.",  # a memo index of two thousand million
        b"\x80\x04\x96\xff\xff\xff\xff\xff\xff\x00\x00.",  # a bytearray of 2^48 bytes
        b"\x80\x03cnumpy.core.multiarray\nscalar\nN}X\x0c\x00\x00\x00__defaults__K\x01s\x86b.",  # changes a function
        pickle.dumps(np.zeros(3), 3).replace(b"K\x03\x85", b"K\x7f\x85"),  # more elements than bytes
    ],
)
def test_malformed_pickles_are_refused(data: bytes) -> None:
    with pytest.raises(InputError, match=r"some\.npz"):
        restricted_pickle.loads(data, "some.npz")


def test_containers_that_multiply_are_refused() -> None:
    value: list = [0]
    for _ in range(30):
        value = [value, value]
    with pytest.raises(InputError, match="expected fewer"):
        restricted_pickle.loads(pickle.dumps(value, 3), "some.npz")


SHARED = b")" + b"2\x86" * 60  # a tuple of twice the same tuple, 60 deep, which has 2^60 elements to hash or print
TINY_BUT_ENDLESS = {
    "key": b"}" + SHARED + b"K\x01s.",
    "keys": b"}(" + SHARED + b"K\x01u.",
    "dictionary": b"(" + SHARED + b"K\x01d.",
    "set": b"\x80\x04\x8f(" + SHARED + b"\x90.",
    "frozenset": b"\x80\x04(" + SHARED + b"\x91.",
    "type": b"cnumpy\ndtype\n" + SHARED + b"\x85R.",
    "side": b"cnumpy.core.numeric\n_frombuffer\n(C\x00cnumpy\ndtype\nX\x02\x00\x00\x00f4\x85R" + SHARED + b"\x85tR.",
    "value": SHARED + b".",
    "bytearray": b"\x80\x05\x96" + struct.pack("<Q", 3 << 30) + b".",
}
LOADS = """
import resource, sys
from icb import restricted_pickle
resource.setrlimit(resource.RLIMIT_DATA, (2 << 30, 2 << 30))
try:
    restricted_pickle.loads(bytes.fromhex(sys.argv[1]), "some.npz")
except restricted_pickle.InputError as error:
    print(error)
"""


@pytest.mark.parametrize("case", TINY_BUT_ENDLESS)
def test_tiny_pickles_that_would_take_for_ever_are_refused(case: str) -> None:
    # In a process of its own, which can be stopped.
    command = [sys.executable, "-c", LOADS, TINY_BUT_ENDLESS[case].hex()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("some.npz: got ") and len(done.stdout) < 300


def test_keys_of_the_same_hash_are_refused() -> None:
    with pytest.raises(InputError, match="got a key of 122 bits, expected at most 64"):
        restricted_pickle.loads(pickle.dumps({sys.hash_info.modulus**2: 1}, 3), "some.npz")


def test_keys_and_members_that_are_plain_are_read() -> None:
    value = {"a": 1, 2: {3, "b"}, 1.5: frozenset([b"c", None]), True: bytearray(b"d" * 99), None: {}}
    assert restricted_pickle.loads(pickle.dumps(value, 5), "x") == value
    assert restricted_pickle.loads(pickle.dumps({"a": 1, "b": {}}, 0), "x") == {"a": 1, "b": {}}


def test_many_arrays_of_the_same_bytes_share_them() -> None:
    kind = b"cnumpy\ndtype\nX\x02\x00\x00\x00u1\x85R"
    array = b"cnumpy.core.numeric\n_frombuffer\n(h\x00" + kind + b"K\x03\x85tR"
    first, second = restricted_pickle.loads(b"C\x03abcq\x000" + array + array + b"\x86.", "x")
    assert np.shares_memory(first, second) and first.tolist() == [97, 98, 99]


def lying_archive(path: Path, content: bytes, method: int, declared: int) -> None:
    """An archive that says its only member has another size than it has, before the member and at the end."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.npy", content)
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = data.index(signature) + offset
        assert struct.unpack_from("<I", data, place) == (len(content),)
        struct.pack_into("<I", data, place, declared)
    path.write_bytes(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("declared", [1000, 1 << 24])
def test_archives_that_lie_about_a_size_are_refused(tmp_path: Path, method: int, declared: int) -> None:
    path = tmp_path / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (1000 - 128,)})
    lying_archive(path, header.getvalue() + bytes(1 << 23), method, declared)
    with pytest.raises(InputError, match=r"bomb\.npz"):
        npz.load_npz_objects(path)


def test_deflated_bomb_yields_no_more_than_it_declares(tmp_path: Path) -> None:
    path, content = tmp_path / "bomb.npz", npz.npz_bytes(a=np.zeros(1 << 23, np.uint8))
    lying_archive(path, content, zipfile.ZIP_DEFLATED, 1000)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"bomb\.npz"):
            npz.load_npz_objects(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compression_without_a_bound_is_refused(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w", method) as archive:
        archive.writestr("a.npy", b"anything")
    with pytest.raises(InputError, match=r"a\.npz, array 'a': got compression method 1[24], expected stored or"):
        npz.load_npz_objects(tmp_path / "a.npz")


def test_damaged_deflated_member_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.arange(1000))
    assert (npz.load_npz_objects(path)["a"] == np.arange(1000)).all()
    data = bytearray(path.read_bytes())
    data[60:70] = b"\xff" * 10
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.npz"):
        npz.load_npz_objects(path)


def test_archives_that_promise_too_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MAX_ARRAY_BYTES", 1 << 16)
    path = tmp_path / "bomb.npz"
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (1 << 30,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", header.getvalue() + bytes(1 << 17))
    with pytest.raises(InputError, match=r"bomb\.npz.*at most"):
        npz.load_npz_objects(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", header.getvalue() + bytes(100))
    with pytest.raises(InputError, match=r"bomb\.npz.*expected uint8"):
        npz.load_npz_objects(path)


def test_npz_without_the_array_or_not_an_archive(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"a\.npz: expected an \.npz"):
        npz.load_npz_objects(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", x=1)
    with pytest.raises(InputError, match="no array 'bundle_info'"):
        npz.load_npz_objects(tmp_path / "b.npz", ["bundle_info"])
