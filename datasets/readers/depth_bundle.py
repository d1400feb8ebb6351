"""Folders of ``.bin`` files from the DepthBundleRecorder app for iOS."""

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np

from datasets.capture import SIMULATED, name_of, numbered
from datasets.formats import ios, nv12, swift_header
from datasets.recording import Recording
from icb import InputError, files

DESCRIPTION = "a DepthBundleRecorder folder (image_P0_<w>x<h>_P1_<w>x<h>_<i>.bin, depth_<w>x<h>_<i>.bin)"

IMAGE = re.compile(r"image_P0_(\d+)x(\d+)_P1_(\d+)x(\d+)_(\d+)\.bin")
DEPTH = re.compile(r"depth_(\d+)x(\d+)_(\d+)\.bin")
CONFIDENCE = re.compile(r"conf_(\d+)x(\d+)_(\d+)\.bin")
INFO = re.compile(r"info_(\d+)\.bin")


def recognises(path: Path) -> bool:
    """Whether the folder has any of the app's files."""
    patterns = (IMAGE, DEPTH, CONFIDENCE, INFO)
    return path.is_dir() and any(p.fullmatch(entry.name) for entry in path.glob("*.bin") for p in patterns)


def open_capture(path: Path) -> "DepthBundle":
    """Open such a folder."""
    return DepthBundle(path)


class DepthBundle(Recording):
    """One recording; the headers of all frames are read, the pictures when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._images, image_size = _find(path, IMAGE)
        self._depths, self._depth_size = _find(path, DEPTH)
        # Before the sizes are relied on: names may claim anything.
        _check_sizes(self._depths, swift_header.SIZE + 4 * math.prod(self._depth_size))
        self._confidences, self._confidence_size = _find(path, CONFIDENCE, self._depth_size, "the depth")
        _check_sizes(self._confidences, math.prod(self._confidence_size))
        infos, _ = _find(path, INFO)
        if not self._images:
            raise InputError(f"{path}: has no pictures, expected image_P0_<w>x<h>_P1_<w>x<h>_<i>.bin")
        self._luma = (image_size[1], image_size[0])
        self._chroma = (image_size[3], image_size[2], 2)
        if self._chroma != (self._luma[0] // 2, self._luma[1] // 2, 2) or self._luma[0] % 2 or self._luma[1] % 2:
            name = next(iter(self._images.values()))
            raise InputError(f"{name}: got chroma of {image_size[2:]}, expected half of {image_size[:2]}")
        _check_sizes(self._images, math.prod(self._luma) + math.prod(self._chroma))
        pictures = {**self._depths, **self._confidences, **infos, **self._images}
        pattern = f"image_P0_{image_size[0]}x{image_size[1]}_P1_{image_size[2]}x{image_size[3]}_{{}}.bin"
        self._numbers = numbered(pictures, path, pattern)
        headers, origins = [], []
        for number in self._numbers:
            if number not in self._images:
                raise InputError(f"{path / pattern.format(number)}: missing, expected one file for each frame")
            origin = self._depths.get(number) or infos.get(number)
            if origin is None:
                raise InputError(f"{self._depth_name(number)}: missing, expected the pose of frame {number}")
            headers.append(swift_header.parse_header(_head(origin), origin))
            origins.append(str(origin))
        self._files = sorted(
            {*self._images.values(), *self._depths.values(), *self._confidences.values(), *infos.values()}
        )
        super().__init__(path, name_of(path), (image_size[0], image_size[1]), headers, origins)

    def frame(self, index: int) -> np.ndarray:
        """Upright RGB."""
        path = self._images[self._numbers[index]]
        luma = self._luma[0] * self._luma[1]
        data = _body(path, 0, luma + luma // 2)
        return ios.upright(nv12.decode(data[:luma].reshape(self._luma), data[luma:].reshape(self._chroma)))

    def depth(self, index: int) -> np.ndarray | None:
        """Upright, NaN where the sensor has nothing."""
        path = self._depths.get(self._numbers[index])
        if path is None:
            return None
        width, height = self._depth_size
        data = _body(path, swift_header.SIZE, 4 * width * height)
        metres = ios.upright(data.view("<f4").astype(np.float32).reshape(height, width))
        return np.where(np.isfinite(metres) & (metres > 0), metres, np.float32(np.nan))

    def depth_name(self, index: int) -> str:
        """Where the depth of a frame is, or would be."""
        return self._depth_name(self._numbers[index])

    def _depth_name(self, number: int) -> str:
        width, height = self._depth_size or ("<w>", "<h>")
        return str(self.path / f"depth_{width}x{height}_{number}.bin")

    def confidence(self, index: int) -> np.ndarray | None:
        """Upright."""
        path = self._confidences.get(self._numbers[index])
        if path is None:
            return None
        width, height = self._confidence_size
        return ios.upright(_body(path, 0, width * height).reshape(height, width))

    def files(self) -> list[Path]:
        """The app's files, and the mark of the simulator."""
        mark = self.path / SIMULATED
        return self._files + ([mark] if mark.is_file() else [])


def _find(
    folder: Path, pattern: re.Pattern[str], size: tuple[int, ...] = (), owner: str = "the other files"
) -> tuple[dict[int, Path], tuple[int, ...]]:
    """Files by number, and the size in their names, which must all be ``size``, or else that of most of them."""
    found: dict[int, Path] = {}
    sizes: dict[Path, tuple[int, ...]] = {}
    for path in sorted(folder.iterdir()):
        match = pattern.fullmatch(path.name)
        if not match:
            continue
        *sides, number = map(int, match.groups())
        if sides and min(sides) < 1:
            raise InputError(f"{path}: got a size of {tuple(sides)}, expected at least 1 pixel each way")
        sizes[path] = tuple(sides)
        if number in found and sizes[found[number]] == sizes[path]:
            raise InputError(f"{path}: frame {number} is there twice, expected one file for each frame")
        found.setdefault(number, path)
    if not found:
        return found, ()
    expected = size or Counter(sizes.values()).most_common(1)[0][0]
    for path, got in sizes.items():
        if got != expected:
            raise InputError(f"{path}: got a size of {got}, expected {expected} as {owner}")
    return found, expected


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(swift_header.SIZE)
    except OSError as error:
        raise files.unreadable(path, error) from None


def _body(path: Path, skip: int, count: int) -> np.ndarray:
    """The ``count`` bytes that follow the first ``skip``, and nothing more may follow."""
    _check_size(path, skip + count)
    try:
        return np.fromfile(path, np.uint8, offset=skip)
    except OSError as error:
        raise files.unreadable(path, error) from None


def _check_sizes(found: dict[int, Path], expected: int) -> None:
    for path in found.values():
        _check_size(path, expected)


def _check_size(path: Path, expected: int) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise files.unreadable(path, error) from None
    if size != expected:
        raise InputError(f"{path}: got {size} bytes, expected {expected} for the size in its name")
