"""How far a run is: every job counts its samples in a small file, one thread adds them up and says so."""

import json
import os
import shutil
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

FOLDER = "results/.progress"
PLAN = "plan.json"
ORDER = ("simulate", "captures", "samples", "blur", "restore", "score", "costs", "pages")
MARKS = {"made": "m", "kept": "k", "left out": "x"}


def job_name(stage: str, output: str | os.PathLike[str]) -> str:
    """What a job is called here: ``stage/output``, without other slashes."""
    return f"{stage}/{os.fspath(output).replace('/', '.')}"


def place(stage: str) -> int:
    """Where a stage comes in a run; its name may go on with that of a model."""
    name = stage.split()[0]
    return ORDER.index(name) if name in ORDER else len(ORDER)


class Ticker:
    """Counts the samples of one job, which is called as :func:`job_name` says."""

    def __init__(self, name: str, folder: str | os.PathLike[str] = FOLDER) -> None:
        self._path = Path(folder) / f"{name.replace('/', '~')}~{os.getpid()}"

    def begin(self, total: int) -> None:
        """So many samples there are."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(f"{total} {time.time():.3f}\n")

    def tick(self, what: str) -> None:
        """One more: ``made``, ``kept`` (was there) or ``left out``."""
        with self._path.open("a") as stream:
            stream.write(MARKS[what])


@dataclass
class Stage:
    """How far a stage is."""

    total: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    since: float = 0.0

    @property
    def done(self) -> int:
        return self.counts.total()

    def describe(self, now: float) -> str:
        """Counts, rate and time left."""
        text = f"{self.done} of {max(self.total, self.done)}"
        seconds = now - self.since
        if self.done and seconds > 1 and self.done < self.total:
            rate = self.done / seconds
            each = f"{rate:.1f} a second" if rate >= 1 else f"{1 / rate:.1f} s each"
            text += f", {each}, {duration((self.total - self.done) / rate)} left"
        return text


def duration(seconds: float) -> str:
    """Readable: ``42 s``, ``3 min 20 s``, ``5 h 12 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def begin(plan: Mapping[str, int], folder: str | os.PathLike[str] = FOLDER) -> None:
    """Forget earlier runs; ``plan`` says how many samples each job that will run has, by :func:`job_name`."""
    shutil.rmtree(folder, ignore_errors=True)
    Path(folder).mkdir(parents=True)
    (Path(folder) / PLAN).write_text(json.dumps(dict(plan)))


def stages(folder: str | os.PathLike[str] = FOLDER) -> dict[str, Stage]:
    """All stages that have something to do."""
    folder = Path(folder)
    try:
        plan: dict[str, int] = json.loads((folder / PLAN).read_text())
    except (OSError, ValueError):
        plan = {}
    found: dict[str, Stage] = {}
    seen: set[str] = set()
    for path in _files(folder):
        try:
            head, _, marks = path.read_text().partition("\n")
            total, begun = head.split()
            items, since = int(total), float(begun)
        except (OSError, ValueError):
            continue  # just begun, or what a job of a killed run still writes
        job = path.name.rpartition("~")[0].replace("~", "/")
        seen.add(job)
        stage = found.setdefault(job.rpartition("/")[0], Stage())
        stage.total += items
        for what, mark in MARKS.items():
            stage.counts[what] += marks.count(mark)
        stage.since = min(stage.since or since, since)
    for job, total_units in plan.items():
        if job not in seen:
            found.setdefault(job.rpartition("/")[0], Stage()).total += total_units
    return dict(sorted(found.items(), key=lambda pair: place(pair[0])))


def _files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.glob("*~*") if path.is_file()) if folder.is_dir() else []


class Monitor:
    """Says on standard error how far each stage is, whenever that has changed."""

    def __init__(self, folder: str | os.PathLike[str] = FOLDER, *, seconds: float | None = None) -> None:
        self._folder = folder
        self._seconds = seconds or (2.0 if sys.stderr.isatty() else 15.0)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._said: dict[str, int] = {}

    def __enter__(self) -> "Monitor":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self._seconds):
            if lines := self.news():
                print("\n".join(lines), file=sys.stderr, flush=True)

    def news(self) -> list[str]:
        """One line for each stage that went on since it was last asked for."""
        now = time.time()
        lines = []
        for name, stage in stages(self._folder).items():
            if stage.done > self._said.get(name, 0):
                lines.append(f"{name}: {stage.describe(now)}")
                self._said[name] = stage.done
        return lines
