"""Tables 2 and 3: how close blurred pictures come to the captured blur."""

from collections.abc import Sequence

import pandas as pd

from workflow.lib.summaries.metrics import (
    CASES,
    CONVENTIONS,
    KIND,
    KINDS,
    METRICS,
    MOTIONS,
    PRINTED,
    UNCHANGED,
    beside_paper,
    columns_of,
    describe_common,
    describe_counts,
    describe_edges,
    describe_lpips,
    in_order,
    means,
    with_common,
    with_kind,
)
from workflow.lib.summaries.origin import apart, comparable, data_of, describe_data, describe_paper, titled, with_data
from workflow.lib.summaries.summary import TEXT, WHOLE, Column, Summary, arranged

DIGITS = {"psnr": 2, "ssim_paper": 3, "lpips_paper": 4}


def blur_in_virtual(
    rows: pd.DataFrame, paper: pd.DataFrame, captured: pd.DataFrame, lpips_reason: str | None
) -> Summary:
    """Table 2, by motion and case; ``captured`` is the paper's Table 1, which has the numbers of samples."""
    counts = captured.groupby(["motion", "case"], as_index=False)["samples"].sum()
    keys = [Column("motion", "Motion", TEXT), Column("case", "Case", TEXT)]
    printed = paper.merge(counts, on=["motion", "case"])
    return _blur("table2", "Table 2", "VirtualCMB", keys, rows, printed, lpips_reason)


def blur_in_real(rows: pd.DataFrame, paper: pd.DataFrame, lpips_reason: str | None) -> Summary:
    """Table 3, of all samples together."""
    return _blur("table3", "Table 3", "RealCMB", [], rows, paper, lpips_reason)


def _blur(
    name: str,
    table: str,
    dataset: str,
    keys: Sequence[Column],
    rows: pd.DataFrame,
    paper: pd.DataFrame,
    lpips_reason: str | None,
) -> Summary:
    within = [key.name for key in keys]
    rows = with_common(with_kind(with_data(rows[rows["dataset"] == dataset])), within)
    shown = comparable(rows)
    found = means(rows, [*within, "model", "kind", "as_printed"], [*METRICS, UNCHANGED])
    found = found.assign(data=data_of(rows))
    found = in_order(found, {**_orders(within), "kind": KINDS, "model": None})
    printed = paper.rename(columns={"kind": "as_printed", "samples": "samples_printed"})
    found = beside_paper(found, printed if shown else printed.iloc[:0], [*within, "as_printed"], PRINTED)
    found = found.merge(printed[[*within, "as_printed", "samples_printed"]], on=[*within, "as_printed"], how="left")
    columns = (
        *keys,
        Column("model", "Model", TEXT),
        Column("samples", "Samples", WHOLE),
        *columns_of(METRICS, shown, DIGITS),
        UNCHANGED,
        KIND,
        Column("data", "Data", TEXT, shown=False),
    )
    notes = [describe_data(rows, [dataset]), describe_paper(table, name, *apart(dataset, shown))]
    notes += [describe_counts(found) if shown else "", describe_common(rows), CONVENTIONS]
    notes += [describe_edges(rows), describe_lpips(rows, lpips_reason)]
    return Summary(
        name,
        titled(f"Blur formation in {dataset}", rows),
        arranged(found, columns),
        columns,
        within=tuple(within),
        notes=tuple(note for note in notes if note),
    )


def _orders(within: Sequence[str]) -> dict[str, Sequence[object] | None]:
    known: dict[str, Sequence[object]] = {"motion": MOTIONS, "case": CASES}
    return {name: known[name] for name in within}
