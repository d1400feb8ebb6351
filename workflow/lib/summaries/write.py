"""From the tables of a run to the paper's."""

import os
from pathlib import Path
from typing import Any

import pandas as pd

from icb import files
from workflow.lib import paper_numbers
from workflow.lib.summaries import ABLATION, TABLES
from workflow.lib.summaries.ablation import ablation
from workflow.lib.summaries.blur_formation import blur_in_real, blur_in_virtual
from workflow.lib.summaries.captured import captured
from workflow.lib.summaries.costs import costs
from workflow.lib.summaries.render import write_summary
from workflow.lib.summaries.restoration import restorations
from workflow.lib.summaries.summary import Summary

PathLike = str | os.PathLike[str]


def write_tables(folder: PathLike, **sources: Any) -> None:
    """Write Tables 1 to 5 into ``folder``, from the ``sources`` of :func:`tables_of`."""
    for summary in tables_of(**sources):
        write_summary(summary, Path(folder))


def tables_of(
    *,
    index: PathLike,
    blur: PathLike,
    restoration: PathLike,
    cost: PathLike,
    lpips: PathLike,
    paper: PathLike = paper_numbers.FOLDER,
) -> list[Summary]:
    """Tables 1 to 5; ``paper`` is the folder of the paper's numbers."""
    samples = pd.read_parquet(index)
    blurred, restored, measured = (pd.read_parquet(path) for path in (blur, restoration, cost))
    numbers = {name: paper_numbers.read(name, paper) for name in TABLES}
    reason = files.load_json(lpips).get("reason")
    return [
        captured(samples, numbers["table1"], int(numbers["table3"]["samples"].iloc[0])),
        blur_in_virtual(blurred, numbers["table2"], numbers["table1"], reason),
        blur_in_real(blurred, numbers["table3"], reason),
        costs(measured, numbers["table4"]),
        restorations(restored, numbers["table5"], numbers["table1"], numbers["table3"], reason),
    ]


def write_ablation(folder: PathLike, **sources: Any) -> None:
    """Write the table of the ablation, from the ``sources`` of :func:`ablation_of`."""
    write_summary(ablation_of(**sources), Path(folder))


def ablation_of(*, blur: PathLike, lpips: PathLike, paper: PathLike = paper_numbers.FOLDER) -> Summary:
    """The table of the ablation; ``blur`` has the scores of all variants."""
    slips = [str(slip) for slip in paper_numbers.misprints(ABLATION, paper)]
    reason = files.load_json(lpips).get("reason")
    return ablation(pd.read_parquet(blur), paper_numbers.read(ABLATION, paper), slips, reason)
