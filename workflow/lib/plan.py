"""What a large dataset will take: core-hours, GPU-hours and disk of each stage, from a small run that was measured.

    python -m workflow.lib.plan --index VirtualCMB/index.parquet --configfile config/paper.yaml

A job's time is taken to be a constant, for its start, plus a rate times the work in it; so is the disk of a result.
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import yaml
from scipy.optimize import nnls

from icb import InputError, files
from workflow.lib import configuration, manifest
from workflow.lib.selection import matches
from workflow.lib.store import Store

Row = dict[str, Any]

INDEX = "datasets/index.parquet"
NAMES = {"captures": "captures", "samples": "samples", "score_blur": "score", "score_restorations": "score"}
"""Stages whose entries in the store are of another kind than their manifests' folder says, or have no model."""
PAGES = "pages"
PICTURES = {".npy", ".png", ".webp", ".npz"}
"""Files that grow with the pictures that they are about."""


@dataclass(frozen=True)
class Line:
    """``constant + rate * work``."""

    constant: float
    rate: float

    @classmethod
    def through(cls, work: Sequence[float], values: Sequence[float]) -> "Line":
        """Least squares with both parts at least zero; proportional where all have about the same work."""
        if not work or max(work) <= 0:
            return cls(float(np.mean(values)) if values else 0.0, 0.0)
        if max(work) < 1.2 * min(work):
            return cls(0.0, sum(values) / sum(work))
        scale = max(work)
        columns = np.stack([np.ones(len(work)), np.asarray(work) / scale], axis=1)
        (constant, rate), _ = nnls(columns, np.asarray(values, dtype=float))
        return cls(float(constant), float(rate) / scale)

    def total(self, count: int, work: float) -> float:
        """The sum over ``count`` of them that do so much work together."""
        return self.constant * count + self.rate * work


@dataclass
class Measured:
    """A stage of the small run."""

    work: list[float] = field(default_factory=list)  #: of each job
    seconds: list[float] = field(default_factory=list)  #: of each job
    own: list[float] = field(default_factory=list)  #: of each job, in the model or the fit alone; empty if not known
    pixels: list[float] = field(default_factory=list)  #: of each result
    size: list[float] = field(default_factory=list)  #: bytes of each result's pictures
    fixed: list[float] = field(default_factory=list)  #: bytes of the rest of it: networks, records, pages
    on_gpu: bool = False

    @property
    def alike(self) -> bool:
        """Whether nothing tells the start of a job from its work."""
        return not self.own and len(self.seconds) > 0 and max(self.work) < 1.2 * min(self.work)

    def seconds_of(self, jobs: int, work: float) -> float:
        """What so many jobs that do so much work together take."""
        if not self.own:
            return Line.through(self.work, self.seconds).total(jobs, work)
        start = max(0.0, sum(self.seconds) - sum(self.own)) / len(self.seconds)
        return start * jobs + sum(self.own) / sum(self.work) * work

    def bytes_of(self, results: int, pixels: float) -> float:
        """What so many results with so many pixels together take."""
        fixed = sum(self.fixed) / max(len(self.fixed), 1) * results
        return fixed + Line.through(self.pixels, self.size).total(results, pixels)


@dataclass(frozen=True)
class Need:
    """What a stage will take."""

    stage: str
    jobs: int
    core_hours: float
    gpu_hours: float
    gigabytes: float
    alike: bool = False  #: whether starts could not be told from work, and are counted with every pixel


