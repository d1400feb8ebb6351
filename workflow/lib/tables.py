"""From manifests to Parquet: the tables of a run, with their schemas."""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import pyarrow as pa
import pyarrow.parquet as pq

from icb import InputError, files
from workflow.lib import manifest
from workflow.lib.estimates import HISTORY
from workflow.lib.manifest import LeftOut, Row
from workflow.lib.store import Store
from workflow.lib.units import Unit, digest, printable, printable_name

Paths = Sequence[str | os.PathLike[str]]


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


SAMPLE_FIELDS = [
    _required("dataset", pa.string()),
    _required("id", pa.string()),
    _required("model", pa.string()),
    pa.field("scene", pa.string()),
    pa.field("case", pa.string()),
    pa.field("motion", pa.string()),
    _required("simulated", pa.bool_()),
    _required("source_format", pa.string()),  # the reader's name, or `published`
    _required("height", pa.int32()),
    _required("width", pa.int32()),
    _required("poses", pa.int32()),
]

MODEL_FIELDS = [
    _required("kind", pa.string()),  # icb or pwb, whatever the configuration calls it
    pa.field("n", pa.float64()),
    pa.field("sigma", pa.float64()),
    pa.field("layers", pa.int32()),
    _required("kernel_size", pa.int32()),
]

METRIC_FIELDS = [
    _required("psnr", pa.float64()),
    _required("ssim", pa.float64()),
    _required("ssim_paper", pa.float64()),
    pa.field("lpips", pa.float64()),
    pa.field("lpips_paper", pa.float64()),
    pa.field("psnr_edge", pa.float64()),  # near depth discontinuities; null where there are none
    _required("psnr_unchanged", pa.float64()),  # of doing nothing: the other picture of the sample as the estimate
]

COST_FIELDS = [
    _required("seconds", pa.float64()),
    pa.field("peak_memory", pa.int64()),  # bytes
]

VERSION_FIELDS = [
    _required(f"{name}_version", pa.string()) for name in ("icb", "python", "numpy", "numba", "opencv", "torch")
]

PROVENANCE_FIELDS = [
    _required("averaging", pa.string()),
    _required("sample_sha256", pa.string()),
    _required("estimate_sha256", pa.string()),
    _required("configuration_sha256", pa.string()),  # of all settings that led to this row
    _required("code_sha256", pa.string()),  # of the code that made the estimate
    *VERSION_FIELDS,
]

FIT_FIELDS = [
    _required("network", pa.string()),
    _required("hidden_width", pa.int32()),
    _required("gradient", pa.string()),
    _required("penalty", pa.float64()),
    _required("learning_rate", pa.float64()),
    _required("epochs", pa.int32()),
    pa.field("patch_height", pa.int32()),  # the largest patch; null as in the paper
    pa.field("patch_width", pa.int32()),
    _required("seed", pa.int64()),
    _required("top", pa.int32()),  # the part of the sample that was restored
    _required("left", pa.int32()),
    _required("restored_height", pa.int32()),
    _required("restored_width", pa.int32()),
    _required("loss", pa.float64()),
    _required("psnr_reblurred", pa.float64()),
    _required("device", pa.string()),
    _required("threads", pa.int32()),
]

RESTORATION_SCHEMA = pa.schema(
    [*SAMPLE_FIELDS, *MODEL_FIELDS, *FIT_FIELDS, *METRIC_FIELDS, *COST_FIELDS, *PROVENANCE_FIELDS]
)

HISTORY_SCHEMA = pa.schema(
    [
        *(_required(name, pa.string()) for name in ("dataset", "id", "model")),
        _required("epoch", pa.int32()),
        *(_required(name, pa.float64()) for name in ("loss", "data", "steepness", "psnr", "learning_rate", "seconds")),
    ]
)

BLUR_SCHEMA = pa.schema([*SAMPLE_FIELDS, *MODEL_FIELDS, *METRIC_FIELDS, *COST_FIELDS, *PROVENANCE_FIELDS])

