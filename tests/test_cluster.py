"""The pipeline on a real SLURM, which is started here, and through the plugin for other schedulers."""

import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from icb import InputError
from tests import slurm
from tests.pipeline import MACRO, PHONE, ROOT, STANDARD, Project, copy_sources, make_captures, settings
from workflow.lib import cluster, job

# The embedded default, shrunk.
SHRUNK = {
    "captures": {
        "simulate": {
            "scenes": ["Village"],
            "cases": ["Macro"],
            "motions": ["parallax"],
            "seeds": [0],
            "ios": 1,
            "size": [45, 64],
            "poses": 5,
            "ios_size": [96, 128],
            "ios_depth_size": [48, 64],
            "ios_frames": 5,
            "samples_per_pixel": 1,
        }
    },
    "restore": {
        "samples": ["bundle-*"],
        "crop": [32, 32],
        "methods": {name: {"blur": name, "epochs": 2, "width": 16} for name in ("ICB", "PWB")},
    },
    "score": {"lpips": False},
    "costs": {"samples": []},
    "figures": {"draw": []},
}


@pytest.fixture(scope="module")
def started() -> Iterator[slurm.Cluster]:
    if reason := slurm.reason_to_skip():
        pytest.skip(reason)
    with slurm.cluster() as found:
        yield found


