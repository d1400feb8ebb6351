"""Measure the blur models beside a uniform filter; print tables, write ``results/bench/blur.parquet``."""

import sys
from pathlib import Path

import pandas as pd

from tests.bench import blur
from tests.bench.measure import machine

RESULTS = Path("results/bench")


def main() -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    print(f"{machine()}\n")
    times, memory = blur.times(), blur.memory()
    show("Milliseconds (median); the uniform filter is cv2.filter2D with the largest kernel", times, 1)
    show("Against the uniform filter and each other, same run", blur.ratios(times), 2)
    show("Peak memory above the inputs, in float32 RGB images of the same size", memory, 2)
    checks = blur.checks(times, memory)
    show("What must hold", checks, 2)
    pd.concat({"time_ms": times, "memory": memory}, names=["table"]).reset_index("table").to_parquet(
        RESULTS / "blur.parquet", index=False
    )
    print(f"written: {RESULTS / 'blur.parquet'}")
    if not checks["holds"].all():
        sys.exit("a bound does not hold; times are noisy: run it again on an idle machine before believing it")


def show(title: str, table: pd.DataFrame, digits: int) -> None:
    print(title)
    text = table.map(lambda value: f"{value:.{digits}f}" if isinstance(value, float) else str(value))
    print(text.replace("nan", "").to_string(index=False), end="\n\n")


if __name__ == "__main__":
    main()
