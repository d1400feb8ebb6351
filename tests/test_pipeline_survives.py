"""Runs that are killed at any moment, meet each other, or have other cores: the same results in the end."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests import captures
from tests.pipeline import MACRO, PHONE, ROOT, STANDARD, Project, make_project, settings, wait_until
from workflow.lib import run as run_module


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("undisturbed"))
    project.run()
    return project


def kinds(project: Project) -> Counter[str]:
    """How many entries of each kind are in the store."""
    return Counter(key.partition("/")[0] for key in project.store())


@contextmanager
def killed(project: Project, *targets: str) -> Iterator["subprocess.Popen[str]"]:
    """A run that is killed at the end of the block: all of it, at once and without warning."""
    process = project.start(*targets)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        if process.stdout is not None and not process.stdout.closed:
            process.communicate()


def stored(kind: str, count: int) -> Callable[[Project], bool]:
    return lambda project: kinds(project)[kind] >= count


def there(pattern: str) -> Callable[[Project], bool]:
    return lambda project: any(project.folder.glob(pattern))


MOMENTS: dict[str, Callable[[Project], bool]] = {
    "while the jobs are planned": there(".snakemake"),
    "when the first job begins": there("results/.progress/*~*"),
    "while a capture is looked into": stored("captures", 1),
    "while an entry of the store is filled": there("results/store/samples/??/.*.making"),
    "when a sample is built": stored("samples", 2),
    "while the datasets are put together": there("results/datasets/VirtualCMB/*"),
    "when a picture is blurred": stored("blur", 1),
    "when all pictures are blurred": stored("blur", 6),
    "when a score is known": stored("score", 2),
    "while a table is written": there("results/metrics/blur.parquet"),
}


def test_killed_again_and_again(undisturbed: Project, tmp_path: Path) -> None:
    """Every run goes on where the one before was killed: what was finished is not done again."""
    project = make_project(tmp_path)
    kills = 0
    for moment, has_come in MOMENTS.items():
        if has_come(project):
            continue  # the run before got as far before it was gone
        before = project.store()
        with killed(project) as process:
            came = wait_until(lambda has_come=has_come: has_come(project), process)  # type: ignore[misc]
        assert came, f"{moment}: the run ended by itself"
        kills += 1
        after = project.store()
        assert {key: after.get(key) for key in before} == before, moment
    assert kills >= 4
    before = project.store()
    project.run()
    after = project.store()
    assert {key: after.get(key) for key in before} == before
    assert kinds(project) == kinds(undisturbed)  # no key was made that an undisturbed run does not make
    assert project.outcome() == undisturbed.outcome()
    assert not list(project.results.rglob(".*.making")) and not list(project.results.rglob(".*.lock"))
    assert project.run().idle


SIMULATED = {"scenes": ["Studio"], "cases": ["Macro"], "motions": ["parallax"], "ios": 0}
SIMULATED |= {"size": [18, 25], "poses": 3, "samples_per_pixel": 1}


def make_sources(folder: Path, archive: Path) -> Project:
    """A capture to simulate, and one in an archive."""
    folder.mkdir()
    packed = {"source": str(archive), "checksum": f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"}
    places = {"simulate": SIMULATED, "folders": [], "archives": [packed]}
    return Project(folder, config=settings(captures=places))


def test_killed_while_captures_are_obtained(tmp_path: Path) -> None:
    """When an archive is unpacked that Snakemake has not yet heard of, and while one is rendered."""
    captures.make_unity(tmp_path / "inner", STANDARD, size=(27, 22), poses=4, seed=3)
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "tar", tmp_path, "inner"))
    projects = [make_sources(tmp_path / name, archive) for name in ("undisturbed", "killed")]
    projects[0].run("datasets")
    project = projects[1]
    for moment in ("results/archives/*/content", "results/captures/.*-*/*"):
        with killed(project, "datasets") as process:
            assert wait_until(lambda moment=moment: there(moment)(project), process)  # type: ignore[misc]
    assert not list(project.results.glob("store/*"))
    run = project.run("datasets")
    assert not list(project.results.glob("captures/.*"))
    assert run.counts["captures"] == {"made": 2}
    assert project.outcome() == projects[0].outcome()
    # Another place to fetch the same archive from is no reason to do anything.
    project.config["captures"]["archives"][0]["source"] = str(archive.rename(tmp_path / "elsewhere.tar"))
    assert project.run("datasets").idle


@pytest.mark.parametrize("share", [0.35, 0.6, 0.85])
def test_killed_after_a_share_of_the_work(share: float, undisturbed: Project, tmp_path: Path) -> None:
    """With one job for each capture, so that several are always at work."""
    project = make_project(tmp_path, samples_per_job=1)
    enough = share * len(undisturbed.store())
    with killed(project) as process:
        assert wait_until(lambda: len(project.store()) >= enough, process)
    before = project.store()
    project.run()
    made = project.computed(before)
    assert sum(counts.total() for counts in made.values()) == len(undisturbed.store()) - len(before)
    assert project.outcome() == undisturbed.outcome()


def test_a_capture_that_is_gone_after_a_kill_leaves_nothing(undisturbed: Project, tmp_path: Path) -> None:
    """The killed run had begun to show it."""
    project = make_project(tmp_path)
    with killed(project) as process:
        assert wait_until(lambda: there(f"results/blur/ICB/*/{MACRO}.png")(project), process)
    for name in (MACRO, PHONE):
        (project.folder / "raw" / name).rename(project.folder / name)
    project.run()
    found = {path.name for path in project.results.glob("*/**/*") if "store" not in path.parts}
    assert not any(name.startswith((MACRO, PHONE)) for name in found)
    assert {row["id"] for row in project.rows("metrics/blur.parquet")} == {STANDARD}


RESTORED = ("results/restoration/pictures.parquet", "tables", "figures")
FITS = {"samples": [MACRO], "crop": [16, 16], "methods": {name: {"epochs": 40} for name in ("ICB", "PWB")}}


@pytest.mark.slow
def test_a_fit_is_killed(tmp_path: Path) -> None:
    """It goes on from its checkpoint, to the picture that it would have come to."""
    drawn = {"draw": ["fig5_blur_formation", "fig6_restoration"]}
    projects = [make_project(tmp_path / name, restore=FITS, figures=drawn) for name in ("undisturbed", "killed")]
    projects[0].run(*RESTORED)
    with killed(projects[1], *RESTORED) as process:
        assert wait_until(lambda: there("results/checkpoints/*")(projects[1]), process)
    assert kinds(projects[1])["restore"] < 2
    projects[1].run(*RESTORED)
    assert projects[1].outcome() == projects[0].outcome()
    assert {"tables/table3.csv", "figures/fig6_restoration.png"} <= projects[1].outcome().keys()
    assert not list(projects[1].results.glob("checkpoints/*"))
    assert projects[1].run(*RESTORED).idle


def test_from_scratch_with_other_cores_and_shards(undisturbed: Project, tmp_path: Path) -> None:
    project = make_project(tmp_path, samples_per_job=2)
    project.run(options=["--set-threads", "build_samples=3", "blur_samples=3", "score_blur=2"], cores=1)
    assert project.outcome() == undisturbed.outcome()


def test_two_runs_at_once(undisturbed: Project, tmp_path: Path) -> None:
    """The second is refused, says why, and harms nothing."""
    project = make_project(tmp_path, samples_per_job=1)
    with killed(project) as first:
        assert wait_until(lambda: there("results/.progress/*~*")(project), first)
        second = project.run(code=1)
        assert first.poll() is None, "the first run ended before the second began"
        assert f"another run (process {first.pid} " in second.text
        assert not second.jobs
        said = first.communicate()[0]
        assert first.returncode == 0, said
    assert project.outcome() == undisturbed.outcome()


def test_the_lock_is_free_once_its_holder_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "results" / ".lock"
    code = f"import time; from workflow.lib.run import take; take({str(path)!r}); print(1, flush=True); time.sleep(60)"
    holder = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "1\n"
    with pytest.raises(ValueError, match=f"another run .process {holder.pid} on .* is at work"):
        run_module.take(path)
    holder.kill()
    holder.communicate()
    os.close(run_module.take(path))