CAPTURES_SCHEMA = pa.schema(
    [
        _required("name", pa.string()),
        _required("path", pa.string()),
        _required("origin", pa.string()),
        pa.field("format", pa.string()),
        pa.field("dataset", pa.string()),
        pa.field("scene", pa.string()),
        pa.field("case", pa.string()),
        pa.field("motion", pa.string()),
        pa.field("simulated", pa.bool_()),
        pa.field("frames", pa.int32()),
        pa.field("height", pa.int32()),
        pa.field("width", pa.int32()),
        _required("samples", pa.int32()),
        pa.field("source_sha256", pa.string()),
        _required("status", pa.string()),  # `used`, `left out`, or `partly left out` where some samples failed
        pa.field("stage", pa.string()),  # where it failed
        pa.field("reason", pa.string()),
    ]
)

PICTURES_SCHEMA = pa.schema([_required(name, pa.string()) for name in ("dataset", "id", "stage", "model", "picture")])
"""``stage`` is ``blur`` or ``restore``."""

LEFT_OUT_SCHEMA = pa.schema(
    [
        _required("stage", pa.string()),
        _required("unit", pa.string()),
        pa.field("dataset", pa.string()),
        pa.field("id", pa.string()),
        pa.field("model", pa.string()),
        _required("reason", pa.string()),
    ]
)


COSTS_SCHEMA = pa.schema(
    [
        *SAMPLE_FIELDS,
        *MODEL_FIELDS[:3],
        _required("threads", pa.int32()),
        _required("runs", pa.int32()),  # whose medians the seconds are
        *(_required(name, pa.float64()) for name in ("seconds", "build_seconds", "apply_seconds")),
        pa.field("peak_memory", pa.int64()),  # bytes
        _required("processor", pa.string()),
        _required("sample_sha256", pa.string()),
        _required("code_sha256", pa.string()),
        *VERSION_FIELDS,
    ]
)


def write_table(rows: Iterable[Row], schema: pa.Schema, path: str | os.PathLike[str], keys: Sequence[str]) -> None:
    """Write rows, sorted by some columns, with exactly the schema's columns; missing ones are null."""
    ordered = sorted(rows, key=lambda row: [row.get(key) or "" for key in keys])
    for row in ordered:
        odd = set(row) - set(schema.names)
        empty = [field.name for field in schema if not field.nullable and row.get(field.name) is None]
        if odd or empty:
            raise InputError(f"{path}: a row does not fit the table: {', '.join(sorted(odd) or empty)}: {row}")
    for before, after in pairwise(ordered):
        if all(before.get(key) == after.get(key) for key in keys):
            raise InputError(f"{path}: got {[after.get(key) for key in keys]} twice, expected one row of each")
    try:
        table = pa.Table.from_pylist(ordered, schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"{path}: a row does not fit the table: {error}") from None
    files.write(path, lambda temporary: pq.write_table(table, temporary))


def write_blur(output: str | os.PathLike[str], samples: Paths, scores: Paths) -> None:
    """``blur.parquet``: one row for each sample and model."""
    known = manifest.by_sample(samples)
    rows = [_metric_row(known[row["dataset"], row["id"]], row) for row in manifest.read_all(scores).entries]
    write_table(rows, BLUR_SCHEMA, output, ("dataset", "id", "model"))


def _metric_row(made: Row, entry: Row) -> Row:
    """The row of an estimate: ``made`` is the entry of its sample."""
    sample, record = made["row"], entry["record"]
    row = _model_row(sample, entry) | {"averaging": sample["averaging"]}
    row |= {name: record[name] for name in ("layers", "kernel_size", "seconds", "peak_memory", "estimate_sha256")}
    row |= entry["score"]
    row["configuration_sha256"] = digest({"build": made["settings"], "parameters": entry["parameters"]})
    return row


def _model_row(sample: Row, entry: Row) -> Row:
    """What every row about a model and a sample says of the two, and of what it was made with."""
    parameters = entry["parameters"]
    row = {field.name: sample[field.name] for field in SAMPLE_FIELDS if field.name != "model"}
    row |= {"model": entry["model"], "kind": parameters["model"]}
    row |= {name: parameters.get(name) for name in ("n", "sigma")}
    row |= {"sample_sha256": sample["sample_sha256"], "code_sha256": entry["code"]}
    return row | {f"{name}_version": version for name, version in entry["record"]["versions"].items()}


