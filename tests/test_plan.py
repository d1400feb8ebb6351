"""The planning aid: what it foretells of a larger set, and what that set really took."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from icb import InputError
from tests import captures
from tests.pipeline import Project, settings
from workflow.lib import manifest, plan, progress
from workflow.lib.plan import Line, Measured

TARGETS = ("datasets", "results/metrics/blur.parquet", "results/metrics/restoration.parquet", "report")


def project(folder: Path, scale: int) -> Project:
    """Captures of two sizes, so that start and rate show, each a job of its own."""
    raw = folder / "raw"
    captures.make_unity(raw, "VillageMacro_1", size=(24 * scale, 32 * scale), poses=5)
    captures.make_unity(raw, "VillageMacro_2", size=(48 * scale, 64 * scale), poses=5, seed=1)
    methods = {name: {"blur": name, "epochs": 5 * scale, "width": 32} for name in ("ICB", "PWB")}
    return Project(folder, config=settings(restore={"samples": ["*"], "methods": methods}, samples_per_job=1))


def test_what_a_larger_set_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Compared with what it really took, loosely: others may be at work here."""
    small, large = project(tmp_path / "small", 1), project(tmp_path / "large", 3)
    for each in (small, large):
        each.run(*TARGETS)
        # What was planned is what was counted.
        assert all(stage.done == stage.total for stage in progress.stages(each.results / ".progress").values())
    index = large.results / "datasets" / "index.parquet"
    needs = plan.predict(plan.measure(small.results), plan._index(index), plan.configured([large.folder / "x.yaml"]))
    took = plan.measure(large.results)
    assert {need.stage for need in needs} == {stage.replace("/", " ") for stage in took}
    for need in needs:
        found = took[need.stage.replace(" ", "/", 1)]
        assert need.jobs == len(found.seconds)
        assert need.gigabytes == pytest.approx((sum(found.size) + sum(found.fixed)) / 1e9, rel=0.7), need.stage
        assert need.gpu_hours == 0
        assert sum(found.seconds) / 3600 / 8 < need.core_hours < sum(found.seconds) / 3600 * 8, need.stage
    # The same, as people ask for it.
    arguments = ["--results", str(small.results), "--index", str(index), "--configfile", str(large.folder / "x.yaml")]
    assert plan.main(arguments) == 0
    assert plan.table(needs) in capsys.readouterr().out


def test_fits_and_networks_are_told_from_starts_and_pictures() -> None:
    """One job alone is enough, because a fit knows its own time."""
    fit = Measured([1e6], [15.0], [5.0], [1e6], [4e6], [6e5])
    assert not fit.alike and fit.seconds_of(2, 8e6) == pytest.approx(2 * 10 + 40)
    assert fit.bytes_of(2, 8e6) == pytest.approx(2 * 6e5 + 32e6)
    assert Measured([1e6], [15.0]).alike
    text = plan.table([plan.Need("samples", 1, 1.0, 0.0, 1.0, alike=True)])
    assert "Of samples all jobs of the small run were alike" in text


def test_a_line() -> None:
    line = Line.through([1, 2, 4], [5, 7, 11])
    assert (line.constant, line.rate) == pytest.approx((3, 2))
    assert Line.through([2, 2], [3, 5]) == Line(0, 2)  # nothing tells the two parts apart
    assert Line(3, 2).total(10, 100) == 230
    falling = Line.through([1, 2, 4], [5, 4, 3])
    assert (falling.rate, falling.constant) == pytest.approx((0, 4))


