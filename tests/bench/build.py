"""The builder beside merely decoding the frames: time a frame, and memory by the number of frames."""

import json
import sys
import tempfile
from pathlib import Path

import cv2
import numpy as np
import pandas as pd

import icb
from datasets.build import Options, build
from datasets.formats import packed_depth, png, unity_log
from icb.measure import Peak
from tests.bench.measure import bounds, in_new_process, median_ms

HEIGHT, WIDTH = 720, 1280
FRAMES = (20, 80)
LIMIT = 1.5


def make_capture(folder: Path, frames: int, size: tuple[int, int] = (HEIGHT, WIDTH)) -> Path:
    """A raw Unity capture of smooth noise with a little grain, which compresses about as photographs do."""
    random = np.random.default_rng(0)
    path = folder / f"BenchMacro_{frames}"
    for part in ("frames", "camera_logs", "depth"):
        (path / part).mkdir(parents=True)
    height, width = size
    coarse = random.integers(0, 256, (height // 16 + 2, (width + frames) // 16 + 2, 3)).astype(np.uint8)
    wide = np.asarray(cv2.resize(coarse, (width + frames, height), interpolation=cv2.INTER_CUBIC)) // 2
    wide += random.integers(0, 4, wide.shape).astype(np.uint8)
    depth = packed_depth.encode(np.full(size, 3.0), 20.0)
    (path / "depth" / f"{frames // 2 + 1}.png").write_bytes(png.encode(depth))
    for number in range(frames):
        (path / "frames" / f"{number}.png").write_bytes(png.encode(np.ascontiguousarray(wide[:, number:][:, :width])))
        pose = np.eye(4)
        pose[0, 3] = 1e-3 * number
        log = unity_log.camera_log(
            pose,
            position=(-1e-3 * number, 0, 0),
            euler_angles=(0, 0, 0),
            focal_mm=30,
            sensor_mm=(36, 36 * height / width),
            image_size=(width, height),
            depth_range=(0.1, 20),
        )
        (path / "camera_logs" / f"camera_logs_{number}.txt").write_text(json.dumps(log))
    (path / "params.txt").write_text(json.dumps(unity_log.param_log("Assets/Bench", "xy", "")))
    return path


def build_times() -> pd.DataFrame:
    """Milliseconds a frame of decoding in a plain loop and of building, on one thread and on all; peak memory in MB."""
    with tempfile.TemporaryDirectory() as name:
        return pd.DataFrame([times_of(make_capture(Path(name), frames), frames) for frames in FRAMES])


def times_of(capture: Path, frames: int) -> dict[str, float]:
    """One capture, decoding and building in turn."""
    pictures = [str(path) for path in sorted((capture / "frames").iterdir())]
    out = capture.parent / "out"

    def building() -> float:
        return median_ms(lambda: build([capture], out, Options()), least=3) / frames

    decode = median_ms(lambda: [cv2.imread(picture) for picture in pictures], least=3) / frames
    icb.set_num_threads(1)
    alone = building()
    icb.set_num_threads(None)
    together = building()
    peak = json.loads(in_new_process("tests.bench.build", str(capture)))
    ratios = {"one thread/decode": alone / decode, "build/decode": together / decode}
    return {"frames": frames, "decode": decode, "one thread": alone, "build": together, **ratios, "peak": peak}


def memory_of(capture: Path) -> float:
    """Peak of building one capture in MB, above what the process held before."""
    with tempfile.TemporaryDirectory() as name:
        build(
            [make_capture(Path(name), 5, (64, 64))], Path(name) / "warm", Options()
        )  # compiles and loads what will run
        used = Peak()
        build([capture], Path(name) / "out", Options())
        return used.bytes() / 1e6


def checks(table: pd.DataFrame) -> pd.DataFrame:
    """The bounds: within 1.5 times of decoding, like for like, and memory that does not grow with the frames.

    They are asked of the longer capture: writing a sample costs the same however many frames it has.
    """
    longest, growth = table.iloc[-1], table["peak"].iloc[-1] / table["peak"].iloc[0]
    rows = [
        (f"build on one thread / decode, {FRAMES[-1]} frames", float(longest["one thread/decode"]), "<=", LIMIT),
        (f"build / decode, {FRAMES[-1]} frames", float(longest["build/decode"]), "<=", LIMIT),
        (f"peak memory, {FRAMES[-1]} / {FRAMES[0]} frames", float(growth), "<=", 1.1),
    ]
    return bounds(rows)


if __name__ == "__main__":
    print(json.dumps(memory_of(Path(sys.argv[1]))))