def write_restorations(output: str | os.PathLike[str], samples: Paths, scores: Paths) -> None:
    """``restoration.parquet``: one row for each sample and method."""
    known = manifest.by_sample(samples)
    rows = []
    for entry in manifest.read_all(scores).entries:
        made, record, settings = known[entry["dataset"], entry["id"]], entry["record"], entry["settings"]
        sample, row = made["row"], _metric_row(made, entry)
        row |= {name: settings[name] for name in ("network", "gradient", "penalty", "learning_rate", "epochs", "seed")}
        row |= {name: record[name] for name in ("loss", "psnr_reblurred", "device", "threads")}
        crop = record["crop"] or {"top": 0, "left": 0, "height": sample["height"], "width": sample["width"]}
        row["patch_height"], row["patch_width"] = settings["patch"] or (None, None)
        row |= {"hidden_width": settings["width"], "top": crop["top"], "left": crop["left"]}
        row |= {"restored_height": crop["height"], "restored_width": crop["width"]}
        how = {"settings": settings, "parameters": entry["parameters"], "crop": record["crop"]}
        row["configuration_sha256"] = digest({"build": made["settings"], **how})
        rows.append(row)
    write_table(rows, RESTORATION_SCHEMA, output, ("dataset", "id", "model"))


def write_history(output: str | os.PathLike[str], manifests: Paths, store: Store) -> None:
    """``history.parquet``: one row for each epoch of each fit."""
    tables = []
    for entry in sorted(
        manifest.read_all(manifests).entries, key=lambda row: (row["dataset"], row["id"], row["model"])
    ):
        table = pq.read_table(store.path(entry["stage"], entry["key"]) / HISTORY)
        for name in ("model", "id", "dataset"):
            table = table.add_column(0, name, pa.array([entry[name]] * len(table), pa.string()))
        tables.append(table.select(HISTORY_SCHEMA.names).cast(HISTORY_SCHEMA))
    whole = pa.concat_tables(tables) if tables else HISTORY_SCHEMA.empty_table()
    files.write(output, lambda temporary: pq.write_table(whole, temporary))


def write_costs(output: str | os.PathLike[str], costs: str | os.PathLike[str]) -> None:
    """``costs.parquet``: one row for each sample and model that was measured."""
    rows = []
    for entry in manifest.read(costs).entries:
        cost = {name: value for name, value in entry["record"].items() if name != "versions"}
        rows.append(_model_row(entry["sample"], entry) | cost)
    write_table(rows, COSTS_SCHEMA, output, ("dataset", "id", "model"))


def write_captures(output: str | os.PathLike[str], units: Sequence[Unit], captures: Paths, samples: Paths) -> None:
    """``captures.parquet``: every capture that was found, whether it yields samples, and why not."""
    looked, built = manifest.read_all(captures), manifest.read_all(samples)
    described = {row["unit"]: row for row in looked.entries}
    counts = Counter(row["unit"] for row in built.entries)
    reasons: dict[str, LeftOut] = {}
    for left_out in [*looked.left_out, *built.left_out]:
        reasons.setdefault(left_out.unit, left_out)
    rows = []
    for unit in units:
        known = described.get(unit.key, {})
        failed = reasons.get(printable_name(unit.key))
        row = {name: known.get(name) for name in CAPTURES_SCHEMA.names if name in known}
        row |= {"name": unit.shown, "path": printable(unit.path), "origin": unit.origin}
        row |= {"samples": counts[unit.key], "stage": failed and failed.stage, "reason": failed and failed.reason}
        row["status"] = "used" if failed is None else "partly left out" if counts[unit.key] else "left out"
        rows.append(row)
    write_table(rows, CAPTURES_SCHEMA, output, ("name", "path"))


def write_left_out(output: str | os.PathLike[str], manifests: Paths) -> None:
    """``left_out.parquet``: everything that some stage could not do."""
    rows = [vars(row) for row in manifest.read_all(manifests).left_out]
    write_table(rows, LEFT_OUT_SCHEMA, output, ("stage", "unit", "id", "model"))
