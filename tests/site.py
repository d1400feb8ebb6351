"""A run whose report is tested: four captures, one that cannot be used, and markup as names."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from datasets.transaction import locked
from tests import captures
from tests.pipeline import Project, settings
from workflow.lib.manifest import Task
from workflow.lib.progress import Ticker
from workflow.lib.site.sources import Sources
from workflow.lib.site.write import write_report
from workflow.lib.stages.pages import page_samples
from workflow.lib.store import Store
from workflow.lib.tables import BLUR_SCHEMA, COSTS_SCHEMA

BAD = "<script>alert(1)<"
SCENE = "<img src=x onerror=alert(2)>"
MACRO, TRUCKING, STANDARD, PHONE = (
    "VillageMacro_1",
    "VillageTrucking_2",
    "OfficeStandard_3",
    "bundle-2022-05-01_10-00-00",
)
NAMES = (MACRO, TRUCKING, STANDARD, PHONE)
FIT = {"epochs": 2, "width": 16}


def make_project(folder: Path) -> Project:
    """Four captures of odd and unequal sizes, one of which is restored; one that cannot be used; markup as names."""
    raw = folder / "raw"
    captures.make_unity(raw, MACRO, size=(44, 61), poses=5)
    captures.make_unity(raw, TRUCKING, size=(40, 57), poses=4, seed=3, modes=("xy", ""))
    captures.make_unity(raw, STANDARD, size=(46, 51), poses=4, seed=5)
    captures.make_ios(raw, PHONE, size=(96, 136), depth_size=(48, 68), frames=5)
    (raw / BAD).mkdir()
    params = raw / STANDARD / "params.txt"
    content = json.loads(params.read_text())
    params.write_text(json.dumps({**content, "sceneName": SCENE}))
    methods = {"ICB": {"blur": "ICB", **FIT}, "PWB": {"blur": "PWB", **FIT}}
    config = settings(restore={"samples": [PHONE], "crop": [40, 44], "methods": methods})
    config["figures"] = {"draw": ["fig3_blur_variation", "psnr_distributions"]}
    return Project(folder, config=config)


def shared_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """After a run, which all processes that test share."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    folder = tmp_path_factory.getbasetemp().parent / f"site-{run}" if run else tmp_path_factory.mktemp("site")
    folder.mkdir(exist_ok=True)
    with locked(folder):
        if (folder / "done").exists():
            return Project(folder, config=yaml.safe_load((folder / "x.yaml").read_text()))
        made = make_project(folder)
        made.run("all")
        (folder / "done").touch()
        return made


def page_of(site: Path, name: str) -> str:
    [place] = [path for path in (site / "samples").iterdir() if path.name.startswith(f"{name}.")]
    return f"samples/{place.name}/index.html"


def sources_of(results: Path, pages: Path, **more: Any) -> Sources:
    """The tables and pictures in ``results``, and a manifest of pages."""
    metrics: Any = {kind: results / "metrics" / f"{kind}.parquet" for kind in ("blur", "restoration")}
    pictures: Any = {kind: results / kind / "pictures.parquet" for kind in ("blur", "restoration")}
    return Sources(
        pages, results / "captures.parquet", results / "datasets" / "index.parquet", metrics, pictures,
        *(results / "metrics" / f"{name}.parquet" for name in ("history", "left_out", "costs")),
        results / "lpips.json", sorted((results / "figures").iterdir()), **more,
    )  # fmt: skip


def write_site(results: Path, folder: Path, **more: Any) -> Path:
    """A report in ``folder``, from the tables and pictures in ``results`` alone."""
    sources, store = sources_of(results, folder / "pages.json", **more), Store(folder / "store")
    task = Task(str(sources.pages), "", True, store, Ticker("pages/all", folder / "progress"))
    page_samples(task, index=sources.index, metrics=sources.metrics, pictures=sources.pictures, threads=2)
    write_report(folder / "report", sources, store)
    return folder / "report"


def change_rows(path: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """Every row of a table as ``change`` makes it, without those that it makes nothing of."""
    table = pq.read_table(path)
    rows = [row for row in map(change, table.to_pylist()) if row is not None]
    path.unlink()
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def write_published_site(results: Path, folder: Path) -> Path:
    """A report of the same samples, as if published, so that the paper's numbers are beside them.

    MACRO and STANDARD are alike but for what there is of them: PWB has no blur of STANDARD, and an ablation and costs
    lack one row of it each. TRUCKING has a motion that Table 1 does not have. A published sample cannot be used.
    """
    copy = Path(shutil.copytree(results, folder / "results", ignore=shutil.ignore_patterns("store", "report")))

    def as_published(row: dict[str, Any]) -> dict[str, Any] | None:
        row = {**row, "source_format": "published"}
        row |= {"case": "Macro"} if row["id"] == STANDARD else {"motion": "spin"} if row["id"] == TRUCKING else {}
        return None if (row["id"], row.get("model")) == (STANDARD, "PWB") else row

    blur = copy / "metrics" / "blur.parquet"
    for path in (copy / "datasets" / "index.parquet", blur, copy / "metrics" / "restoration.parquet"):
        change_rows(path, as_published)
    change_rows(copy / "captures.parquet", lambda row: {**row, "name": "0001"} if row["status"] != "used" else row)
    change_rows(copy / "metrics" / "left_out.parquet", lambda row: {**row, "unit": "RealCMB/0001"})
    rows = pq.read_table(blur).to_pylist()
    measured = {"threads": 1, "runs": 3, "build_seconds": 0.1, "apply_seconds": 0.1, "processor": "Abacus 9000"}
    costs = [{name: {**row, **measured}[name] for name in COSTS_SCHEMA.names} for row in rows]
    pq.write_table(pa.Table.from_pylist(costs, schema=COSTS_SCHEMA), copy / "metrics" / "costs.parquet")
    variants = [
        {**row, "model": f"ICB.s{sigma}", "sigma": sigma}
        for row in rows
        for sigma in (4.0, 1.0)
        if row["model"] == "ICB" and (row["id"], sigma) != (STANDARD, 1.0) and row["dataset"] == "VirtualCMB"
    ]
    pq.write_table(pa.Table.from_pylist(variants, schema=BLUR_SCHEMA), copy / "metrics" / "ablation.parquet")
    for drawn in (copy / "figures").glob("psnr_distributions.*"):
        drawn.rename(drawn.with_stem("fig5_blur_formation"))
    models: Any = {"blur": ["ICB", "PWB"]}
    return write_site(copy, folder, ablation=copy / "metrics" / "ablation.parquet", models=models, patterns=[MACRO])
