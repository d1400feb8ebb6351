"""Run the pipeline for real in a folder of its own, count what it computed, and compare what came out."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from icb import compiled
from tests import captures

ROOT = Path(__file__).parent.parent
SOURCES = ("Snakefile", "config", "datasets", "environment.yml", "icb", "profiles", "workflow")

# What no two runs share.
TIMING = {"seconds", "build_seconds", "apply_seconds", "peak_memory"}

SHOWN = ("blur", "captures.parquet", "datasets", "figures", "metrics", "restoration", "tables")
"""What people look at, in the folder of results."""

CORE = ("datasets", "blur", "results/metrics/blur.parquet", "results/metrics/left_out.parquet")
"""Targets, unless others are asked for: everything but restoration and what is made of the tables."""

MACRO, STANDARD, PHONE = "VillageMacro_1", "VillageStandard_2", "bundle-2022-05-01_10-00-00"
"""The captures that :func:`make_captures` makes."""

CHAIN = {"index_captures": 1, "build_samples": 1, "blur_samples": 2, "score_blur": 1}
"""Jobs of one shard, for two models."""

Computed = dict[str, Counter[str]]


def make_captures(folder: Path) -> None:
    """Two Unity captures and a recording: tiny, of odd and unequal sizes."""
    captures.make_unity(folder, MACRO, size=(24, 33), poses=5)
    captures.make_unity(folder, STANDARD, size=(27, 22), poses=4, seed=3)
    captures.make_ios(folder, PHONE, size=(96, 136), depth_size=(24, 34), frames=5)


def settings(**changes: Any) -> dict[str, Any]:
    """A configuration for captures in ``raw``, without what takes long; sections are laid over it."""
    content: dict[str, Any] = {
        "captures": {"simulate": None, "folders": ["raw"]},
        "restore": {"samples": []},
        "score": {"lpips": False},
        "costs": {"samples": []},
        "figures": {"draw": []},
        "samples_per_job": 16,
    }
    for name, value in changes.items():
        content[name] = {**content.get(name, {}), **value} if isinstance(value, dict) else value
    return content


@dataclass(frozen=True)
class Run:
    """How a run ended and what it said."""

    code: int
    text: str

    @property
    def jobs(self) -> Counter[str]:
        """Jobs that ended well, by rule."""
        return Counter(re.findall(r"^Finished jobid: \d+ \(Rule: (.+)\)", self.text, re.MULTILINE))

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """What the last words say of each stage: {stage: {"made": 3, "kept": 1}}."""
        found = re.findall(r"^([a-z]+(?: \S+)?): ((?:\d+ (?:made|kept|left out)(?:, )?)+)$", self.text, re.MULTILINE)
        return {
            stage: {what: int(number) for number, what in re.findall(r"(\d+) (made|kept|left out)", parts)}
            for stage, parts in found
        }

    @property
    def idle(self) -> bool:
        return "Nothing to be done" in self.text and not self.jobs


@dataclass
class Project:
    """A folder with captures in ``raw``, in which the pipeline runs; its code is in ``source``."""

    folder: Path
    source: Path = ROOT
    config: dict[str, Any] = field(default_factory=settings)

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def command(self, *targets: str, options: Sequence[str] = (), cores: int = 2) -> list[str]:
        """What to run; the configuration is written first."""
        (self.folder / "x.yaml").write_text(yaml.safe_dump(self.config))
        program = [sys.executable, "-m", "snakemake", "--snakefile", str(self.source / "Snakefile")]
        where = ["--directory", str(self.folder), "--configfile", str(self.folder / "x.yaml")]
        return [*program, *(targets or CORE), *where, "--cores", str(cores), "--nocolor", *options]

    def run(self, *targets: str, options: Sequence[str] = (), cores: int = 2, code: int = 0) -> Run:
        """Run it to its end, which must be as expected."""
        done = subprocess.run(
            self.command(*targets, options=options, cores=cores),
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
        assert done.returncode == code, done.stdout
        return Run(done.returncode, done.stdout)

    def start(self, *targets: str) -> "subprocess.Popen[str]":
        """Begin, in a session of its own, so that all of it can be killed at once."""
        return subprocess.Popen(
            self.command(*targets),
            cwd=self.folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def store(self) -> dict[str, tuple[int, int]]:
        """What there is in the store: ``kind/key`` with the inode and the time of its record."""
        found = {}
        for record in self.results.glob("store/*/??/*/record.json"):
            if not record.parent.name.startswith("."):
                status = record.stat()
                key = f"{record.parent.parent.parent.name}/{record.parent.name}"
                found[key] = (status.st_ino, status.st_mtime_ns)
        return found

    def computed(self, before: dict[str, tuple[int, int]]) -> Computed:
        """What was really made since a look at the store: {kind: {"sample" or "sample model": how often}}."""
        after = self.store()
        for key, record in before.items():
            assert after.get(key) == record, f"{key} was there and has been made again, or is gone"
        names = self._names()
        made: Computed = {}
        for key in after.keys() - before.keys():
            made.setdefault(key.partition("/")[0], Counter()).update([names[key]])
        return made

    def _names(self) -> dict[str, str]:
        """What the entries of the store are, from the manifests."""
        names = {}
        for path in self.results.glob("manifests/*/**/*.json"):
            stage = path.relative_to(self.results / "manifests").parts[1]
            for row in json.loads(path.read_text())["entries"]:
                if stage.startswith("score"):
                    names[f"score/{row['score_key']}"] = f"{row['unit']} {row['model']}"
                elif "model" in row:
                    names[f"{stage}/{row['key']}"] = f"{row['unit']} {row['model']}"
                else:
                    names[f"{stage}/{row['key']}"] = row["unit"]
        return names

    def table(self, name: str) -> pa.Table:
        """A table of the results, without what no two runs share."""
        table = pq.read_table(self.results / name)
        return table.drop_columns([column for column in table.column_names if column in TIMING])

    def rows(self, name: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = pq.read_table(self.results / name).to_pylist()
        return rows

    def reasons(self) -> dict[str, str]:
        """Why captures were left out, from ``captures.parquet``."""
        return {row["name"]: row["reason"] for row in self.rows("captures.parquet") if row["status"] != "used"}

    def outcome(self) -> dict[str, Any]:
        """Everything people look at: files by their hash, tables without timing columns as text.

        Apart from the table that is about time, and PDF.
        """
        found: dict[str, Any] = {}
        for path in sorted(self.results.rglob("*")):
            name = path.relative_to(self.results).as_posix()
            if name.split("/")[0] not in SHOWN or path.stem == "table4" or path.suffix == ".pdf":
                continue
            if path.name == ".view.json":  # what the folder holds, for the next run
                continue
            if path.suffix == ".parquet":
                table = self.table(name)
                found[name] = (str(table.schema), table.to_pylist())
            elif path.is_file():
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        assert any(name.endswith(".png") for name in found)
        return found


def environment() -> dict[str, str]:
    """As a user has it: none of what pytest or its workers set."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV", "PYTHONPATH"))}


