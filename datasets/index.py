"""``index.parquet``: one row a sample, the only thing later stages need to list samples."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import icb
from datasets import published
from datasets.capture import hash_files
from datasets.provenance import Provenance
from datasets.sample import Sample
from datasets.transaction import locked
from icb import InputError, files

NAME = "index.parquet"
FORMAT_VERSION = 2

Row = dict[str, Any]

SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("dataset", pa.string(), nullable=False),
        pa.field("scene", pa.string()),
        pa.field("case", pa.string()),
        pa.field("motion", pa.string()),
        pa.field("simulated", pa.bool_(), nullable=False),
        pa.field("height", pa.int32(), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("poses", pa.int32(), nullable=False),
        pa.field("reference", pa.int32(), nullable=False),
        pa.field("exposure", pa.float64(), nullable=False),  # seconds from the first pose to the last
        pa.field("frame_rate", pa.float64(), nullable=False),  # poses per second, on average
        pa.field(
            "extent_x", pa.float64(), nullable=False
        ),  # metres that the camera's path spans, in its reference axes
        pa.field("extent_y", pa.float64(), nullable=False),
        pa.field("extent_z", pa.float64(), nullable=False),
        pa.field("fx", pa.float64(), nullable=False),
        pa.field("fy", pa.float64(), nullable=False),
        pa.field("cx", pa.float64(), nullable=False),
        pa.field("cy", pa.float64(), nullable=False),
        pa.field("intrinsics_source", pa.string(), nullable=False),
        pa.field("depth_min", pa.float64(), nullable=False),  # metres, of the stored depth
        pa.field("depth_max", pa.float64(), nullable=False),
        pa.field("share_filled", pa.float64()),  # unknown for what others built
        pa.field("averaging", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),  # name of the capture
        pa.field("source_format", pa.string(), nullable=False),  # the reader's name, or `published`
        pa.field("first_frame", pa.int32(), nullable=False),
        pa.field("source_sha256", pa.string(), nullable=False),
        pa.field("sample_sha256", pa.string(), nullable=False),
        pa.field("icb_version", pa.string(), nullable=False),
        pa.field("format_version", pa.int32(), nullable=False),
    ]
)


def row_of(sample: Sample, folder: Path) -> Row:
    """The row of a sample in its dataset's ``folder``."""
    times = sample.trajectory.times
    assert times is not None
    exposure = float(times[-1] - times[0])
    finite = sample.depth[np.isfinite(sample.depth)]
    extent = np.ptp(sample.trajectory.centres, axis=0)
    row = {
        "id": sample.id,
        "dataset": sample.dataset,
        "scene": sample.scene,
        "case": sample.case,
        "motion": sample.motion,
        "height": sample.sharp.shape[0],
        "width": sample.sharp.shape[1],
        "poses": len(sample.trajectory),
        "reference": sample.reference,
        "exposure": exposure,
        "frame_rate": (len(times) - 1) / exposure,
        **{f"extent_{axis}": float(length) for axis, length in zip("xyz", extent, strict=True)},
        **{name: getattr(sample.camera, name) for name in ("fx", "fy", "cx", "cy")},
        "intrinsics_source": sample.intrinsics_source,
        "depth_min": float(finite.min()) if finite.size else float("nan"),
        "depth_max": float(finite.max()) if finite.size else float("nan"),
        "sample_sha256": (sha256 := hash_files(published.sample_files(folder, sample.dataset, sample.id), folder)),
        "icb_version": icb.__version__,
        "format_version": FORMAT_VERSION,
        **_origin(sample, sha256),
    }
    return {name: row[name] for name in SCHEMA.names}


def _origin(sample: Sample, sha256: str) -> Row:
    """Where it comes from; what others published is averaged as the paper says, and its own source."""
    known = sample.provenance or Provenance(False, "plain", sample.id, "published", sha256, 0, 0.0, None, None, None)
    return {
        "simulated": known.simulated,
        "share_filled": known.share_filled if sample.provenance else None,
        "averaging": known.averaging,
        "source": known.source,
        "source_format": known.source_format,
        "first_frame": known.first_frame,
        "source_sha256": known.source_sha256,
    }


def write_index(rows: Iterable[Row], path: str | os.PathLike[str]) -> None:
    """Write rows, sorted by dataset and id; the same rows give the same bytes."""
    by_key: dict[tuple[str, str], Row] = {}
    for row in rows:
        key = (row["dataset"], row["id"])
        if key in by_key:
            raise InputError(f"{path}: got {row['id']!r} of {row['dataset']} twice, expected one row a sample")
        empty = [field.name for field in SCHEMA if not field.nullable and row.get(field.name) is None]
        if empty or set(row) - set(SCHEMA.names):
            odd = ", ".join(empty or sorted(set(row) - set(SCHEMA.names)))
            raise InputError(f"{path}: the row of {row['id']!r} does not fit the index: {odd}")
        by_key[key] = row
    try:
        table = pa.Table.from_pylist([by_key[key] for key in sorted(by_key)], schema=SCHEMA)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"{path}: a row does not fit the index: {error}") from None
    files.write(path, lambda temporary: pq.write_table(table, temporary))


def read_index(path: str | os.PathLike[str]) -> list[Row]:
    """The rows of an index, or of the one in a folder."""
    path = Path(path) / NAME if Path(path).is_dir() else Path(path)
    files.read_bytes(path)
    try:
        missing = set(SCHEMA.names) - set(pq.read_schema(path).names)
        if missing:
            raise InputError(
                f"{path}: expected an index of samples, it has no {', '.join(sorted(missing))}; if an older version "
                f"made it, remove it, and `python -m datasets index {path.parent}` makes it anew"
            )
        table = pq.read_table(path, schema=SCHEMA)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{path}: expected an index of samples: {error}") from None
    rows: list[Row] = table.to_pylist()
    return rows


def update_index(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Add rows, in place of those of the same samples, in one step; others doing the same are waited for."""
    with locked(Path(path).parent):
        merge_rows(path, rows)


def merge_rows(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """As :func:`update_index`, for those who hold the folder already."""
    known = {(row["dataset"], row["id"]): row for row in read_index(path)} if Path(path).exists() else {}
    known.update({(row["dataset"], row["id"]): row for row in rows})
    write_index(known.values(), path)


def index_published(root: str | os.PathLike[str]) -> list[Row]:
    """Rows for all samples under ``root``, made here or by others."""
    places = published.folders(root)
    found = published.list_samples(root)
    return [row_of(published.read_sample(root, key, dataset), places[dataset]) for dataset, key in found]
