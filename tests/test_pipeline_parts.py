"""The parts of the pipeline by themselves: store, shards, versions of code, progress, views; and one sample by id."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from datasets.sample import Sample
from icb import InputError
from icb.restoration import Settings
from tests.pipeline import MACRO, PHONE, ROOT, STANDARD, Project, chain_of, copy_sources, make_project
from tests.scenes import scene
from workflow.lib import code_version, manifest, progress, run, views
from workflow.lib.estimates import PICTURE
from workflow.lib.manifest import LeftOut, Task
from workflow.lib.progress import Monitor, Ticker
from workflow.lib.selection import select
from workflow.lib.shards import Shards, label
from workflow.lib.stages import restore as restore_stage
from workflow.lib.store import Store
from workflow.lib.units import Unit, digest, fingerprint, printable, printable_name

KEY = "ab" + 62 * "0"

# --- The store ---


def fill(folder: Path) -> dict[str, object]:
    (folder / "inner").mkdir()
    (folder / "inner" / "file").write_text("content")
    return {"answer": 42}


def test_an_entry_is_made_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = store.obtain("kind", KEY, fill)
    assert first.made and first.record == {"answer": 42}
    assert (first.path / "inner" / "file").read_text() == "content"

    def never(folder: Path) -> dict[str, object]:
        raise AssertionError

    again = store.obtain("kind", KEY, never)
    assert (again.made, again.path, again.record) == (False, first.path, first.record)
    assert list(store.entries()) == [("kind", KEY)]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)

    def fail(folder: Path) -> dict[str, object]:
        fill(folder)
        raise InputError("a capture is broken")

    with pytest.raises(InputError, match="a capture is broken"):
        store.obtain("kind", KEY, fail)
    assert not [path for path in tmp_path.rglob("*") if path.name != "kind" and path.name != "ab"]
    assert store.obtain("kind", KEY, fill).made


def test_a_full_disk_is_not_the_input_s_fault(tmp_path: Path) -> None:
    def full(folder: Path) -> dict[str, object]:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left on device"):
        Store(tmp_path).obtain("kind", KEY, full)


def slowly(store: str, calls: str, marker: str) -> None:
    """In a process of its own: an entry that takes a while, and leaves a trace each time it is made."""

    def make(folder: Path) -> dict[str, object]:
        with Path(calls).open("a") as stream:
            stream.write("made\n")
        (folder / "half").write_text("not whole")
        Path(marker).touch()
        time.sleep(0.3)
        return fill(folder)

    Store(store).obtain("kind", KEY, make)


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Callable[[], multiprocessing.Process]]:
    """Starts processes that want the same entry."""
    context = multiprocessing.get_context("fork")
    started = []

    def start() -> multiprocessing.Process:
        paths = [str(tmp_path / name) for name in ("store", "calls", "marker")]
        process = context.Process(target=slowly, args=paths)
        process.start()
        started.append(process)
        return process  # type: ignore[return-value]

    yield start
    for process in started:
        process.kill()
        process.join()


def test_many_want_the_same_entry_and_one_makes_it(
    spawn: Callable[[], multiprocessing.Process], tmp_path: Path
) -> None:
    processes = [spawn() for _ in range(6)]
    for process in processes:
        process.join(30)
        assert process.exitcode == 0
    assert (tmp_path / "calls").read_text() == "made\n"
    assert sorted(path.name for path in (tmp_path / "store" / "kind" / "ab").iterdir()) == [KEY]


def test_a_maker_is_killed_and_one_who_waits_takes_over(
    spawn: Callable[[], multiprocessing.Process], tmp_path: Path
) -> None:
    first = spawn()
    while not (tmp_path / "marker").exists():
        time.sleep(0.001)
    others = [spawn(), spawn()]
    time.sleep(0.05)
    assert first.pid is not None
    os.kill(first.pid, signal.SIGKILL)
    place = Store(tmp_path / "store").path("kind", KEY)
    for process in others:
        process.join(30)
        assert process.exitcode == 0
    assert (tmp_path / "calls").read_text() == "made\nmade\n"
    assert sorted(path.name for path in place.iterdir()) == ["half", "inner", "record.json"]
    assert [path.name for path in place.parent.iterdir()] == [KEY]  # nothing of who was killed, and no lock


def test_pruning_keeps_what_it_is_told(tmp_path: Path) -> None:
    store = Store(tmp_path)
    keys = [f"{number:02d}{62 * '0'}" for number in range(4)]
    for key in keys:
        store.obtain("kind", key, fill)
    (tmp_path / "kind" / "00" / ".left.making").mkdir()
    assert store.prune({("kind", keys[1]), ("kind", keys[2])}) == 2
    assert [key for _, key in store.entries()] == keys[1:3]
    assert not list(tmp_path.rglob(".*"))


# --- Shards ---


def unit(name: str) -> Unit:
    return Unit(name, f"raw/{name}", "captured")


def groups(shards: Shards) -> dict[str, str]:
    return {member.name: group for group, members in shards.groups.items() for member in members}


def test_adding_or_removing_a_capture_moves_no_other() -> None:
    units = [unit(f"capture {number}") for number in range(100)]
    before = groups(Shards(units, 8))
    assert 8 <= len(set(before.values())) <= 25
    for changed in (units[:-1], units[1:], [*units, unit("another")], units[::-1]):
        after = groups(Shards(changed, 8))
        assert all(after[name] == group for name, group in before.items() if name in after)


def test_shards_are_about_as_large_as_asked_for() -> None:
    units = [unit(f"capture {number}") for number in range(1000)]
    for size in (1, 4, 16, 64, 2000):
        shards = Shards(units, size)
        counts = [len(shards.members(name)) for name in shards.names]
        assert sum(counts) == 1000
        assert size / 2 <= 1000 / len(counts) <= 2 * size or len(counts) == 1
        assert size > 1 or set(counts) == {1}
    with pytest.raises(InputError, match="shard size: got 0"):
        Shards(units, 0)


def test_labels_are_safe_and_all_different() -> None:
    odd = ["a b", "a_b", "a/b", "<script>", "Bär", "B\udcffr", "x" * 250, "x" * 251, "-n", "{wild}"]
    labels = [label(unit(name)) for name in odd]
    assert len(set(labels)) == len(odd)
    for name in labels:
        assert len(name) < 100 and all(c.isascii() and (c.isalnum() or c in "_.-") for c in name)
    twins = [Unit("same", "a", "published", "RealCMB"), Unit("same", "b", "published", "VirtualCMB")]
    assert len({label(twin) for twin in twins}) == 2


def test_a_fingerprint_changes_with_every_file(tmp_path: Path) -> None:
    capture = Unit("one", str(tmp_path / "one"), "captured")
    (tmp_path / "one" / "frames").mkdir(parents=True)
    frame = tmp_path / "one" / "frames" / "0.png"
    frame.write_bytes(b"content")
    (tmp_path / "one" / "frames" / "round").symlink_to("..")
    (tmp_path / "one" / "dangling").symlink_to("nowhere")
    seen = [fingerprint(capture)]
    assert fingerprint(capture) == seen[0]
    os.utime(frame, ns=(0, frame.stat().st_mtime_ns + 1))
    seen.append(fingerprint(capture))
    (tmp_path / "one" / os.fsdecode(b"\xff")).write_bytes(b"")
    seen.append(fingerprint(capture))
    frame.rename(frame.with_name("1.png"))
    seen.append(fingerprint(capture))
    shutil.rmtree(tmp_path / "one")
    seen.append(fingerprint(capture))
    assert len(set(seen)) == len(seen)


def test_what_is_printable_stays_and_all_else_is_escaped() -> None:
    assert printable("Bär 1, größer: <b>") == "Bär 1, größer: <b>"
    assert printable("a\nb\x1b[31m\udcff\u202e") == "a\\nb\\x1b[31m\\udcff\\u202e"
    printable("\udcff").encode()
    assert printable_name("a\nb") != printable_name("a\\nb")  # a new line, and a backslash and an n
    assert digest({"b": 1, "a": [2]}) == digest({"a": [2], "b": 1}) != digest({"a": [2], "b": 2})


# --- Versions of the code ---

STAGES = {
    "captures": ("workflow.lib.stages.captures",),
    "samples": ("workflow.lib.stages.samples",),
    "ICB": ("workflow.lib.stages.blur", "icb.compositing"),
    "PWB": ("workflow.lib.stages.blur", "icb.pixelwise"),
    "score": ("workflow.lib.stages.score",),
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_sources(tmp_path_factory.mktemp("code") / "copy")


@pytest.fixture
def versions(code: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, str]]:
    """Asks for the versions of all stages of a copy of the code."""
    monkeypatch.setattr(code_version, "ROOT", code)

    def ask() -> dict[str, str]:
        for part in vars(code_version).values():
            if hasattr(part, "cache_clear"):
                part.cache_clear()
        return {name: code_version.code_version(*modules) for name, modules in STAGES.items()}

    return ask


@pytest.mark.parametrize(
    ("module", "addition", "concerned"),
    [
        ("icb/pixelwise.py", "\n# A remark.\n", set()),
        ("icb/pixelwise.py", '\n\n"""A text."""\n', set()),
        ("icb/pixelwise.py", "\n\nif TYPE_CHECKING:\n    import icb.patches\n", set()),
        ("icb/version.py", "\nOTHER = 1\n", set()),
        ("icb/cli/blur.py", "\nOTHER = 1\n", set()),
        ("icb/pixelwise.py", "\nOTHER = 1\n", {"PWB"}),
        ("icb/compositing.py", "\nOTHER = 1\n", {"ICB"}),
        ("icb/compiled/compositing.py", "\nOTHER = 1\n", {"ICB"}),
        ("icb/operator.py", "\nOTHER = 1\n", {"ICB", "PWB"}),
        ("icb/figures/trajectory.py", "\nOTHER = 1\n", set()),  # which trajectories offer to draw
        ("icb/metrics/quality.py", "\nOTHER = 1\n", {"score"}),
        ("datasets/fill.py", "\nOTHER = 1\n", {"captures", "samples"}),
        ("datasets/readers/unity.py", "\nOTHER = 1\n", set(STAGES)),  # samples are read by it as well
        ("datasets/readers/frame_bundle.py", "\nOTHER = 1\n", {"captures", "samples"}),  # found by lying there
        ("icb/camera.py", "\nOTHER = 1\n", set(STAGES)),
        ("workflow/lib/stages/score.py", "\nOTHER = 1\n", {"score"}),
        ("workflow/lib/stages/blur.py", "\nOTHER = 1\n", {"ICB", "PWB"}),
    ],
)
def test_a_change_concerns_those_who_use_it(
    module: str, addition: str, concerned: set[str], versions: Callable[[], dict[str, str]], code: Path
) -> None:
    before = versions()
    path = code / module
    text = path.read_text()
    try:
        path.write_text(text + addition)
        after = versions()
    finally:
        path.write_text(text)
    changed = {name for name in STAGES if after[name] != before[name]}
    assert changed == concerned
    assert versions() == before


def test_figures_count_for_what_draws_alone() -> None:
    computing = {**STAGES, "restore": ("workflow.lib.stages.restore", "icb.compositing")}
    computing |= {"simulate": ("datasets.simulate.default_set",), "tables": ("workflow.lib.tables",)}

    def figures_behind(*modules: str) -> set[str]:
        return {name for name in code_version.modules_behind(*modules) if name.startswith("icb.figures")}

    for stage, modules in computing.items():
        assert not figures_behind(*modules), stage
    assert {"icb.figures.regions", "icb.figures.trajectory"} <= figures_behind("workflow.lib.drawing")
    assert {"icb.figures.comparison", "icb.figures.style"} <= figures_behind("workflow.lib.stages.pages")


def test_a_docstring_or_a_remark_inside_changes_nothing(versions: Callable[[], dict[str, str]], code: Path) -> None:
    before = versions()
    path = code / "icb" / "pixelwise.py"
    text = path.read_text()
    name = text.split('"""')[1]
    try:
        path.write_text(
            text.replace(name, "Something else.\n\n    And more.\n").replace("\n\n\n", "\n\n\n\n# A remark\n")
        )
        assert path.read_text() != text
        assert versions() == before
    finally:
        path.write_text(text)


def test_every_module_that_a_stage_really_imports_counts() -> None:
    """Imported for real, in a new process, and compared with what was found by reading."""
    for modules in STAGES.values():
        script = (
            "import sys, importlib\n"
            f"for name in {modules!r}: importlib.import_module(name)\n"
            "print(*(name for name in sys.modules if name.split('.')[0] in ('icb', 'datasets', 'workflow')))"
        )
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
        loaded = set(done.stdout.split())
        packages = {name for name in loaded if any(other.startswith(f"{name}.") for other in loaded)}
        # A package such as `icb` loads all that it passes on; what a stage does not name does not matter to it.
        passed_on = code_version.modules_behind(*(name for name in packages if code_version._is_hub(name)))
        counted = code_version.modules_behind(*modules)
        assert not loaded - counted - packages - passed_on - code_version.NEUTRAL
        assert set(modules) <= counted


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
    rows = [vars(blame(f"capture {number}", "it is broken")) for number in range(25)]
    Path("m.json").write_text(json.dumps({"entries": [], "left_out": rows}))
    text = run.summary(True, ["m.json", "of a job that never ran.json"])
    assert text.startswith("Left out: 25 ")
    assert text.count("it is broken") == 20 and text.endswith("and 5 more")
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
