"""A summary in every format: for machines unrounded, for people rounded, with the best in bold and the notes."""

import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from icb import files
from workflow.lib.summaries.latex import latex
from workflow.lib.summaries.markdown import markdown
from workflow.lib.summaries.page import html_page
from workflow.lib.summaries.summary import Summary


def write_summary(summary: Summary, folder: str | os.PathLike[str]) -> None:
    """Write ``<name>.<format>`` for all of :data:`workflow.lib.summaries.FORMATS`."""
    texts = {"md": markdown(summary), "tex": latex(summary), "html": html_page(summary), "csv": _csv(summary)}
    for ending, text in texts.items():
        files.write(Path(folder) / f"{summary.name}.{ending}", _writer(text))
    table = to_arrow(summary)
    files.write(Path(folder) / f"{summary.name}.parquet", lambda path: pq.write_table(table, path))


def to_arrow(summary: Summary) -> pa.Table:
    """All columns; title and notes are the schema's metadata."""
    schema = pa.schema([pa.field(column.name, column.type) for column in summary.columns])
    metadata = {"title": summary.title, "notes": "\n".join(summary.notes)}
    return pa.Table.from_pandas(summary.rows, schema=schema, preserve_index=False).replace_schema_metadata(metadata)


def _csv(summary: Summary) -> str:
    text: str = summary.rows.to_csv(index=False, lineterminator="\n")
    return text


def _writer(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(text, encoding="utf-8")
