"""Summaries as Markdown."""

import re

from workflow.lib.summaries.cells import cells, is_text
from workflow.lib.summaries.summary import Summary


def markdown(summary: Summary) -> str:
    """A heading, a table with the best in bold, and the notes below."""
    columns = summary.shown
    heads = [f"{column.group}: {column.heading}" if column.group else column.heading for column in columns]
    marks = summary.best()[[column.name for column in columns]].to_numpy()
    lines = [
        _line([escape(head) for head in heads]),
        _line([":--" if is_text(column) else "--:" for column in columns]),
        *(
            _line([f"**{escape(text)}**" if best else escape(text) for text, best in zip(row, bold, strict=True)])
            for row, bold in zip(cells(summary.rows, columns), marks, strict=True)
        ),
    ]
    return "\n".join([f"### {escape(summary.title)}", "", *lines, "", *_notes(summary)])


def _notes(summary: Summary) -> list[str]:
    return [line for note in summary.notes for line in (escape(note), "")]


def _line(parts: list[str]) -> str:
    return f"| {' | '.join(parts)} |"


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", " ".join(text.split()))
