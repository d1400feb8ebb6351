"""What the pipeline itself costs on a thousand tiny captures: ``python -m tests.bench.pipeline``."""

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from datasets.formats import png
from tests import captures
from tests.bench.measure import bounds, machine
from tests.bench.report import first_paints
from tests.pipeline import Project, Run, settings

RESULTS = Path("results/bench")
COUNT, CORES = 1000, 2
SIZE, POSES = (16, 24), 3


def make_tree(raw: Path, count: int) -> None:
    """Captures that share all files but their first frame: one is rendered, the others are links to it."""
    first = captures.make_unity(raw, "VillageMacro_0", size=SIZE, poses=POSES)
    frame = Path("frames", "frame_0.png")
    for number in range(1, count):
        copy = raw / f"VillageMacro_{number}"
        shutil.copytree(first, copy, copy_function=os.link, ignore=lambda _, names: {frame.name} & set(names))
        noise = np.random.default_rng(number).integers(0, 256, (*SIZE, 3), np.uint8)
        (copy / frame).write_bytes(png.encode(noise))


def seconds(what: str, work: Callable[[], Run]) -> tuple[float, Run]:
    """Wall time of a run, and what it said. Processor time, which others' work disturbs less, is printed beside it."""
    begin, used = time.perf_counter(), processor_time()
    run = work()
    wall = time.perf_counter() - begin
    print(f"{what}: {wall:.1f} s, {processor_time() - used:.1f} s of processor time", file=sys.stderr, flush=True)
    return wall, run


def processor_time() -> float:
    """Seconds, of all processes that this one started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure(folder: Path, count: int = COUNT) -> pd.DataFrame:
    """The bounds. What remains of blur and score when the models' own work, shared by all cores, is taken away."""
    make_tree(folder / "raw", count)
    project = Project(folder, config=settings())
    planned, plan = seconds("dry run", lambda: project.run("all", options=["-n"], cores=CORES))
    assert "index_captures" in plan.text
    seconds("datasets", lambda: project.run("datasets", cores=CORES))
    blurred, run = seconds("blur and score", lambda: project.run("results/metrics/blur.parquet", cores=CORES))
    scores = pd.read_parquet(project.results / "metrics" / "blur.parquet")
    assert len(scores) == 2 * count
    assert run.counts["blur ICB"] == run.counts["blur PWB"] == run.counts["score blur"] == {"made": count}
    seconds("everything else", lambda: project.run("all", cores=CORES))
    idle, again = seconds("up to date", lambda: project.run("all", cores=CORES))
    assert again.idle, again.text
    overhead = (blurred - scores["seconds"].sum() / CORES) / count
    rows = [
        (f"dry run, {count} captures, s", planned, "<=", 20.0),
        (f"run of {count} captures that are up to date, s", idle, "<=", 20.0),
        ("blur and score beyond the models' work, s a sample", overhead, "<=", 0.2),
    ]
    return bounds([*rows, *first_paints(project.results / "report")])


def main() -> None:
    """Print the bounds and write them to ``results/bench/pipeline.parquet``."""
    print(f"{machine()}, load {os.getloadavg()[0]:.1f} before\n", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        checks = measure(Path(folder))
    print(checks.to_string(index=False, float_format="%.3f"), end="\n\n")
    RESULTS.mkdir(parents=True, exist_ok=True)
    checks.to_parquet(RESULTS / "pipeline.parquet", index=False)
    print(f"written: {RESULTS}/pipeline.parquet")
    if not checks["holds"].all():
        sys.exit("a bound does not hold; times are noisy: run it again on an idle machine before believing it")


if __name__ == "__main__":
    main()
