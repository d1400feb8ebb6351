"""The ablation: sigma and n of ICB."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from workflow.lib import paper_numbers
from workflow.lib.summaries.metrics import (
    CASES,
    CONVENTIONS,
    METRICS,
    PRINTED,
    beside_paper,
    columns_of,
    describe_common,
    describe_edges,
    describe_lpips,
    in_order,
    means,
    three,
    with_common,
)
from workflow.lib.summaries.origin import apart, comparable, data_of, describe_data, describe_paper, titled, with_data
from workflow.lib.summaries.summary import TEXT, WHOLE, Column, Summary, arranged

DATASET = "VirtualCMB"
SECONDS = Column("seconds", "Time [s]", digits=4)
LAYERS = Column("layers", "Layers", digits=1)
DIGITS = {"psnr": 3, "ssim_paper": 5, "lpips_paper": 5}
OURS = {"psnr": 3, "psnr_edge": 3, "ssim": 5, "ssim_paper": 5, "lpips": 5, "lpips_paper": 4}
FINER = tuple(replace(column, digits=OURS[column.name]) for column in METRICS)  # variants differ by little
KEYS = ("case", "sigma", "n")
TIME = "Time is that of building and applying once, in jobs that run beside others: a rough guide, and no contest."


def ablation(
    rows: pd.DataFrame,
    paper: pd.DataFrame,
    misprints: Sequence[str],
    lpips_reason: str | None,
) -> Summary:
    """Means by case, sigma and n."""
    rows = with_common(with_data(rows), ["case"])
    shown = comparable(rows)
    found = means(rows, KEYS, [*FINER, LAYERS, SECONDS]).assign(data=data_of(rows))
    found = in_order(found, {"case": CASES, "sigma": None, "n": None})
    found = beside_paper(found, paper if shown else paper.iloc[:0], KEYS, [*PRINTED, "seconds"])
    columns = (
        Column("case", "Case", TEXT),
        Column("sigma", "\N{GREEK SMALL LETTER SIGMA}"),
        Column("n", "n"),
        Column("samples", "Samples", WHOLE),
        *columns_of(FINER, shown, DIGITS),
        LAYERS,
        *three(SECONDS, shown, 4),
        Column("data", "Data", TEXT, shown=False),
    )
    notes = [describe_data(rows, [DATASET]), describe_paper("supplement A.2", "ablation", *apart(DATASET, shown))]
    if shown:
        notes += [_describe_images(rows), *misprints]
    notes += [describe_common(rows), TIME, CONVENTIONS, describe_edges(rows), describe_lpips(rows, lpips_reason)]
    return Summary(
        "ablation",
        titled("Ablation of ICB: \N{GREEK SMALL LETTER SIGMA} and n", rows),
        arranged(found, columns),
        columns,
        within=("case",),
        notes=tuple(note for note in notes if note),
    )


def _describe_images(rows: pd.DataFrame) -> str:
    images = len(rows[rows["common"]].drop_duplicates(["dataset", "id"]))
    ours = "these are" if images == paper_numbers.ABLATED else f"here {images} are"
    return f"The paper does not say which {paper_numbers.ABLATED} images it took; {ours} chosen by the configuration."
