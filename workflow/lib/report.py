"""One page about a run: what it was made on, the mean of every metric, and what was left out."""

import html
import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from icb import files

METRICS = ["psnr_unchanged", "psnr", "psnr_edge", "ssim", "ssim_paper", "lpips", "lpips_paper"]
GROUPS = ["dataset", "case", "motion", "model"]
STYLE = """\
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; display: block; overflow-x: auto; }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid #8885; }
th:first-child, td:first-child { text-align: left; }
.note { border-left: 4px solid #d55e00; padding-left: 1rem; }
"""


def write_report(
    output: str | os.PathLike[str],
    *,
    captures: str | os.PathLike[str],
    blur: str | os.PathLike[str],
    restoration: str | os.PathLike[str],
    left_out: str | os.PathLike[str],
    lpips: str | os.PathLike[str],
) -> None:
    """Write the page from the tables of a run."""
    found, blurred, restored, failed = (pd.read_parquet(path) for path in (captures, blur, restoration, left_out))
    counts = found["status"].value_counts()
    parts = [
        "<h1>Camera motion blur: results of a run</h1>",
        f"<p>{len(found)} captures: {_escape(', '.join(f'{count} {status}' for status, count in counts.items()))}.</p>",
    ]
    simulated = bool(len(blurred) and blurred["simulated"].any())
    if simulated:
        share = "All" if blurred["simulated"].all() else "Some"
        parts.append(
            f'<p class="note">{share} of these samples are simulated. They say how the models behave on such data and '
            "nothing about the published datasets.</p>"
        )
    if reason := files.load_json(lpips).get("reason"):
        parts.append(f'<p class="note">No LPIPS: {_escape(reason)}</p>')
    parts += ["<h2>Blur formation</h2>", _means(blurred), "<h2>Restoration</h2>", _means(restored)]
    parts += ["<h2>Left out</h2>", _table(failed) if len(failed) else "<p>Nothing.</p>"]
    versions = [name for name in blurred.columns if name.endswith("_version")]
    parts += ["<h2>Versions</h2>", _table(blurred[versions].drop_duplicates())]
    head = ['<!doctype html>\n<html lang="en">\n<meta charset="utf-8">', "<title>Camera motion blur</title>"]
    text = "\n".join([*head, f"<style>\n{STYLE}</style>", *parts, "</html>\n"])
    files.write(Path(output), lambda temporary: temporary.write_text(text, encoding="utf-8"))


def _means(rows: pd.DataFrame) -> str:
    if rows.empty:
        return "<p>None.</p>"
    grouped = rows.groupby(GROUPS, dropna=False)
    means = grouped[METRICS].mean().round(4)
    means.insert(0, "samples", grouped.size())
    return _table(means.reset_index())


def _table(rows: pd.DataFrame) -> str:
    columns = "".join(f"<th>{_escape(str(name))}</th>" for name in rows.columns)
    lines = [f"<tr>{_cells(row)}</tr>" for row in rows.itertuples(index=False)]
    return f"<table>\n<tr>{columns}</tr>\n" + "\n".join(lines) + "\n</table>"


def _cells(values: Sequence[object]) -> str:
    return "".join(f"<td>{'' if pd.isna(value) else _escape(_shown(value))}</td>" for value in values)  # type: ignore[call-overload]


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _escape(text: str) -> str:
    return html.escape(text)
