"""Summaries as HTML: a page each, and nothing in it that a name could break out of."""

from collections.abc import Callable
from html import escape

import pandas as pd

from workflow.lib.summaries.cells import NOTHING, cells, headings, is_text, unrounded
from workflow.lib.summaries.summary import Column, Summary

Link = Callable[[pd.Series, Column], str | None]
"""From a row and a column to the address of what the number comes from."""

STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem; max-width: 90rem; }
figure { margin: 0; overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .5rem; }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid #888; vertical-align: bottom; }
.text { text-align: left; }
th.group { text-align: center; }
tbody + tbody > tr:first-child > td { border-top: 1px solid #8886; }
table > :last-child > tr:last-child > td { border-bottom: 1px solid #888; }
figcaption { font-size: .9rem; max-width: 60rem; }
"""


def html_page(summary: Summary) -> str:
    """A page with the table alone."""
    head = ['<!doctype html>\n<html lang="en">\n<meta charset="utf-8">', f"<title>{escape(summary.title)}</title>"]
    return "\n".join([*head, f"<style>\n{STYLE}</style>", html_table(summary), "</html>\n"])


def html_table(summary: Summary, link: Link | None = None) -> str:
    """The table with the best in bold, and the notes below; ``link`` says where a number comes from."""
    columns = summary.shown
    spans = headings(columns)
    lines = ["<figure>\n<table>", f"<caption>{escape(summary.title)}</caption>", "<thead>"]
    if any(group for group, _ in spans):
        above = "".join(f'<th class="group" colspan="{width}">{escape(group)}</th>' for group, width in spans)
        lines.append(f"<tr>{above}</tr>")
    lines.append(f"<tr>{''.join(f'<th{_kind(column)}>{escape(column.heading)}</th>' for column in columns)}</tr>")
    lines += ["</thead>", *_bodies(summary, link), "</table>"]
    notes = "".join(f"<p>{escape(note)}</p>" for note in summary.notes)
    return "\n".join([*lines, f"<figcaption>{notes}</figcaption>", "</figure>"])


def _bodies(summary: Summary, link: Link | None) -> list[str]:
    columns = summary.shown
    best = summary.best()
    lines = []
    for _, rows in summary.contests():
        marks = best.loc[rows.index, [column.name for column in columns]].to_numpy()
        lines.append("<tbody>")
        for index, texts, bold in zip(rows.index, cells(rows, columns), marks, strict=True):
            row = summary.rows.loc[index]
            parts = (
                _cell(text, row[column.name], column, bool(mark), link(row, column) if link else None)
                for text, mark, column in zip(texts, bold, columns, strict=True)
            )
            lines.append(f"<tr>{''.join(parts)}</tr>")
        lines.append("</tbody>")
    return lines


def _cell(text: str, value: object, column: Column, bold: bool, link: str | None) -> str:
    """A cell; a number that leads somewhere also has its unrounded value, to be sorted by."""
    shown = f"<strong>{escape(text)}</strong>" if bold else escape(text)
    if link is None or text == NOTHING:
        return f"<td{_kind(column)}>{shown}</td>"
    exact = "" if is_text(column) else f' data-value="{escape(unrounded(value))}"'
    return f'<td{_kind(column)}{exact}><a href="{escape(link)}">{shown}</a></td>'


def _kind(column: Column) -> str:
    return ' class="text"' if is_text(column) else ""
