"""How the report is made: incrementally, from tables and stored pictures; and Snakemake's own."""

import os
import re
import shutil
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pytest
from matplotlib import colormaps

from icb.figures.style import DEPTH_COLOURS, ERROR_COLOURS, LAYER_COLOURS
from tests.pipeline import Project, copy_sources
from tests.site import BAD, MACRO, PHONE, make_project, page_of, sources_of, write_site
from workflow.lib import manifest
from workflow.lib.job import RUN
from workflow.lib.manifest import LeftOut
from workflow.lib.site.overview import overview
from workflow.lib.units import Changed


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
    assert others == {"index.html", "tables.html", "results.js", "data.html"}
    assert f"{its_own}/index.html" in changed and f"{its_own}/blurry.png" in changed
    # Removed with its capture.
    (tmp_path / "raw" / MACRO).rename(tmp_path / "elsewhere")
    made.run("report")
    assert not (site / its_own).exists() and MACRO not in (site / "results.js").read_text()


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
    write_site(project.results, tmp_path)
    names = {path.relative_to(site) for path in site.rglob("*") if path.is_file() and not path.name.startswith(".")}
    assert len(names) > 80
    for name in names:
        assert (tmp_path / "report" / name).read_bytes() == (site / name).read_bytes(), name


def test_a_sample_that_changed_has_no_page(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be kept as that of the sample which it no longer is."""
    monkeypatch.delenv(RUN, raising=False)
    copy = Path(shutil.copytree(project.results, tmp_path / "results", ignore=shutil.ignore_patterns("store")))
    picture = copy / "datasets" / "VirtualCMB" / "blurry" / f"{MACRO}.png"
    content = cv2.imread(str(picture))
    picture.unlink()
    cv2.imwrite(str(picture), 255 - content)
    with pytest.raises(Changed, match=f"{MACRO} was changed"):
        write_site(copy, tmp_path)


def test_what_only_the_site_lacks_is_listed_and_said_where(project: Project, tmp_path: Path) -> None:
    lost = LeftOut("pages", MACRO, MACRO, "VirtualCMB", None, "too large")
    manifest.write(tmp_path / "pages.json", [], [lost])
    content = overview(sources_of(project.results, tmp_path / "pages.json"), 4)
    assert [row["what"] for row in content["failures"]] == [BAD, f"VirtualCMB/{MACRO}"]
    assert str(tmp_path / "pages.json") in content["unlisted"]
    manifest.write(tmp_path / "pages.json", [], [])
    assert overview(sources_of(project.results, tmp_path / "pages.json"), 4)["unlisted"] == ""


def test_maps_are_exact(site: Path) -> None:
    """They are looked at pixel by pixel: no colour in them that is not on their scale."""
    folder = (site / page_of(site, PHONE)).parent
    for name, colours in (("error-blur-ICB", ERROR_COLOURS), ("error-restoration-PWB", ERROR_COLOURS),
            ("depth", DEPTH_COLOURS), ("layers", LAYER_COLOURS)):  # fmt: skip
        shown = cv2.imread(str(folder / f"{name}.webp"))[..., ::-1].reshape(-1, 3)
        known = {tuple(colour[:3]) for colour in colormaps[colours](np.arange(256), bytes=True)}
        assert set(map(tuple, shown)) <= known, name


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
