"""The blur models on simulated datasets, built as a user builds them."""

from pathlib import Path

import numpy as np
import pytest

import icb
from datasets.build import Options, build
from datasets.published import read_sample
from datasets.simulate import simulate_ios, simulate_unity
from datasets.simulate.scenes import CASES

SEEDS = (100, 101, 102)
"""Not those that anything was looked at or chosen with."""


def psnr(estimate: np.ndarray, truth: np.ndarray) -> float:
    return float(-10 * np.log10(np.mean((estimate - truth) ** 2)))


def scores(root: Path, name: str) -> tuple[float, float, float]:
    """PSNR of no blur, PWB and ICB against the averaged frames."""
    sample = read_sample(root, name)
    sharp, blurry = sample.sharp.astype(np.float32) / 255, sample.blurry / 255
    scene = (sample.depth, sample.trajectory, sample.camera)
    return psnr(sharp, blurry), psnr(icb.PWB(*scene)(sharp), blurry), psnr(icb.ICB(*scene)(sharp), blurry)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["Macro", "Trucking", "iOS"])
def test_layers_beat_single_kernels_on_average(kind: str, tmp_path: Path) -> None:
    """Under parallax, and in recordings where parallax dominates; both models far over no blur."""
    folders = []
    for seed in SEEDS:
        for scene in CASES["Macro" if kind == "iOS" else kind]:
            if kind == "iOS":
                folder = simulate_ios(tmp_path / "raw", scene=scene, seed=seed, image_size=(360, 480))
            else:
                options = {"scene": scene, "case": kind, "motion": "parallax", "seed": seed}
                folder = simulate_unity(tmp_path / "raw", size=(180, 320), poses=33, **options)
            folders.append(folder)
    rows = build(folders, tmp_path / "data", Options())
    table = np.array([scores(tmp_path / "data", row["id"]) for row in rows])
    none, pixel_wise, layered = table.mean(axis=0)
    assert layered > pixel_wise, table
    assert pixel_wise > none + 5, table
