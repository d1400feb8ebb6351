"""Make the README's pictures from the results of ``make demo``: ``make pictures``."""

from pathlib import Path

import pandas as pd

from datasets import published
from icb.figures import Comparison, plot_comparisons, save_figure
from icb.pictures import read_image
from tests import browser

RESULTS, DOCS = Path("results"), Path("docs")
SAMPLE = ("VirtualCMB", "Village_Macro_parallax_000")
MODELS = ("ICB", "PWB")


def teaser() -> None:
    """What parallax does to blur, and what the models make of it."""
    dataset, name = SAMPLE
    sample = published.read_from(RESULTS / "datasets" / dataset, dataset, name)
    rows = pd.read_parquet(RESULTS / "metrics" / "blur.parquet").set_index(["dataset", "id", "model"])
    estimates = {model: read_image(RESULTS / "blur" / model / dataset / f"{name}.png") for model in MODELS}
    labels = {model: f"{rows.loc[(*SAMPLE, model), 'psnr']:.2f} dB" for model in MODELS}
    comparison = Comparison("", sample.sharp / 255.0, sample.blurry / 255.0, estimates, labels)
    save_figure(plot_comparisons([comparison], given="Sharp", reference="Blurry"), DOCS / "teaser.png")


def screenshot() -> None:
    """The page of that sample, with what blur does to it."""
    site = (RESULTS / "report").absolute()
    [page] = (site / "samples").glob(f"{SAMPLE[1]}.*/index.html")
    with browser.chromium() as started, browser.visit(started, site, viewport={"width": 1100, "height": 1300}) as seen:
        shown = seen.open(str(page.relative_to(site)))
        shown.select_option("#left", "sharp")
        shown.wait_for_timeout(500)
        shown.screenshot(path=DOCS / "report.png")


if __name__ == "__main__":
    teaser()
    screenshot()
