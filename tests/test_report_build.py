"""How the report is made: incrementally, from tables and stored pictures; and Snakemake's own."""

import os
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline import Project, copy_sources
from tests.site import MACRO, make_project, page_of, shared_project
from workflow.lib.job import RUN
from workflow.lib.manifest import Task
from workflow.lib.progress import Ticker
from workflow.lib.site.sources import Sources
from workflow.lib.site.write import write_report
from workflow.lib.stages.pages import page_samples
from workflow.lib.store import Store


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return shared_project(tmp_path_factory)


@pytest.fixture(scope="module")
def site(project: Project) -> Path:
    return project.results / "report"


def state(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path.relative_to(folder)): (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in sorted(folder.rglob("*")) if path.is_file()}  # fmt: skip


def test_one_changed_sample_rebuilds_its_page_and_the_index(tmp_path: Path) -> None:
    """Nothing else: neither pages of other samples, nor the pictures of them."""
    made = make_project(tmp_path)
    made.config["restore"]["samples"] = []
    made.run("report")
    site = made.results / "report"
    before, pages = state(site), made.store()
    assert made.run("report").idle
    os.utime(tmp_path / "raw" / MACRO / "params.txt")
    made.run("report")
    assert {**state(site), "index.html": before["index.html"]} == before, "nothing really changed"
    frame = tmp_path / "raw" / MACRO / "frames" / "frame_1.png"
    frame.write_bytes((tmp_path / "raw" / MACRO / "frames" / "frame_2.png").read_bytes())
    run = made.run("report")
    assert run.counts["pages"] == {"made": 1, "kept": 3}
    assert len([key for key in made.store().keys() - pages.keys() if key.startswith("pages/")]) == 1
    after = state(site)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    its_own = Path(page_of(site, MACRO)).parent.as_posix()
    others = {name for name in changed if not name.startswith((f"{its_own}/", "data/", "figures/", "samples/."))}
    assert others == {"index.html", "tables.html", "gallery.js", "data.html"}
    assert f"{its_own}/index.html" in changed and f"{its_own}/blurry.png" in changed
    # Removed with its capture.
    (tmp_path / "raw" / MACRO).rename(tmp_path / "elsewhere")
    made.run("report")
    assert not (site / its_own).exists() and MACRO not in (site / "gallery.js").read_text()


def test_a_changed_template_is_noticed(project: Project, tmp_path: Path) -> None:
    """That of samples by their pages, any other file of the site by the site alone."""
    source = copy_sources(tmp_path / "source")
    site = source / "workflow" / "lib" / "site"
    elsewhere = Project(project.folder, source, project.config)
    for changed, expected in (
        ("assets/style.css", {"write_report"}),
        ("templates/sample.html", {"page_samples", "write_report"}),
    ):
        (site / changed).write_text((site / changed).read_text() + "\n")
        planned = elsewhere.run("report", options=["-n"]).text
        assert set(re.findall(r"^(\w+) +1$", planned, re.MULTILINE)) - {"report"} == expected


def test_built_from_tables_and_stored_pictures_alone(
    project: Project, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Raw captures and manifests of other stages are not looked at."""
    monkeypatch.delenv(RUN, raising=False)
    results = project.results
    metrics: Any = {kind: results / "metrics" / f"{kind}.parquet" for kind in ("blur", "restoration")}
    pictures: Any = {kind: results / kind / "pictures.parquet" for kind in ("blur", "restoration")}
    index, store = results / "datasets" / "index.parquet", Store(tmp_path / "store")
    task = Task(str(tmp_path / "pages.json"), "", True, store, Ticker("pages/all", tmp_path / "progress"))
    page_samples(task, index=index, metrics=metrics, pictures=pictures, threads=2)
    sources = Sources(
        tmp_path / "pages.json", results / "captures.parquet", index, metrics, pictures,
        *(results / "metrics" / f"{name}.parquet" for name in ("history", "left_out", "costs")),
        results / "lpips.json", sorted((results / "figures").iterdir()),
    )  # fmt: skip
    write_report(tmp_path / "report", sources, store)
    names = {path.relative_to(site) for path in site.rglob("*") if path.is_file() and not path.name.startswith(".")}
    assert len(names) > 80
    for name in names:
        assert (tmp_path / "report" / name).read_bytes() == (site / name).read_bytes(), name


def test_snakemakes_own_report(project: Project, tmp_path: Path) -> None:
    project.run("all", options=("--report", str(tmp_path / "report.zip")))
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        text = "".join(
            archive.read(name).decode(errors="replace") for name in archive.namelist() if name.endswith(".html")
        )
        kept = {Path(name).name for name in archive.namelist()}
    assert {f"table{place}.html" for place in range(1, 6)} <= kept and "psnr_distributions.png" in kept
    for said in (
        "Tables",
        "Figures",
        "How close restored pictures come to the sharp ones.",
        "PSNR of the models by dataset",
    ):
        assert said in text, said
    loads = re.findall(r"""<(?:script|link|img)[^>]+(?:src|href)=["']([^"']+)""", text)
    assert [url for url in loads if url.startswith("http")] == []
