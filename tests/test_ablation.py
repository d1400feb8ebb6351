"""The ablation in real runs: only what its grid changes is computed. And what is chosen for it, and for figures."""

import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from icb import InputError
from tests import captures
from tests.pipeline import MACRO, Project, copy_sources, make_project
from workflow.lib import configuration, drawing
from workflow.lib.code_version import modules_behind
from workflow.lib.drawing import FIGURES
from workflow.lib.picking import pick_samples
from workflow.lib.units import CAPTURED, PUBLISHED, Unit

TRUCKING = "CityTrucking_7"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """After a run without the ablation."""
    folder = tmp_path_factory.mktemp("ablation")
    project = make_project(
        folder / "work",
        ablation={"sigma": [4.0, 1.5], "n": [1], "samples": 2},
        restore={
            "samples": [MACRO],
            "crop": [16, 16],
            "methods": {"ICB": {"blur": "ICB", "epochs": 2}, "PWB": {"epochs": 2}},
        },
        figures={"draw": list(FIGURES)},
        costs={"samples": [MACRO]},
    )
    project.source = copy_sources(folder / "code")
    captures.make_unity(project.folder / "raw", TRUCKING, size=(23, 31), poses=5, seed=8)
    run = project.run("all")
    assert "write_ablation" not in run.jobs and not (project.results / "tables" / "ablation.csv").exists()
    return project


def variants(*pairs: tuple[str, str]) -> Counter[str]:
    return Counter(f"{name} {variant}" for name, variant in pairs)


def test_everything_is_written_and_says_what_it_is_about(project: Project) -> None:
    for table in ("table1", "table2", "table3", "table4", "table5"):
        for ending in ("parquet", "csv", "md", "tex", "html"):
            assert (project.results / "tables" / f"{table}.{ending}").stat().st_size > 100
        text = (project.results / "tables" / f"{table}.md").read_text()
        assert "captures of your own" in text and "not shown beside them" in text
        assert ("No LPIPS: switched off in the configuration" in text) == (table in ("table2", "table3", "table5"))
    counts = pd.read_parquet(project.results / "tables" / "table1.parquet").set_index("scene")
    assert counts.loc["Total", "total"] == 3
    measured = project.rows("metrics/costs.parquet")
    assert [(row["id"], row["model"]) for row in measured] == [(MACRO, "ICB"), (MACRO, "PWB")]
    costs = pd.read_parquet(project.results / "tables" / "table4.parquet").set_index("model")
    assert costs.loc["ICB", "seconds"] == measured[0]["seconds"]
    for figure in FIGURES:
        for ending in ("png", "pdf"):
            assert (project.results / "figures" / f"{figure}.{ending}").stat().st_size > 5000


def test_the_end_of_a_run_says_why_there_is_no_lpips(project: Project) -> None:
    shutil.rmtree(project.results / "tables")
    assert "\nNo LPIPS: switched off in the configuration\n" in project.run("tables").text


def test_figures_come_out_the_same_again(project: Project) -> None:
    before = {path.name: path.read_bytes() for path in (project.results / "figures").iterdir()}
    shutil.rmtree(project.results / "figures")
    run = project.run("figures")
    assert set(run.jobs) == {"draw_figures", "figures"}
    assert {path.name: path.read_bytes() for path in (project.results / "figures").iterdir()} == before


