"""Table 5: how close restored pictures come to the sharp ones."""

from dataclasses import replace

import pandas as pd

from workflow.lib import paper_numbers
from workflow.lib.summaries.metrics import (
    CONVENTIONS,
    KINDS,
    METRICS,
    PRINTED,
    UNCHANGED,
    beside_paper,
    columns_of,
    describe_lpips,
    in_order,
    means,
    with_kind,
)
from workflow.lib.summaries.origin import (
    by_dataset,
    comparable,
    data_of,
    describe_data,
    describe_paper,
    titled,
    with_data,
)
from workflow.lib.summaries.summary import TEXT, WHOLE, Column, Summary, arranged

# As the paper prints it.
RESTORED = tuple(replace(column, power=-4) if column.name == "lpips_paper" else column for column in METRICS)
NETWORK = "siren"
DIGITS = {"psnr": 2, "ssim_paper": 4, "lpips_paper": 4}


def restorations(rows: pd.DataFrame, index: pd.DataFrame, paper: pd.DataFrame, lpips_reason: str | None) -> Summary:
    """Means by dataset and method; beside published data, other people's methods from the paper too."""
    rows = with_kind(with_data(rows, index))
    rows["as_printed"] = rows["as_printed"].where(rows["network"] == NETWORK, "")
    by_data = by_dataset(rows)
    shown = [dataset for dataset, part in by_data.items() if comparable(part)]
    hidden = [dataset for dataset in paper["dataset"].unique() if dataset not in shown]
    found = means(rows, ["dataset", "model", "kind", "as_printed"], [*RESTORED, UNCHANGED])
    found = found.assign(data=[data_of(by_data[dataset]) for dataset in found["dataset"]])
    printed = paper[paper["dataset"].isin(shown)].rename(columns={"kind": "as_printed", "method": "model"})
    others, same = printed[printed["as_printed"] == ""], printed[printed["as_printed"] != ""]
    found = beside_paper(found, same, ["dataset", "as_printed"], PRINTED)
    theirs = others.drop(columns="as_printed").rename(columns={name: f"{name}_printed" for name in PRINTED})
    found = pd.concat([found, theirs.assign(kind="", data="published")], ignore_index=True) if len(theirs) else found
    found = in_order(found, {"dataset": None, "kind": KINDS, "model": list(others["model"].unique())})
    columns = (
        Column("dataset", "Dataset", TEXT),
        Column("model", "Method", TEXT),
        Column("samples", "Samples", WHOLE),
        *columns_of(RESTORED, bool(shown), DIGITS),
        UNCHANGED,
        Column("data", "Data", TEXT, shown=False),
    )
    notes = [describe_data(rows, list(by_data)) or "No samples were restored."]
    notes += [describe_paper("Table 5", "table5", shown, hidden), _settings(rows), CONVENTIONS]
    notes.append(describe_lpips(rows, lpips_reason))
    return Summary(
        "table5",
        titled("Restoration", rows),
        arranged(found, columns),
        columns,
        within=("dataset",),
        notes=tuple(note for note in notes if note),
    )


def _settings(rows: pd.DataFrame) -> str:
    """Say so where the fits are not the paper's, which restore all of a picture in 400 epochs."""
    parts = []
    for model, part in rows.groupby("model"):
        text = []
        epochs = sorted(set(part["epochs"]))
        if epochs != [paper_numbers.EPOCHS]:
            text.append(f"{' or '.join(map(str, epochs))} epochs")
        cut = part[(part["restored_height"] < part["height"]) | (part["restored_width"] < part["width"])]
        if len(cut):
            width, height = cut["restored_width"].max(), cut["restored_height"].max()
            text.append(f"parts of at most {width} \N{MULTIPLICATION SIGN} {height} pixels")
        if text:
            parts.append(f"{model}: {', '.join(text)}")
    if not parts:
        return ""
    return f"The paper restores whole pictures in {paper_numbers.EPOCHS} epochs. Here {'; '.join(parts)}."
