"""Unity capture folders: ``frames/``, ``camera_logs/``, ``depth/`` and ``params.txt``."""

import re
from pathlib import Path

import numpy as np

import icb
from datasets.capture import SIMULATED, CaptureInfo, check_poses, name_of, numbered
from datasets.formats import packed_depth, png, unity_log
from icb import InputError

DESCRIPTION = "a Unity folder (frames/<m>.png, camera_logs/camera_logs_<m>.txt, depth/<m>.png, params.txt)"

FRAME = re.compile(r"(?:frame_)?(\d+)\.png")
LOG = re.compile(r"camera_logs_(\d+)\.txt")
DEPTH = re.compile(r"(\d+)\.png")
CASES = ("Macro", "Trucking", "Standard")


def recognises(path: Path) -> bool:
    """Whether the folder has either of the two that no capture is without."""
    return (path / "frames").is_dir() or (path / "camera_logs").is_dir()


def open_capture(path: Path) -> "UnityCapture":
    """Open such a folder."""
    return UnityCapture(path)


def case_of(name: str) -> str | None:
    """Macro, Trucking or Standard, from an id such as ``VillageMacro_12``."""
    return next((case for case in CASES if f"{case}_" in name), None)


def pose_rate(case: str | None) -> float:
    """Poses per second."""
    return 2000.0 if case == "Trucking" else 500.0


class UnityCapture:
    """One capture; the logs of all poses are read, the pictures when asked for."""

    def __init__(self, path: Path) -> None:
        self.path = path
        frames, logs = path / "frames", path / "camera_logs"
        self._frames = find(frames, FRAME)
        self.logs = find(logs, LOG)
        self._depths = find(path / "depth", DEPTH) if (path / "depth").is_dir() else {}
        pattern = frame_pattern(self._frames)
        self.numbers = numbered({**self._frames, **self.logs}, frames, pattern)
        if not self.numbers:
            raise InputError(f"{frames}: has no frames, expected <m>.png for every pose")
        for number in self.numbers:
            if number not in self._frames:
                raise InputError(f"{frames / pattern.format(number)}: missing, expected one file for each frame")
            if number not in self.logs:
                raise InputError(f"{logs / f'camera_logs_{number}.txt'}: missing, expected one file for each frame")
        self.params = path / "params.txt"
        scene, motion = unity_log.parse_param_log(self.params)
        name = name_of(path)
        case = case_of(name)
        self.info = CaptureInfo(name, "VirtualCMB", scene, case, motion, (path / SIMULATED).is_file())
        self._logs = read_logs([self.logs[number] for number in self.numbers])
        self.poses = opencv_poses(self._logs, [self.logs[number] for number in self.numbers])
        self.times = np.arange(len(self._logs)) / pose_rate(case)
        width, height = self._logs[0].image_size
        self.size = (height, width)
        self.camera = self._logs[min(len(self) // 2 + 1, len(self) - 1)].camera
        first = self._frames[self.numbers[0]]
        if png.size(first) != self.size:
            rows, columns = png.size(first)
            raise InputError(f"{first}: got {columns} x {rows} pixels, expected {width} x {height} as in the logs")

    def __len__(self) -> int:
        return len(self.numbers)

    def camera_of(self, index: int) -> icb.Camera:
        """Intrinsics of one frame."""
        return self._logs[index].camera

    def frame(self, index: int) -> np.ndarray:
        """As stored."""
        return png.read(self._frames[self.numbers[index]], self.size)

    def depth_file(self, index: int) -> Path | None:
        """The packed depth of a pose, if it was kept."""
        return self._depths.get(self.numbers[index])

    def depth(self, index: int) -> np.ndarray | None:
        """Unpacked; where nothing was rendered it is 1.5 times the largest depth of the log."""
        path = self.depth_file(index)
        return None if path is None else packed_depth.decode(png.read(path, self.size), *self._logs[index].depth_range)

    def depth_name(self, index: int) -> str:
        """Where the depth of a frame is, or would be."""
        return str(self.path / "depth" / f"{self.numbers[index]}.png")

    def confidence(self, index: int) -> np.ndarray | None:
        """None: rendered depth is certain."""
        return None

    def files(self) -> list[Path]:
        """Frames, logs, depth, parameters, and the mark of the simulator."""
        mark = self.path / SIMULATED
        everything = [*self._frames.values(), *self.logs.values(), *self._depths.values(), self.params]
        return sorted(everything + ([mark] if mark.is_file() else []))


def find(folder: Path, pattern: re.Pattern[str]) -> dict[int, Path]:
    """Files by the number in their name."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, expected it in a Unity capture")
    found: dict[int, Path] = {}
    for path in sorted(folder.iterdir()):
        match = pattern.fullmatch(path.name)
        if match:
            if int(match[1]) in found:
                raise InputError(f"{path}: number {int(match[1])} is there twice, expected one file for each")
            found[int(match[1])] = path
    return found


def frame_pattern(frames: dict[int, Path]) -> str:
    """How a folder names its frames, after the first of them: ``frame_{}.png``, ``{}.png``, or padded with zeros."""
    if not frames:
        return "{}.png"
    name = frames[min(frames)].name
    digits = name.removeprefix("frame_").removesuffix(".png")
    width = len(digits) if digits.startswith("0") else 1
    return name.replace(digits, f"{{:0{width}d}}")


def read_logs(paths: list[Path]) -> list[unity_log.UnityPose]:
    """Camera logs in the order of the poses; they must agree on the size of the picture."""
    logs = [unity_log.parse_camera_log(path) for path in paths]
    for path, log in zip(paths, logs, strict=True):
        if log.image_size != logs[0].image_size:
            raise InputError(f"{path}: got imageSize {log.image_size}, expected {logs[0].image_size} as the first")
    return logs


def opencv_poses(logs: list[unity_log.UnityPose], paths: list[Path]) -> np.ndarray:
    """(M, 4, 4) world to camera m, OpenCV axes."""
    return check_poses(unity_log.unity_to_opencv([log.world_to_camset for log in logs]), paths)