def measure(results: str | Path) -> dict[str, Measured]:
    """The stages of a run, from its benchmark files, manifests and store; all jobs must have done their work in it.

    What an earlier run left there and this one has not, jobs without a manifest or with other samples, does not count.
    """
    results = Path(results)
    known = {(row["dataset"], row["id"]): row for row in _index(results / INDEX)}
    store = Store(results / "store")
    stages: dict[str, Measured] = {}
    for path in sorted((results / "benchmarks").glob("**/all/*.tsv")):
        stage = path.parent.parent.relative_to(results / "benchmarks").as_posix()
        written = results / "manifests" / "all" / stage / f"{path.stem}.json"
        entries = manifest.read(written).entries if written.exists() else []
        if not _in_index(known, entries):
            continue
        found = stages.setdefault(stage, Measured())
        with path.open(newline="") as stream:
            found.seconds.append(sum(_seconds(row) for row in csv.DictReader(stream, delimiter="\t")))
        found.work.append(sum(_work(stage, row, entry) for entry in entries for row in _samples(known, entry)))
        own = [float(entry.get("record", {}).get("seconds") or 0) for entry in entries]
        if "score_key" not in entries[0] and all(own):
            found.own.append(sum(own))
        for entry in entries:
            kind, key = NAMES.get(stage, stage.partition("/")[0]), entry.get("score_key") or entry["key"]
            found.pixels.append(sum(_pixels(row, entry) for row in _samples(known, entry)))
            sizes = {file: file.stat().st_size for file in store.path(kind, key).rglob("*") if file.is_file()}
            found.size.append(sum(size for file, size in sizes.items() if file.suffix in PICTURES))
            found.fixed.append(sum(sizes.values()) - found.size[-1])
            found.on_gpu |= entry.get("record", {}).get("device") == "cuda"
    if not stages:
        raise InputError(f"{results}: got no benchmark files, expected those of a run")
    return stages


