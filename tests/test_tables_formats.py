"""Tables in every format, and cells as people read them."""

import csv
import re
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from icb import InputError
from tests.table_rows import (
    DASH,
    MINUS,
    PAPER,
    ROWS,
    SAMPLES,
    SIMULATED,
    Cells,
    cost,
    index_of,
    markdown_rows,
    metric,
    restoration,
    restored,
    sample,
    virtual,
)
from workflow.lib.summaries import FORMATS
from workflow.lib.summaries.ablation import ablation
from workflow.lib.summaries.blur_formation import blur_in_real, blur_in_virtual
from workflow.lib.summaries.captured import captured
from workflow.lib.summaries.cells import cell
from workflow.lib.summaries.costs import costs
from workflow.lib.summaries.latex import latex
from workflow.lib.summaries.markdown import markdown
from workflow.lib.summaries.page import html_page
from workflow.lib.summaries.render import write_summary
from workflow.lib.summaries.summary import TEXT, WHOLE, Column, Summary, arranged


def test_every_format_has_the_same_table(tmp_path: Path) -> None:
    samples = [sample("a"), sample("b", motion="xy-rotation", case="Trucking")]
    summary = virtual([metric(of, model, 41.0 + len(model)) for of in samples for model in ("ICB", "PWB")])
    write_summary(summary, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"table2.{ending}" for ending in FORMATS)
    people = markdown_rows(summary)[1:]

    page = Cells()
    page.feed((tmp_path / "table2.html").read_text())
    assert [row for row in page.rows if len(row) == len(people[0])][-len(people) :] == people

    source = (tmp_path / "table2.tex").read_text()
    body = source[source.index(r"\midrule") + 8 : source.index(r"\bottomrule")].replace(r"\addlinespace", "")
    plain = re.sub(r"\\textbf\{(.*?)\}", r"**\1**", body).replace("$-$", MINUS).replace("--", DASH)
    assert [[part.strip() for part in line.split("&")] for line in plain.split(r"\\") if line.strip()] == people
    columns = re.search(r"begin\{tabular\}\{([lr]+)\}", source)
    assert columns and len(columns[1]) == len(people[0])
    assert (
        sum(int(width) for width in re.findall(r"\\multicolumn\{(\d)\}", source)) == 9
    )  # three metrics of the paper's
    balanced = re.sub(r"\\[{}]", "", source)
    assert balanced.count("{") == balanced.count("}")

    # For machines: nothing is rounded, and nothing is missing.
    with (tmp_path / "table2.csv").open() as stream:
        texts = list(csv.DictReader(stream))
    table = pq.read_table(tmp_path / "table2.parquet")
    rows = table.to_pylist()
    assert list(texts[0]) == table.column_names == [column.name for column in summary.columns]
    for text, row, (_, mine) in zip(texts, rows, summary.rows.iterrows(), strict=True):
        for name in table.column_names:
            if isinstance(row[name], float):
                assert float(text[name]) == row[name] == mine[name]
            else:
                assert text[name] == str(row[name])
    assert table.schema.metadata[b"title"].decode() == summary.title
    assert table.schema.metadata[b"notes"].decode().split("\n") == list(summary.notes)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    write_summary(summary, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


HOSTILE = "<script>alert('x')</script> | a_b & 5% #1 $y$ {z} \\end{tabular} ^~ *c* `d` [e](f)"


def test_names_cannot_break_out_of_any_format(tmp_path: Path) -> None:
    summary = captured(index_of(sample("a", scene=HOSTILE, **SIMULATED)), PAPER["table1"], 58)
    page = Cells()
    page.feed(html_page(summary))
    assert "script" not in page.tags
    assert page.rows[2][0] == HOSTILE
    lines = [line for line in markdown(summary).splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1
    assert not re.search(r"(?<!\\)[<*`_\[$]", lines[2])
    source = latex(summary)
    (row,) = [line for line in source.splitlines() if "alert" in line]
    assert source.count(r"\end{tabular}") == 1
    assert len(re.findall(r"(?<!\\)&", row)) == len(
        re.findall("&", next(line for line in source.splitlines() if line.startswith("Scene")))
    )
    assert not re.search(r"(?<!\\)[%#]|(?<!\\)\$y", row)
    write_summary(summary, tmp_path)
    with (tmp_path / "table1.csv").open() as stream:
        assert next(csv.DictReader(stream))["scene"] == HOSTILE
    assert pq.read_table(tmp_path / "table1.parquet")["scene"][0].as_py() == HOSTILE


def test_latex_is_ascii_that_needs_no_more_packages() -> None:
    name = 'say "hi" [é] Åse Łódź 10⁻⁵ \N{GREEK SMALL LETTER SIGMA} ≤ … 中 e\u0301'
    source = latex(captured(index_of(sample("a", scene=name, **SIMULATED)), PAPER["table1"], 58))
    assert source.isascii() and r"\textquotedbl" not in source
    expected = (
        r"say ''hi'' {[}\'{e}{]} \r{A}se \L{}\'{o}d\'{z} 10$^{-5}$ $\sigma$ $\leq$ \ldots{} {[}U+4E2D{]} \'{e} & "
    )
    assert expected in source
    assert r"K\"{a}m\"{a}r\"{a}inen" in source


def test_nothing_to_show_is_said(tmp_path: Path) -> None:
    index, rows = index_of(*SAMPLES), pd.DataFrame(ROWS)
    fits = pd.DataFrame([restoration(SAMPLES[0], "ICB", 30.0)])
    measured = pd.DataFrame([cost(SAMPLES[0], "ICB", 1, 1.0)])
    for summary, words in (
        (captured(index.iloc[:0], PAPER["table1"], 58), "VirtualCMB: no samples."),
        (blur_in_virtual(rows.iloc[:0], PAPER["table2"], PAPER["table1"], "none"), "VirtualCMB: no samples."),
        (blur_in_real(rows.iloc[:0], PAPER["table3"], None), "RealCMB: no samples."),
        (costs(measured.iloc[:0], PAPER["table4"]), "No samples were measured."),
        (restored(fits.iloc[:0]), "No samples were restored."),
        (ablation(rows.iloc[:0], PAPER["ablation"], [], None), "VirtualCMB: no samples."),
    ):
        write_summary(summary, tmp_path)
        for ending in ("md", "tex", "html"):
            assert words in (tmp_path / f"{summary.name}.{ending}").read_text()


def test_bold_is_what_the_paper_sets_in_bold() -> None:
    """The bold cells of its Tables 2 and 4, typed from the paper; where rounding makes a tie, it has one of them."""
    perceived = ["icb", "pwb", "icb", "pwb", "icb", "pwb", "icb"]
    for name, columns, within, bold in (
        (
            "table2",
            {"psnr": "higher", "ssim_paper": "higher", "lpips_paper": "lower"},
            ("motion", "case"),
            {"psnr": ["icb"] * 7, "ssim_paper": ["icb"] * 7, "lpips_paper": perceived},
        ),
        (
            "table4",
            {"memory": "lower", "seconds": "lower"},
            ("dataset",),
            {"memory": ["icb", "icb"], "seconds": ["pwb", "icb"]},
        ),
    ):
        paper = PAPER[name]
        shown = [Column(key, key, TEXT) for key in (*within, "kind")]
        shown += [Column(key, key, better=better) for key, better in columns.items()]  # type: ignore[arg-type]
        summary = Summary(name, name, arranged(paper, shown), tuple(shown), within=within)
        best = summary.best()
        for column, kinds in bold.items():
            marked = [set(rows["kind"][best.loc[rows.index, column]]) for _, rows in summary.contests()]
            assert all(kind in found for kind, found in zip(kinds, marked, strict=True))
            ties = [found for found in marked if len(found) > 1]
            assert ties == ([{"icb", "pwb"}] if column == "ssim_paper" else [])  # Standard: 0.978 and 0.978


@pytest.mark.parametrize(
    ("value", "column", "text"),
    [
        (1.005, Column("x", "x", digits=2), "1.00"),  # 1.005 is a little less in binary
        (-0.001, Column("x", "x", digits=2, signed=True), "0.00"),
        (0.004, Column("x", "x", digits=2, signed=True), "0.00"),
        (0.006, Column("x", "x", digits=2, signed=True), "+0.01"),
        (-3.0, Column("x", "x"), f"{MINUS}3"),
        (float("inf"), Column("x", "x", digits=2), "∞"),
        (float("nan"), Column("x", "x", digits=2), DASH),
        (None, Column("x", "x", TEXT), DASH),
        (pd.NA, Column("x", "x", WHOLE), DASH),
        (0, Column("x", "x", WHOLE), "0"),
        (1.17e-4, Column("x", "x", power=-5, significant=4), "11.70"),
        (4.639e-5, Column("x", "x", power=-5, digits=3), "4.639"),
    ],
)
def test_cells(value: object, column: Column, text: str) -> None:
    assert cell(value, column) == text


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(InputError, match="got the columns"):
        Summary("x", "x", pd.DataFrame({"a": [1]}), (Column("b", "b"),))
