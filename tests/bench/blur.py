"""Build, apply and adjoint of both models: time and memory."""

import json
import sys

import cv2
import numpy as np
import pandas as pd
import torch

import icb
from icb.measure import Peak
from tests import reference
from tests.bench.measure import bounds, in_new_process, median_ms, once_ms
from tests.scenes import Scene, boxes, motion

SIZES = ((192, 256), (360, 640), (720, 1280), (1440, 2560))
DENSE_UP_TO = 640
RADIUS, POSES = 17.0, 65
MODELS = {"icb": icb.ImageCompositingBlur, "pwb": icb.PixelWiseBlur}


TILE = (360, 640)


def bench_scene(height: int, width: int, kind: str = "parallax", poses: int = POSES) -> Scene:
    """Floors with boxes of 8 to 160 pixels, in tiles: as much detail per pixel at any size.

    The nearest point moves by about 17 pixels.
    """
    down, right = -(-height // TILE[0]), -(-width // TILE[1])
    tiles = [[boxes(*TILE, seed=right * i + j, count=40, sizes=(8, 160)) for j in range(right)] for i in range(down)]
    depth = np.ascontiguousarray(np.block(tiles)[:height, :width])
    camera = icb.Camera.centred(0.9 * width, width, height)
    share = 0.55 if kind == "6-DoF" else 1.0  # rotation does the rest
    return Scene(depth, motion(kind, share * RADIUS, float(depth.min()), camera.fx, poses), camera)


def times() -> pd.DataFrame:
    """Milliseconds by size and model."""
    rows = []
    for kind, (height, width) in [("parallax", size) for size in SIZES] + [("6-DoF", (720, 1280))]:
        s = bench_scene(height, width, kind)
        for name in MODELS:
            what = {"motion": kind, "size": f"{width}x{height}", "pixels": width * height, "model": name}
            rows.append({**what, **times_of(name, s)})
            print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return pd.DataFrame(rows)


def times_of(name: str, s: Scene) -> dict[str, object]:
    """One model on one scene, the uniform filter beside it."""
    x = s.image()
    layered = icb.ICB(s.depth, s.trajectory, s.camera)
    largest = 2 * max(layered.radius) + 1
    kernel = np.full((largest, largest), 1 / largest**2, np.float32)

    def build() -> icb.BlurOperator:
        return MODELS[name](s.depth, s.trajectory, s.camera)

    blur = build()
    return {
        "kernel": largest,
        "layers": len(layered.layers) if name == "icb" else pd.NA,
        "uniform": median_ms(lambda: cv2.filter2D(x, -1, kernel, borderType=cv2.BORDER_REPLICATE)),
        "build": median_ms(build),
        "apply": median_ms(lambda: blur(x)),
        "adjoint": median_ms(lambda: blur.adjoint(x)),
        "build_apply": median_ms(lambda: build()(x)),
        "dense": once_ms(lambda: dense(name, s, x)) if s.depth.shape[1] <= DENSE_UP_TO else np.nan,
    }


def dense(model: str, s: Scene, x: np.ndarray) -> torch.Tensor:
    """The literal model in torch, float32, dense kernels: build and apply."""
    image = torch.from_numpy(x).permute(2, 0, 1).contiguous()
    return getattr(reference, model)(image, *s.tensors())


def ratios(table: pd.DataFrame) -> pd.DataFrame:
    """What the bounds are about."""
    return pd.DataFrame(
        {
            "motion": table["motion"],
            "size": table["size"],
            "model": table["model"],
            "build_apply/uniform": table["build_apply"] / table["uniform"],
            "apply/uniform": table["apply"] / table["uniform"],
            "adjoint/apply": table["adjoint"] / table["apply"],
            "dense/build_apply": table["dense"] / table["build_apply"],
            "ns per pixel": 1e6 * table["build_apply"] / table["pixels"],
        }
    )


MEMORY_CASES = (
    "usual",
    "ten times the poses",
    "ten times the layers",
    "depth is noise",
    "noise, ten times the layers",
    "noise, 32 threads",
    "small, a hundred times the layers",
    "usual, on torch's path",
    "noise, on torch's path",
)


def memory() -> pd.DataFrame:
    """Peak memory of build, apply and adjoint at 1280x720 (small: 256x192), each in a process of its own."""
    rows = []
    for case in MEMORY_CASES:
        for model in MODELS:
            rows.append({"case": case, "model": model, **json.loads(in_new_process("tests.bench.blur", model, case))})
            print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return pd.DataFrame(rows)


def memory_of(model: str, case: str) -> dict[str, object]:
    """Peak above the inputs, in images, of one case."""
    if "threads" in case:
        icb.set_num_threads(32)
    size = (192, 256) if "small" in case else (720, 1280)
    s = bench_scene(*size, poses=10 * POSES if "poses" in case else POSES)
    if "noise" in case:
        s.depth[:] = np.random.default_rng(0).uniform(s.depth.min(), 9, s.depth.shape)
    options: dict[str, object] = {"backend": "torch"} if "torch" in case else {}
    if "layers" in case and model == "icb":
        options["n"] = 0.01 if "hundred" in case else 0.1
    x = s.image()
    tiny = bench_scene(70, 50)  # compiles and loads what will run
    warm = MODELS[model](tiny.depth, tiny.trajectory, tiny.camera)
    warm.adjoint(warm(tiny.image()))
    used = Peak()
    blur = MODELS[model](s.depth, s.trajectory, s.camera, **options)
    peaks = {"build": used.bytes()}
    blur(x)
    peaks["build, apply"] = used.bytes()
    blur.adjoint(x)
    peaks["build, apply, adjoint"] = used.bytes()
    layers = len(blur.layers) if isinstance(blur, icb.ICB) else None
    return {"layers": layers, **{key: value / x.nbytes for key, value in peaks.items()}}


def checks(table: pd.DataFrame, used: pd.DataFrame) -> pd.DataFrame:
    """The bounds this project holds itself to, on two cores."""

    def ms(size: str, model: str, column: str, kind: str = "parallax") -> float:
        found = table[(table["size"] == size) & (table["model"] == model) & (table["motion"] == kind)]
        return float(found[column].iloc[0])

    def ratio(size: str, model: str, above: str, below: str, kind: str = "parallax") -> float:
        return ms(size, model, above, kind) / ms(size, model, below, kind)

    rows = [
        ("ICB build+apply / uniform, 1280x720", ratio("1280x720", "icb", "build_apply", "uniform"), "<=", 3.0),
        ("ICB apply / uniform, 1280x720", ratio("1280x720", "icb", "apply", "uniform"), "<=", 2.0),
        ("ICB adjoint / apply, 1280x720", ratio("1280x720", "icb", "adjoint", "apply"), "<=", 2.0),
        ("PWB adjoint / apply, 1280x720", ratio("1280x720", "pwb", "adjoint", "apply"), "<=", 2.0),
        ("PWB build+apply / uniform, 1280x720", ratio("1280x720", "pwb", "build_apply", "uniform"), "<=", 3.0),
        ("PWB, 6-DoF, likewise", ratio("1280x720", "pwb", "build_apply", "uniform", "6-DoF"), "<=", 3.0),
        ("dense / ICB build+apply, 640x360", ratio("640x360", "icb", "dense", "build_apply"), ">=", 100.0),
        ("peak memory, images", float(used["build, apply, adjoint"].max()), "<=", 12.0),
    ]
    for model in MODELS:
        growth = ms("2560x1440", model, "build_apply") / ms("640x360", model, "build_apply") / 16
        rows.append((f"{model.upper()} time per pixel, 2560x1440 / 640x360", growth, "<=", 1.5))
        rows.append((f"{model.upper()} time per pixel, 640x360 / 2560x1440", 1 / growth, "<=", 1.5))
    return bounds(rows)


if __name__ == "__main__":
    print(json.dumps(memory_of(*sys.argv[1:3])))
