"""Measure blur models, dataset builder, metrics and restoration; print tables, write them to ``results/bench/``."""

import sys
from pathlib import Path

import pandas as pd

from tests.bench import blur, build, metrics, restore
from tests.bench.measure import machine

RESULTS = Path("results/bench")


def main() -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    print(f"{machine()}\n")
    times, memory, building = blur.times(), blur.memory(), build.build_times()
    scoring, lpips = metrics.metric_times(), metrics.lpips_times()
    steps, fitting = restore.steps(), restore.fit_memory()
    show("Milliseconds (median); the uniform filter is cv2.filter2D with the largest kernel", times, 1)
    show("Against the uniform filter and each other, same run", blur.ratios(times), 2)
    show("Peak memory above the inputs, in float32 RGB images of the same size", memory, 2)
    show("The dataset builder at 1280x720: milliseconds a frame, peak memory in MB", building, 2)
    show("Metrics at 1280x720: milliseconds", scoring, 1)
    show("LPIPS at 1280x720, per image and convention", lpips, 2)
    show("A step of a restoration, literal and ours, 128x96 pixels: milliseconds", steps, 2)
    show("An epoch of a restoration at 1280x720: seconds, peak memory of the process in MB", fitting, 1)
    checks = pd.concat(
        [
            blur.checks(times, memory),
            build.checks(building),
            metrics.checks(scoring, lpips),
            restore.checks(steps, fitting),
        ]
    )
    show("What must hold, on two idle cores", checks, 2)
    tables = {"blur": times, "blur_memory": memory, "build": building, "metrics": scoring, "lpips": lpips}
    tables |= {"restore_steps": steps, "restore_memory": fitting}
    for name, table in {**tables, "checks": checks}.items():
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
