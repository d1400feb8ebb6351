"""Scoring at 1280x720: PSNR and SSIM beside the bare library calls, LPIPS by passes of its network."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors.torch import save_file

from icb import metrics
from icb.measure import Peak
from icb.metrics.networks import network
from tests.bench.measure import bounds, in_new_process, medians_in_turns

HEIGHT, WIDTH = 720, 1280
ROUNDS, PASSES = 11, 5
LIMIT = 1.5


def images(count: int) -> list[np.ndarray]:
    """Noise and more noise: neither metric's cost depends on the content."""
    random = np.random.default_rng(0)
    first = random.random((HEIGHT, WIDTH, 3), np.float32)
    return [first, *(first + np.float32(0.1) * random.standard_normal(first.shape, np.float32) for _ in range(count))]


def metric_times() -> pd.DataFrame:
    """Milliseconds by metric: ours and the library's, where it has the same one."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    reference, estimate = images(1)
    depth = np.where(np.hypot(*np.mgrid[-1 : 1 : HEIGHT * 1j, -1 : 1 : WIDTH * 1j]) < 0.5, 1.0, 4.0)

    works = {
        ("psnr", "ours"): lambda: metrics.psnr(estimate, reference),
        ("psnr", "library"): lambda: peak_signal_noise_ratio(reference, estimate, data_range=1),
        ("ssim", "ours"): lambda: metrics.ssim(estimate, reference),
        ("ssim", "library"): lambda: structural_similarity(estimate, reference, channel_axis=2, data_range=1),
        ("ssim and ssim_paper", "ours"): lambda: metrics.structural_similarity(estimate, reference),
        ("edge band", "ours"): lambda: metrics.edge_band(depth),
    }
    times = medians_in_turns(works, ROUNDS)
    names = list(dict.fromkeys(name for name, _ in works))
    columns = {whose: [times.get((name, whose)) for name in names] for whose in ("ours", "library")}
    return pd.DataFrame({"metric": names, **columns})


def lpips_times() -> pd.DataFrame:
    """Seconds of what LPIPS does with an image beside a bare pass, and peak memory; in a process of its own."""
    return pd.DataFrame(json.loads(in_new_process("tests.bench.metrics")))


def lpips_rows() -> list[dict[str, object]]:
    """Medians over a few rounds, in which all take turns. The weights are random, which costs the same."""
    import torch

    generator = torch.Generator().manual_seed(0)
    weights = {name: 0.03 * torch.randn(shape, generator=generator) for name, shape in network("vgg").shapes.items()}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "vgg.safetensors"
        save_file(weights, path)
        lpips = metrics.Lpips(path)
    reference, estimate = images(1)
    used = Peak()
    features = lpips.features(reference)
    lpips.distance(features, estimate)
    peak = used.bytes() / 1e6
    laid_out = {
        name: value.to(memory_format=torch.channels_last) if value.ndim == 4 else value
        for name, value in weights.items()
    }
    works = {
        "bare pass": lambda: bare_pass(laid_out, estimate),
        "features": lambda: lpips.features(reference),
        "distance": lambda: lpips.distance(features, estimate),
    }
    times = medians_in_turns(works, PASSES)
    rows = [{"what": what, "seconds": ms / 1e3, "passes": ms / times["bare pass"]} for what, ms in times.items()]
    return [*rows, {"what": "peak memory", "MB": peak}]


def bare_pass(weights: dict, image: np.ndarray) -> None:
    """The network and nothing else; the weights have channels last, as ours."""
    import torch
    from torch.nn import functional

    with torch.inference_mode():
        x = torch.from_numpy(image).permute(2, 0, 1)[None]
        for stage in network("vgg").stages:
            x = functional.max_pool2d(x, 2) if stage.pooled else x
            for c in stage.convolutions:
                kernel, bias = (weights[f"features.{c.place}.{part}"] for part in ("weight", "bias"))
                x = functional.conv2d(x, kernel, bias, padding=1).relu_()


def checks(table: pd.DataFrame, lpips: pd.DataFrame) -> pd.DataFrame:
    """The bounds: within 1.5 times of the library, and one pass of the network per image and convention."""
    ms = table.set_index("metric")
    bare = float(ms.loc["psnr", "library"] + ms.loc["ssim", "library"])
    passes = lpips.set_index("what")["passes"]
    rows = [
        ("PSNR + SSIM / library's", float(ms.loc["psnr", "ours"] + ms.loc["ssim", "ours"]) / bare, "<=", LIMIT),
        (
            "PSNR + both SSIM / library's PSNR + SSIM",
            float(ms.loc["psnr", "ours"] + ms.loc["ssim and ssim_paper", "ours"]) / bare,
            "<=",
            LIMIT,
        ),
        ("LPIPS features / bare pass", float(passes["features"]), "<=", LIMIT),
        ("LPIPS distance / bare pass", float(passes["distance"]), "<=", LIMIT),
    ]
    return bounds(rows)


if __name__ == "__main__":
    print(json.dumps(lpips_rows()))
