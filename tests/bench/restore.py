"""A step of a restoration beside a literal one, in turns; and the memory of a fit."""

import json
import sys
from collections.abc import Callable

import numpy as np
import pandas as pd
import torch

import icb
from icb.measure import process_peak
from icb.restoration import Network, Settings, restore
from icb.restoration.frame import Frame
from icb.restoration.loss import make_patch, patch_loss
from tests import literal_fit
from tests.bench.blur import POSES, RADIUS, bench_scene
from tests.bench.measure import bounds, in_new_process, medians_in_turns
from tests.scenes import Scene, motion

ROWS, COLUMNS = (0, 96), (0, 128)
ROUNDS = 9
NEAREST, FARTHEST = 0.5, 100.0
HD = (720, 1280)
LIMIT_MB = 2000.0


def steps() -> pd.DataFrame:
    """Milliseconds of a step, literal and ours: the network alone, and through ICB."""
    rows = []
    for case, s in (("network alone", still_scene()), ("whole ICB step", layered_scene())):
        blur = icb.ICB(s.depth, s.trajectory, s.camera, n=1.25)
        works = {"literal": literal_step(blur, s.image()), "ours": our_step(blur, s.image())}
        times = medians_in_turns(works, ROUNDS)
        what = {"step": case, "patch": "128x96", "width": 192, "layers": layers_seen(blur), "kernel": kernel_of(blur)}
        rows.append({**what, **times, "literal/ours": times["literal"] / times["ours"]})
        print(".", end="", flush=True, file=sys.stderr)
    return pd.DataFrame(rows)


def still_scene() -> Scene:
    """No motion: a blur that costs next to nothing and needs no padding."""
    s = bench_scene(192, 256)
    return Scene(s.depth, motion("still", 0.0, 1.0, s.camera.fx), s.camera)


def layered_scene() -> Scene:
    """A wall that recedes, along which 1 / D falls evenly, with boxes before it; the same in each of four patches.

    All 25 layers of n = 1.25 are seen in every patch, and the nearest point moves by 17 pixels.
    """
    random = np.random.default_rng(0)
    height, width = ROWS[1], COLUMNS[1]
    along = 0.1 * np.linspace(0, 1, height)[:, None] + 0.9 * np.linspace(0, 1, width)
    inverse = 1 / FARTHEST + (1 / NEAREST - 1 / FARTHEST) * along
    for _ in range(12):
        top, left, size = random.integers(height), random.integers(width), random.integers(8, 40, 2)
        box = inverse[top : top + size[0], left : left + size[1]]
        np.maximum(box, random.uniform(0, 1 / NEAREST), out=box)
    depth = np.tile((1 / inverse).astype(np.float32), (2, 2))
    camera = icb.Camera.centred(0.9 * depth.shape[1], depth.shape[1], depth.shape[0])
    return Scene(depth, motion("parallax", RADIUS, float(depth.min()), camera.fx, POSES), camera)


def layers_seen(blur: icb.ICB) -> int:
    """How many mattes are not zero everywhere in the patch."""
    return int(blur.mattes()[:, slice(*ROWS), slice(*COLUMNS)].any(axis=(1, 2)).sum())


def kernel_of(blur: icb.ICB) -> int:
    """The side of the largest kernel."""
    return 2 * max(blur.radius) + 1


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


def fit_memory() -> pd.DataFrame:
    """Peak memory in MB of a process that fits one epoch at 1280x720 in patches of 144x256, all of it counted."""
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
    seconds, peak = float(found.history.seconds[0]), process_peak() / 1e6
    return {"kernel": kernel_of(blur), "seconds an epoch": seconds, "peak": peak}


def checks(times: pd.DataFrame, memory: pd.DataFrame) -> pd.DataFrame:
    """The bounds this project holds itself to, on two cores."""
    alone, whole = times["literal/ours"]
    rows = [
        ("literal / our step, network alone, 128x96", float(alone), ">=", 1.4),
        ("literal / our step, ICB, 128x96", float(whole), ">=", 2.0),
        ("peak memory of a fit at 1280x720, MB", float(memory["peak"].max()), "<=", LIMIT_MB),
    ]
    return bounds(rows)


if __name__ == "__main__":
    print(json.dumps(memory_of(*sys.argv[1:])))
