"""Where the numbers of the paper's tables come from: addresses of the rows behind them."""

from collections.abc import Mapping
from functools import partial
from urllib.parse import urlencode

import pandas as pd

from workflow.lib.summaries.captured import CELLS, TOTAL
from workflow.lib.summaries.cells import missing
from workflow.lib.summaries.origin import DATASETS
from workflow.lib.summaries.page import Link
from workflow.lib.summaries.summary import Column, Summary

VIRTUAL, REAL = DATASETS
GALLERY, DATA = "gallery.html", "data.html"


def link_of(summary: Summary) -> Link:
    """For the numbers of a table."""
    return partial(_address, summary.name)


def in_gallery(filters: Mapping[str, object], result: str | None = None) -> str:
    """The gallery with some samples alone, of one result or of all; to lack a value (None) is one to filter by, too."""
    chosen = {name: f"={'' if missing(value) else value}" for name, value in filters.items()}
    return f"{GALLERY}#{urlencode({**chosen, 'result': result or ''})}"


def _address(table: str, row: pd.Series, column: Column) -> str | None:
    if column.name.endswith(("_printed", "_difference")) or row.get("source") in ("paper", "difference"):
        return f"{DATA}#paper"
    if table == "table1":
        place = CELLS.get(column.name)
        filters = {"dataset": VIRTUAL} | ({} if row["scene"] == TOTAL else {"scene": _known(row["scene"])})
        return in_gallery(filters | (dict(zip(("case", "motion"), place, strict=True)) if place else {}))
    if table == "table2":
        return in_gallery({"dataset": VIRTUAL, **row[["motion", "case"]]}, f"blur-{row['model']}")
    if table == "table3":
        return in_gallery({"dataset": REAL}, f"blur-{row['model']}")
    if table == "table5":
        return in_gallery({"dataset": row["dataset"]}, f"restoration-{row['model']}")
    return f"{DATA}#{'costs' if table == 'table4' else table}"


def _known(scene: str) -> str | None:
    return None if scene == "unknown" else scene
