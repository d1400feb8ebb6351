"""``frame_bundle.npz``: a DepthBundleRecorder recording after its authors' converter, already upright."""

from pathlib import Path

import numpy as np

from datasets.capture import SIMULATED, name_of
from datasets.formats import ios
from datasets.formats.npz import Archive
from datasets.recording import Recording
from icb import InputError

DESCRIPTION = "a frame_bundle.npz, or a folder with one"
NAME = "frame_bundle.npz"


def recognises(path: Path) -> bool:
    """Whether it is such a file or holds one."""
    return (path.is_file() and path.suffix == ".npz") or (path / NAME).is_file()


def open_capture(path: Path) -> "FrameBundle":
    """Open such a file."""
    return FrameBundle(path / NAME if path.is_dir() else path)


class FrameBundle(Recording):
    """One recording; arrays are taken from the archive, which stays open, when asked for."""

    def __init__(self, path: Path) -> None:
        self._archive = Archive(path)
        count = self._archive["num_frames"]
        if count.shape != () or count.dtype.kind not in "iu":
            raise InputError(f"{path}: got num_frames as {count.dtype} {count.shape}, expected the number of frames")
        if not 1 <= count <= len(self._archive.names):
            raise InputError(f"{path}: got num_frames {count}, expected the number of frames")
        headers, origins = [], []
        for index in range(int(count)):
            for key in (f"img_{index}", f"info_{index}"):
                if key not in self._archive:
                    raise InputError(f"{path}: has no array {key!r}, expected {count} frames")
            info = self._archive[f"info_{index}"]
            origins.append(f"{path}, array 'info_{index}'")
            headers.append(ios.from_dict(info.item() if info.size == 1 else None, origins[-1]))
        name = name_of(path.parent if path.name == NAME else path.with_suffix(""))
        # Sizes are in the arrays' own heads; one picture is read here for them.
        height, width = self._picture(0).shape[:2]
        super().__init__(path, name, (height, width), headers, origins)

    def frame(self, index: int) -> np.ndarray:
        """As stored."""
        picture = self._picture(index)
        if picture.shape[:2] != self.size:
            raise InputError(f"{self.path}: got img_{index} of {picture.shape[:2]}, expected {self.size} as the first")
        return picture

    def depth(self, index: int) -> np.ndarray | None:
        """As stored, NaN where the sensor has nothing."""
        metres = self._map(f"depth_{index}", "f")
        if metres is None:
            return None
        return np.where(np.isfinite(metres) & (metres > 0), metres, np.nan).astype(np.float32)

    def depth_name(self, index: int) -> str:
        """Where the depth of a frame is, or would be."""
        return f"{self.path}, array 'depth_{index}'"

    def confidence(self, index: int) -> np.ndarray | None:
        """As stored."""
        levels = self._map(f"conf_{index}", "iu")
        return None if levels is None else levels.astype(np.uint8)

    def files(self) -> list[Path]:
        """The archive, and the mark of the simulator."""
        mark = self.path.parent / SIMULATED
        return [self.path] + ([mark] if mark.is_file() else [])

    def _picture(self, index: int) -> np.ndarray:
        picture = self._archive[f"img_{index}"]
        if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or picture.size == 0:
            raise InputError(
                f"{self._archive.path}: got img_{index} as {picture.dtype} {picture.shape}, expected uint8 (H, W, 3)"
            )
        return picture

    def _map(self, key: str, kinds: str) -> np.ndarray | None:
        if key not in self._archive:
            return None
        values = self._archive[key]
        if values.dtype.kind not in kinds or values.ndim != 2 or values.size == 0:
            raise InputError(
                f"{self._archive.path}: got {key} as {values.dtype} {values.shape}, expected numbers (h, w)"
            )
        return values
