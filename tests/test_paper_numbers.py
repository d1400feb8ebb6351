"""The paper's numbers as data: cell by cell against the paper's source where that is at hand, counts always."""

import os
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from icb import InputError
from workflow.lib import paper_numbers

ROOT = Path(__file__).parent.parent
VARIABLE = "ICB_PAPER_TEX"

CASES = ("Macro", "Trucking", "Standard")
MOTIONS = ("parallax", "xy-rotation", "6-DoF")


def paper_source() -> str:
    place = Path(os.environ.get(VARIABLE, ROOT.parent / "shared" / "docs" / "paper.tex"))
    if not place.is_file():
        pytest.skip(f"{place} is not there; {VARIABLE} may name the paper's LaTeX source")
    return place.read_text()


def tabular(label: str) -> list[list[str]]:
    """The cells of the table with this label, row by row, without rules and markup; numbers only count."""
    source = paper_source()
    before = source[: source.index(f"\\label{{{label}}}")]
    body = before[before.rindex(r"\begin{tabular}") : before.rindex(r"\end{tabular}")]
    rows = []
    for line in re.split(r"\\\\", body):
        text = re.sub(r"\\(toprule|midrule|bottomrule|cline\{[^}]*\})", "", line)
        text = re.sub(r"\\textbf\{([^}]*)\}|\{\\bf ([^}]*)\}", lambda found: found[1] or found[2], text)
        text = re.sub(r"~?\\cite\{[^}]*\}", "", text)
        rows.append([cell.strip() for cell in text.split("&")])
    return rows


def number_rows(label: str) -> Iterator[tuple[list[str], list[Decimal | None]]]:
    """Leading words and the numbers of every row of a table that ends in numbers; a dash is None."""
    for row in tabular(label):
        cells = [re.fullmatch(r"-|\d+(\.\d+)?", cell) for cell in row]
        first = next((place for place, cell in enumerate(cells) if cell), len(cells))
        if first < len(cells) and all(cells[first:]):
            yield row[:first], [None if cell == "-" else Decimal(cell) for cell in row[first:]]


def cells(table: str, keys: list[str], value: str) -> dict[tuple[str, ...], Decimal]:
    """One column of a data file by the text of its keys, as printed."""
    rows = paper_numbers.printed(table)
    found = {tuple(row[key] for key in keys): Decimal(row[value]) for row in rows.to_dict("records")}
    assert len(found) == len(rows)
    return found


def test_counts() -> None:
    """Without the paper: its text says 983 and 58, and the totals of Table 1 are printed."""
    table = paper_numbers.read("table1")
    assert table["samples"].sum() == 983
    sums = table.groupby(["case", "motion"])["samples"].sum().to_dict()
    totals = (140, 133, 132, 143, 142, 143, 150)
    columns = [(case, motion) for case in CASES[:2] for motion in MOTIONS] + [("Standard", "6-DoF")]
    assert sums == dict(zip(columns, totals, strict=True))
    assert set(paper_numbers.read("table3")["samples"]) == {58}
    assert len(table) == len(table.drop_duplicates(["scene", "case", "motion"])) == 23


def test_the_shape_of_every_table() -> None:
    sizes = {name: paper_numbers.read(name).shape for name in paper_numbers.TABLES}
    assert sizes == {
        "table1": (23, 4),
        "table2": (14, 6),
        "table3": (2, 5),
        "table4": (4, 4),
        "table5": (20, 6),
        "ablation": (48, 7),
    }
    for name in paper_numbers.TABLES:
        assert not paper_numbers.read(name).isna().any().any(), name
        source = (paper_numbers.FOLDER / f"{name}.csv").read_text().splitlines()[0]
        assert source.startswith("# Torres and Kämäräinen") and "SCIA 2023" in source


def test_table_1() -> None:
    expected = {}
    totals = None
    for words, numbers in number_rows("tab:captured_images"):
        if words[0].startswith("Total"):
            totals = numbers
            continue
        for (case, motion), number in zip([(c, m) for c in CASES for m in MOTIONS], numbers, strict=True):
            if number is not None:
                expected[words[0], case, motion] = number
    assert cells("table1", ["scene", "case", "motion"], "samples") == expected
    assert totals is not None
    assert sum(number for number in totals if number) == 983


def test_table_2() -> None:
    places = [("parallax", c) for c in CASES[:2]] + [("xy-rotation", c) for c in CASES[:2]]
    places += [("6-DoF", c) for c in CASES]
    columns = [(*place, kind) for place in places for kind in ("icb", "pwb")]  # "Ours" comes first
    names = {"PSNR": ("psnr", 1), "SSIM": ("ssim_paper", 1), "LPIPS": ("lpips_paper", Decimal("1e-5"))}
    seen = 0
    for words, numbers in number_rows("tab:model_val_VirtualCMB"):
        name, unit = next(names[name] for name in names if name in words[0])
        found = cells("table2", ["motion", "case", "kind"], name)
        assert found == {
            column: number * unit for column, number in zip(columns, numbers, strict=True) if number is not None
        }
        seen += len(found)
    assert seen == 3 * 14


