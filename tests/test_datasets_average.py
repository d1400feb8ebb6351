"""Averaging, shrinking and filling against literal references."""

import math
import threading
from fractions import Fraction
from typing import Any

import cv2
import numpy as np
import pytest

from datasets.average import MODES, Average, area_sums, from_linear, stream, to_linear
from datasets.fill import fill_depth
from icb import InputError


def averaged(frames: list[np.ndarray], mode: str = "plain", size: tuple[int, int] | None = None) -> np.ndarray:
    average = Average(frames[0].shape, mode)
    for frame in frames:
        average.add(frame)
    return average.result(size)


def some_frames(count: int = 7, size: tuple[int, int] = (9, 6), seed: int = 0) -> list[np.ndarray]:
    return list(np.random.default_rng(seed).integers(0, 256, (count, *size, 3), dtype=np.uint8))


def literal(frames: list[np.ndarray], size: tuple[int, int]) -> np.ndarray:
    """The mean over time and area in fractions, rounded once, halves upwards."""
    height, width = frames[0].shape[:2]
    total: Any = np.sum(frames, axis=0, dtype=np.int64)
    result = np.zeros((*size, 3), int)
    for row in range(size[0]):
        for column in range(size[1]):
            top, bottom = Fraction(row * height, size[0]), Fraction((row + 1) * height, size[0])
            left, right = Fraction(column * width, size[1]), Fraction((column + 1) * width, size[1])
            value = [Fraction(0)] * 3
            for i in range(math.floor(top), math.ceil(bottom)):
                for j in range(math.floor(left), math.ceil(right)):
                    down = min(bottom, Fraction(i + 1)) - max(top, Fraction(i))
                    share = down * (min(right, Fraction(j + 1)) - max(left, Fraction(j)))
                    value = [v + share * int(t) for v, t in zip(value, total[i, j], strict=True)]
            area = (bottom - top) * (right - left) * len(frames)
            result[row, column] = [math.floor(v / area + Fraction(1, 2)) for v in value]
    return result


@pytest.mark.parametrize("size", [(9, 6), (3, 2), (4, 4), (9, 1), (7, 5)])
def test_plain_average_is_exact(size: tuple[int, int]) -> None:
    frames = some_frames()
    assert (averaged(frames, size=size) == literal(frames, size)).all()


def test_halves_are_rounded_up_once() -> None:
    # Rounding the average 127.5 first and the area after would give other values.
    frames = [np.full((2, 2, 3), 127, np.uint8), np.full((2, 2, 3), 128, np.uint8)]
    assert (averaged(frames) == 128).all()
    frames[1][0] = 127
    assert (averaged(frames, size=(1, 1)) == 127).all()  # 127.25; rounded twice it would be 127.5 and 128


@pytest.mark.parametrize("mode", MODES)
def test_order_does_not_matter(mode: str) -> None:
    frames = some_frames(count=40, seed=1)
    shuffled = [frames[index] for index in np.random.default_rng(2).permutation(len(frames))]
    first, second = Average(frames[0].shape, mode), Average(frames[0].shape, mode)
    for one, other in zip(frames, shuffled, strict=True):
        first.add(one)
        second.add(other)
    assert (first._sum == second._sum).all()
    assert (first.result((3, 4)) == second.result((3, 4))).all()


@pytest.mark.parametrize("mode", MODES)
def test_a_scene_at_rest_stays_as_it_is(mode: str) -> None:
    frame = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    assert (averaged([frame] * 5, mode) == frame).all()


@pytest.mark.parametrize("mode", ["gamma", "srgb"])
def test_light_is_averaged(mode: str) -> None:
    frames = some_frames(count=5, seed=3)
    light = np.mean([to_linear(frame / 255, mode) for frame in frames], axis=0)
    expected = np.floor(255 * from_linear(light, mode) + 0.5)
    assert (averaged(frames, mode) == expected).all()
    assert (averaged(frames, mode) >= averaged(frames)).all()  # light weighs more than its code


def test_srgb_is_the_standard() -> None:
    # IEC 61966-2-1: half the light is stored as 188, and code 128 is 21.586 % of the light.
    assert averaged([np.full((1, 1, 3), 0, np.uint8), np.full((1, 1, 3), 255, np.uint8)], "srgb")[0, 0, 0] == 188
    assert to_linear(np.array(128 / 255), "srgb") == pytest.approx(0.21586, abs=1e-5)
    assert averaged([np.full((1, 1, 3), 0, np.uint8), np.full((1, 1, 3), 255, np.uint8)], "gamma")[0, 0, 0] == 186


