"""What is redone after a change, in real runs: the sample or stage that it concerns, and what follows from it."""

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests import captures
from tests.pipeline import CHAIN, MACRO, PHONE, STANDARD, Project, chain_of, copy_sources, make_project

ALL = (MACRO, STANDARD, PHONE)
STATE = ("code", "work/results", "work/.snakemake")
AGGREGATES = {"list_captures", "show_datasets", "show_blur", "tabulate_blur", "tabulate_left_out"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project after its first run, of which a copy is kept. Its code is a copy, too, to be edited."""
    folder = tmp_path_factory.mktemp("incremental")
    project = make_project(folder / "work")
    project.source = copy_sources(folder / "code")
    run = project.run()
    assert project.computed({}) == chain_of(*ALL)
    assert run.jobs.keys() >= AGGREGATES | CHAIN.keys()
    for place in STATE:
        shutil.copytree(folder / place, folder / "at first" / place, symlinks=True)
    (folder / "aside").mkdir()
    return project


@pytest.fixture
def project(base: Project) -> Project:
    """The project in the state after its first run, in the same place; its captures are the very same files."""
    folder = base.folder.parent
    for place in STATE:
        shutil.rmtree(folder / place)
        shutil.copytree(folder / "at first" / place, folder / place, symlinks=True)
    raw = base.folder / "raw"
    for path in raw.iterdir():
        if path.name not in ALL or (folder / "aside" / path.name).exists():
            shutil.rmtree(path)
    for path in (folder / "aside").iterdir():
        path.rename(raw / path.name)
    return Project(base.folder, base.source, {**base.config})


def copied(project: Project, name: str) -> Path:
    """A capture in place of which a copy now is; the original, with all its times, comes back after the test."""
    aside = project.folder.parent / "aside" / name
    capture = project.folder / "raw" / name
    capture.rename(aside)
    shutil.copytree(aside, capture)
    return capture


def change(project: Project, name: str) -> None:
    """One frame of a Unity capture becomes another picture of the same size."""
    frames = copied(project, name) / "frames"
    frames.joinpath("frame_1.png").write_bytes(frames.joinpath("frame_0.png").read_bytes())


def edit(project: Project, module: str, addition: str) -> None:
    with (project.source / module).open("a") as stream:
        stream.write(f"\n{addition}\n")


def test_nothing_changed_nothing_runs(project: Project) -> None:
    before, outcome = project.store(), project.outcome()
    assert project.run().idle
    assert project.computed(before) == {}
    assert project.outcome() == outcome


def test_one_capture_changed_its_chain_runs_in_a_shard_of_all(project: Project) -> None:
    before, rows = project.store(), project.rows("metrics/blur.parquet")
    change(project, MACRO)
    run = project.run()
    assert project.computed(before) == chain_of(MACRO)
    assert run.counts["blur ICB"] == {"made": 1, "kept": 2}
    after = project.rows("metrics/blur.parquet")
    # The rows of the others are the same in every column, the time that they once took included.
    assert [row for row in after if row["id"] != MACRO] == [row for row in rows if row["id"] != MACRO]
    old = {row["model"]: row["sample_sha256"] for row in rows if row["id"] == MACRO}
    assert all(row["sample_sha256"] != old[row["model"]] for row in after if row["id"] == MACRO)
    assert project.run().idle


def test_a_capture_that_only_looks_newer_is_looked_into_and_no_more(project: Project) -> None:
    before, outcome = project.store(), project.outcome()
    for path in copied(project, PHONE).iterdir():
        os.utime(path)
    project.run()
    assert project.computed(before) == {"captures": Counter([PHONE])}
    assert project.outcome() == outcome


def test_a_capture_added_and_removed_again(project: Project) -> None:
    before, outcome = project.store(), project.outcome()
    added = captures.make_unity(project.folder / "raw", "CityTrucking_7", size=(23, 31), poses=5, seed=8)
    project.run()
    assert project.computed(before) == chain_of(added.name)
    assert {row["id"] for row in project.rows("metrics/blur.parquet")} == {*ALL, added.name}
    shutil.rmtree(added)
    before = project.store()
    run = project.run()
    assert project.computed(before) == {}
    assert all("made" not in counts for counts in run.counts.values())
    assert project.outcome() == outcome  # nothing of it is left, in no table and no folder


def test_one_parameter_changed_and_changed_back(project: Project) -> None:
    first, outcome = project.store(), project.outcome()
    project.config["blur"] = {"ICB": {"sigma": 1.5}}
    run = project.run()
    icb = Counter(f"{name} ICB" for name in ALL)
    assert project.computed(first) == {"blur": icb, "score": icb}
    assert not run.jobs.keys() & {"index_captures", "build_samples", "show_datasets", "list_captures"}
    assert run.jobs["blur_samples"] == 1  # PWB's is not even started
    assert {row["sigma"] for row in project.rows("metrics/blur.parquet")} == {1.5, None}
    changed = {name for name, content in project.outcome().items() if outcome.get(name) != content}
    assert changed == {
        "metrics/blur.parquet",
        *(f"blur/ICB/{row['dataset']}/{row['id']}.png" for row in project.rows("datasets/index.parquet")),
    }
    before = project.store()
    project.config["blur"] = {}
    project.run()
    assert project.computed(before) == {}  # all of it is still in the store
    assert project.outcome() == outcome
    project.run("prune")
    assert project.store() == first  # what another sigma made is gone
    assert project.outcome() == outcome
    assert project.run().idle


def test_another_way_of_building_leaves_the_captures_alone(project: Project) -> None:
    before = project.store()
    project.config["build"] = {"averaging": "srgb"}
    project.run("results/metrics/blur.parquet")
    expected = chain_of(*ALL)
    del expected["captures"]
    assert project.computed(before) == expected


def test_shards_of_one(project: Project) -> None:
    """Other shards are other jobs, that find all their results; then a change concerns one of them."""
    before, outcome = project.store(), project.outcome()
    project.config["samples_per_job"] = 1
    run = project.run()
    assert project.computed(before) == {}
    assert {rule: run.jobs[rule] for rule in CHAIN} == {rule: 3 * count for rule, count in CHAIN.items()}
    assert project.outcome() == outcome
    change(project, STANDARD)
    run = project.run()
    assert project.computed(before) == chain_of(STANDARD)
    assert {rule: run.jobs[rule] for rule in CHAIN} == CHAIN
    assert all(count == 1 for rule, count in run.jobs.items() if rule not in CHAIN)  # what puts all together


def test_code_changed(project: Project) -> None:
    """A remark changes nothing; a change of one stage, that stage and, where its results differ, what follows."""
    before = project.store()
    edit(project, "icb/pixelwise.py", "# A remark.")
    edit(project, "datasets/average.py", '"""Another one."""')
    assert project.run().idle

    # PWB's pictures become darker: PWB is worked out and scored, nothing else is.
    edit(project, "icb/pixelwise.py", DARKER)
    run = project.run()
    pwb = Counter(f"{name} PWB" for name in ALL)
    assert project.computed(before) == {"blur": pwb, "score": pwb}
    assert run.jobs["blur_samples"] == 1
    assert not run.jobs.keys() & {"index_captures", "build_samples"}

    before = project.store()
    edit(project, "icb/metrics/quality.py", "SOMETHING = 1")
    run = project.run("results/metrics/blur.parquet")
    both = Counter(f"{name} {model}" for name in ALL for model in ("ICB", "PWB"))
    assert project.computed(before) == {"score": both}
    assert not run.jobs.keys() & {"index_captures", "build_samples", "blur_samples"}

    # Samples are built anew and come out the same: nothing that follows has to be.
    before = project.store()
    edit(project, "workflow/lib/stages/samples.py", "SOMETHING = 1")
    run = project.run("results/metrics/blur.parquet")
    assert project.computed(before) == {"samples": Counter(ALL)}
    assert "index_captures" not in run.jobs


DARKER = """
def _darker(self, image):
    return BlurOperator.__call__(self, image) / 2

PixelWiseBlur.__call__ = _darker
"""
