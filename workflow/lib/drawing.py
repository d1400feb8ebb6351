"""The figures of a run."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from datasets import published
from datasets.sample import Sample
from icb import ImageCompositingBlur, files
from icb.figures import (
    Comparison,
    plot_blur_variation,
    plot_comparisons,
    plot_curves,
    plot_distributions,
    plot_notice,
    plot_regions,
    save_figure,
)
from workflow.lib import manifest
from workflow.lib.crop import Crop, cropped
from workflow.lib.estimates import ESTIMATE
from workflow.lib.picking import pick_samples
from workflow.lib.store import STORE, Store

FORMATS = ("png", "pdf")

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Run:
    """What there is to draw from."""

    datasets: Path  #: the folder with all samples and their index
    blur: pd.DataFrame
    restoration: pd.DataFrame
    history: pd.DataFrame
    blurred: Sequence[PathLike]  #: manifests
    restored: Sequence[PathLike]
    store: Store
    models: Mapping[str, Mapping[str, Any]]
    methods: Sequence[str]
    patterns: Sequence[str]
    pick: str

    def sample(self, dataset: str, name: str) -> Sample:
        return published.read_from(self.datasets / dataset, dataset, name)

    def estimates(self, manifests: Sequence[PathLike], models: Sequence[str], sample: Sample) -> dict[str, np.ndarray]:
        """What there is of models' pictures of a sample, in the order of the models."""
        entries = manifest.read_all(manifests).entries
        made = {row["model"]: row for row in entries if (row["dataset"], row["id"]) == (sample.dataset, sample.id)}
        places = {name: self.store.path(made[name]["stage"], made[name]["key"]) for name in models if name in made}
        return {name: files.load_npy(place / ESTIMATE) for name, place in places.items()}


def read_run(*, index: PathLike, tables: tuple[PathLike, PathLike, PathLike], **rest: Any) -> Run:
    """From the files of a run: its index of samples, and its ``tables`` of blur, restoration and history."""
    blur, restoration, history = (pd.read_parquet(table) for table in tables)
    return Run(Path(index).parent, blur, restoration, history, store=Store(STORE), **rest)


def draw_figures(run: Run, names: Sequence[str], folder: PathLike) -> None:
    """Write ``<name>.png`` and ``<name>.pdf`` for each name of :data:`FIGURES`."""
    for name in names:
        figure = FIGURES[name](run)
        for ending in FORMATS:
            save_figure(figure, Path(folder) / f"{name}.{ending}")
        print(name, flush=True)


def draw_regions(run: Run) -> Figure:
    """Fig. 4 of the first sample that is shown, of pure parallax if there is one, with the first ICB that there is."""
    parallax = run.blur[run.blur["motion"] == "parallax"]
    rows = run.blur if run.patterns or parallax.empty else parallax
    chosen = pick_samples(rows, list(run.models), run.patterns, run.pick)
    if not chosen:
        return plot_notice(_nothing(run, rows, "blurred"))
    dataset, name = chosen[0]
    sample = run.sample(dataset, name)
    model = next((model for model in run.models.values() if model["model"] == "icb"), {})
    options = {option: value for option, value in model.items() if option != "model"}
    blur = ImageCompositingBlur(sample.depth, sample.trajectory, sample.camera, **options)
    return plot_regions(sample.depth, blur, sample.trajectory, sample.camera, title=_title(sample))


def draw_blur(run: Run) -> Figure:
    """Fig. 5."""
    comparisons = []
    for dataset, name in pick_samples(run.blur, list(run.models), run.patterns, run.pick):
        sample = run.sample(dataset, name)
        estimates = run.estimates(run.blurred, list(run.models), sample)
        labels = _labels(run.blur, sample)
        comparisons.append(Comparison(_title(sample), _unit(sample.sharp), _unit(sample.blurry), estimates, *labels))
    if not comparisons:
        return plot_notice(_nothing(run, run.blur, "blurred"))
    return plot_comparisons(comparisons, given="Sharp", reference="Blurry")


