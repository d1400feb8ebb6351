"""What ran, on what, and what came of it: the first page of the report."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from icb import files
from workflow.lib.site.numbers import METRICS, cell_of, plain
from workflow.lib.site.sources import in_gallery
from workflow.lib.site.subjects import TABLES, Kind, Subject
from workflow.lib.summaries.origin import KINDS, with_data
from workflow.lib.summaries.summary import Column

if TYPE_CHECKING:
    from workflow.lib.site.write import Sources

COUNT = Column("samples", "Samples")
SETTINGS = {
    "blur": ("kind", "n", "sigma"),
    "restoration": ("kind", "n", "sigma", "network", "hidden_width", "gradient", "penalty", "learning_rate", "epochs", "seed"),
}  # fmt: skip


def overview(sources: "Sources", subjects: Sequence[Subject]) -> dict[str, Any]:
    """The content of the page."""
    captures = pd.read_parquet(sources.captures)
    index = pd.read_parquet(sources.index)
    frames: dict[Kind, pd.DataFrame] = {kind: pd.read_parquet(path) for kind, path in sources.metrics.items()}
    left_out = pd.read_parquet(sources.left_out)
    return {
        "captures": {str(status): int(count) for status, count in captures["status"].value_counts().items()},
        "datasets": _datasets(index),
        "simulated": _simulated(index),
        "means": {kind: _means(kind, frame) for kind, frame in frames.items() if len(frame)},
        "metrics": METRICS,
        "cell": cell_of,
        "extremes": _extremes(frames),
        "failures": _failures(captures, left_out),
        "lpips_reason": files.load_json(sources.lpips).get("reason"),
        "settings": {kind: _settings(kind, frame) for kind, frame in frames.items() if len(frame)},
        "versions": _versions(frames),
        "count": len(subjects),
    }


def _datasets(index: pd.DataFrame) -> list[dict[str, Any]]:
    """How many samples of which origin each dataset has."""
    samples = with_data(index)
    return [
        {"dataset": dataset, "data": KINDS[data], "samples": len(part), "link": in_gallery({"dataset": dataset})}
        for (dataset, data), part in samples.groupby(["dataset", "data"])
    ]


def _simulated(index: pd.DataFrame) -> str:
    share = index["simulated"].astype(bool)
    return "all" if len(share) and share.all() else "some" if share.any() else "none"


def _means(kind: Kind, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for each dataset and model; its numbers lead to the samples behind them."""
    rows = []
    for (dataset, model), part in frame.groupby(["dataset", "model"]):
        names = {column.name for column in METRICS} & set(part.columns)
        mean = {name: None if part[name].isna().all() else float(part[name].mean()) for name in names}
        link = in_gallery({"dataset": dataset}, f"{kind}-{model}")
        rows.append({"dataset": dataset, "model": model, "samples": len(part), "link": link, **mean})
    return rows


def _extremes(frames: dict[Kind, pd.DataFrame]) -> list[tuple[str, str]]:
    """The best and the worst, two clicks away."""
    found = []
    for kind, frame in frames.items():
        for model in dict.fromkeys(frame["model"]):
            what = "blur" if kind == "blur" else "restorations"
            for word, order in (("Worst", "up"), ("Best", "down")):
                address = f"{in_gallery({}, f'{kind}-{model}')}&sort=psnr&order={order}"
                found.append((f"{word} {model} {what}", address))
    return found


def _failures(captures: pd.DataFrame, left_out: pd.DataFrame) -> list[dict[str, str]]:
    """Captures that cannot be used and samples that something could not be done with, each once."""
    unused = captures[captures["status"] != "used"]
    rows = [{"what": row["name"], "where": row["stage"], "reason": row["reason"]} for _, row in unused.iterrows()]
    for _, row in left_out.iterrows():
        where = " ".join(filter(None, [row["stage"], row["model"]]))
        rows.append({"what": row["id"] or row["unit"], "where": where, "reason": row["reason"]})
    return list({tuple(row.items()): {name: plain(value) for name, value in row.items()} for row in rows}.values())


def _settings(kind: Kind, frame: pd.DataFrame) -> list[dict[str, str]]:
    rows = frame[["model", *SETTINGS[kind]]].drop_duplicates()
    return [{name: plain(value) for name, value in row.items()} for row in rows.to_dict("records")]


def _versions(frames: dict[Kind, pd.DataFrame]) -> dict[str, str]:
    """Of everything that made the results; several where results were made at different times."""
    names = [name for name in frames["blur"].columns if name.endswith("_version")]
    found = {}
    for name in names:
        known = sorted({str(value) for kind in TABLES for value in frames[kind][name].dropna()})
        found[name.removesuffix("_version")] = ", ".join(known)
    return found
