"""The page of data: every table of a run, the rows that no other page shows, and the paper's own numbers."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from workflow.lib import paper_numbers
from workflow.lib.site.numbers import plain
from workflow.lib.site.sources import Sources
from workflow.lib.summaries.metrics import with_common

ABOUT = {
    "captures": "Every capture that was found, and why it was left out if it was",
    "index": "Every sample, with its camera and where it comes from",
    "blur": "How close each model's blur comes to the captured one",
    "restoration": "How close each restored picture comes to the sharp one",
    "history": "Every epoch of every fit",
    "left_out": "What could not be done, and why",
    "costs": "Memory and time of the models, behind Table 4",
    "ablation": "Blur by ICB with other parameters",
}
ROWS_SHOWN = ("captures", "costs", "ablation", "left_out")
"""Tables whose rows the page shows; those of samples have pages of their own."""

WITHIN = {"costs": ["dataset"], "ablation": ["case"]}
"""Within what models compete in the tables of means that are made from these."""


def data(sources: Sources) -> dict[str, Any]:
    """The content of the page."""
    tables = [_table(name, path) for name, path in sources.tables().items()]
    return {"tables": tables, "paper": [_printed(path) for path in sorted(Path(sources.paper).glob("*.csv"))]}


def _table(name: str, path: Path) -> dict[str, Any]:
    table = pq.read_table(path)
    columns = table.to_pydict() if name in ROWS_SHOWN else dict.fromkeys(table.column_names, ())
    about = f"{ABOUT[name]}."
    if name in WITHIN:
        columns["common"] = list(with_common(table.to_pandas(), WITHIN[name])["common"])
        about += " “common”, which the file does not have: whether all models have the sample, so that it is in means."
    return {
        "name": name,
        "file": path.name,
        "about": about,
        "count": len(table),
        "columns": list(columns),
        "rows": [[plain(value) for value in row] for row in zip(*columns.values(), strict=True)],
    }


def _printed(path: Path) -> dict[str, Any]:
    """A table of the paper's, every cell as it is printed."""
    table = paper_numbers.printed(path.stem, path.parent)
    about = {"name": f"paper-{path.stem}", "file": path.name, "about": "", "count": len(table)}
    return {**about, "columns": list(table.columns), "rows": table.to_numpy().tolist()}