def draw_restorations(run: Run) -> Figure:
    """Fig. 6."""
    comparisons = []
    for dataset, name in pick_samples(run.restoration, run.methods, run.patterns, run.pick):
        whole = run.sample(dataset, name)
        row = _rows_of(run.restoration, whole).iloc[0]
        crop = Crop(*(int(row[key]) for key in ("top", "left", "restored_height", "restored_width")))
        sample = cropped(whole, crop)
        estimates = run.estimates(run.restored, run.methods, sample)
        labels = _labels(run.restoration, sample)
        comparisons.append(Comparison(_title(sample), _unit(sample.blurry), _unit(sample.sharp), estimates, *labels))
    if not comparisons:
        return plot_notice(_nothing(run, run.restoration, "restored"))
    return plot_comparisons(comparisons, given="Blurry", reference="Sharp")


def draw_distributions(run: Run) -> Figure:
    """PSNR of blur formation by dataset and case."""
    if run.blur.empty:
        return plot_notice("No sample was blurred.")
    groups = {}
    for (dataset, case), part in run.blur.groupby(["dataset", run.blur["case"].fillna("")], sort=True):
        table = part.set_index(["id", "model"])["psnr"].unstack("model")
        values = {model: table[model].to_numpy() for model in run.models if model in table.columns}
        count = f"{len(table)} sample{'s' * (len(table) > 1)}"
        groups["\n".join(filter(None, [str(dataset), str(case), count]))] = values
    return plot_distributions(groups, title=_simulated(run.blur))


def draw_losses(run: Run) -> Figure:
    """How all fits went."""
    if run.history.empty:
        return plot_notice("No sample was restored.")
    fits: dict[str, list[dict[str, np.ndarray]]] = {method: [] for method in run.methods}
    for (_, _, method), part in run.history.groupby(["dataset", "id", "model"], sort=True):
        ordered = part.sort_values("epoch")
        fits[str(method)].append({name: ordered[name].to_numpy() for name in ("epoch", "loss", "psnr")})
    return plot_curves({method: curves for method, curves in fits.items() if curves}, title=_simulated(run.restoration))


FIGURES: dict[str, Callable[[Run], Figure]] = {
    "fig3_blur_variation": lambda run: plot_blur_variation(),
    "fig4_depth_regions": draw_regions,
    "fig5_blur_formation": draw_blur,
    "fig6_restoration": draw_restorations,
    "psnr_distributions": draw_distributions,
    "loss_curves": draw_losses,
}


def _nothing(run: Run, rows: pd.DataFrame, done: str) -> str:
    """Why no sample of these rows is shown."""
    if rows.empty:
        return f"No sample was {done}."
    if run.patterns:
        return f"No sample that was {done} matches figures.samples: {', '.join(run.patterns)}."
    return f"No sample was {done} by both of the first two models."


def _unit(picture: np.ndarray) -> np.ndarray:
    return picture.astype(np.float32) / np.float32(255)


def _title(sample: Sample) -> str:
    """The sample's name, and whether anybody ever photographed it."""
    about = ", ".join(filter(None, [sample.case, sample.motion, "simulated" if sample.simulated else None]))
    return f"{sample.dataset} {sample.id}" + (f" ({about})" if about else "")


def _rows_of(rows: pd.DataFrame, sample: Sample) -> pd.DataFrame:
    return rows[(rows["dataset"] == sample.dataset) & (rows["id"] == sample.id)]


def _labels(rows: pd.DataFrame, sample: Sample) -> tuple[dict[str, str], str]:
    """PSNR of every model, and of doing nothing."""
    here = _rows_of(rows, sample)
    models = {str(model): f"{psnr:.2f} dB" for model, psnr in zip(here["model"], here["psnr"], strict=True)}
    return models, f"{here['psnr_unchanged'].iloc[0]:.2f} dB"


def _simulated(rows: pd.DataFrame) -> str:
    if not rows["simulated"].any():
        return ""
    return "Simulated samples" if rows["simulated"].all() else "Some samples are simulated"
