"""Each GPU of a machine goes to one fit at a time. GPUs are names here: nothing needs one."""

import errno
import fcntl
import os
import re
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.pipeline import ROOT, make_project
from workflow.lib import devices

# Says when it has which, and when no more.
CODE = """
import sys, time
from workflow.lib.devices import VISIBLE, one_gpu
with one_gpu(sys.argv[1]) as gpu:
    import os
    assert os.environ[VISIBLE] == gpu
    print(time.monotonic(), gpu, flush=True)
    time.sleep(float(sys.argv[2]))
    print(time.monotonic(), flush=True)
"""


def start(folder: Path, seconds: float, visible: str = "0,1") -> "subprocess.Popen[str]":
    environment = {name: value for name, value in os.environ.items() if name not in devices.SCHEDULERS}
    environment |= {devices.VISIBLE: visible, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", CODE, str(folder), str(seconds)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ("0,1", ["0", "1"]),
        ("3", ["3"]),
        ("", []),
        ("-1", []),
        ("0,-1,2", ["0"]),
        ("GPU-8f, GPU-9a", ["GPU-8f", "GPU-9a"]),
    ],
)
def test_those_that_may_be_used(told: str, expected: list[str]) -> None:
    assert devices.present({devices.VISIBLE: told}) == expected


def test_those_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As NVIDIA's own program lists them; none without it."""
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: A (UUID: GPU-1)'\necho '  MIG 1g'\necho 'GPU 1: B (UUID: GPU-2)'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert devices.present({}) == ["0", "1"]
    program.write_text("#!/bin/sh\nexit 9\n")
    assert devices.present({}) == []


def test_no_two_have_the_same_at_once(tmp_path: Path) -> None:
    processes = [start(tmp_path / "gpus", 0.3) for _ in range(6)]
    spans: dict[str, list[tuple[float, float]]] = {}
    for process in processes:
        begin, gpu, end = process.communicate()[0].split()
        assert process.returncode == 0
        spans.setdefault(gpu, []).append((float(begin), float(end)))
    assert set(spans) <= {"0", "1"} and sum(map(len, spans.values())) == 6
    for held in spans.values():
        held.sort()
        assert all(end <= begin for (_, end), (begin, _) in pairwise(held))


def test_one_is_free_once_its_holder_is_killed(tmp_path: Path) -> None:
    holder = start(tmp_path, 600, "0")
    assert holder.stdout is not None and holder.stdout.readline().split()[1] == "0"
    waiting = start(tmp_path, 0, "0")
    time.sleep(1)
    assert waiting.poll() is None
    holder.kill()
    holder.communicate()
    assert waiting.communicate()[0].split()[1] == "0"


def test_jobs_of_a_scheduler_have_gpus_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every job on a node may see its own GPU as number 0; within a job, fits share what it was given."""
    monkeypatch.setenv(devices.VISIBLE, "0,1")
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    with devices.hold(["0"], tmp_path):
        monkeypatch.setenv("SLURM_JOB_ID", "2")
        with devices.one_gpu(tmp_path) as one, devices.hold(["0", "1"], tmp_path) as other:
            assert (one, other) == ("0", "1")
    assert os.environ[devices.VISIBLE] == "0,1"


def test_a_fit_that_asks_for_none_sees_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(devices.VISIBLE, "0,1")
    with devices.one_gpu(tmp_path, wanted=False) as gpu:
        assert gpu is None and os.environ[devices.VISIBLE] == ""
    assert os.environ[devices.VISIBLE] == "0,1"


def test_none_is_looked_for_where_none_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "present", pytest.fail)
    with devices.one_gpu(tmp_path, wanted=False):
        pass


def test_without_locks_fits_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object) -> None:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", unknown)
    before = len(list(Path("/proc/self/fd").iterdir()))
    with devices.hold(["0", "1"], tmp_path) as one, devices.hold(["0", "1"], tmp_path) as other:
        assert one == other == str(os.getpid() % 2)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_what_goes_wrong_in_a_fit_is_not_hidden(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError), devices.hold(["0", "1"], tmp_path):
        raise BlockingIOError


@pytest.mark.slow
def test_fits_of_a_run_share_the_gpus_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Four fits, two GPUs, four cores: two fits at a time, each with a GPU of its own."""
    monkeypatch.setenv(devices.VISIBLE, "4,7")
    for name in devices.SCHEDULERS:
        monkeypatch.delenv(name, raising=False)
    methods = {name: {"blur": name, "epochs": 1, "width": 16} for name in ("ICB", "PWB")}
    project = make_project(tmp_path, restore={"samples": ["Village*"], "crop": [24, 22], "methods": methods})
    plan = project.run("restore", options=["-n", "--quiet", "host"])
    assert re.search(r"rule restore_samples:(?:\n .*)*resources: .*gpu=1", plan.text)
    project.run("restore", cores=4)
    given = [
        match[1]
        for log in project.results.glob("logs/restore/*/all/*.log")
        if (match := re.search(r"^GPU: (\w+)$", log.read_text(), re.MULTILINE))
    ]
    assert len(given) == 4 and set(given) <= {"4", "7"}
