"""From the tables of a run to the paper's."""

import os
from pathlib import Path

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

PathLike = str | os.PathLike[str]


def write_tables(
    folder: PathLike,
    *,
    index: PathLike,
    blur: PathLike,
    restoration: PathLike,
    cost: PathLike,
    lpips: PathLike,
    paper: PathLike = paper_numbers.FOLDER,
) -> None:
    """Write Tables 1 to 5 into ``folder``; ``paper`` is the folder of the paper's numbers."""
    samples = pd.read_parquet(index)
    blurred, restored, measured = (pd.read_parquet(path) for path in (blur, restoration, cost))
    numbers = {name: paper_numbers.read(name, paper) for name in TABLES}
    reason = files.load_json(lpips).get("reason")
    for summary in (
        captured(samples, numbers["table1"], int(numbers["table3"]["samples"].iloc[0])),
        blur_in_virtual(blurred, samples, numbers["table2"], numbers["table1"], reason),
        blur_in_real(blurred, samples, numbers["table3"], reason),
        costs(measured, samples, numbers["table4"]),
        restorations(restored, samples, numbers["table5"], reason),
    ):
        write_summary(summary, Path(folder))


def write_ablation(
    folder: PathLike, *, index: PathLike, blur: PathLike, lpips: PathLike, paper: PathLike = paper_numbers.FOLDER
) -> None:
    """Write the table of the ablation; ``blur`` has the scores of all variants."""
    rows, samples = pd.read_parquet(blur), pd.read_parquet(index)
    slips = [str(slip) for slip in paper_numbers.misprints(ABLATION, paper)]
    reason = files.load_json(lpips).get("reason")
    write_summary(ablation(rows, samples, paper_numbers.read(ABLATION, paper), slips, reason), Path(folder))
