"""The ablation: sigma and n of ICB."""

from collections.abc import Sequence

import pandas as pd

from workflow.lib.summaries.metrics import (
    CASES,
    CONVENTIONS,
    METRICS,
    PRINTED,
    beside_paper,
    columns_of,
    describe_lpips,
    in_order,
    means,
    three,
)
from workflow.lib.summaries.origin import comparable, data_of, describe_data, describe_paper, titled, with_data
from workflow.lib.summaries.summary import TEXT, WHOLE, Column, Summary, arranged

DATASET = "VirtualCMB"
SECONDS = Column("seconds", "Time [s]", digits=4)
LAYERS = Column("layers", "Layers", digits=1)
DIGITS = {"psnr": 3, "ssim_paper": 5, "lpips_paper": 5}
KEYS = ("case", "sigma", "n")
TIME = "Time is that of building and applying once, in jobs that run beside others: a rough guide, and no contest."


def ablation(
    rows: pd.DataFrame,
    index: pd.DataFrame,
    paper: pd.DataFrame,
    misprints: Sequence[str],
    lpips_reason: str | None,
) -> Summary:
    """Means by case, sigma and n."""
    rows = with_data(rows, index)
    shown = comparable(rows)
    found = means(rows, KEYS, [*METRICS, LAYERS, SECONDS]).assign(data=data_of(rows))
    found = in_order(found, {"case": CASES, "sigma": None, "n": None})
    found = beside_paper(found, paper if shown else paper.iloc[:0], KEYS, [*PRINTED, "seconds"])
    columns = (
        Column("case", "Case", TEXT),
        Column("sigma", "\N{GREEK SMALL LETTER SIGMA}"),
        Column("n", "n"),
        Column("samples", "Samples", WHOLE),
        *columns_of(METRICS, shown, DIGITS),
        LAYERS,
        *three(SECONDS, shown, 4),
        Column("data", "Data", TEXT, shown=False),
    )
    printed = ([DATASET], []) if shown else ([], [DATASET])
    notes = [describe_data(rows, [DATASET]), describe_paper("supplement A.2", "ablation", *printed)]
    if shown:
        notes += ["The paper does not say which 12 images it took; these are chosen by the configuration.", *misprints]
    notes += [TIME, CONVENTIONS, describe_lpips(rows, lpips_reason)]
    return Summary(
        "ablation",
        titled("Ablation of ICB: \N{GREEK SMALL LETTER SIGMA} and n", rows),
        arranged(found, columns),
        columns,
        within=("case",),
        notes=tuple(note for note in notes if note),
    )
