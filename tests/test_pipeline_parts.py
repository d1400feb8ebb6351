"""The parts of the pipeline by themselves: progress, manifests, views; and one sample by id."""

import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from datasets.sample import Sample
from icb import InputError
from icb.restoration import Settings
from tests.pipeline import MACRO, PHONE, STANDARD, Project, chain_of, make_project
from tests.scenes import scene
from workflow.lib import manifest, progress, run, views
from workflow.lib.estimates import PICTURE
from workflow.lib.manifest import LeftOut, Task
from workflow.lib.progress import Monitor, Ticker
from workflow.lib.selection import select
from workflow.lib.stages import restore as restore_stage
from workflow.lib.store import Store

KEY = "ab" + 62 * "0"

# --- Progress ---


def test_progress_is_counted_over_jobs(tmp_path: Path) -> None:
    folder = tmp_path / "progress"
    progress.begin({"samples/1-of-2": 3, "samples/2-of-2": 4, "blur ICB/1-of-2": 3}, folder)
    monitor = Monitor(folder)
    assert monitor.news() == []
    ticker = Ticker("samples/1-of-2", folder)
    ticker.begin(5)  # a capture may yield several samples, which only the job knows
    for what in ("made", "kept", "left out"):
        ticker.tick(what)
    assert monitor.news() == ["samples: 3 of 9"]
    assert monitor.news() == []  # nothing has changed
    stage = progress.stages(folder)["samples"]
    assert dict(stage.counts) == {"made": 1, "kept": 1, "left out": 1}
    assert list(progress.stages(folder)) == ["samples", "blur ICB"]
    progress.begin({}, folder)
    assert progress.stages(folder) == {}


def test_rate_and_time_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    progress.begin({"samples/1-of-1": 100, "score blur/1-of-1": 100}, tmp_path / "progress")
    monitor = Monitor(tmp_path / "progress")
    fast, slow = Ticker("samples/1-of-1", tmp_path / "progress"), Ticker("score blur/1-of-1", tmp_path / "progress")
    fast.begin(100)
    slow.begin(100)
    for ticker, count in ((fast, 40), (slow, 4)):
        for _ in range(count):
            ticker.tick("made")
    now[0] += 20
    assert monitor.news() == [
        "samples: 40 of 100, 2.0 a second, 30 s left",
        "score blur: 4 of 100, 5.0 s each, 8 min 0 s left",
    ]
    now[0] += 20
    fast.tick("made")
    assert monitor.news() == ["samples: 41 of 100, 1.0 a second, 58 s left"]


def test_what_a_job_of_a_killed_run_still_writes_is_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "progress"
    old = Ticker("samples/1-of-1", folder)
    old.begin(2)
    progress.begin({"samples/1-of-1": 2}, folder)
    old.tick("made")
    assert progress.stages(folder)["samples"].total == 2
    assert Monitor(folder).news() == []


def test_the_monitor_speaks_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "progress"
    progress.begin({"blur PWB/1-of-1": 2}, folder)
    ticker = Ticker("blur PWB/1-of-1", folder)
    said = ""
    with Monitor(folder, seconds=0.01):
        ticker.begin(2)
        ticker.tick("made")
        for _ in range(500):
            time.sleep(0.01)
            if said := capsys.readouterr().err:
                break
    assert said == "blur PWB: 1 of 2\n"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (18720, "5 h 12 min")]
)
def test_durations_are_readable(seconds: float, text: str) -> None:
    assert progress.duration(seconds) == text


# --- Manifests and last words ---


def task(folder: Path, *, strict: bool = False) -> Task:
    return Task(str(folder / "out.json"), "code", strict, Store(folder / "store"), Ticker("samples/1", folder / "p"))


def work(item: str) -> tuple[list[dict[str, str]], bool]:
    problems = {"broken": InputError("it is broken\n"), "odd": KeyError("odd"), "full": OSError(28, "disk full")}
    if item in problems:
        raise problems[item]
    return [{"id": item}], item != "old"


def blame(item: str, reason: str) -> LeftOut:
    return LeftOut("samples", item, None, None, None, reason)