def test_only_what_the_grid_changes_is_computed(project: Project) -> None:
    before, outcome = project.store(), project.outcome()
    run = project.run("ablation")
    new = variants((MACRO, "ICB.s1.5.n1"), (TRUCKING, "ICB.s1.5.n1"))
    assert project.computed(before) == {"blur": new, "score": new}
    # The other variant is the configuration's own ICB, though that says 4 and 1 where this says 4.0 and 1.
    assert run.counts["blur ICB.s4.n1"] == {"kept": 2}
    assert not run.jobs.keys() & {"index_captures", "build_samples", "tabulate_blur", "restore_samples"}
    table = pd.read_parquet(project.results / "tables" / "ablation.parquet")
    assert list(zip(table["case"], table["sigma"], table["n"], table["samples"], strict=True)) == [
        ("Macro", 1.5, 1.0, 1), ("Macro", 4.0, 1.0, 1), ("Trucking", 1.5, 1.0, 1), ("Trucking", 4.0, 1.0, 1),
    ]  # fmt: skip
    main = {row["id"]: row["psnr"] for row in project.rows("metrics/blur.parquet") if row["model"] == "ICB"}
    assert table["psnr"].iloc[1] == main[MACRO] and table["psnr"].iloc[3] == main[TRUCKING]
    # What is not the ablation's is as it was.
    assert {name: value for name, value in project.outcome().items() if name in outcome} == outcome
    assert project.run("all").jobs.keys() <= {"write_report", "report", "all"}  # which shows it from now on
    assert project.run("ablation", "all").idle

    # One value more: that one alone, for both samples.
    before = project.store()
    project.config["ablation"] = {**project.config["ablation"], "n": [1, 2.5]}
    project.run("ablation")
    more = variants(*((name, f"ICB.s{sigma}.n2.5") for name in (MACRO, TRUCKING) for sigma in ("4", "1.5")))
    assert project.computed(before) == {"blur": more, "score": more}
    assert len(pd.read_parquet(project.results / "tables" / "ablation.parquet")) == 8

    # When room is made, what the grid has survives, and what it no longer has does not.
    project.config["ablation"] = {**project.config["ablation"], "n": [1]}
    project.run("ablation")
    refused = project.run("prune", "ablation", code=1)
    assert "prune: got it beside ablation, expected it alone" in refused.text
    project.run("prune")
    assert project.store() == before


def test_variants_are_told_apart_by_every_digit() -> None:
    names = list(configuration.variants(config(sigma=[0.1234567, 0.1234568, 4], n=[1.0])))
    assert names == ["ICB.s0.1234567.n1", "ICB.s0.1234568.n1", "ICB.s4.n1"]
    with pytest.raises(InputError, match=r"ablation\.sigma: got inf"):
        configuration.variants(config(sigma=[float("inf")]))


def config(**ablation: Any) -> dict[str, Any]:
    whole: dict[str, Any] = {"captures": {"simulate": None}, "ablation": ablation}
    configuration.complete(whole)
    return whole


def unit(name: str, dataset: str | None = None) -> Unit:
    return Unit(name, "somewhere", PUBLISHED if dataset else CAPTURED, dataset)


def test_samples_are_shared_by_cases_and_spread() -> None:
    units = [unit(f"AMacro_{n:03d}", "VirtualCMB") for n in range(40)]
    units += [unit(f"ATrucking_{n:03d}", "VirtualCMB") for n in range(8)]
    units += [unit("AStandard_1", "VirtualCMB"), unit("AMacro_001", "RealCMB"), unit("bundle-1")]
    chosen = [row.name for row in configuration.to_ablate(config(samples=12), units)]
    macro, trucking = ([name for name in chosen if case in name] for case in ("Macro", "Trucking"))
    assert len(macro) == len(trucking) == 6 and len(set(chosen)) == 12
    assert macro == [f"AMacro_{n:03d}" for n in (0, 6, 13, 20, 26, 33)]
    # A case with too few gives all it has, the other the rest.
    chosen = [row.name for row in configuration.to_ablate(config(samples=30), units)]
    assert sum("Trucking" in name for name in chosen) == 8 and len(set(chosen)) == len(chosen) == 30
    assert len(configuration.to_ablate(config(samples=1000), units)) == 48
    named = configuration.to_ablate(config(samples=["*_003", "AStandard*", "bundle*"]), units)
    assert [row.name for row in named] == ["AMacro_003", "ATrucking_003"]
    only = configuration.to_ablate(config(cases=["Standard"]), units)
    assert [row.name for row in only] == ["AStandard_1"]
    assert configuration.to_ablate(config(), []) == []


def test_the_default_grid_is_the_papers() -> None:
    from workflow.lib import paper_numbers

    grid = configuration.variants(config())
    paper = paper_numbers.read("ablation")
    assert {(model["sigma"], model["n"]) for model in grid.values()} == set(
        zip(paper["sigma"], paper["n"], strict=True)
    )
    assert len(grid) == 24 and all("." in name for name in grid)  # which no name in the section `blur` may have


def metrics(*rows: tuple[str, str, str | None, float, float | None]) -> pd.DataFrame:
    columns = ["dataset", "id", "case", "model", "psnr"]
    found = []
    for dataset, name, case, first, second in rows:
        found.append((dataset, name, case, "A", first))
        if second is not None:
            found.append((dataset, name, case, "B", second))
    return pd.DataFrame(found, columns=columns)