def make_project(folder: Path, **changes: Any) -> Project:
    """A folder with three captures, ready to run."""
    make_captures(folder / "raw")
    return Project(folder, config=settings(**changes))


def copy_sources(folder: Path) -> Path:
    """The code in another place, where it can be edited."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, folder / name, symlinks=True, ignore=_compiled_before)
        else:
            shutil.copy2(source, folder / name, follow_symlinks=False)
    _keep_compiled(folder)
    return folder


def _compiled_before(folder: str, names: list[str]) -> set[str]:
    """What was compiled from other states of the code."""
    current = compiled._FOLDER and compiled._FOLDER.name
    return {name for name in names if name.startswith("icb-") and name != current} if "compiled" in folder else set()


def _keep_compiled(folder: Path) -> None:
    """Let compiled code be found at its new place, which its folders' names are hashes of. Saves a minute."""
    for package in ("icb/compiled", "datasets", "datasets/simulate"):
        old, new = (hashlib.sha1(str(root / package).encode()).hexdigest() for root in (ROOT, folder))
        for place in folder.glob(f"icb/compiled/__pycache__/icb-*/*_{old}"):
            place.rename(place.with_name(place.name.replace(old, new)))


def chain_of(*names: str, models: Iterable[str] = ("ICB", "PWB")) -> Computed:
    """What working out some samples from their captures on comes to."""
    pairs = Counter(f"{name} {model}" for name in names for model in models)
    return {"captures": Counter(names), "samples": Counter(names), "blur": pairs, "score": pairs}


def wait_until(condition: Callable[[], bool], process: "subprocess.Popen[str]", limit: float = 120) -> bool:
    """Whether it came true while the process ran; looked at often, because moments are short."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.002)
    raise TimeoutError(f"nothing happened for {limit} s")