def test_table_3() -> None:
    rows = {words[0]: numbers for words, numbers in number_rows("tab:model_val_HNDR")}
    for place, (name, unit) in enumerate((("psnr", 1), ("ssim_paper", 1), ("lpips_paper", Decimal("1e-5")))):
        expected = {("pwb",): rows["PWB"][place] * unit, ("icb",): rows["Ours"][place] * unit}  # type: ignore[operator]
        assert cells("table3", ["kind"], name) == expected
    assert "avg over 58 test images" in paper_source()


def test_table_4() -> None:
    rows = {words[0]: numbers for words, numbers in number_rows("tab:comp_resources")}
    for place, (dataset, name) in enumerate(
        (("RealCMB", "memory"), ("RealCMB", "seconds"), ("VirtualCMB", "memory"), ("VirtualCMB", "seconds"))
    ):
        found = cells("table4", ["dataset", "kind"], name)
        assert found[dataset, "pwb"] == rows["PWB"][place]
        assert found[dataset, "icb"] == rows["Ours"][place]


def test_table_5() -> None:
    expected: dict[str, dict[tuple[str, ...], Decimal | None]] = {"psnr": {}, "ssim_paper": {}, "lpips_paper": {}}
    for words, numbers in number_rows("tab:deblurring_results"):
        method = words[0].replace("Ours", "ICB")
        for dataset, part in (("VirtualCMB", numbers[:3]), ("RealCMB", numbers[3:])):
            for found, number, unit in zip(expected.values(), part, (1, 1, Decimal("1e-4")), strict=True):
                assert number is not None
                found[dataset, method] = number * unit
    for name, found in expected.items():
        assert len(found) == 20
        assert cells("table5", ["dataset", "method"], name) == found
    kinds = {row["method"]: row["kind"] for row in paper_numbers.printed("table5").to_dict("records")}
    assert {method: kind for method, kind in kinds.items() if kind} == {"PWB + SIREN": "pwb", "ICB + SIREN": "icb"}


def test_ablation() -> None:
    names = (("psnr", 1), ("ssim_paper", 1), ("lpips_paper", Decimal("1e-5")), ("seconds", 1))
    expected: dict[str, dict[tuple[str, ...], Decimal | None]] = {name: {} for name, _ in names}
    sigma = ""
    for row in tabular("tab:ablation"):
        if len(row) != 10 or not re.fullmatch(r"\d\.\d", row[1]):
            continue
        sigma = row[0] or sigma
        for case, part in (("Macro", row[2:6]), ("Trucking", row[6:])):
            for (name, unit), text in zip(names, part, strict=True):
                expected[name][sigma, row[1], case] = Decimal(text) * unit
    for name, found in expected.items():
        assert len(found) == 48
        assert cells("ablation", ["sigma", "n", "case"], name) == found


def test_misprints_are_put_right_and_named() -> None:
    (slip,) = paper_numbers.misprints("ablation")
    assert (slip.printed, slip.meant) == ("3.6456", "36.456")
    assert "3.6456" in str(slip) and "36.456" in str(slip)
    raw, read = paper_numbers.printed("ablation"), paper_numbers.read("ablation")
    here = (raw["sigma"] == "2.5") & (raw["n"] == "3.0") & (raw["case"] == "Trucking")
    assert list(raw.loc[here, "psnr"]) == ["3.6456"] and list(read.loc[here, "psnr"]) == [36.456]
    # It then falls into line: more sigma, more PSNR, at n = 3 as elsewhere.
    column = read[(read["case"] == "Trucking") & (read["n"] == 3)].sort_values("sigma")["psnr"]
    assert column.is_monotonic_increasing
    assert paper_numbers.misprints("table2") == []


def test_mistakes_in_the_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"table1\.csv: cannot be read"):
        paper_numbers.read("table1", tmp_path)
    for path in paper_numbers.FOLDER.glob("*.csv"):
        (tmp_path / path.name).write_text(path.read_text())
    (tmp_path / "misprints.csv").write_text("table,row,column,printed,meant\ntable3,kind=icb,psnr,1.00,2.00\n")
    with pytest.raises(InputError, match=r"table3\.csv has no 1\.00 at kind=icb"):
        paper_numbers.read("table3", tmp_path)
    (tmp_path / "misprints.csv").write_text("table,row,column,printed,meant\n")
    text = (tmp_path / "table4.csv").read_text()
    (tmp_path / "table4.csv").write_text(text.replace("1.74", "much"))
    with pytest.raises(InputError, match=r"table4\.csv: memory: expected numbers"):
        paper_numbers.read("table4", tmp_path)
