"""Put the site together: pages of samples, the gallery, tables, figures, data and an overview."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from icb import files
from workflow.lib import manifest
from workflow.lib.site.data_page import data
from workflow.lib.site.figures_page import figures
from workflow.lib.site.gallery import FILTERS, gallery_script, samples_script
from workflow.lib.site.links import link_of
from workflow.lib.site.numbers import size_of
from workflow.lib.site.overview import overview
from workflow.lib.site.sample_page import originals
from workflow.lib.site.sources import Sources
from workflow.lib.site.subjects import PathLike, Subject, read_subjects
from workflow.lib.site.templates import ASSETS, render
from workflow.lib.stages.pages import STAGE as PAGES
from workflow.lib.store import RECORD, Store
from workflow.lib.summaries.page import html_table
from workflow.lib.summaries.summary import Summary
from workflow.lib.summaries.write import ablation_of, tables_of
from workflow.lib.views import update_links


def write_report(folder: PathLike, sources: Sources, store: Store) -> None:
    """Bring a folder to the state of a run. What did not change is left as it is; ``index.html`` is written last."""
    folder = Path(folder)
    keys = {(row["dataset"], row["id"]): row["key"] for row in manifest.read(sources.pages).entries}
    subjects = read_subjects(sources.index, sources.metrics, sources.pictures)
    shown = {subject: keys[subject.name] for subject in subjects if subject.name in keys}
    _link_pages(folder / "samples", shown, Path(sources.index).parent, store)
    _copy_files(folder / "assets", sorted(ASSETS.iterdir()))
    _write(folder / "results.js", gallery_script(list(shown)).encode())
    _write(folder / "samples.js", samples_script(list(shown)).encode())
    _copy_files(folder / "data", [*sources.tables().values(), *sorted(Path(sources.paper).glob("*.csv"))])
    _copy_files(folder / "figures", [Path(figure) for figure in sources.figures])
    summaries = _summaries(sources)
    _page(folder, "gallery", "Gallery", filters=FILTERS)
    tables = [(summary, Markup(html_table(summary, link_of(summary)))) for summary in summaries]  # noqa: S704 (escaped)
    _page(folder, "tables", "Tables", tables=tables)
    _page(folder, "figures", "Figures", figures=figures(sources, shown))
    _page(folder, "data", "Data", **data(sources))
    facts = overview(sources, len(subjects))
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path != folder / "index.html")
    _page(folder, "index", "Overview", size=size_of(size), **facts)


def _link_pages(folder: Path, keys: Mapping[Subject, str], datasets: Path, store: Store) -> None:
    """``<slug>/`` for each sample: its page, what was drawn for it, and its pictures in full size."""
    subjects = {subject.slug: subject for subject in keys}

    def links(slug: str) -> dict[str, Path]:
        subject = subjects[slug]
        made = sorted(store.path(PAGES, keys[subject]).iterdir())
        targets = {path.name: path for path in made if path.name != RECORD} | originals(subject, datasets)
        return {f"{slug}/{name}": target for name, target in targets.items()}

    update_links(folder, {subject.slug: key for subject, key in keys.items()}, links)
    for place in folder.iterdir():
        if place.is_dir() and place.name not in subjects:
            shutil.rmtree(place)


def _copy_files(folder: Path, wanted: Sequence[Path]) -> None:
    """These files, under their own names, and no others of an earlier run."""
    for path in wanted:
        _write(folder / path.name, path.read_bytes())
    names = {path.name for path in wanted}
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name not in names:
            path.unlink()


def _summaries(sources: Sources) -> list[Summary]:
    shared = {"lpips": sources.lpips, "paper": sources.paper}
    blur, restoration = sources.metrics["blur"], sources.metrics["restoration"]
    found = tables_of(index=sources.index, blur=blur, restoration=restoration, cost=sources.costs, **shared)
    return [*found, ablation_of(blur=sources.ablation, **shared)] if sources.ablation else found


def _page(folder: Path, name: str, title: str, **content: Any) -> None:
    _write(folder / f"{name}.html", render(f"{name}.html", root="", title=title, here=name, **content).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file, unless it is there already."""
    if not path.is_file() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, lambda temporary: temporary.write_bytes(content))