def predict(measured: Mapping[str, Measured], samples: Iterable[Row], config: Mapping[str, Any]) -> list[Need]:
    """What each stage takes for these rows of a dataset's index, with such a configuration."""
    rows = list(samples)
    short, restored = config["samples_per_job"], config["restorations_per_job"]
    wanted = config["restore"]["samples"]
    chosen = [row for row in rows if matches(row["id"], wanted) or matches(row["source"], wanted)]
    crop, methods = config["restore"]["crop"], config["restore"]["methods"]
    part: Row = {"record": {"crop": crop and dict(zip(("height", "width"), crop, strict=True))}}
    plan: list[tuple[str, list[Row], Row, int, int]] = [
        ("captures", rows, {}, short, 1),
        ("samples", rows, {}, short, 1),
        *((f"blur/{name}", rows, {}, short, 1) for name in config["blur"]),
        ("score_blur", rows, {}, short, len(config["blur"])),
    ]
    if chosen and methods:
        plan += [(f"restore/{name}", chosen, {**part, "settings": method}, restored, 1)
                 for name, method in methods.items()]  # fmt: skip
        plan += [("score_restorations", chosen, part, short, len(methods))]
    if PAGES in measured:  # the report is not always wanted
        plan += [(PAGES, rows, {}, len(rows), 1)]
    needs = []
    for stage, items, entry, together, times in plan:
        if stage not in measured:
            raise InputError(f"{stage}: got no benchmark of it, expected a run that has it, of a few samples")
        found = measured[stage]
        jobs = -(-len(items) // together)
        seconds = found.seconds_of(jobs, times * sum(_work(stage, row, entry) for row in items))
        size = found.bytes_of(times * len(items), times * sum(_pixels(row, entry) for row in items))
        hours = seconds / 3600
        gpu_hours = hours if found.on_gpu else 0.0
        needs.append(Need(stage.replace("/", " "), jobs, hours, gpu_hours, size / 1e9, found.alike))
    return needs


def _index(path: Path) -> list[Row]:
    try:
        rows: list[Row] = pq.read_table(path).to_pylist()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from None
    for name in ("dataset", "id", "height", "width", "poses", "source"):
        if rows and name not in rows[0]:
            raise InputError(f"{path}: got no column {name!r}, expected the index of a dataset")
    return rows


def _samples(known: Mapping[tuple[str, str], Row], entry: Row) -> list[Row]:
    """The rows of the index that an entry of a manifest is about: one sample, or all of a capture."""
    names = [entry["id"]] if "id" in entry else [window["id"] for window in entry["windows"]]
    return [known[entry["dataset"], name] for name in names if (entry["dataset"], name) in known]


def _in_index(known: Mapping[tuple[str, str], Row], entries: Sequence[Row]) -> bool:
    """Whether the index has the samples of a job; not all of one that opened captures: some may not have been built."""
    enough = any if entries and "windows" in entries[0] else all
    return bool(entries) and enough(_samples(known, entry) for entry in entries)


def _pixels(row: Row, entry: Row) -> float:
    crop = entry.get("record", {}).get("crop")
    height, width = int(row["height"]), int(row["width"])
    return float(min(height, crop["height"]) * min(width, crop["width"]) if crop else height * width)


def _work(stage: str, row: Row, entry: Row) -> float:
    """What the time of a stage is proportional to: pixels, times poses where each is looked at, times epochs."""
    pixels = _pixels(row, entry)
    if stage.startswith("restore/"):
        return pixels * float(entry["settings"]["epochs"])
    return pixels if stage.startswith(("score", PAGES)) else pixels * float(row["poses"])


def _seconds(row: Mapping[str, str]) -> float:
    """Of a benchmark: wall time, or that of all cores where several were at work."""
    try:
        return max(float(row["s"]), float(row["cpu_time"]))
    except (KeyError, ValueError):  # too short to be measured
        return float(row["s"])


def table(needs: Sequence[Need]) -> str:
    """For people."""
    lines = [f"{'stage':24}{'jobs':>8}{'core-hours':>14}{'GPU-hours':>12}{'disk, GB':>12}"]
    total = Need("together", *(sum(getattr(need, name) for need in needs) for name in
                               ("jobs", "core_hours", "gpu_hours", "gigabytes")))  # fmt: skip
    lines += [
        f"{need.stage:24}{need.jobs:>8}{need.core_hours:>14.2f}{need.gpu_hours:>12.2f}{need.gigabytes:>12.3f}"
        for need in (*needs, total)
    ]
    if alike := [need.stage for need in needs if need.alike]:
        lines.append(
            f"Of {', '.join(alike)} all jobs of the small run were alike: what a job takes to start is counted with "
            "every pixel, which is too much. Samples of several sizes, one to a job, tell them apart."
        )
    return "\n".join(lines)


def configured(paths: Iterable[str | Path]) -> dict[str, Any]:
    """The embedded default with these files laid over it, complete."""
    config: dict[str, Any] = {}
    for path in [Path(__file__).parents[2] / "config" / "config.yaml", *map(Path, paths)]:
        _lay(config, _load(path))
    configuration.complete(config)
    return config


def _load(path: Path) -> Mapping[str, Any]:
    try:
        content = yaml.safe_load(files.read_text(path)) or {}
    except yaml.YAMLError as error:
        raise InputError(f"{path}: expected YAML: {error}") from None
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: got {type(content).__name__}, expected the sections of a configuration")
    return content


def _lay(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for name, value in above.items():
        if isinstance(value, Mapping) and isinstance(below.get(name), dict):
            _lay(below[name], value)
        else:
            below[name] = value


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m workflow.lib.plan", description=__doc__.partition("\n")[0])
    parser.add_argument("--index", required=True, help="index.parquet of the large dataset")
    parser.add_argument("--results", default="results", help="results of a small run that was measured")
    parser.add_argument("--configfile", nargs="*", default=[], help="configuration of the large run")
    parser.add_argument("--samples-per-job", type=int, help="instead of the configuration's")
    options = parser.parse_args(arguments)
    try:
        config = configured(options.configfile)
        config["samples_per_job"] = options.samples_per_job or config["samples_per_job"]
        print(table(predict(measure(options.results), _index(Path(options.index)), config)))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
