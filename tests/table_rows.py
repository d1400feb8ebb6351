"""Hand-made rows of metrics, and tables read back as words."""

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd

from workflow.lib import paper_numbers
from workflow.lib.summaries.blur_formation import blur_in_virtual
from workflow.lib.summaries.markdown import markdown
from workflow.lib.summaries.restoration import restorations
from workflow.lib.summaries.summary import Summary

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"

PAPER = {name: paper_numbers.read(name) for name in paper_numbers.TABLES}


def sample(name: str, dataset: str = "VirtualCMB", **more: Any) -> dict[str, Any]:
    """A row of the index."""
    row = {"dataset": dataset, "id": name, "scene": "Village", "case": "Macro", "motion": "parallax"}
    return {**row, "simulated": False, "source_format": "published", **more}


def index_of(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(rows)


def metric(of: dict[str, Any], model: str, psnr: float, **more: Any) -> dict[str, Any]:
    """A row of metrics; everything else follows from the PSNR in ways that are easy to work out by hand."""
    row = dict(of)
    row |= {"model": model, "kind": model.lower()[:3], "height": 24, "width": 32}
    row |= {"n": 1.0, "sigma": 4.0} if model.startswith("ICB") else {"n": np.nan, "sigma": np.nan}
    row |= {"psnr": psnr, "psnr_edge": psnr - 2, "psnr_unchanged": 20.0, "ssim": psnr / 100, "ssim_paper": psnr / 50}
    return {**row, "lpips": 1 / psnr, "lpips_paper": psnr * 1e-6, "seconds": psnr / 1000, "layers": 9.0, **more}


def words(text: str) -> list[str]:
    return text.split()


def markdown_rows(summary: Summary) -> list[list[str]]:
    """The cells of the table as people see them, bold ones in asterisks, the heading first."""
    lines = [line for line in markdown(summary).splitlines() if line.startswith("|")]
    return [line.strip("| ").replace("\\", "").split(" | ") for line in lines[:1] + lines[2:]]


class Cells(HTMLParser):
    """All cells of a page, and every tag in it."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "strong":
            self.rows[-1][-1] += "**"

    def handle_endtag(self, tag: str) -> None:
        if tag == "strong":
            self.rows[-1][-1] += "**"
        elif tag == "table":
            self.rows.append([])

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1] and data.strip():
            self.rows[-1][-1] += data


SIMULATED = {"simulated": True, "source_format": "unity"}
SAMPLES = [
    sample("a", **SIMULATED),
    sample("b", **SIMULATED),
    sample("c", case="Standard", motion="6-DoF", **SIMULATED),
    sample("d", case="Trucking", **SIMULATED),
    sample("e", "RealCMB", **SIMULATED),
]
ROWS = [
    metric(SAMPLES[0], "ICB", 40.0),
    metric(SAMPLES[0], "PWB", 38.0),
    metric(SAMPLES[1], "ICB", 42.0, psnr_edge=np.nan),  # no depth edges
    metric(SAMPLES[1], "PWB", 39.0),
    metric(SAMPLES[2], "ICB", 30.0),
    metric(SAMPLES[2], "PWB", 32.0),
    metric(SAMPLES[3], "ICB", 36.0),
    metric(SAMPLES[3], "PWB", 36.0),
    metric(SAMPLES[4], "ICB", 25.0),
    metric(SAMPLES[4], "PWB", 20.0),
]


def virtual(rows: list[dict[str, Any]], reason: str | None = None) -> Summary:
    return blur_in_virtual(pd.DataFrame(rows), PAPER["table2"], PAPER["table1"], reason)


def cost(of: dict[str, Any], model: str, memory: int | None, seconds: float) -> dict[str, Any]:
    row = metric(of, model, 30.0)
    del row["psnr"]
    return {
        **row,
        "height": 720,
        "width": 1280,
        "peak_memory": memory,
        "seconds": seconds,
        "build_seconds": seconds / 4,
        "apply_seconds": seconds * 3 / 4,
        "threads": 2,
        "runs": 5,
        "processor": "Abacus 9000",
    }


def restoration(of: dict[str, Any], method: str, psnr: float, **more: Any) -> dict[str, Any]:
    fit = {"network": "siren", "epochs": 400, "hidden_width": 192, "gradient": "analytic", "penalty": 8e-6}
    fit |= {"learning_rate": 5e-4, "patch_height": None, "patch_width": None}
    fit |= {"restored_height": 24, "restored_width": 32}
    return {**metric(of, method, psnr), **fit, **more}


def restored(rows: list[dict[str, Any]] | pd.DataFrame) -> Summary:
    return restorations(pd.DataFrame(rows), PAPER["table5"], PAPER["table1"], PAPER["table3"], None)