@pytest.fixture
def controller(started: slurm.Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[slurm.Cluster]:
    for name, value in started.environment.items():
        monkeypatch.setenv(name, value)
    yield started
    started.drain()


class OnSlurm(Project):
    """A project that runs through the profile. Only how often is looked, for quicker tests, is not the profile's."""

    def command(self, *targets: str, options: Sequence[str] = (), cores: int = 2) -> list[str]:
        profile = ["--profile", str(self.source / "workflow" / "profiles" / "slurm")]
        quick = ["--slurm-init-seconds-before-status-checks", "7", "--latency-wait", "5"]
        return super().command(*targets, options=[*profile, *quick, *options], cores=cores)


def wait(condition: Callable[[], object], process: "subprocess.Popen[str] | None" = None, limit: float = 180) -> None:
    end = time.monotonic() + limit
    while not condition():
        assert process is None or process.poll() is None, f"ended too early:\n{process and process.communicate()[0]}"
        assert time.monotonic() < end, f"nothing happened for {limit} s"
        time.sleep(0.1)


def project(kind: type[Project], folder: Path, source: Path = ROOT, **changes: Any) -> Project:
    make_captures(folder / "raw")
    return kind(folder, source, settings(**changes))


def test_slurm_gives_what_a_local_run_gives(controller: slurm.Cluster, tmp_path: Path) -> None:
    """The embedded default, shrunk: the same images and tables, timing columns apart."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    here = Project(tmp_path / "here", config=SHRUNK)
    there = OnSlurm(tmp_path / "there", config=SHRUNK)
    begun = len(controller.jobs())
    run = there.run("all")
    jobs = controller.jobs()[begun:]
    assert {job.state for job in jobs} == {"COMPLETED"}
    # Every job of these rules went there, and no other: what takes seconds stays.
    went = {"simulate_capture": 2, "index_captures": 1, "build_samples": 1, "blur_samples": 2, "score_blur": 1}
    went |= {"restore_samples": 2, "score_restorations": 1, "measure_costs": 1, "page_samples": 1}
    assert len(jobs) == sum(went.values())
    assert {name: run.jobs[name] for name in went} == went
    assert all(any(job.comment.startswith(f"rule_{name}") for job in jobs) for name in went)
    assert controller.call("scontrol", "show", "job", fit_of(jobs)).count("gres:gpu:1") == 1
    here.run("all")
    assert there.outcome() == here.outcome()
    assert any(name.startswith("restoration/") and name.endswith(".png") for name in there.outcome())
    assert there.run("all").idle


def fit_of(jobs: list[slurm.Job]) -> str:
    return next(job.id for job in jobs if job.comment.startswith("rule_restore_samples"))


def test_killed_jobs_are_tried_again_with_more(controller: slurm.Cluster, tmp_path: Path) -> None:
    """One exceeds its memory, one is cancelled: the run ends well, with what a local run gives."""
    waits = "import time; time.sleep(100 if snakemake.resources.mem_mb < 2000 else 0)  # until it is killed"
    eats = "eaten = b'x' * (1700 << 20)"
    source = copy_sources(tmp_path / "source")
    edit(source, "index_captures.py", f"{eats}\n{waits}")
    edit(source, "build_samples.py", waits)
    there = project(OnSlurm, tmp_path / "there", source)
    begun = len(controller.jobs())
    process = there.start("datasets")
    wait(lambda: controller.running("build_samples"), process)
    second = there.run("datasets", code=1)  # is refused, and leaves the jobs of the first alone
    assert "another run" in second.text and not second.jobs
    [victim] = controller.running("build_samples")
    controller.call("scancel", victim.id)
    said = process.communicate()[0]
    assert process.returncode == 0, said
    jobs = controller.jobs()[begun:]
    for rule in ("index_captures", "build_samples"):
        first, second = [job for job in jobs if job.comment.startswith(f"rule_{rule}")]
        assert (first.memory, second.memory) == (1500, 3000), said
        assert first.state in ("OUT_OF_MEMORY", "CANCELLED", "FAILED") and second.state == "COMPLETED", said
    here = project(Project, tmp_path / "here")
    here.run("datasets")
    assert there.outcome() == here.outcome()


def test_a_killed_head_and_a_job_that_always_fails(controller: slurm.Cluster, tmp_path: Path) -> None:
    """The next run goes on without doing anything twice; what can be done is done, and the log of the rest is named."""
    source = copy_sources(tmp_path / "source")
    edit(source, "blur_samples.py", "import sys\nif snakemake.wildcards.model == 'PWB': sys.exit('out of order')")
    there = project(OnSlurm, tmp_path / "there", source)
    process = there.start("blur")
    wait(lambda: controller.running("build_samples"), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    orphans = {job.id for job in controller.jobs() if job.state in ("RUNNING", "PENDING")}
    before = there.store()
    assert orphans and any(key.startswith("captures/") for key in before)
    run = there.run("blur", options=("--retries", "1"), code=1)
    assert "of a run that was killed" in run.text
    assert "index_captures" not in run.jobs
    states = {job.id: job.state for job in controller.jobs()}
    assert all(states[number] in ("CANCELLED", "COMPLETED") for number in orphans)
    made = there.computed(before)  # which sees to it that nothing was made again
    names = (MACRO, STANDARD, PHONE)
    assert made["blur"] == Counter(f"{name} ICB" for name in names)
    failed = [job for job in controller.jobs() if job.comment.startswith("rule_blur_samples") and job.state == "FAILED"]
    assert len(failed) == 2
    assert "results/logs/blur/PWB/all/" in run.text
    logs = list(there.results.glob("logs/slurm/rule_blur_samples/*PWB*/*.log"))
    assert len(logs) == 2 and all("out of order" in log.read_text() for log in logs)


# A scheduler that begins every job at once, here, and loses the first of one rule.
QSUB = """#!{python}
import os, pathlib, subprocess, sys
folder = pathlib.Path({folder!r})
number = len(list(folder.glob("*.asked"))) + 1
(folder / f"{{number}}.asked").write_text(chr(10).join(sys.argv[1:]))
lost = "build_samples" in sys.argv and not list(folder.glob("*.lost"))
if lost:
    (folder / f"{{number}}.lost").touch()
command = "exit 271" if lost else f"sh '{{sys.argv[-1]}}'"
line = f"({{command}}) > {{folder}}/{{number}}.log 2>&1; echo $? > {{folder}}/{{number}}.code"
subprocess.Popen(["sh", "-c", line], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(f"{{number}}.server")
"""
QSTAT = """#!/bin/sh
number=${{3%.server}}
echo "Job Id: $3"
if [ -s {folder}/$number.code ]; then
    echo "    job_state = F"
    echo "    Exit_status = $(cat {folder}/$number.code)"
else
    echo "    job_state = R"
fi
"""


def test_another_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example for the generic plugin, with programs in the place of PBS's own that run jobs here."""
    server = tmp_path / "server"
    server.mkdir()
    for name, text in {"qsub": QSUB, "qstat": QSTAT}.items():
        (server / name).write_text(text.format(python=sys.executable, folder=str(server)))
        (server / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{server}:{os.environ['PATH']}")
    method = {"blur": "ICB", "epochs": 1, "width": 16}
    changes = {"restore": {"samples": [STANDARD], "methods": {"ICB": method, "PWB": method}}}
    there, here = (project(Project, tmp_path / name, **changes) for name in ("there", "here"))
    profile = str(ROOT / "workflow" / "profiles" / "generic")
    quick = ("--seconds-between-status-checks", "1", "--latency-wait", "5")
    run = there.run("datasets", "restore", options=("--profile", profile, *quick))
    asked = [path.read_text().split("\n") for path in sorted(server.glob("*.asked"), key=lambda path: int(path.stem))]
    rules = Counter(words[words.index("-N") + 1] for words in asked)
    assert rules == {"index_captures": 1, "build_samples": 2, "restore_samples": 2}
    chunks = [words[words.index("-l") + 1] for words in asked]
    assert chunks[:3] == [f"select=1:ncpus=1:mem={memory}mb" for memory in (1500, 1500, 3000)]
    assert chunks[3:] == ["select=1:ncpus=1:mem=4000mb:ngpus=1"] * 2
    assert all("walltime=" in words[words.index("-l", words.index("-l") + 1) + 1] for words in asked)
    assert run.jobs["show_restorations"] == 1
    here.run("datasets", "restore")
    assert there.outcome() == here.outcome()


def test_arrays_are_refused(tmp_path: Path) -> None:
    """A task that fails would remove what the first of its array has made."""
    cluster.refuse_arrays(None)
    cluster.refuse_arrays("none")
    with pytest.raises(InputError, match="slurm-array-jobs: got 'all', expected none"):
        cluster.refuse_arrays("all")


def test_a_job_of_a_dead_run_removes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a node would start it, after another run has taken the results: it ends before its output is touched."""
    here = project(Project, tmp_path)
    here.run("datasets")
    [made] = here.results.glob("manifests/all/samples/*.json")
    before = made.read_text()
    monkeypatch.setenv(job.RUN, "of a dead run")
    nodes = ("--mode", "remote", "--force", "--nolock", "--allowed-rules", "build_samples")
    run = here.run(str(made.relative_to(tmp_path)), options=nodes, code=1)
    assert "another run has taken over these results" in run.text
    assert made.read_text() == before


def test_a_fit_asks_for_the_time_of_its_own_method(tmp_path: Path) -> None:
    methods = {"ICB": {"blur": "ICB", "epochs": 10}, "PWB": {"blur": "PWB", "epochs": 400}}
    here = project(Project, tmp_path, restore={"samples": [MACRO], "methods": methods})
    text = here.run("restore", options=("-n", "--quiet", "host")).text
    jobs = re.findall(r"output: \S+/restore/(\w+)/\S+(?:\n .*)*?\bruntime=(\d+)", text)
    assert sorted(jobs) == [("ICB", "20"), ("PWB", "410")]


def test_nodes_need_no_rule_for_every_id(tmp_path: Path) -> None:
    """They are given jobs; ids are what people ask for."""
    here = project(Project, tmp_path)
    known = [set(here.run(options=("--list-rules", *mode)).text.split()) for mode in ((), ("--mode", "remote"))]
    assert known[0] - known[1] >= {MACRO, STANDARD} and "blur_samples" in known[1]


def test_slurm_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs may be left: the run is refused, and the name they are known by is kept."""
    squeue = tmp_path / "squeue"
    squeue.write_text("#!/bin/sh\necho 'cannot contact the controller' >&2\nexit 1\n")
    squeue.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(cluster, "PAUSE", 0.0)
    known = tmp_path / "run"
    known.write_text("old\n")
    with pytest.raises(InputError, match=r"squeue: cannot say .*cannot contact the controller"):
        cluster.take_over("new", known)
    assert known.read_text() == "old\n"
    squeue.write_text("#!/bin/sh\n")
    assert cluster.take_over("new", known) == [] and known.read_text() == "new\n"


def edit(source: Path, script: str, lines: str) -> None:
    """Put lines before a script."""
    path = source / "workflow" / "scripts" / script
    path.write_text(f"{lines}\n{path.read_text()}")