@pytest.mark.parametrize("size", [(256, 192), (240, 180), (100, 77)])
def test_area_is_opencvs(size: tuple[int, int]) -> None:
    image = np.random.default_rng(4).random((480, 360, 3)).astype(np.float32)
    sums, weight = area_sums(image.astype(np.float64), size)
    expected = cv2.resize(image, size[::-1], interpolation=cv2.INTER_AREA)
    assert sums / weight == pytest.approx(expected, abs=2e-6)


def test_no_enlarging() -> None:
    with pytest.raises(InputError, match="expected at most 9 x 6"):
        averaged(some_frames(), size=(10, 6))


def test_frames_must_fit() -> None:
    average = Average((4, 5, 3))
    with pytest.raises(InputError, match="expected uint8"):
        average.add(np.zeros((5, 4, 3), np.uint8))
    with pytest.raises(InputError, match="no frames"):
        average.result()
    with pytest.raises(InputError, match="expected one of plain"):
        Average((4, 5, 3), "linear")


def test_stream_reads_ahead_by_a_few_frames_only() -> None:
    begun, lock, most = [0], threading.Lock(), 0

    def read(index: int) -> np.ndarray:
        with lock:
            begun[0] += 1
        return np.full(1, index)

    for done, (index, frame) in enumerate(stream(read, range(50, 90))):
        assert index == frame[0] == 50 + done
        most = max(most, begun[0] - done)
    assert done == 39 and most <= 8


def test_stream_ends_with_the_first_error() -> None:
    def read(index: int) -> np.ndarray:
        if index == 3:
            raise InputError("frame 3 is broken")
        return np.zeros(1)

    with pytest.raises(InputError, match="frame 3"):
        list(stream(read, range(1000)))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("frames")]


def test_holes_take_the_nearest_confident_depth() -> None:
    random = np.random.default_rng(5)
    depth = random.uniform(1, 5, (13, 9)).astype(np.float32)
    confidence = random.choice([0, 1, 2], (13, 9), p=[0.3, 0.3, 0.4]).astype(np.uint8)
    depth[2, 2], depth[4, 4], depth[7, 7] = np.nan, 0, -1
    confidence[2, 2] = 2
    filled, share = fill_depth(depth, confidence)
    valid = depth > 0
    kept, source = valid & (confidence > 0), valid & (confidence == 2)
    assert share == pytest.approx((~kept).mean()) and 0.2 < share < 0.5
    assert (filled[kept] == depth[kept]).all()
    # Where two sources are equally near either will do.
    for row, column in np.argwhere(~kept):
        distances = np.where(
            source, np.hypot(*(np.indices(depth.shape) - np.array([row, column])[:, None, None])), np.inf
        )
        assert filled[row, column] in depth[distances <= distances.min() + 1e-9]


def test_confidence_falls_back() -> None:
    depth = np.array([[1.0, 2.0, np.nan, 4.0]], np.float32)
    filled, share = fill_depth(depth, np.array([[1, 0, 0, 0]], np.uint8))
    assert filled.tolist() == [[1, 1, 1, 1]] and share == 0.75
    filled, share = fill_depth(depth, np.array([[0, 0, 0, 0]], np.uint8))
    assert filled[0, [0, 1, 3]].tolist() == [1, 2, 4] and filled[0, 2] in (2, 4) and share == 0.25
    filled, share = fill_depth(depth)
    assert share == 0.25 and np.isfinite(filled).all()


def test_depth_without_holes_is_left_alone() -> None:
    depth = np.random.default_rng(6).uniform(1, 5, (6, 5)).astype(np.float32)
    filled, share = fill_depth(depth, np.full((6, 5), 2, np.uint8))
    assert (filled == depth).all() and share == 0


def test_no_depth_at_all() -> None:
    with pytest.raises(InputError, match="no depth"):
        fill_depth(np.full((3, 3), np.nan, np.float32))
    with pytest.raises(InputError, match="confidence"):
        fill_depth(np.ones((3, 3), np.float32), np.ones((3, 4), np.uint8))