def test_figures_show_the_median_the_largest_or_what_is_named() -> None:
    rows = metrics(
        ("V", "a", "Macro", 30, 29),
        ("V", "b", "Macro", 30, 25),
        ("V", "c", "Macro", 30, 37),
        ("V", "d", "Trucking", 30, 30),
        ("V", "e", "Trucking", 31, None),  # the second model has none of it
        ("R", "a", None, 30, 28),
    )
    assert pick_samples(rows, ["A", "B"], [], "median") == [("R", "a"), ("V", "a"), ("V", "d")]
    assert pick_samples(rows, ["A", "B"], [], "largest") == [("R", "a"), ("V", "c"), ("V", "d")]
    assert pick_samples(rows, ["A", "B"], ["e", "a", "?"], "median")[:3] == [("V", "e"), ("R", "a"), ("V", "a")]
    assert pick_samples(rows, ["A"], [], "largest")[-1] == ("V", "e")
    assert pick_samples(rows.iloc[:0], ["A", "B"], [], "median") == []


def test_figures_say_why_there_is_no_sample_to_show() -> None:
    rows = metrics(("V", "a", "Macro", 30, 29)).assign(motion="parallax")
    alone = metrics(("V", "a", "Macro", 30, None), ("V", "b", "Macro", 30, 29)).assign(motion="parallax").iloc[[0, 2]]

    def said(rows: pd.DataFrame, patterns: list[str]) -> list[str]:
        run = drawing.Run({}, rows, rows, rows, {}, {}, {"A": {}, "B": {}}, ["A", "B"], patterns, "median")
        names = ("fig4_depth_regions", "fig5_blur_formation", "fig6_restoration")
        return [FIGURES[name](run).texts[0].get_text() for name in names]

    for patterns in ([], ["typo*"]):
        assert said(rows.iloc[:0], patterns) == [
            f"No sample was {done}." for done in ("blurred", "blurred", "restored")
        ]
    assert said(rows, ["typo*", "x"]) == [
        f"No sample that was {done} matches figures.samples: typo*, x." for done in ("blurred", "blurred", "restored")
    ]
    assert said(alone, [])[1:] == [
        f"No sample was {done} by both of the first two models." for done in ("blurred", "restored")
    ]


def test_a_fresh_ablation_builds_what_it_needs_alone(tmp_path: Path) -> None:
    project = make_project(tmp_path, samples_per_job=1, ablation={"sigma": [4], "n": [1], "samples": [MACRO]})
    run = project.run("ablation", options=["--dry-run"])
    planned = dict(re.findall(r"^(\w+) +(\d+)$", run.text, re.MULTILINE))
    assert planned["build_samples"] == planned["index_captures"] == planned["choose_samples"] == "1"
    assert "show_datasets" not in planned


@pytest.mark.parametrize("stage", ["captures", "samples", "blur", "restore", "score"])
def test_no_result_depends_on_how_it_is_shown(stage: str) -> None:
    behind = modules_behind(f"workflow.lib.stages.{stage}")
    shown = {name for name in behind if name.startswith(("workflow.lib.summaries", "icb.figures"))}
    # A trajectory can plot itself.
    assert shown <= {"icb.figures.trajectory"}
    assert not behind & {
        "workflow.lib.drawing",
        "workflow.lib.picking",
        "workflow.lib.paper_numbers",
        "workflow.lib.cost",
    }


def test_readme_and_defaults_name_the_papers_grid(tmp_path: Path) -> None:
    import yaml

    root = Path(configuration.__file__).parent.parent.parent
    whole = yaml.safe_load((root / "config" / "paper.yaml").read_text())
    configuration.complete(whole)
    assert len(configuration.variants(whole)) == 24 and whole["ablation"]["samples"] == 12
    small = yaml.safe_load((root / "config" / "config.yaml").read_text())
    configuration.complete(small)
    assert len(configuration.variants(small)) == 4
    # The model that the rest uses is one of them, with the very same parameters.
    assert small["blur"]["ICB"] in configuration.variants(small).values()
    assert whole["blur"]["ICB"] in configuration.variants(whole).values()
    assert (root / "config" / "README.md").read_text() == configuration.readme()
