"""What ran, on what, and what came of it: the first page of the report."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

from icb import files
from workflow.lib import manifest
from workflow.lib.site.links import COMMON, in_data, in_gallery
from workflow.lib.site.numbers import GAIN, METRICS, cell_of, plain, unrounded_of
from workflow.lib.site.sources import Sources
from workflow.lib.site.subjects import TABLES, Kind, Row
from workflow.lib.stages.pages import STAGE as PAGES
from workflow.lib.summaries.metrics import describe_common, means, with_common
from workflow.lib.summaries.origin import KINDS, with_data

BLUR_SETTINGS = ("kind", "n", "sigma")
FIT_SETTINGS = ("network", "hidden_width", "gradient", "penalty", "learning_rate", "epochs", "seed")
SETTINGS: dict[Kind, tuple[str, ...]] = {"blur": BLUR_SETTINGS, "restoration": BLUR_SETTINGS + FIT_SETTINGS}


def overview(sources: Sources, count: int) -> dict[str, Any]:
    """The content of the page, of a run with ``count`` samples."""
    captures, left_out = (pq.read_table(path).to_pylist() for path in (sources.captures, sources.left_out))
    pages = [vars(row) for row in manifest.read(sources.pages).left_out]
    index = pd.read_parquet(sources.index)
    frames: dict[Kind, pd.DataFrame] = {kind: pd.read_parquet(path) for kind, path in sources.metrics.items()}
    return {
        "captures": _captures(captures),
        "datasets": _datasets(index),
        "simulated": _simulated(index),
        "means": {kind: _means(kind, frame) for kind, frame in frames.items() if len(frame)},
        "metrics": METRICS,
        "cell": cell_of,
        "unrounded": unrounded_of,
        "extremes": _extremes(frames),
        "failures": [failure(row) for row in [*left_out, *pages]],
        "unlisted": f"{sources.pages}, at “{PAGES}”" if pages else "",
        "lpips_reason": files.load_json(sources.lpips).get("reason"),
        "settings": {kind: _settings(kind, frame) for kind, frame in frames.items() if len(frame)},
        "versions": _versions(frames),
        "count": count,
        "everything": in_gallery({}),
    }


def _captures(captures: list[Row]) -> list[dict[str, Any]]:
    counts = Counter(row["status"] for row in captures)
    return [
        {"status": status, "number": number, "link": in_data("captures", {"status": status})}
        for status, number in counts.items()
    ]


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


def _means(kind: Kind, frame: pd.DataFrame) -> dict[str, Any]:
    """A row for each dataset and model, over the same samples as in the tables; its numbers lead to these."""
    rows = with_common(frame, ["dataset"])
    found = means(rows, ["dataset", "model"], [column for column in METRICS if column is not GAIN])
    return {"rows": [_mean(kind, row) for row in found.to_dict("records")], "note": describe_common(rows)}


def _mean(kind: Kind, row: Mapping[Any, Any]) -> dict[str, Any]:
    where, result = {"dataset": row["dataset"]}, f"{kind}-{row['model']}"
    links = {column.name: in_gallery(where, result, samples=COMMON, sort=column.name) for column in METRICS}
    return {**row, "links": {**links, "samples": in_gallery(where, result, samples=COMMON)}}


def _extremes(frames: dict[Kind, pd.DataFrame]) -> list[tuple[str, str]]:
    """The best and the worst, two clicks away."""
    found = []
    for kind, frame in frames.items():
        for model in dict.fromkeys(frame["model"]):
            what = "blur" if kind == "blur" else "restorations"
            for word, order in (("Worst", "up"), ("Best", "down")):
                address = f"{in_gallery({}, f'{kind}-{model}', sort='psnr')}&order={order}"
                found.append((f"{word} {model} {what}", address))
    return found


def failure(row: Row) -> Row:
    """A capture that cannot be used, or a sample that something could not be done with."""
    what = f"{row['dataset']}/{row['id']}" if row["id"] else row["unit"]
    return {"what": what, "where": " ".join(filter(None, [row["stage"], row["model"]])), "reason": row["reason"]}


def _settings(kind: Kind, frame: pd.DataFrame) -> list[dict[str, Any]]:
    """All that results of a kind were made with; they lead to those results."""
    rows = frame[["model", *SETTINGS[kind]]].drop_duplicates().to_dict("records")
    return [
        {
            "values": {name: plain(value) for name, value in row.items()},
            "link": in_gallery({}, f"{kind}-{row['model']}"),
        }
        for row in rows
    ]


def _versions(frames: dict[Kind, pd.DataFrame]) -> dict[str, str]:
    """Of everything that made the results; several where results were made at different times."""
    names = [name for name in frames["blur"].columns if name.endswith("_version")]
    found = {}
    for name in names:
        known = sorted({str(value) for kind in TABLES for value in frames[kind][name].dropna()})
        found[name.removesuffix("_version")] = ", ".join(known)
    return found
