"""The figures of a run."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from datasets.sample import Sample
from icb import ImageCompositingBlur
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
from icb.pictures import as_unit
from workflow.lib import manifest
from workflow.lib.crop import Crop, cropped
from workflow.lib.estimates import read_estimate, read_sample
from workflow.lib.manifest import Row
from workflow.lib.picking import SampleKey, pick_samples
from workflow.lib.store import STORE, Store

FORMATS = ("png", "pdf")

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Run:
    """What there is to draw from."""

    samples: Mapping[SampleKey, Row]  #: entries of the manifests of samples
    blur: pd.DataFrame
    restoration: pd.DataFrame
    history: pd.DataFrame
    blurred: Mapping[SampleKey, Mapping[str, Path]]  #: by sample and model, where in the store it is
    restored: Mapping[SampleKey, Mapping[str, Path]]
    models: Mapping[str, Mapping[str, Any]]
    methods: Sequence[str]
    patterns: Sequence[str]
    pick: str


def read_run(
    *,
    samples: Sequence[PathLike],
    tables: tuple[PathLike, PathLike, PathLike],
    blurred: Sequence[PathLike],
    restored: Sequence[PathLike],
    **rest: Any,
) -> Run:
    """From the files of a run: its manifests, and its ``tables`` of blur, restoration and history."""
    blur, restoration, history = (pd.read_parquet(table) for table in tables)
    known = manifest.by_sample(samples)
    return Run(known, blur, restoration, history, _places(blurred), _places(restored), **rest)


def _places(manifests: Sequence[PathLike]) -> dict[SampleKey, dict[str, Path]]:
    store = Store(STORE)
    places: dict[SampleKey, dict[str, Path]] = {}
    for row in manifest.read_all(manifests).entries:
        places.setdefault((row["dataset"], row["id"]), {})[row["model"]] = store.path(row["stage"], row["key"])
    return places


def _estimates(places: Mapping[str, Path], models: Iterable[str]) -> dict[str, np.ndarray]:
    """What there is of models' pictures of a sample, in the order of the models."""
    return {name: read_estimate(places[name]) for name in models if name in places}


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
    sample = read_sample(run.samples[chosen[0]])
    model = next((model for model in run.models.values() if model["model"] == "icb"), {})
    options = {option: value for option, value in model.items() if option != "model"}
    blur = ImageCompositingBlur(sample.depth, sample.trajectory, sample.camera, **options)
    return plot_regions(sample.depth, blur, sample.trajectory, sample.camera, title=_title(sample))


def draw_blur(run: Run) -> Figure:
    """Fig. 5."""
    comparisons = []
    for key in pick_samples(run.blur, list(run.models), run.patterns, run.pick):
        sample = read_sample(run.samples[key])
        estimates = _estimates(run.blurred.get(key, {}), run.models)
        labels = _labels(run.blur, sample)
        sharp, blurry = as_unit(sample.sharp), as_unit(sample.blurry)
        comparisons.append(Comparison(_title(sample), sharp, blurry, estimates, *labels))
    if not comparisons:
        return plot_notice(_nothing(run, run.blur, "blurred"))
    return plot_comparisons(comparisons, given="Sharp", reference="Blurry")


def draw_restorations(run: Run) -> Figure:
    """Fig. 6."""
    comparisons = []
    for key in pick_samples(run.restoration, run.methods, run.patterns, run.pick):
        whole = read_sample(run.samples[key])
        row = _rows_of(run.restoration, whole).iloc[0]
        crop = Crop(*(int(row[key]) for key in ("top", "left", "restored_height", "restored_width")))
        sample = cropped(whole, crop)
        estimates = _estimates(run.restored.get(key, {}), run.methods)
        labels = _labels(run.restoration, sample)
        sharp, blurry = as_unit(sample.sharp), as_unit(sample.blurry)
        comparisons.append(Comparison(_title(sample), blurry, sharp, estimates, *labels))
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
