"""Table 5: how close restored pictures come to the sharp ones."""

from dataclasses import replace

import pandas as pd

from workflow.lib import paper_numbers
from workflow.lib.summaries.metrics import (
    CONVENTIONS,
    KIND,
    KINDS,
    METRICS,
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
#: What a fit may do differently, in words.
SETTINGS = {
    "epochs": "{} epochs",
    "network": "network {}",
    "hidden_width": "{} units a layer",
    "gradient": "{} gradient",
    "penalty": "penalty {:g}",
    "learning_rate": "learning rate {:g}",
}
DIGITS = {"psnr": 2, "ssim_paper": 4, "lpips_paper": 4}


def restorations(
    rows: pd.DataFrame, paper: pd.DataFrame, captured: pd.DataFrame, real: pd.DataFrame, lpips_reason: str | None
) -> Summary:
    """Means by dataset and method; beside published data, other people's methods from the paper too.

    ``captured`` and ``real`` are the paper's Tables 1 and 3, which have the numbers of samples.
    """
    rows = with_common(with_kind(with_data(rows)), ["dataset"])
    rows["as_printed"] = rows["as_printed"].where(rows["network"] == paper_numbers.FIT["network"], "")
    by_data = by_dataset(rows)
    shown = [dataset for dataset, part in by_data.items() if comparable(part)]
    hidden = [dataset for dataset in paper["dataset"].unique() if dataset not in shown]
    found = means(rows, ["dataset", "model", "kind", "as_printed"], [*RESTORED, UNCHANGED])
    found = found.assign(data=[data_of(by_data[dataset]) for dataset in found["dataset"]])
    printed = paper[paper["dataset"].isin(shown)].rename(columns={"kind": "as_printed", "method": "model"})
    others, same = printed[printed["as_printed"] == ""], printed[printed["as_printed"] != ""]
    found = beside_paper(found, same, ["dataset", "as_printed"], PRINTED)
    sizes = {"VirtualCMB": int(captured["samples"].sum()), "RealCMB": int(real["samples"].iloc[0])}
    compared = found["dataset"].isin(shown) & (found["as_printed"] != "")
    counts = describe_counts(found.assign(samples_printed=found["dataset"].map(sizes).where(compared)))
    theirs = others.drop(columns="as_printed").rename(columns={name: f"{name}_printed" for name in PRINTED})
    found = pd.concat([found, theirs.assign(kind="", data="published")], ignore_index=True) if len(theirs) else found
    found = in_order(found, {"dataset": None, "kind": KINDS, "model": list(others["model"].unique())})
    columns = (
        Column("dataset", "Dataset", TEXT),
        Column("model", "Method", TEXT),
        Column("samples", "Samples", WHOLE),
        *columns_of(RESTORED, bool(shown), DIGITS),
        UNCHANGED,
        KIND,
        Column("data", "Data", TEXT, shown=False),
    )
    notes = [describe_data(rows, list(by_data)) or "No samples were restored."]
    notes += [describe_paper("Table 5", "table5", shown, hidden), counts, describe_common(rows)]
    notes += [_settings(rows), CONVENTIONS, describe_edges(rows), describe_lpips(rows, lpips_reason)]
    return Summary(
        "table5",
        titled("Restoration", rows),
        arranged(found, columns),
        columns,
        within=("dataset",),
        notes=tuple(note for note in notes if note),
    )


def _settings(rows: pd.DataFrame) -> str:
    """Say so where the fits are not the paper's."""
    parts = []
    for model, part in rows.groupby("model"):
        text = []
        for name, words in SETTINGS.items():
            values = sorted(part[name].unique())
            if values != [paper_numbers.FIT[name]]:
                text.append(" or ".join(words.format(value) for value in values))
        patches = part.loc[part["patch_height"].notna(), ["patch_width", "patch_height"]].drop_duplicates()
        text += [f"patches of at most {_size(*patch)}" for patch in patches.itertuples(index=False)]
        cut = part[(part["restored_height"] < part["height"]) | (part["restored_width"] < part["width"])]
        if len(cut):
            text.append(f"parts of at most {_size(cut['restored_width'].max(), cut['restored_height'].max())}")
        if text:
            parts.append(f"{model}: {', '.join(text)}")
    if not parts:
        return ""
    theirs = ", ".join(words.format(paper_numbers.FIT[name]) for name, words in SETTINGS.items())
    return f"The paper restores whole pictures ({theirs}). Here {'; '.join(parts)}."


def _size(width: float, height: float) -> str:
    return f"{width:.0f} \N{MULTIPLICATION SIGN} {height:.0f} pixels"
