"""Where the numbers of the paper's tables come from: addresses of the rows behind them."""

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

import pandas as pd

from workflow.lib.site.numbers import METRICS, plain
from workflow.lib.summaries.captured import CELLS, ELSE, TOTAL
from workflow.lib.summaries.cells import is_text, missing
from workflow.lib.summaries.origin import DATASETS
from workflow.lib.summaries.page import Link
from workflow.lib.summaries.summary import SOURCE, Column, Summary

VIRTUAL, REAL = DATASETS
GALLERY, DATA = "gallery.html", "data.html"
SORTED_BY = {column.name for column in METRICS}

COMMON, OTHER = "common", "other"
"""Samples that the gallery can be asked for: those that all models have, and those of Table 1 in no cell of its own."""

PAPER_KEYS = {
    "table2": ("motion", "case", "kind"),
    "table3": ("kind",),
    "table4": ("dataset", "kind"),
    "ablation": ("case", "sigma", "n"),
}
"""Columns that tell the rows of the paper's tables apart, where they are called as in ours."""


def link_of(summary: Summary) -> Link:
    """For the numbers of a table."""
    return partial(_address, summary.name)


def in_gallery(filters: Mapping[str, object], result: str = "", *, samples: str = "", sort: str = "") -> str:
    """The gallery with some samples alone, of one result or of all; to lack a value (None) is one to filter by, too."""
    chosen = {name: f"={'' if missing(value) else value}" for name, value in filters.items()}
    more = {name: value for name, value in (("samples", samples), ("sort", sort)) if value}
    return f"{GALLERY}#{urlencode({**chosen, 'result': result, **more})}"


def in_data(table: str, filters: Mapping[str, object]) -> str:
    """The rows of a table on the page of data that have these values."""
    return "&".join([f"{DATA}#{table}", *filter(None, [urlencode({k: plain(v) for k, v in filters.items()})])])


def _address(table: str, row: pd.Series, column: Column) -> str | None:
    if is_text(column) and column.name != "pixels":
        return None
    if column.name.endswith(("_printed", "_difference")) or row.get(SOURCE) in ("paper", "difference"):
        return in_data(f"paper-{table}", _in_paper(table, row, column))
    means = {"samples": COMMON, "sort": column.name if column.name in SORTED_BY else ""}
    if table == "table1":
        filters = {"dataset": VIRTUAL, **_of_cell(row, column)}
        return in_gallery(filters, samples=OTHER if column.name == ELSE else "")
    if table == "table2":
        return in_gallery({"dataset": VIRTUAL, **row[["motion", "case"]]}, f"blur-{row['model']}", **means)
    if table == "table3":
        return in_gallery({"dataset": REAL}, f"blur-{row['model']}", **means)
    if table == "table5":
        return in_gallery({"dataset": row["dataset"]}, f"restoration-{row['model']}", **means)
    if table == "table4":
        return in_data("costs", {**row[["dataset", "model"]], "common": True})
    return in_data(table, {**row[["case", "sigma", "n"]], "common": True})


def _of_cell(row: pd.Series, column: Column) -> dict[str, object]:
    """What the samples that a cell of Table 1 counts have in common."""
    scene = {} if row["scene"] == TOTAL else {"scene": None if row["scene"] == "unknown" else row["scene"]}
    return scene | dict(zip(("case", "motion"), CELLS.get(column.name, ()), strict=False))


def _in_paper(table: str, row: pd.Series, column: Column) -> dict[str, object]:
    """What the paper's row, or rows, have in common."""
    if table == "table1":
        return _of_cell(row, column)
    if table == "table5":
        return {"dataset": row["dataset"], **({"kind": row["kind"]} if row["kind"] else {"method": row["model"]})}
    return dict(row[list(PAPER_KEYS[table])])
