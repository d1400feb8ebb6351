"""Summaries as LaTeX, for the packages booktabs and graphicx."""

from workflow.lib.summaries.cells import cells, headings, is_text
from workflow.lib.summaries.latex_text import escape
from workflow.lib.summaries.summary import Summary

WIDEST = 7
"""More columns than so many are made to fit."""


def latex(summary: Summary) -> str:
    """A floating table with the best in bold, and the notes below."""
    columns = summary.shown
    wide = len(columns) > WIDEST
    kinds = "".join("l" if is_text(column) else "r" for column in columns)
    lines = [
        r"% Needs \usepackage{booktabs,graphicx}.",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape(summary.title)}.}}",
        rf"\label{{tab:{summary.name}}}",
        r"\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
        *([r"\resizebox{\linewidth}{!}{%"] if wide else []),
        rf"\begin{{tabular}}{{{kinds}}}",
        r"\toprule",
        *_group_lines(headings(columns)),
        _line([escape(column.heading) for column in columns]),
        r"\midrule",
        *_body(summary),
        r"\bottomrule",
        r"\end{tabular}",
        *(["}"] if wide else []),
        *(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {escape(note)}}}" for note in summary.notes),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _group_lines(spans: list[tuple[str, int]]) -> list[str]:
    if not any(group for group, _ in spans):
        return []
    parts, rules, first = [], [], 1
    for group, width in spans:
        parts.append(rf"\multicolumn{{{width}}}{{c}}{{{escape(group)}}}" if group else "")
        if group:
            rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
        first += width
    return [_line(parts), " ".join(rules)]


def _body(summary: Summary) -> list[str]:
    """The rows, with a little space between those that do not compete."""
    columns = summary.shown
    best = summary.best()
    lines: list[str] = []
    for _, rows in summary.contests():
        if lines:
            lines.append(r"\addlinespace")
        marks = best.loc[rows.index, [column.name for column in columns]].to_numpy()
        for row, bold in zip(cells(rows, columns), marks, strict=True):
            texts = [
                rf"\textbf{{{escape(text)}}}" if mark else escape(text) for text, mark in zip(row, bold, strict=True)
            ]
            lines.append(_line(texts))
    return lines


def _line(parts: list[str]) -> str:
    return " & ".join(parts) + r" \\"
