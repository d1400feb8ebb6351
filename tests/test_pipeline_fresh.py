"""Nothing stale is taken for fresh: data that moves or changes, weights that vanish, jobs that outlive their run."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from datasets.build import Options
from icb import InputError
from icb.errors import OutputError
from tests.captures import make_unity
from tests.pipeline import MACRO, ROOT, Project, make_project, settings
from workflow.lib import configuration, drawing, manifest
from workflow.lib.job import LOCK, RUN
from workflow.lib.manifest import Task
from workflow.lib.progress import Ticker
from workflow.lib.stages.blur import blur_samples
from workflow.lib.stages.captures import index_captures
from workflow.lib.stages.samples import build_samples
from workflow.lib.stages.score import score_samples
from workflow.lib.store import DamagedError, Store
from workflow.lib.tables import write_left_out
from workflow.lib.units import CAPTURED, PUBLISHED, Changed, Unit, fingerprint, list_captures, list_published, unique


def task(folder: Path, stage: str) -> Task:
    return Task(str(folder / f"{stage}.json"), "code", False, Store(folder / "store"), Ticker(stage, folder / "ticks"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A run on published samples: those of an earlier run."""
    folder = tmp_path_factory.mktemp("published")
    first = make_project(folder / "first")
    first.run("datasets")
    shutil.copytree(first.results / "datasets", folder / "second" / "data")
    for path in (folder / "second" / "data").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    second = Project(folder / "second", config=settings(captures={"simulate": None, "published": ["data"]}))
    second.config["captures"].pop("folders", None)
    second.run()
    return second


def copy_of(project: Project, folder: Path) -> Project:
    shutil.copytree(project.folder, folder, symlinks=True)
    return Project(folder, config=json.loads(json.dumps(project.config)))


def test_links_follow_a_dataset_that_moved(finished: Project, tmp_path: Path) -> None:
    project = copy_of(finished, tmp_path / "copy")
    (project.folder / "data").rename(project.folder / "elsewhere")
    project.config["captures"]["published"] = ["elsewhere"]
    project.run()
    links = [path for path in (project.results / "datasets").rglob("*") if path.is_symlink()]
    assert len(links) > 10
    assert all("elsewhere" in str(path.readlink()) and path.exists() for path in links)


def test_what_is_known_of_a_published_sample_is_looked_up_again(finished: Project, tmp_path: Path) -> None:
    project = copy_of(finished, tmp_path / "copy")
    path = project.folder / "data" / "VirtualCMB" / "provenance" / f"{MACRO}.json"
    assert all(not row["simulated"] for row in project.rows("metrics/blur.parquet"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "simulated": True}))
    project.run()
    simulated = {row["id"] for row in project.rows("metrics/blur.parquet") if row["simulated"]}
    assert simulated == {MACRO}


def test_the_recipe_for_computing_again_does_so(finished: Project, tmp_path: Path) -> None:
    project = copy_of(finished, tmp_path / "copy")
    shutil.rmtree(project.results / "store" / "blur")
    project.run(options=["--forcerun", "blur_samples"])
    pictures = list((project.results / "blur").rglob("*.png"))
    stored = {path.stat().st_ino for path in (project.results / "store" / "blur").rglob("picture.png")}
    assert len(pictures) == 6
    assert {path.stat().st_ino for path in pictures} == stored


