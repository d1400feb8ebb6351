"""Where samples come from, and whether the paper's numbers may stand beside what was measured on them."""

from collections.abc import Sequence

import pandas as pd

from workflow.lib.units import PUBLISHED

SIMULATED, CAPTURED = "simulated", "captured"
KINDS = {PUBLISHED: "published", CAPTURED: "captures of your own", SIMULATED: "simulated"}
DATASETS = ("VirtualCMB", "RealCMB")

PAPER = "Torres and Kämäräinen, SCIA 2023"


def with_data(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with one more column ``data``: whether the sample is published, captured or simulated."""
    data = pd.Series(CAPTURED, index=rows.index, dtype=object)
    data[rows["source_format"] == PUBLISHED] = PUBLISHED
    data[rows["simulated"].astype(bool)] = SIMULATED
    return rows.assign(data=data)


def data_of(rows: pd.DataFrame) -> str:
    """One word for all rows, or several."""
    return ", ".join(kind for kind in KINDS if (rows["data"] == kind).any())


def comparable(rows: pd.DataFrame) -> bool:
    """Whether there are rows and all are of the published sets, which alone the paper's numbers are about."""
    return len(rows) > 0 and bool((rows["data"] == PUBLISHED).all())


def by_dataset(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The rows of each dataset, sorted by name."""
    return {str(dataset): part for dataset, part in rows.groupby("dataset")}


def titled(text: str, rows: pd.DataFrame) -> str:
    """The title of a table, which says where its samples are not those that the paper had."""
    data = data_of(rows)
    if data in ("", PUBLISHED):
        return text
    return f"{text} ({data} samples)"


def describe_data(rows: pd.DataFrame, datasets: Sequence[str]) -> str:
    """What the numbers were measured on, by dataset."""
    parts = []
    for dataset in datasets:
        samples = rows[rows["dataset"] == dataset].drop_duplicates("id")
        counts = {KINDS[kind]: int((samples["data"] == kind).sum()) for kind in KINDS}
        kinds = ", ".join(f"{number} {kind}" for kind, number in counts.items() if number)
        number = f"{len(samples)} sample{'s' * (len(samples) > 1)} ({kinds})" if len(samples) else "no samples"
        parts.append(f"{dataset}: {number}.")
    if (rows["data"] == SIMULATED).any():
        parts.append(
            "Simulated samples show how the models behave on such data and say nothing about the published datasets."
        )
    return " ".join(parts)


def apart(dataset: str, shown: bool) -> tuple[list[str], list[str]]:
    """The dataset beside which the paper's numbers are shown, or that beside which they are not, for the following."""
    return ([dataset], []) if shown else ([], [dataset])


def describe_paper(table: str, file: str, shown: Sequence[str], hidden: Sequence[str]) -> str:
    """A sentence about the paper's numbers, for the datasets beside which they are shown and for the others."""
    parts = []
    if shown:
        parts.append(f"Paper: {PAPER}, {table}, of {' and '.join(shown)}; differences are ours minus the paper's.")
    if hidden:
        parts.append(
            f"The paper's numbers ({PAPER}, {table}: config/paper/{file}.csv) are of the published "
            f"{' and '.join(hidden)}; they cannot be compared with these and are not shown beside them."
        )
    return " ".join(parts)