def test_a_shard_leaves_out_what_cannot_be_done(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task(tmp_path).run(["new", "broken", "old", "odd"], work, blame)
    read = manifest.read(tmp_path / "out.json")
    assert [row["id"] for row in read.entries] == ["new", "old"]
    assert {row.unit: row.reason for row in read.left_out} == {
        "broken": "it is broken\\n",
        "odd": "unexpected KeyError: 'odd'",
    }
    out, err = capsys.readouterr()
    assert "left out: broken: it is broken" in out
    assert "Traceback" in err  # a mistake in the code is one for whoever can mend it
    assert dict(progress.stages(tmp_path / "p")["samples"].counts) == {"made": 1, "kept": 1, "left out": 2}


def test_strict_does_the_others_first(tmp_path: Path) -> None:
    done = []
    with pytest.raises(InputError, match=r"1 of 3 left out, which `strict` forbids:\n  broken: it is broken"):
        task(tmp_path, strict=True).run(["a", "broken", "b"], lambda item: done.append(item) or work(item), blame)
    assert done == ["a", "broken", "b"]
    assert not (tmp_path / "out.json").exists()


def test_a_fault_of_the_machine_ends_the_job(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk full"):
        task(tmp_path).run(["new", "full", "old"], work, blame)
    assert not (tmp_path / "out.json").exists()


def test_last_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    progress.begin({})
    rows = [blame(f"capture {number}", "it is broken") for number in range(25)]
    first = LeftOut("captures", "z", None, None, None, "it is empty")
    of_all, of_one = (f"{manifest.FOLDER}/{scope}/samples/1.json" for scope in ("all", "one"))
    manifest.write(of_all, [], [*rows, first])
    manifest.write(of_one, [], rows[:1])
    manifest.write(f"{manifest.FOLDER}/all/blur/of another run.json", [], [blame("x", "it is no part of this")])
    outputs = [of_all, of_one, f"{manifest.FOLDER}/all/of a job that never ran.json", "results/captures.parquet"]
    text = run.summary(True, outputs)
    assert text.startswith("Left out: 26 (listed in results/captures.parquet)\n  z (captures): it is empty\n")
    assert text.count("it is broken") == 19 and text.endswith("and 6 more")
    # Where they are in no table that was made, none is named.
    assert run.summary(True, outputs[:3]).startswith("Left out: 26\n")
    assert run.summary(False, outputs).startswith("Left out: 26\n")
    assert "Run snakemake again" in run.summary(False, [])


def test_what_a_killed_run_had_begun_to_write_is_swept_away(tmp_path: Path) -> None:
    hidden = tmp_path / "datasets" / ".view.json"
    for path in (hidden, tmp_path / ".lock", tmp_path / "metrics" / "blur.parquet"):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    kept = {path for path in tmp_path.rglob("*") if path.is_file()}
    for name in (".captures", "metrics/.blur", "datasets/..view", "manifests/all/blur/ICB/.1-of-1"):
        path = tmp_path / f"{name}-0123456789ab.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    frames = tmp_path / "captures" / ".VillageMacro_1-0123456789ab" / "frames"
    frames.mkdir(parents=True)
    (frames / "0.png").touch()
    run.sweep(tmp_path)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == kept
    assert list((tmp_path / "captures").iterdir()) == []


def test_a_view_holds_what_is_wanted_and_nothing_else(tmp_path: Path) -> None:
    """Also where somebody was killed between the record and the links."""
    for name in "abc":
        (tmp_path / "store" / name).mkdir(parents=True)
        (tmp_path / "store" / name / "file").write_text(name)

    def show(wanted: dict[str, str]) -> dict[str, str]:
        folder = tmp_path / "view"
        views.update_links(folder, wanted, lambda name: {f"{name}.txt": tmp_path / "store" / wanted[name] / "file"})
        return {path.name: path.read_text() for path in folder.glob("*.txt")}

    assert show({"one": "a", "two": "b"}) == {"one.txt": "a", "two.txt": "b"}
    before = (tmp_path / "view" / "one.txt").stat().st_ino
    assert show({"one": "a", "two": "c"}) == {"one.txt": "a", "two.txt": "c"}
    assert (tmp_path / "view" / "one.txt").stat().st_ino == before
    (tmp_path / "view" / "one.txt").unlink()
    assert show({"one": "a", "three": "b"}) == {"one.txt": "a", "three.txt": "b"}

    class Killed(BaseException):
        pass

    linked = views._link

    def link_then_die(place: Path, target: Path, symbolic: bool) -> None:
        linked(place, target, symbolic)
        raise Killed

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views, "_link", link_then_die)
        with pytest.raises(Killed):
            show({"one": "a", "three": "b", "four": "c"})
    assert (tmp_path / "view" / "four.txt").exists()
    assert show({"one": "b"}) == {"one.txt": "b"}
    assert show({}) == {}


def test_pictures_of_a_model_and_a_method_of_one_name(tmp_path: Path) -> None:
    store, manifests = Store(tmp_path / "store"), []
    for stage in ("blur", "restore"):

        def make(folder: Path, stage: str = stage) -> dict[str, object]:
            (folder / PICTURE).write_text(stage)
            return {}

        row = {
            "dataset": "RealCMB",
            "id": "a",
            "stage": stage,
            "model": "ICB",
            "key": store.obtain(stage, KEY, make).key,
        }
        manifests.append(tmp_path / f"{stage}.json")
        manifest.write(manifests[-1], [row], [])
    views.show_pictures(tmp_path / "view" / "pictures.parquet", manifests, store, by_stage=True)
    table = pq.read_table(tmp_path / "view" / "pictures.parquet").to_pylist()
    shown = {row["stage"]: (tmp_path / "view" / row["picture"]).read_text() for row in table}
    assert shown == {"blur": "blur", "restore": "restore"}
    assert [row["picture"] for row in table] == ["blur/ICB/RealCMB/a.png", "restoration/ICB/RealCMB/a.png"]


def test_a_selection_repeats_nothing_of_what_was_left_out(tmp_path: Path) -> None:
    row = {"unit": "a", "id": "a"}
    manifest.write(tmp_path / "all.json", [row, {"unit": "b", "id": "b"}], [blame("c", "it is broken")])
    select(tmp_path / "some.json", [tmp_path / "all.json"], ["a", "c"])
    assert manifest.read(tmp_path / "some.json") == manifest.Manifest([row], [])


# --- One sample ---


def test_one_sample_by_its_id(tmp_path: Path) -> None:
    """Its chain alone is worked out, and is there when everything is asked for."""
    project: Project = make_project(tmp_path)
    name = "Bär's 1"
    (tmp_path / "raw" / MACRO).rename(tmp_path / "raw" / name)
    project.run(name)
    assert project.computed({}) == chain_of(name)
    (folder,) = (project.results / "samples").iterdir()
    rows = project.rows(f"samples/{folder.name}/blur.parquet")
    assert [(row["id"], row["model"]) for row in rows] == [(name, "ICB"), (name, "PWB")]
    assert (folder / "blur" / "ICB" / "VirtualCMB" / f"{name}.png").stat().st_size > 100
    assert not (project.results / "metrics").exists()
    before = project.store()
    project.run("results/metrics/blur.parquet")
    assert project.computed(before) == chain_of(STANDARD, PHONE)
    assert [row for row in project.rows("metrics/blur.parquet") if row["id"] == name] == rows


# --- Restoring ---


def test_a_damaged_checkpoint_is_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is the pipeline's own file: the sample is restored as if it had not been there."""
    s = scene(12, 15, "pan-tilt", 2.0)
    picture = (255 * s.image()).astype(np.uint8)
    sample = Sample("one", "VirtualCMB", None, None, None, picture, picture, s.depth, s.trajectory, s.camera, 0, "log")
    monkeypatch.setattr(restore_stage, "read_sample", lambda _: sample)
    checkpoint, damaged, records = tmp_path / "fit.safetensors", b"", []
    settings = Settings(width=8, hidden=1, epochs=2)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        records.append(restore_stage._restore({}, settings, {"model": "pwb"}, None, 1, tmp_path / name, checkpoint))
        if name == "first":
            damaged = checkpoint.read_bytes()[:-1] + b"?"
            checkpoint.write_bytes(damaged)
    assert records[0]["estimate_sha256"] == records[1]["estimate_sha256"]
    assert "begins anew: " in capsys.readouterr().out
    assert (tmp_path / "fit.unusable").read_bytes() == damaged
