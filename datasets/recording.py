"""What the readers of iOS recordings share: everything that comes from the frames' headers."""

from pathlib import Path

import numpy as np

import icb
from datasets.capture import SIMULATED, CaptureInfo, check_poses, read_mark
from datasets.formats import ios
from datasets.formats.swift_header import Header
from icb import InputError


class Recording:
    """Poses, times and cameras of M frames, from their headers; ``size`` is the upright (H, W)."""

    def __init__(self, path: Path, name: str, size: tuple[int, int], headers: list[Header], origins: list[str]) -> None:
        self.path = path
        mark = (path if path.is_dir() else path.parent) / SIMULATED
        simulated = mark.is_file()
        # The app records neither scene, case nor motion; the simulator does.
        scene, case, motion = read_mark(mark) if simulated else (None, None, None)
        self.info = CaptureInfo(name, "RealCMB", scene, case, motion, simulated)
        self.size = size
        self.headers = headers
        self.poses = check_poses(ios.opengl_to_opencv([header.world_to_camera for header in headers]), origins)
        times = np.array([header.time for header in headers])
        late = np.flatnonzero(np.diff(times) <= 0)
        if late.size:
            after = late[0] + 1
            raise InputError(f"{origins[after]}: got time {times[after]} s, expected later than {times[after - 1]} s")
        self.times = times - times[0]
        # The landscape picture has as many rows as the upright one has columns.
        self._cameras = []
        for header, origin in zip(headers, origins, strict=True):
            try:
                self._cameras.append(ios.upright_camera(header.intrinsics, size[1]))
            except InputError as error:
                raise InputError(f"{origin}: {error}") from None
        self.camera = self._cameras[min(len(headers) // 2 + 1, len(headers) - 1)]

    def __len__(self) -> int:
        return len(self.headers)

    def camera_of(self, index: int) -> icb.Camera:
        """Intrinsics of one frame: the lens moves when it focuses."""
        return self._cameras[index]
