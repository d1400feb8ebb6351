"""Tiny raw captures of a slanted, textured plane, rendered ray by ray in each device's own axes."""

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from scipy.spatial.transform import Rotation

import icb
from datasets.formats import nv12, packed_depth, png, swift_header, unity_log
from datasets.readers import open_capture

# From the landscape sensor's axes to the upright camera's, both OpenGL: x_p = y_l, y_p = -x_l.
UPRIGHT = np.array([[0.0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


UNITY, IOS = "VillageMacro_1", "bundle-2022-05-01_10-00-00"
"""Names of the captures made here unless told otherwise."""


@dataclass(frozen=True)
class Plane:
    """Points X of the world with ``normal . X = offset``, and a smooth texture on it."""

    normal: np.ndarray
    offset: float
    seed: int
    wavelength: float  # metres, the shortest

    def hit(self, origin: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distances in units of the directions (z-depth where they have |z| = 1), and RGB uint8."""
        distance = (self.offset - self.normal @ origin) / (directions @ self.normal)
        points = origin + distance[..., None] * directions
        return distance, self.colour(points)

    def colour(self, points: np.ndarray) -> np.ndarray:
        random = np.random.default_rng(self.seed)
        value = np.zeros((*points.shape[:-1], 3))
        for _ in range(12):
            wave = random.standard_normal((3, 3))
            wave *= 2 * np.pi / self.wavelength / np.linalg.norm(wave, axis=0) * random.uniform(0.3, 1, 3)
            value += np.sin(points @ wave + random.uniform(0, 6, 3))
        return np.floor(np.clip(127.5 + 22 * value, 0, 255) + 0.5).astype(np.uint8)


def wobble(poses: int, seed: int, shift: float, turn: float) -> np.ndarray:
    """(M, 4, 4) small rigid motions that never stand still: camera m to base camera, any axes."""
    random = np.random.default_rng(seed)
    time = np.linspace(-1, 1, poses)[:, None]
    signs = random.choice([-1, 1], 3)
    path = np.concatenate([time, 0.6 * time + 0.3 * np.sin(3 * time), 0.5 * np.sin(2 * time)], axis=1) * shift * signs
    turns = np.concatenate([np.sin(1.9 * time), 0.8 * np.cos(1.3 * time), 1.5 * time], axis=1) * turn
    motion = np.tile(np.eye(4), (poses, 1, 1))
    motion[:, :3, :3] = Rotation.from_rotvec(turns).as_matrix()
    motion[:, :3, 3] = path
    return motion


def base_pose() -> np.ndarray:
    """Where the capture is in the world: nowhere near the axes."""
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler("yxz", [40, -15, 8], degrees=True).as_matrix()
    pose[:3, 3] = [1.2, -0.4, 3.1]
    return pose


def plane_before(base: np.ndarray, forward: float, distance: float, seed: int, wavelength: float) -> Plane:
    """A plane before the base camera, which looks along ``forward`` times z."""
    normal = base[:3, :3] @ (np.array([0.3, 0.2, forward]) / np.linalg.norm([0.3, 0.2, 1]))
    point = base[:3, 3] + base[:3, :3] @ [0, 0, forward * distance]
    return Plane(normal, float(normal @ point), seed, wavelength)


def rays(camera: icb.Camera, size: tuple[int, int], forward: float) -> np.ndarray:
    """(H, W, 3) directions with |z| = 1; y points up in Unity and OpenGL alike."""
    rows, columns = np.mgrid[: size[0], : size[1]].astype(np.float64)
    across, up = (columns - camera.cx) / camera.fx, -(rows - camera.cy) / camera.fy
    return np.stack([across, up, np.full(size, forward)], axis=-1)


def make_unity(
    folder: Path,
    name: str = UNITY,
    *,
    size: tuple[int, int] = (90, 160),
    poses: int = 9,
    seed: int = 0,
    modes: tuple[str, str] = ("xyz", "xyz"),
    prefix: str = "frame_",
    all_depths: bool = True,
    first_turn: float = 0.0,
) -> Path:
    """A Unity capture: camera to world matrices in Unity's axes. ``first_turn`` radians aside looks the first pose."""
    path = folder / name
    for part in ("frames", "camera_logs", "depth"):
        (path / part).mkdir(parents=True)
    focal_mm, sensor = 30.0, (36.0, 36.0 * size[0] / size[1])
    focal = focal_mm / sensor[0] * size[1]
    camera = icb.Camera.centred(focal, size[1], size[0])
    base = base_pose()
    plane = plane_before(base, 1.0, 2.0, seed, wavelength=9 * 2.0 / focal)
    motion = wobble(poses, seed, shift=5 * 2.0 / focal, turn=3 / focal)
    if first_turn:
        motion[0, :3, :3] = Rotation.from_rotvec([0, first_turn, 0]).as_matrix()
    for number, to_world in enumerate(base @ motion):
        depth, colour = plane.hit(to_world[:3, 3], rays(camera, size, 1.0) @ to_world[:3, :3].T)
        (path / "frames" / f"{prefix}{number}.png").write_bytes(png.encode(colour))
        if all_depths or number == poses // 2 + 1:
            packed = packed_depth.encode(depth, 20.0)
            (path / "depth" / f"{number}.png").write_bytes(png.encode(packed))
        log = unity_log.camera_log(
            np.linalg.inv(to_world),
            position=to_world[:3, 3],
            euler_angles=(0, 0, 0),
            focal_mm=focal_mm,
            sensor_mm=sensor,
            image_size=(size[1], size[0]),
            depth_range=(0.1, 20.0),
        )
        (path / "camera_logs" / f"camera_logs_{number}.txt").write_text(json.dumps(log))
    (path / "params.txt").write_text(json.dumps(unity_log.param_log("Assets/Scenes/Village", *modes)))
    return path


def make_ios(
    folder: Path,
    name: str = IOS,
    *,
    size: tuple[int, int] = (240, 320),
    depth_size: tuple[int, int] = (48, 64),
    frames: int = 9,
    first: int = 7,
    seed: int = 0,
) -> Path:
    """A DepthBundleRecorder folder; sizes are (H, W) of the landscape sensor."""
    path = folder / name
    path.mkdir(parents=True)
    camera = icb.Camera(1.0 * size[1], 1.04 * size[1], 0.56 * size[1], 0.38 * size[0])
    base = base_pose()
    distance = 1.5
    plane = plane_before(base, -1.0, distance, seed, wavelength=40 * distance / camera.fx)
    motion = wobble(frames, seed, shift=20 * distance / camera.fx, turn=12 / camera.fx)
    factor = size[0] / depth_size[0]
    small = camera.scaled(1 / factor)
    for index, world_pose in enumerate(base @ motion):
        number = first + index
        turned = world_pose[:3, :3].T
        _, colour = plane.hit(world_pose[:3, 3], rays(camera, size, -1.0) @ turned)
        depth, _ = plane.hit(world_pose[:3, 3], rays(small, depth_size, -1.0) @ turned)
        header = swift_header.Header(
            1000.5 + index / 60, np.zeros(3), world_pose, camera.matrix, UPRIGHT @ np.linalg.inv(world_pose)
        )
        h, w = size
        luma, chroma = nv12.encode(colour)
        picture = path / f"image_P0_{w}x{h}_P1_{w // 2}x{h // 2}_{number}.bin"
        picture.write_bytes(luma.tobytes() + chroma.tobytes())
        h, w = depth_size
        (path / f"depth_{w}x{h}_{number}.bin").write_bytes(
            swift_header.format_header(header) + depth.astype("<f4").tobytes()
        )
        (path / f"conf_{w}x{h}_{number}.bin").write_bytes(np.full(depth_size, 2, np.uint8).tobytes())
    return path


def opened(path: Path) -> Any:
    """A capture of which a test knows that it has depth and confidence."""
    return open_capture(path)


def re_header(data: bytes, key: str, value: str) -> bytes:
    """The same file with the first number after ``key`` exchanged, the header still 1024 bytes."""
    text, end, garbage = data[:1024].partition(swift_header.END)
    text = re.sub(rf"({key}:[^,]*\[\[)[^,]+".encode(), rb"\1" + value.encode(), text, count=1)
    return (text + end + garbage)[:1024].ljust(1024, b"\xfe") + data[1024:]


def make_frame_bundle(bundle: Path, folder: Path) -> Path:
    """What the app's converter makes of a folder, written literally: arrays turned, times from the first."""
    arrays: dict[str, object] = {}
    start = None
    depths = sorted(bundle.glob("depth_*.bin"), key=lambda path: int(path.stem.rpartition("_")[2]))
    for index, depth_file in enumerate(depths):
        number = depth_file.stem.rpartition("_")[2]
        w, h = (int(side) for side in depth_file.name.split("_")[1].split("x"))
        data = depth_file.read_bytes()
        header = swift_header.parse_header(data, depth_file)
        start = header.time if start is None else start
        (image_file,) = bundle.glob(f"image_*_{number}.bin")
        width, height = (int(side) for side in image_file.name.split("_")[2].split("x"))
        pixels = np.frombuffer(image_file.read_bytes(), np.uint8)
        luma, chroma = pixels[: width * height], pixels[width * height :]
        rgb = nv12.decode(luma.reshape(height, width), chroma.reshape(height // 2, width // 2, 2))
        confidence = np.frombuffer((bundle / f"conf_{w}x{h}_{number}.bin").read_bytes(), np.uint8).reshape(h, w)
        arrays[f"img_{index}"] = np.flip(np.swapaxes(rgb, 0, 1), 1)
        arrays[f"depth_{index}"] = np.flip(np.frombuffer(data[1024:], "<f4").reshape(h, w).T, 1)
        arrays[f"conf_{index}"] = np.flip(confidence.T, 1)
        arrays[f"info_{index}"] = {
            "timestamp": header.time - start,
            "euler_angles": header.euler_angles.astype(np.float32),
            "world_pose": header.world_pose.astype(np.float32),
            "intrinsics": header.intrinsics.astype(np.float32),
            "world_to_camera": header.world_to_camera.astype(np.float32),
        }
    arrays["num_frames"] = len(depths)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "frame_bundle.npz", **arrays)  # type: ignore[arg-type]
    return folder / "frame_bundle.npz"


def seen_from_reference(
    other: np.ndarray, depth: np.ndarray, pose: np.ndarray, camera: icb.Camera
) -> tuple[np.ndarray, np.ndarray]:
    """What the reference frame would look like, fetched from another frame, and where that is known.

    Pixel q of depth D is the point ``D C^-1 q``, which the other camera sees at ``C (R X + t)``.
    """
    height, width = depth.shape
    rows, columns = np.mgrid[:height, :width].astype(np.float64)
    rays_of = np.stack([(columns - camera.cx) / camera.fx, (rows - camera.cy) / camera.fy, np.ones_like(rows)], -1)
    points = depth[..., None] * rays_of @ pose[:3, :3].T + pose[:3, 3]
    x = camera.fx * points[..., 0] / points[..., 2] + camera.cx
    y = camera.fy * points[..., 1] / points[..., 2] + camera.cy
    known = (x > 2) & (x < width - 3) & (y > 2) & (y < height - 3) & (points[..., 2] > 0)
    fetched = cv2.remap(other.astype(np.float32), x.astype(np.float32), y.astype(np.float32), cv2.INTER_CUBIC)
    return fetched, known


def misplacement(
    reference: np.ndarray, other: np.ndarray, depth: np.ndarray, pose: np.ndarray, camera: icb.Camera
) -> float:
    """By how many pixels the reference frame, moved by depth and pose, misses the other frame, at the worst.

    Blocks of the fetched picture are compared with the reference at shifts of up to 5 pixels; the shift of
    the best match, refined by a parabola, is how far it is off.
    """
    reach, block = 5, 24
    fetched, known = seen_from_reference(other, depth, pose, camera)
    worst = 0.0
    blocks = 0
    height, width = depth.shape
    target = reference.astype(np.float32)
    for top in range(reach, height - block - reach + 1, block // 2):
        for left in range(reach, width - block - reach + 1, block // 2):
            if not known[top : top + block, left : left + block].all():
                continue
            piece = fetched[top : top + block, left : left + block]
            field = target[top - reach : top + block + reach, left - reach : left + block + reach]
            costs = cv2.matchTemplate(field, piece, cv2.TM_SQDIFF)
            worst = max(worst, float(np.hypot(*_lowest(costs, reach))))
            blocks += 1
    if blocks == 0:
        return np.inf
    return worst


def _lowest(costs: np.ndarray, reach: int) -> tuple[float, float]:
    row, column = np.unravel_index(np.argmin(costs), costs.shape)
    if not (0 < row < costs.shape[0] - 1 and 0 < column < costs.shape[1] - 1):
        return float(row - reach), float(column - reach)

    def vertex(before: float, here: float, after: float) -> float:
        return 0.5 * (before - after) / max(before - 2 * here + after, 1e-9)

    down = vertex(*costs[row - 1 : row + 2, column])
    right = vertex(*costs[row, column - 1 : column + 2])
    return row - reach + down, column - reach + right


def tree(folder: Path) -> dict[str, str | None]:
    """Everything under a folder, hidden or not: names and hashes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
        for path in folder.rglob("*")
    }
