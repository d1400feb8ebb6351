"""A step of a restoration beside a literal one, in turns; and the memory of a fit."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch

import icb
from icb.restoration import Network, Settings, restore
from icb.restoration.frame import Frame
from icb.restoration.loss import make_patch, patch_loss
from tests import literal_fit
from tests.bench.blur import bench_scene
from tests.scenes import Scene, motion

ROWS, COLUMNS = (0, 96), (0, 128)
HD = (720, 1280)
LIMIT_MB = 2000.0


def steps() -> pd.DataFrame:
    """Milliseconds of a step, literal and ours: the network alone, and through ICB."""
    rows = []
    for case, s, n in (("network alone", still_scene(), 1.0), ("whole ICB step", bench_scene(192, 256), 1.25)):
        blur = icb.ICB(s.depth, s.trajectory, s.camera, n=n)
        ours, literal = our_step(blur, s.image()), literal_step(blur, s.image())
        slow, fast = in_turns(literal, ours)
        kernel = 2 * max(blur.radius) + 1
        what = {"step": case, "patch": "128x96", "width": 192, "layers": len(blur.layers), "kernel": kernel}
        rows.append({**what, "literal": slow, "ours": fast, "literal/ours": slow / fast})
    return pd.DataFrame(rows)


def still_scene() -> Scene:
    """No motion: a blur that costs next to nothing and needs no padding."""
    s = bench_scene(192, 256)
    return Scene(s.depth, motion("still", 0.0, 1.0, s.camera.fx), s.camera)


def our_step(blur: icb.ICB, photo: np.ndarray) -> Callable[[], object]:
    """Loss, gradient, clipping and Adam, as :func:`icb.restore` does them."""
    frame = Frame(*blur.shape, *blur.radius)
    network = Network(Settings(), frame)
    optimiser = torch.optim.Adam(network.parameters(), lr=5e-4)
    patch = make_patch(torch.from_numpy(photo).permute(2, 0, 1), blur, frame, ROWS, COLUMNS)

    def step() -> None:
        optimiser.zero_grad()
        patch_loss(network, patch).total.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()

    return step


def literal_step(blur: icb.ICB, photo: np.ndarray) -> Callable[[], object]:
    """Plain modules, double backward and dense, square convolutions; kernels and mattes are made beforehand."""
    radius = max(blur.radius)
    beyond = [radius - reach for reach in reversed(blur.radius) for _ in range(2)]  # where all kernels are 0
    net = literal_fit.siren(192)
    optimiser = torch.optim.Adam(net.parameters(), lr=5e-4)
    points = literal_points(blur)
    mattes = torch.from_numpy(blur.mattes()[:, slice(*ROWS), slice(*COLUMNS)].copy())
    kernels = torch.zeros(len(blur.layers), 2 * radius + 1, 2 * radius + 1)
    for layer, kernel in zip(blur.layers, kernels, strict=True):
        kernel[layer.taps[:, 0] + radius, layer.taps[:, 1] + radius] = torch.from_numpy(layer.weights).float()
    target = 2 * torch.from_numpy(photo).permute(2, 0, 1)[:, slice(*ROWS), slice(*COLUMNS)] - 1

    def apply(picture: torch.Tensor) -> torch.Tensor:
        padded = torch.nn.functional.pad(picture, beyond)
        return literal_fit.dense_blur(padded, mattes, kernels) if radius else picture

    def step() -> None:
        optimiser.zero_grad()
        literal_fit.loss(net, points, apply, target, 8e-6)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()

    return step


def literal_points(blur: icb.ICB) -> torch.Tensor:
    """Where the literal step evaluates its network: where ours does, (h', w', 2)."""
    down, right = blur.radius
    points = literal_fit.grid(*blur.shape, blur.radius).float()
    return points[ROWS[0] : ROWS[1] + 2 * down, COLUMNS[0] : COLUMNS[1] + 2 * right]


def in_turns(*works: Callable[[], object], rounds: int = 9) -> list[float]:
    """Median milliseconds of each, taken in turns, so that whatever else runs meets all of them alike."""
    times: list[list[float]] = [[] for _ in works]
    for turn in range(rounds + 1):
        for work, mine in zip(works, times, strict=True):
            begin = time.perf_counter()
            work()
            if turn:  # the first one warms up
                mine.append(1e3 * (time.perf_counter() - begin))
    print(".", end="", flush=True, file=sys.stderr)
    return [statistics.median(mine) for mine in times]


def fit_memory() -> pd.DataFrame:
    """Peak memory in MB of a process that fits one epoch at 1280x720 in patches of 144x256, all of it counted."""
    from tests.bench.measure import in_new_process

    rows = []
    for model, network in (("icb", "siren"), ("pwb", "siren"), ("icb", "fourier")):
        measured = json.loads(in_new_process("tests.bench.restore", model, network))
        rows.append({"model": model, "network": network, **measured})
        print(".", end="", flush=True, file=sys.stderr)
    print(file=sys.stderr)
    return pd.DataFrame(rows)


def memory_of(model: str, network: str) -> dict[str, float]:
    """One epoch of the paper's fit."""
    s = bench_scene(*HD)
    blur = {"icb": icb.ICB, "pwb": icb.PWB}[model](s.depth, s.trajectory, s.camera)
    found = restore(blur(s.image()), blur, network=network, epochs=1, patch=(144, 256), device="cpu")
    return {"kernel": 2 * max(blur.radius) + 1, "seconds an epoch": float(found.history.seconds[0]), "peak": _peak()}


def _peak() -> float:
    """MB. The system's record of usage would count what the process that started this one held."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024 / 1e6


def checks(times: pd.DataFrame, memory: pd.DataFrame) -> pd.DataFrame:
    """The bounds this project holds itself to, on two cores."""
    alone, whole = times["literal/ours"]
    rows = [
        ("literal / our step, network alone, 128x96", float(alone), ">=", 1.4),
        ("literal / our step, ICB, 128x96", float(whole), ">=", 2.0),
        ("peak memory of a fit at 1280x720, MB", float(memory["peak"].max()), "<=", LIMIT_MB),
    ]
    frame = pd.DataFrame(rows, columns=["bound", "measured", "is", "limit"])
    least = frame["is"] == ">="
    frame["holds"] = np.where(least, frame["measured"] >= frame["limit"], frame["measured"] <= frame["limit"])
    return frame


if __name__ == "__main__":
    print(json.dumps(memory_of(*sys.argv[1:])))
