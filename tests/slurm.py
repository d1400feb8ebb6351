"""A real SLURM on this machine: munge, a controller and one node, on the loopback interface."""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol", "sinfo")
CONTROL_GROUPS = "/sys/fs/cgroup"
CPUS = 4
MEMORY = 16000

# Accounting is off, as where there is no slurmdbd. A job beyond its memory is killed by the node itself, because
# there are no control groups here; the GPUs have a name and nothing behind it.
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=3600
KillWait=2
DefMemPerCPU=500
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} Gres=gpu:toy:2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def reason_to_skip() -> str | None:
    """Why there can be no SLURM here, if so."""
    if os.geteuid() != 0:
        return "a SLURM of our own needs root"
    if not os.path.ismount(CONTROL_GROUPS):
        return f"slurmd does not start where nothing is mounted on {CONTROL_GROUPS}, as in some containers"
    missing = [program for program in PROGRAMS if _which(program) is None]
    if missing:
        return f"SLURM is not installed (no {', '.join(missing)}): apt-get install slurm-wlm munge"
    return None


def _which(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@dataclass(frozen=True)
class Job:
    """A job that SLURM knows, running, waiting or ended."""

    id: str
    state: str
    comment: str  #: the rule and its wildcards
    memory: int  #: MB


@dataclass
class Cluster:
    """Commands for a SLURM that runs."""

    folder: Path
    daemons: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What a process needs that talks to it; ``srun`` is told again, because it is started without SLURM_CONF."""
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}:/usr/sbin:/sbin"
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def call(self, *arguments: str) -> str:
        return subprocess.run(
            arguments, env={**os.environ, **self.environment}, capture_output=True, text=True, check=True
        ).stdout

    def jobs(self) -> list[Job]:
        """All jobs of this cluster, in the order in which they were submitted."""
        lines = self.call("squeue", "--array", "--states=all", "--noheader", "--format=%i|%T|%m|%k").splitlines()
        found = []
        for line in lines:
            number, state, memory, comment = line.split("|", 3)
            size, unit = re.fullmatch(r"([\d.]+)([KMG]?)c?", memory).groups()  # type: ignore[union-attr]
            found.append(
                Job(number, state, comment, round(float(size) * {"K": 1 / 1024, "": 1, "M": 1, "G": 1024}[unit]))
            )
        return sorted(found, key=lambda job: [int(part) for part in re.findall(r"\d+", job.id)])

    def running(self, rule: str) -> list[Job]:
        return [job for job in self.jobs() if job.state == "RUNNING" and job.comment.startswith(f"rule_{rule}")]

    def drain(self) -> None:
        """Cancel what is left of a test."""
        live = [job.id for job in self.jobs() if job.state in ("RUNNING", "PENDING", "COMPLETING")]
        if live:
            self.call("scancel", *live)
        _wait(lambda: not any(job.state in ("RUNNING", "PENDING", "COMPLETING") for job in self.jobs()), "no jobs")


@contextmanager
def cluster() -> Iterator[Cluster]:
    """Start one, and stop it. Its folder's name is short: socket paths end at 108 characters."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    made = Cluster(folder)
    host = socket.gethostname().split(".")[0]
    try:
        for name in ("state", "spool", "bin"):
            (folder / name).mkdir()
        key = folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        controller, node = _free_ports(2)
        (folder / "slurm.conf").write_text(
            CONFIGURATION.format(host=host, folder=folder, controller=controller, node=node, cpus=CPUS, memory=MEMORY)
        )
        (folder / "gres.conf").write_text("Name=gpu Type=toy File=/dev/null\nName=gpu Type=toy File=/dev/zero\n")
        wrapper = folder / "bin" / "srun"
        wrapper.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {_which("srun")} "$@"\n')
        wrapper.chmod(0o755)
        names = [f"--{name}={folder}/{file}" for name, file in {
            "key-file": "munge.key", "socket": "munge.sock", "pid-file": "munged.pid",
            "log-file": "munged.log", "seed-file": "munged.seed",
        }.items()]  # fmt: skip
        _start(made, "munged", "-F", "--force", *names)
        _wait((folder / "munge.sock").exists, "munged")
        _start(made, "slurmctld", "-D", "-i", "-f", f"{folder}/slurm.conf")
        _wait(lambda: "UP" in made.call("scontrol", "ping"), "slurmctld")
        _start(made, "slurmd", "-D", "-f", f"{folder}/slurm.conf", "-N", host)
        _wait(lambda: made.call("sinfo", "-h", "-o", "%T").strip() == "idle", "slurmd")
        yield made
    finally:
        for daemon in reversed(made.daemons):
            daemon.terminate()
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.send_signal(signal.SIGKILL)
                daemon.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _start(made: Cluster, program: str, *arguments: str) -> None:
    path = _which(program)
    assert path is not None
    with (made.folder / f"{program}.out").open("wb") as stream:
        environment = {**os.environ, **made.environment}
        made.daemons.append(subprocess.Popen([path, *arguments], env=environment, stdout=stream, stderr=stream))


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _wait(condition: Callable[[], bool], what: str, limit: float = 60) -> None:
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            if condition():
                return
        except subprocess.CalledProcessError:
            pass  # not yet
        time.sleep(0.1)
    raise TimeoutError(f"{what}: not there after {limit} s")
