"""Table 4: memory and run time."""

import pandas as pd

from workflow.lib.summaries.metrics import (
    KIND,
    KINDS,
    beside_paper,
    describe_common,
    in_order,
    means,
    three,
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

MEMORY = Column("memory", "Memory [MB]", digits=2, better="lower")
SECONDS = Column("seconds", "Run time [s]", digits=4, better="lower")
PARTS = (Column("build_seconds", "of it to build [s]", digits=4), Column("apply_seconds", "to apply [s]", digits=4))

METHOD = (
    "How it is measured, the same way for every model: each sample and model in a process of its own, which first "
    "imports and loads all code, runs it on a tiny picture and reads the sample. Memory is the peak of resident memory "
    "(1 MB is a million bytes) while the operator is built and applied once, above what the process held before. Run "
    "time is the median of {runs} more times of building and applying, with {threads} thread{s}. On a single machine "
    "no other job of the run is at work meanwhile; on a cluster, other jobs may share the node."
)
PAPER = (
    "The paper's are means over a whole dataset, of other programs on another machine: it reports the memory of its "
    "PyTorch implementations, in which PWB keeps a dense kernel for every pixel."
)


def costs(rows: pd.DataFrame, paper: pd.DataFrame) -> Summary:
    """Means over the samples that were measured, by dataset and model."""
    rows = with_common(with_kind(with_data(rows)), ["dataset"])
    rows = rows.assign(memory=rows["peak_memory"] / 1e6, pixels=_sizes(rows))
    numbers = (MEMORY, SECONDS, *PARTS)
    by_data = by_dataset(rows)
    shown = [dataset for dataset, part in by_data.items() if comparable(part)]
    hidden = [dataset for dataset in paper["dataset"].unique() if dataset not in shown]
    found = means(rows, ["dataset", "model", "kind", "as_printed", "pixels"], numbers)
    found = found.assign(data=[data_of(by_data[dataset]) for dataset in found["dataset"]])
    found = in_order(found, {"dataset": None, "kind": KINDS, "model": None})
    printed = paper.rename(columns={"kind": "as_printed"})
    printed = printed[printed["dataset"].isin(shown)]
    found = beside_paper(found, printed, ["dataset", "as_printed"], ["memory", "seconds"])
    columns = (
        Column("dataset", "Dataset", TEXT),
        Column("model", "Model", TEXT),
        Column("samples", "Samples", WHOLE),
        Column("pixels", "Pixels", TEXT),
        *three(MEMORY, bool(shown)),
        *three(SECONDS, bool(shown), 2),
        *PARTS,
        KIND,
        Column("data", "Data", TEXT, shown=False),
    )
    notes = [describe_data(rows, list(by_data)) or "No samples were measured."]
    notes += [describe_common(rows), _method(rows), describe_paper("Table 4", "table4", shown, hidden)]
    notes += [PAPER] if shown else []
    return Summary(
        "table4",
        titled("Memory and run time", rows),
        arranged(found, columns),
        columns,
        within=("dataset",),
        notes=tuple(note for note in notes if note),
    )


def _sizes(rows: pd.DataFrame) -> pd.Series:
    """Width and height where all samples of a dataset agree, else the range of what was measured."""
    texts = {}
    for dataset, part in rows.groupby("dataset"):
        sizes = sorted(
            {
                (int(w) * int(h), f"{w} \N{MULTIPLICATION SIGN} {h}")
                for w, h in zip(part["width"], part["height"], strict=True)
            }
        )
        texts[dataset] = sizes[0][1] if len(sizes) == 1 else f"{sizes[0][1]} to {sizes[-1][1]}"
    return rows["dataset"].map(texts)


def _method(rows: pd.DataFrame) -> str:
    if rows.empty:
        return ""
    threads, runs = int(rows["threads"].iloc[0]), int(rows["runs"].iloc[0])
    text = METHOD.format(runs=runs, threads=threads, s="s" * (threads != 1))
    return f"{text} Measured on {' and '.join(sorted(rows['processor'].unique()))}."