def test_weights_that_are_gone_are_no_fault_of_a_sample(
    finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_of(finished, tmp_path / "copy")
    monkeypatch.chdir(project.folder)
    (tmp_path / "lpips.json").write_text(json.dumps({"net": "vgg", "path": "/nowhere.safetensors", "sha256": "x"}))
    samples = sorted(Path("results/manifests/all/samples").glob("*.json"))
    estimates = sorted(Path("results/manifests/all/blur").rglob("*.json"))
    job = Task(str(tmp_path / "score.json"), "code", False, Store("results/store"), Ticker("score", tmp_path / "ticks"))
    with pytest.raises(
        InputError, match=r"/nowhere\.safetensors: no such file; .snakemake --forcerun obtain_lpips_weights"
    ):
        score_samples(job, samples, estimates, target="blurry", weights=tmp_path / "lpips.json")
    assert not (tmp_path / "score.json").exists()


def test_no_figure_is_drawn_of_a_sample_that_is_another_by_now(
    finished: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy_of(finished, tmp_path / "copy")
    monkeypatch.chdir(project.folder)
    samples = sorted(Path("results/manifests/all/samples").glob("*.json"))
    for path in samples:  # the copies have times of their own
        found = manifest.read(path)
        for row in found.entries:
            row["files"] = fingerprint(Unit(row["id"], row["folder"], PUBLISHED, row["dataset"]))
        manifest.write(path, found.entries, found.left_out)
    table = "results/metrics/blur.parquet"
    run = drawing.read_run(
        samples=samples,
        tables=(table, table, table),
        blurred=sorted(Path("results/manifests/all/blur").rglob("*.json")),
        restored=[],
        models={"ICB": {"model": "icb"}, "PWB": {"model": "pwb"}},
        methods=[],
        patterns=[MACRO],
        pick="median",
    )
    drawing.draw_blur(run)
    picture = Path(f"data/VirtualCMB/blurry/{MACRO}.png")
    picture.write_bytes(picture.read_bytes())
    for draw in (drawing.draw_blur, drawing.draw_regions):
        with pytest.raises(Changed, match=f"{MACRO} was changed"):
            draw(run)
    assert not run.restored


def test_a_capture_that_changes_meanwhile_is_not_built(tmp_path: Path) -> None:
    make_unity(tmp_path / "raw", MACRO, size=(24, 33), poses=5)
    unit = Unit(MACRO, str(tmp_path / "raw" / MACRO), CAPTURED)
    index_captures(task(tmp_path, "captures"), [unit], options=Options(), taken={})
    frame = next((tmp_path / "raw" / MACRO / "frames").iterdir())
    frame.write_bytes(frame.read_bytes())  # the same content at another time: nobody can know before reading it
    with pytest.raises(Changed, match="was changed while"):
        build_samples(task(tmp_path, "samples"), tmp_path / "captures.json", options=Options())
    assert not (tmp_path / "samples.json").exists()
    index_captures(task(tmp_path, "captures"), [unit], options=Options(), taken={})
    build_samples(task(tmp_path, "samples"), tmp_path / "captures.json", options=Options())
    assert len(manifest.read(tmp_path / "samples.json").entries) == 1


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A capture that can be blurred and is too small for SSIM, blurred."""
    make_unity(tmp_path / "raw", "tiny", size=(6, 9), poses=3)
    unit = Unit("tiny", str(tmp_path / "raw" / "tiny"), CAPTURED)
    index_captures(task(tmp_path, "captures"), [unit], options=Options(), taken={})
    build_samples(task(tmp_path, "samples"), tmp_path / "captures.json", options=Options())
    blur_samples(task(tmp_path, "blur"), tmp_path / "samples.json", name="PWB", model={"model": "pwb"})
    (tmp_path / "lpips.json").write_text("{}")
    return tmp_path


def score(folder: Path, target: str) -> None:
    samples, estimates, weights = (folder / f"{name}.json" for name in ("samples", "blur", "lpips"))
    score_samples(task(folder, f"score {target}"), [samples], [estimates], target=target, weights=weights)


def test_a_sample_whose_scores_fail_twice_is_listed_twice(tiny: Path) -> None:
    for target in ("blurry", "sharp"):
        score(tiny, target)
    write_left_out(tiny / "left_out.parquet", [tiny / "score blurry.json", tiny / "score sharp.json"])
    rows = pq.read_table(tiny / "left_out.parquet").to_pylist()
    assert [(row["stage"], row["id"]) for row in rows] == [("score blur", "tiny"), ("score restorations", "tiny")]


@pytest.mark.parametrize("damage", ["*", "*/estimate.npy"])
def test_an_estimate_that_is_gone_is_no_fault_of_the_sample(tiny: Path, damage: str) -> None:
    for path in (tiny / "store" / "blur").glob(f"??/{damage}"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(DamagedError, match=r"estimate\.npy: no such file.*--forcerun blur_samples"):
        score(tiny, "blurry")
    assert not (tiny / "score blurry.json").exists()


def test_a_stored_sample_that_is_gone_is_not_left_out(tiny: Path) -> None:
    shutil.rmtree(tiny / "store" / "samples")
    with pytest.raises(DamagedError, match="--forcerun build_samples"):
        blur_samples(task(tiny, "other"), tiny / "samples.json", name="ICB", model={"model": "icb", "n": 1, "sigma": 4})
    assert not (tiny / "other.json").exists()


def test_a_record_that_is_broken_fails_the_job(tiny: Path) -> None:
    (record,) = (tiny / "store" / "samples").glob("??/*/record.json")
    record.unlink()
    with pytest.raises(DamagedError, match=r"record\.json: .*rm -rf .*--forcerun build_samples"):
        build_samples(task(tiny, "samples"), tiny / "captures.json", options=Options())


def test_a_published_sample_that_a_recording_is_cut_into_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "Village" / "frames").mkdir(parents=True)
    raw = [Unit(name, str(tmp_path / name), CAPTURED) for name in ("rec", "Village")]
    names = ("rec_0", "rec_3", "rec_4", "rec_04", "rec_x", "Village_0")
    given = [*raw, *(Unit(name, "data/RealCMB", PUBLISHED, "RealCMB") for name in names)]
    found = configuration.taken({"build": {"window": 4, "stride": None}}, given)
    assert found.keys() == {"RealCMB/rec_0", "RealCMB/rec_4"}
    assert configuration.taken({"build": {"window": None, "stride": None}}, given) == {}
    index_captures(task(tmp_path, "captures"), [given[2]], options=Options(window=4), taken=found)
    (left_out,) = manifest.read(tmp_path / "captures.json").left_out
    assert left_out.unit == "RealCMB/rec_0"
    assert f"got 'rec_0', an id that a sample cut from {tmp_path}/rec may have" in left_out.reason


def test_fingerprints_see_rights_and_the_mark_beside_a_file(tmp_path: Path) -> None:
    bundle = tmp_path / "rec.npz"
    bundle.write_bytes(b"x")
    unit = Unit("rec", str(bundle), CAPTURED)
    seen = [fingerprint(unit)]
    bundle.chmod(0o600)
    seen.append(fingerprint(unit))
    (tmp_path / "simulated.json").write_text("{}")
    seen.append(fingerprint(unit))
    assert len(set(seen)) == 3


def test_a_capture_and_a_published_sample_of_one_name_are_refused() -> None:
    published = [Unit("a", "data/VirtualCMB", PUBLISHED, "VirtualCMB"), Unit("a", "data/RealCMB", PUBLISHED, "RealCMB")]
    assert len(unique(published)) == 2
    with pytest.raises(InputError, match="raw/a"):
        unique([*published, Unit("a", "raw/a", CAPTURED)])


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(28, "No space left on device"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        RuntimeError("std::bad_alloc"),
        ValueError("(-4:Insufficient memory) Failed to allocate 99 bytes"),
        OutputError("x: cannot be written: No space left on device"),
    ],
)
def test_the_machine_s_faults_fail_the_job(tmp_path: Path, error: Exception) -> None:
    def work(_: int) -> tuple[list[manifest.Row], bool]:
        raise error

    with pytest.raises(type(error)):
        task(tmp_path, "stage").run([1], work, lambda _, reason: manifest.LeftOut("s", "u", None, None, None, reason))
    assert not (tmp_path / "stage.json").exists()


def test_a_real_lack_of_memory_is_told_from_a_bad_sample(tmp_path: Path) -> None:
    def work(_: int) -> tuple[list[manifest.Row], bool]:
        bytearray(2**62)
        raise AssertionError

    with pytest.raises(MemoryError):
        task(tmp_path, "stage").run([1], work, lambda _, reason: manifest.LeftOut("s", "u", None, None, None, reason))


def test_a_job_ends_when_another_run_has_begun(tmp_path: Path) -> None:
    """As when Snakemake alone was killed, its jobs went on, and it was started again."""
    (tmp_path / "results").mkdir()
    (tmp_path / LOCK).write_text("process 1 on here, run first\n")
    script = "import time\nfrom workflow.lib.job import job\nwith job('log'):\n    print('begun')\n    time.sleep(60)\n"
    environment = {**os.environ, RUN: "first", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, env=environment)
    end = time.monotonic() + 60
    while not ((tmp_path / "log").exists() and "begun" in (tmp_path / "log").read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert process.poll() is None
    (tmp_path / LOCK).write_text("process 2 on here, run second\n")
    assert process.wait(timeout=30) == 1


def test_a_job_of_an_earlier_run_writes_no_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / LOCK).write_text("process 2 on here, run second\n")
    monkeypatch.setenv(RUN, "first")
    with pytest.raises(OutputError, match="another run"):
        task(tmp_path, "stage").run([1], lambda _: ([], True), lambda *_: None)  # type: ignore[arg-type, return-value]
    assert not (tmp_path / "stage.json").exists()


@contextmanager
def without_rights() -> Iterator[None]:
    """What root can read is no test of rights."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_capture_that_may_not_be_read_is_left_out_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the folders above it are closed as well
    tmp_path.chmod(0o777)
    for name in ("a", "closed", "frames closed"):
        make_unity(tmp_path / "raw", name, size=(24, 33), poses=5)
    units = list_captures("raw")
    closed = [Path("raw/closed"), Path("raw/frames closed/frames")]
    for folder in closed:
        folder.chmod(0)
    with without_rights():
        index_captures(task(Path(), "captures"), units, options=Options(), taken={})
        taken = configuration.taken(
            {"build": {"window": 4, "stride": None}}, [*units, Unit("closed_0", "data", PUBLISHED, "RealCMB")]
        )
    for folder in closed:
        folder.chmod(0o755)
    assert taken == {}
    found = manifest.read(tmp_path / "captures.json")
    assert [row["unit"] for row in found.entries] == ["a"]
    reasons = {row.unit: row.reason for row in found.left_out}
    assert re.fullmatch(r"raw/closed/\S+: cannot be read: Permission denied", reasons["closed"])
    assert reasons["frames closed"] == "raw/frames closed/frames: cannot be read: Permission denied"


def test_a_published_sample_that_may_not_be_read_is_left_out(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (built,) = (tiny / "store" / "samples").glob("??/*/VirtualCMB")
    shutil.copytree(built, tiny / "work" / "VirtualCMB")
    monkeypatch.chdir(tiny / "work")
    Path().chmod(0o777)
    assert [unit.name for unit in list_published("VirtualCMB")] == ["tiny"]
    unit = Unit("tiny", "VirtualCMB", PUBLISHED, "VirtualCMB")
    logs, provenance = Path("VirtualCMB/camera_logs/tiny"), Path("VirtualCMB/provenance")
    for folder, stage in ((provenance, "captures"), (logs, "samples")):
        folder.chmod(0)
        with without_rights():
            index_captures(task(Path(), "captures"), [unit], options=Options(), taken={})
            build_samples(task(Path(), "samples"), "captures.json", options=Options())
        folder.chmod(0o755)
        (left_out,) = manifest.read(f"{stage}.json").left_out
        assert left_out.reason.startswith(str(folder)) and left_out.reason.endswith("Permission denied")
    Path("VirtualCMB/sharp_ref").chmod(0)
    with without_rights(), pytest.raises(InputError, match="sharp_ref: cannot be read: Permission denied"):
        list_published("VirtualCMB")


def test_a_link_to_itself_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to("round")
    (unit,) = list_captures(tmp_path)
    index_captures(task(tmp_path, "captures"), [unit], options=Options(), taken={})
    (left_out,) = manifest.read(tmp_path / "captures.json").left_out
    assert (left_out.unit, left_out.reason) == ("round", f"{tmp_path}/round: no such file or folder")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_does_not_hang_a_run(tmp_path: Path, kind: str) -> None:
    make_unity(tmp_path / "raw", MACRO, size=(24, 33), poses=5)
    frame = sorted((tmp_path / "raw" / MACRO / "frames").iterdir())[1]
    frame.unlink()
    if kind == "pipe":
        os.mkfifo(frame)
    else:
        frame.symlink_to("/dev/zero")
    index_captures(
        task(tmp_path, "c"), [Unit(MACRO, str(tmp_path / "raw" / MACRO), CAPTURED)], options=Options(), taken={}
    )
    (left_out,) = manifest.read(tmp_path / "c.json").left_out
    assert "not a pipe or device" in left_out.reason and frame.name in left_out.reason
