"""What ran, on what, and what came of it: the first page of the report."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from icb import files
from workflow.lib import manifest
from workflow.lib.site.links import in_gallery
from workflow.lib.site.numbers import METRICS, cell_of, plain, unrounded_of
from workflow.lib.site.sources import Sources
from workflow.lib.site.subjects import TABLES, Kind, Row
from workflow.lib.summaries.origin import KINDS, with_data

BLUR_SETTINGS = ("kind", "n", "sigma")
FIT_SETTINGS = ("network", "hidden_width", "gradient", "penalty", "learning_rate", "epochs", "seed")
SETTINGS: dict[Kind, tuple[str, ...]] = {"blur": BLUR_SETTINGS, "restoration": BLUR_SETTINGS + FIT_SETTINGS}


def overview(sources: Sources, count: int) -> dict[str, Any]:
    """The content of the page, of a run with ``count`` samples."""
    captures, left_out = (pq.read_table(path).to_pylist() for path in (sources.captures, sources.left_out))
    left_out += [vars(row) for row in manifest.read(sources.pages).left_out]
    index = pd.read_parquet(sources.index)
    frames: dict[Kind, pd.DataFrame] = {kind: pd.read_parquet(path) for kind, path in sources.metrics.items()}
    return {
        "captures": Counter(row["status"] for row in captures),
        "datasets": _datasets(index),
        "simulated": _simulated(index),
        "means": {kind: _means(kind, frame) for kind, frame in frames.items() if len(frame)},
        "metrics": METRICS,
        "cell": cell_of,
        "unrounded": unrounded_of,
        "extremes": _extremes(frames),
        "failures": _failures(captures, left_out),
        "lpips_reason": files.load_json(sources.lpips).get("reason"),
        "settings": {kind: _settings(kind, frame) for kind, frame in frames.items() if len(frame)},
        "versions": _versions(frames),
        "count": count,
    }


def _datasets(index: pd.DataFrame) -> list[dict[str, Any]]:
    """How many samples of which origin each dataset has."""
    samples = with_data(index)
    return [
        {"dataset": dataset, "data": KINDS[str(data)], "samples": len(part), "link": in_gallery({"dataset": dataset})}
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


def _failures(captures: Iterable[Row], left_out: Iterable[Row]) -> list[Row]:
    """Captures that cannot be used and samples that something could not be done with, each once."""
    unused = [(row["name"], row["stage"], row["reason"]) for row in captures if row["status"] != "used"]
    lost = [(row["id"] or row["unit"], _stage(row), row["reason"]) for row in left_out]
    return [dict(zip(("what", "where", "reason"), row, strict=True)) for row in dict.fromkeys([*unused, *lost])]


def _stage(row: Row) -> str:
    return " ".join(filter(None, [row["stage"], row["model"]]))


def _settings(kind: Kind, frame: pd.DataFrame) -> list[dict[str, str]]:
    rows = frame[["model", *SETTINGS[kind]]].drop_duplicates()
    return [{str(name): plain(value) for name, value in row.items()} for row in rows.to_dict("records")]


def _versions(frames: dict[Kind, pd.DataFrame]) -> dict[str, str]:
    """Of everything that made the results; several where results were made at different times."""
    names = [name for name in frames["blur"].columns if name.endswith("_version")]
    found = {}
    for name in names:
        known = sorted({str(value) for kind in TABLES for value in frames[kind][name].dropna()})
        found[name.removesuffix("_version")] = ", ".join(known)
    return found
