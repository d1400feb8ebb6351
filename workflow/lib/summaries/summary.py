"""What a table for people is: its rows, and how each column is shown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import pyarrow as pa

from icb import InputError

TEXT, WHOLE, NUMBER = pa.string(), pa.int64(), pa.float64()

SOURCE, DIFFERENCE = "source", "difference"
"""A column that says what a row holds, and what it says of differences, which are shown with their signs."""


@dataclass(frozen=True)
class Column:
    """One column of a summary."""

    name: str
    label: str
    type: pa.DataType = NUMBER
    digits: int | None = None  #: after the decimal point; None shows as many as there are
    significant: int | None = None  #: digits in all, instead
    better: Literal["higher", "lower"] | None = None  #: the best of those that compete is set in bold
    power: int = 0  #: the value is shown in units of ten to this power
    signed: bool = False  #: a difference, shown with its sign
    group: str = ""  #: heading that it shares with its neighbours
    shown: bool = True  #: False for what only CSV and Parquet have

    @property
    def heading(self) -> str:
        """The label, with the power of ten and an arrow to where better is; a heading above it says these already."""
        if self.group:
            return self.label
        power = f" (\N{MULTIPLICATION SIGN}10{str(self.power).translate(_RAISED)})" if self.power else ""
        arrow = {"higher": " ↑", "lower": " ↓", None: ""}[self.better]
        return f"{self.label}{power}{arrow}"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Summary:
    """A table: rows of unrounded values, in order."""

    name: str  #: of its files
    title: str
    rows: pd.DataFrame
    columns: tuple[Column, ...]
    within: tuple[str, ...] = ()  #: rows that agree in these columns compete
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if list(self.rows.columns) != names:
            raise InputError(f"{self.name}: got the columns {list(self.rows.columns)}, expected {names}")

    @property
    def shown(self) -> list[Column]:
        return [column for column in self.columns if column.shown]

    def best(self) -> pd.DataFrame:
        """Which cells are the best of those that compete; where only one has a value, none is. As ``rows``."""
        marks = pd.DataFrame(False, index=self.rows.index, columns=self.rows.columns)
        for _, rows in self.contests():
            for column in self.columns:
                if column.better is None:
                    continue
                values = rows[column.name].dropna()
                if len(values) > 1:
                    extreme = values.max() if column.better == "higher" else values.min()
                    marks.loc[values.index[values == extreme], column.name] = True
        return marks

    def contests(self) -> Iterable[tuple[object, pd.DataFrame]]:
        """Rows that compete with each other; neighbours in the table."""
        if self.rows.empty:
            return []
        if not self.within:
            return [((), self.rows)]
        return self.rows.groupby(list(self.within), sort=False, dropna=False)


def arranged(rows: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """The frame of a summary: these columns in order, missing ones empty, and rows numbered from 0."""
    names = [column.name for column in columns]
    frame = rows.reindex(columns=names).reset_index(drop=True)
    for column in columns:
        if column.type == NUMBER:
            frame[column.name] = frame[column.name].astype(np.float64)
        elif column.type == WHOLE:
            frame[column.name] = frame[column.name].astype("Int64")
        else:
            frame[column.name] = frame[column.name].astype(object).where(frame[column.name].notna(), None)
    return frame