def test_the_papers_sizes_from_what_was_measured() -> None:
    """By hand: rates of a second for a million pixels times poses or epochs, and two seconds for a start."""
    jobs = [1e6, 4e6]
    measured = {
        stage: Measured(jobs, [2 + work / 1e6 for work in jobs], [], [1e6, 4e6], [3e6, 12e6], on_gpu="restore" in stage)
        for stage in ("captures", "samples", "blur/ICB", "blur/PWB", "score_blur", "restore/ICB", "restore/PWB",
                      "score_restorations")
    }  # fmt: skip
    config = plan.configured([])
    config["restore"] |= {"samples": ["take*"], "crop": None}
    config["restore"]["methods"] = {name: {"epochs": 100} for name in ("ICB", "PWB")}
    config["samples_per_job"], config["restorations_per_job"] = 2, 1
    row = {"dataset": "d", "id": "x", "height": 1000, "width": 2000, "poses": 10, "source": "x"}
    rows = [row, row, {**row, "source": "take 1"}]
    needs = {need.stage: need for need in plan.predict(measured, rows, config)}
    assert needs["samples"].jobs == 2 and needs["restore ICB"].jobs == 1
    assert needs["samples"].core_hours * 3600 == pytest.approx(2 * 2 + 3 * 2 * 10)
    assert needs["score_blur"].core_hours * 3600 == pytest.approx(2 * 2 + 2 * 3 * 2)
    assert needs["restore ICB"].gpu_hours * 3600 == pytest.approx(2 + 2 * 100)
    assert needs["blur ICB"].gpu_hours == 0
    assert needs["blur ICB"].gigabytes == pytest.approx(3 * 6e-3)
    assert "pages" not in needs
    measured["pages"] = measured["blur/ICB"]
    pages = plan.predict(measured, rows, config)[-1]
    assert (pages.stage, pages.jobs) == ("pages", 1)
    assert pages.core_hours * 3600 == pytest.approx(2 + 3 * 2)


def test_what_it_cannot_know(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = tmp_path / "index.parquet"
    pq.write_table(pa.table({"id": ["a"], "height": [1]}), index)
    with pytest.raises(InputError, match=r"index\.parquet: got no column 'dataset'"):
        plan._index(index)
    with pytest.raises(InputError, match="captures: got no benchmark of it"):
        plan.predict({}, [], plan.configured([]))
    assert plan.main(["--index", str(tmp_path / "none.parquet"), "--results", str(tmp_path)]) == 2
    assert "error: " in capsys.readouterr().err
    file = tmp_path / "x.yaml"
    for content, said in ((None, "cannot be read"), ("a: [", "expected YAML"), ("- a", "got list, expected")):
        if content is not None:
            file.write_text(content)
        assert plan.main(["--index", str(index), "--configfile", str(file)]) == 2
        assert f"error: {file}: {said}" in capsys.readouterr().err


def test_what_other_runs_left_does_not_count(tmp_path: Path) -> None:
    """Shards of another size, of samples that are no more, with and without their manifests."""
    row = {"dataset": "d", "height": 10, "width": 20, "poses": 5, "source": "x"}
    (tmp_path / "datasets").mkdir()
    pq.write_table(pa.Table.from_pylist([{**row, "id": "a"}, {**row, "id": "b"}]), tmp_path / plan.INDEX)

    def job(stage: str, shard: str, entries: list[dict[str, object]] | None) -> None:
        benchmark = tmp_path / "benchmarks" / stage / "all" / f"{shard}.tsv"
        benchmark.parent.mkdir(parents=True, exist_ok=True)
        benchmark.write_text("s\tcpu_time\n7\t3\n")
        if entries is not None:
            written = [{"dataset": "d", "key": "k", **entry} for entry in entries]
            manifest.write(tmp_path / "manifests" / "all" / stage / f"{shard}.json", written, [])

    job("samples", "1-of-2", [{"id": "a"}])
    job("samples", "2-of-2", [{"id": "b"}])
    job("samples", "1-of-1", [{"id": "a"}, {"id": "gone"}])
    job("samples", "1-of-4", None)
    job("captures", "1-of-2", [{"windows": [{"id": "a"}]}, {"windows": [{"id": "could not be built"}]}])
    job("captures", "1-of-1", [{"windows": [{"id": "gone"}]}])
    found = plan.measure(tmp_path)
    assert {stage: measured.work for stage, measured in found.items()} == {"captures": [1000], "samples": [1000, 1000]}
