"""Cells as text, the same in every format."""

import math
from dataclasses import replace

import pandas as pd

from workflow.lib.summaries.summary import DIFFERENCE, NUMBER, SOURCE, TEXT, Column

NOTHING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"  # as wide as the plus sign


def cell(value: object, column: Column) -> str:
    """A value as it is shown: rounded, in units of the column's power of ten; a dash for what there is not."""
    if missing(value):
        return NOTHING
    if column.type == TEXT:
        return str(value)
    number = float(value)  # type: ignore[arg-type]
    if math.isinf(number):
        return f"{MINUS if number < 0 else ''}∞"
    if column.type == NUMBER:
        scaled = number / 10.0**column.power
        text = _rounded(scaled, column)
        if float(text) == 0:
            text = text.removeprefix("-")  # nothing is below nothing
    else:
        text = str(int(number))
    sign = "+" if column.signed and number > 0 and float(text) != 0 else ""
    return sign + text.replace("-", MINUS)


def missing(value: object) -> bool:
    """Whether a cell of a data frame or table is empty."""
    return value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))


def unrounded(value: object) -> str:
    """A number as JavaScript reads it, for tables to be sorted by; nothing where there is none."""
    return "" if missing(value) else str(value).replace("inf", "Infinity")


def _rounded(number: float, column: Column) -> str:
    if column.significant is not None:
        return f"{number:#.{column.significant}g}"
    return f"{number:g}" if column.digits is None else f"{number:.{column.digits}f}"


def cells(rows: pd.DataFrame, columns: list[Column]) -> list[list[str]]:
    """All rows as text."""
    values = [list(rows[column.name]) for column in columns]
    signed = [replace(column, signed=True) for column in columns]
    sources = rows[SOURCE] if SOURCE in rows else [None] * len(rows)
    return [
        [cell(*pair) for pair in zip(row, signed if source == DIFFERENCE else columns, strict=True)]
        for source, row in zip(sources, zip(*values, strict=True), strict=True)
    ]


def headings(columns: list[Column]) -> list[tuple[str, int]]:
    """The headings above columns, each with how many it spans; empty above those that have none."""
    spans: list[tuple[str, int]] = []
    for column in columns:
        if spans and column.group and spans[-1][0] == column.group:
            spans[-1] = (column.group, spans[-1][1] + 1)
        else:
            spans.append((column.group, 1))
    return spans


def is_text(column: Column) -> bool:
    """Whether it is set to the left."""
    return bool(column.type == TEXT)
