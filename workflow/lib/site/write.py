"""Put the site together: pages of samples, the gallery, tables, figures, data and an overview."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from icb import files
from workflow.lib import manifest, paper_numbers
from workflow.lib.site.gallery import FILTERS, gallery_script
from workflow.lib.site.numbers import METRICS, plain, size_of
from workflow.lib.site.overview import overview
from workflow.lib.site.sample_page import originals
from workflow.lib.site.sources import link_of
from workflow.lib.site.subjects import Kind, PathLike, Subject, read_subjects
from workflow.lib.site.templates import ASSETS, render
from workflow.lib.store import RECORD, Store
from workflow.lib.summaries.page import html_table
from workflow.lib.summaries.write import ablation_of, tables_of
from workflow.lib.views import hard_link, update_links

ABOUT = {
    "captures": "every capture that was found, and why it was left out if it was",
    "index": "every sample, with its camera and where it comes from",
    "blur": "how close each model's blur comes to the captured one",
    "restoration": "how close each restored picture comes to the sharp one",
    "history": "every epoch of every fit",
    "left_out": "what could not be done, and why",
    "costs": "memory and time of the models, behind Table 4",
    "ablation": "blur by ICB with other parameters",
}
ROWS_SHOWN = ("costs", "ablation", "left_out")
"""Tables whose rows are on no other page."""

CAPTIONS = {
    "fig3_blur_variation": "Where depth matters: blur variation against depth difference, and the displacement for 10 pixels of it.",
    "fig4_depth_regions": "Depth, trajectory, depth sequences and the regions that blur alike.",
    "fig5_blur_formation": "Sharp, blurry, and every model's blur with its error; closer where the models differ most.",
    "fig6_restoration": "Blurry, sharp, and every restoration with its error; closer where the methods differ most.",
    "psnr_distributions": "PSNR of the models by dataset and case.",
    "loss_curves": "How the fits went.",
}


@dataclass(frozen=True)
class Sources:
    """The files of a run that the report is made from."""

    pages: PathLike  #: manifest of the pages of samples
    captures: PathLike
    index: PathLike
    metrics: Mapping[Kind, PathLike]
    pictures: Mapping[Kind, PathLike]
    history: PathLike
    left_out: PathLike
    costs: PathLike
    lpips: PathLike
    figures: Sequence[PathLike]  #: PNG and PDF
    ablation: PathLike | None = None  #: None if there was none
    paper: PathLike = paper_numbers.FOLDER

    def tables(self) -> dict[str, Path]:
        """The Parquet tables by name, as the page of data lists them."""
        found = {"captures": self.captures, "index": self.index, **self.metrics, "history": self.history}
        found |= {"left_out": self.left_out, "costs": self.costs}
        found |= {"ablation": self.ablation} if self.ablation else {}
        return {name: Path(path) for name, path in found.items()}


def write_report(folder: PathLike, sources: Sources, store: Store) -> None:
    """Bring a folder to the state of a run. What did not change is left as it is; ``index.html`` is written last."""
    folder = Path(folder)
    subjects = {(subject.dataset, subject.id): subject for subject in
                read_subjects(sources.index, sources.metrics, sources.pictures)}  # fmt: skip
    pages = {(row["dataset"], row["id"]): row for row in manifest.read(sources.pages).entries}
    shown = [subjects[key] for key in pages]
    _link_pages(folder / "samples", {subject.slug: (subject, pages[key]["key"]) for key, subject in subjects.items()
                                     if key in pages}, Path(sources.index).parent, store)  # fmt: skip
    _write_assets(folder / "assets")
    _write(folder / "assets" / "samples.js", gallery_script(shown))
    _link_files(folder / "data", [*sources.tables().values(), *sorted(Path(sources.paper).glob("*.csv"))])
    _link_files(folder / "figures", [Path(figure) for figure in sources.figures])
    summaries = _summaries(sources)
    _page(folder, "gallery", "Gallery", filters=FILTERS, metrics=METRICS)
    tables = [(summary, Markup(html_table(summary, link_of(summary)))) for summary in summaries]  # noqa: S704 (escaped)
    _page(folder, "tables", "Tables", tables=tables)
    names = dict.fromkeys(Path(figure).stem for figure in sources.figures)
    _page(folder, "figures", "Figures", figures={name: CAPTIONS[name] for name in names})
    _page(folder, "data", "Data", **_data(sources))
    facts = overview(sources, shown)
    # Its own size changes by some bytes with what it says about it, which nobody sees after rounding.
    size = size_of(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))
    _page(folder, "index", "Overview", size=size, **facts)


def _link_pages(folder: Path, wanted: Mapping[str, tuple[Subject, str]], datasets: Path, store: Store) -> None:
    """``<slug>/`` for each sample: its page, what was drawn for it, and its pictures in full size."""

    def links(slug: str) -> dict[str, Path]:
        subject, key = wanted[slug]
        made = [path for path in sorted(store.path("pages", key).iterdir()) if path.name != RECORD]
        targets = {path.name: path for path in made} | originals(subject, datasets)
        return {f"{slug}/{name}": target for name, target in targets.items()}

    update_links(folder, {slug: key for slug, (_, key) in wanted.items()}, links)
    for place in folder.iterdir():
        if place.is_dir() and place.name not in wanted:
            shutil.rmtree(place)


def _write_assets(folder: Path) -> None:
    for asset in sorted(ASSETS.iterdir()):
        if asset.is_file():
            _write(folder / asset.name, asset.read_text(encoding="utf-8"))


def _link_files(folder: Path, wanted: Sequence[Path]) -> None:
    """Exactly these files, under their own names."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in wanted:
        hard_link(str(path), str(folder / path.name))


def _summaries(sources: Sources) -> list[Any]:
    shared = {"lpips": sources.lpips, "paper": sources.paper}
    found = tables_of(**shared, **sources.metrics, index=sources.index, cost=sources.costs)
    return [*found, ablation_of(blur=sources.ablation, **shared)] if sources.ablation else found


def _data(sources: Sources) -> dict[str, Any]:
    """Every table with what it holds, and the rows of those that no other page shows."""
    tables = []
    for name, path in sources.tables().items():
        frame = pd.read_parquet(path)
        about = {"name": name, "file": path.name, "about": ABOUT[name], "rows": len(frame)}
        tables.append({**about, "columns": list(frame.columns), "shown": []})
        if name in ROWS_SHOWN:
            tables[-1]["shown"] = [[plain(value) for value in row] for row in frame.itertuples(index=False)]
    paper = sorted(path.name for path in Path(sources.paper).glob("*.csv"))
    return {"tables": tables, "paper": paper}


def _page(folder: Path, name: str, title: str, **content: Any) -> None:
    _write(folder / f"{name}.html", render(f"{name}.html", root="", title=title, here=name, **content))


def _write(path: Path, text: str) -> None:
    """Write text, unless it is there already."""
    data = text.encode()
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, lambda temporary: temporary.write_bytes(data))
