"""Restoration on simulated recordings: at the paper's settings, minutes for each fit; and of many, by linear means."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse.linalg import LinearOperator, cg

import icb
from datasets import published
from datasets.build import Options, build
from datasets.sample import Sample
from datasets.simulate import default_set, simulate_set
from datasets.simulate.default_set import IOS
from icb.metrics import psnr
from icb.pictures import as_unit
from icb.restoration import Settings

MODELS = {"icb": icb.ICB, "pwb": icb.PWB}
SMOOTH = 0.02
"""Weight of squared differences between neighbours, against squared errors of the blurred picture."""


def recordings(folder: Path, *, seed: int = 0, count: int = 3) -> list[Sample]:
    """Simulated ones, as samples of RealCMB."""
    captures = [capture for capture in default_set(seeds=(seed,), ios_count=count) if capture.case == IOS]
    build(simulate_set(folder / "raw", captures), folder / "data", Options())
    found = [published.read_sample(folder / "data", key, name) for name, key in published.list_samples(folder / "data")]
    assert len(found) == count
    return found


def show(rows: Sequence[dict[str, object]], capsys: pytest.CaptureFixture[str]) -> pd.DataFrame:
    """The table of the rows and, of every model, the means."""
    table = pd.DataFrame(rows)
    means = table.groupby("model")[["blurry", "restored"]].mean()
    with capsys.disabled():
        print(f"\n{table.to_string(index=False)}\n\n{means}")
    return means


@pytest.mark.slow
def test_restored_recordings_gain_two_decibels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows: list[dict[str, object]] = []
    for sample in recordings(tmp_path):
        blurry, sharp = as_unit(sample.blurry), as_unit(sample.sharp)
        assert sharp.shape[0] * sharp.shape[1] == 256 * 192
        for name, model in MODELS.items():
            blur = model(sample.depth, sample.trajectory, sample.camera)
            found = icb.restore(blurry, blur, Settings(), name=sample.id)
            row = {"sample": sample.id, "model": name, "blurry": psnr(blurry, sharp)}
            row |= {"restored": psnr(found.image, sharp), "reblurred": float(found.history.psnr[-1])}
            rows.append({**row, "seconds": float(found.history.seconds.sum())})
            with capsys.disabled():
                print(f"\n{rows[-1]}")
    means = show(rows, capsys)
    assert (means["restored"] >= means["blurry"] + 2).all()


def smoothed_inverse(blur: icb.BlurOperator, blurry: np.ndarray) -> np.ndarray:
    """The minimum of ``|blur(x) - blurry|^2 + SMOOTH |grad x|^2``: what the operators alone are worth, in seconds."""

    def normal(flat: np.ndarray) -> np.ndarray:
        x = flat.reshape(blurry.shape)
        total = blur.adjoint(blur(x))
        for axis in (0, 1):
            ends = np.diff(x, axis=axis, prepend=np.take(x, [0], axis), append=np.take(x, [-1], axis))
            total -= SMOOTH * np.diff(ends, axis=axis)
        return np.asarray(total.ravel())

    operator = LinearOperator((blurry.size, blurry.size), matvec=normal, dtype=blurry.dtype)
    found, _ = cg(operator, blur.adjoint(blurry).ravel(), x0=blurry.ravel(), maxiter=60, rtol=1e-6)
    return np.asarray(found.reshape(blurry.shape))


@pytest.mark.slow
def test_icb_is_as_good_to_restore_with_as_pwb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On average, that is: on a single recording either may be ahead by a decibel."""
    rows: list[dict[str, object]] = []
    for sample in [*recordings(tmp_path / "default"), *recordings(tmp_path / "more", seed=200, count=12)]:
        blurry, sharp = as_unit(sample.blurry).astype(np.float64), as_unit(sample.sharp).astype(np.float64)
        for name, model in MODELS.items():
            restored = smoothed_inverse(model(sample.depth, sample.trajectory, sample.camera), blurry)
            row = {"sample": sample.id, "model": name, "blurry": psnr(blurry, sharp)}
            rows.append({**row, "restored": psnr(restored, sharp)})
    means = show(rows, capsys)
    assert (means["restored"] >= means["blurry"] + 2).all()
    assert means.loc["icb", "restored"] >= means.loc["pwb", "restored"]
