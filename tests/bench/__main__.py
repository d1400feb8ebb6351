"""Measure the blur models and the dataset builder; print tables, write them to ``results/bench/``."""

import sys
from pathlib import Path

import pandas as pd

from tests.bench import blur, build
from tests.bench.measure import machine

RESULTS = Path("results/bench")


def main() -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    print(f"{machine()}\n")
    times, memory, building = blur.times(), blur.memory(), build.build_times()
    show("Milliseconds (median); the uniform filter is cv2.filter2D with the largest kernel", times, 1)
    show("Against the uniform filter and each other, same run", blur.ratios(times), 2)
    show("Peak memory above the inputs, in float32 RGB images of the same size", memory, 2)
    show("The dataset builder at 1280x720: milliseconds a frame, peak memory in MB", building, 2)
    checks = pd.concat([blur.checks(times, memory), build.checks(building)])
    show("What must hold, on two idle cores", checks, 2)
    for name, table in {"blur": times, "blur_memory": memory, "build": building, "checks": checks}.items():
        table.to_parquet(RESULTS / f"{name}.parquet", index=False)
    print(f"written: {RESULTS}/*.parquet")
    if not checks["holds"].all():
        sys.exit("a bound does not hold; times are noisy: run it again on an idle machine before believing it")


def show(title: str, table: pd.DataFrame, digits: int) -> None:
    print(title)
    text = table.map(lambda value: f"{value:.{digits}f}" if isinstance(value, float) else str(value))
    print(text.replace("nan", "").to_string(index=False), end="\n\n")


if __name__ == "__main__":
    main()
