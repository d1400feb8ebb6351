"""Numbers of results as people read them."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from workflow.lib.summaries.cells import cell, missing, unrounded
from workflow.lib.summaries.metrics import METRICS as QUALITY
from workflow.lib.summaries.metrics import UNCHANGED
from workflow.lib.summaries.summary import Column

GAIN = Column("gain", "Gain over doing nothing [dB]", digits=2, better="higher", signed=True)
SECONDS = Column("seconds", "Time [s]", digits=3, better="lower")
MEMORY = Column("peak_memory", "Memory [MB]", digits=1, better="lower")

METRICS: tuple[Column, ...] = (QUALITY[0], GAIN, *QUALITY[1:], UNCHANGED, SECONDS, MEMORY)
"""Every metric that results can be sorted by."""


def value_of(row: Mapping[str, Any], column: Column) -> float | None:
    """A metric of a row; None where there is none."""
    if column is GAIN:
        return float(row["psnr"]) - float(row["psnr_unchanged"])
    value = row[column.name]
    return None if value is None else float(value) / (1e6 if column is MEMORY else 1)


def cell_of(row: Mapping[str, Any], column: Column) -> str:
    """The same as text."""
    return cell(value_of(row, column), column)


def unrounded_of(row: Mapping[str, Any], column: Column) -> str:
    """The same to be sorted by."""
    return unrounded(value_of(row, column))


def plain(value: object) -> str:
    """A value of a table, unrounded."""
    return "null" if missing(value) else str(value)


def short(number: float) -> str:
    """Three digits that count, and never a power of ten."""
    return f"{Decimal(f'{number:.3g}'):f}"


def size_of(count: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "kB", "MB"):
        if count < 999.5:  # what is rounded to 1000 is one of the next unit
            return f"{short(count)} {unit}"
        count /= 1000
    return f"{short(count)} GB"
