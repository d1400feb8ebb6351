"""What the report shows of each sample: its row in the index, and every result that was made of it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow.parquet as pq

from workflow.lib.shards import safe_name

Row = dict[str, Any]
PathLike = str | os.PathLike[str]
Kind = Literal["blur", "restoration"]

TABLES: dict[Kind, str] = {"blur": "results/metrics/blur.parquet", "restoration": "results/metrics/restoration.parquet"}
"""Where rows of each kind come from, as people are told."""

INDEX = "results/datasets/index.parquet"

TARGETS: dict[Kind, str] = {"blur": "blurry", "restoration": "sharp"}
"""Which picture of the sample an estimate should be."""

NOUNS: dict[Kind, str] = {"blur": "blur", "restoration": "restored"}


@dataclass(frozen=True, eq=False)
class Result:
    """A picture that a model or method made of a sample, and its row in the metrics."""

    kind: Kind
    model: str
    row: Row
    picture: Path

    @property
    def slug(self) -> str:
        """Its name in files and addresses; names of models are plain letters already."""
        return f"{self.kind}-{self.model}"

    @property
    def label(self) -> str:
        """What people call it."""
        return f"{self.model} {NOUNS[self.kind]}"

    @property
    def box(self) -> tuple[int, int, int, int] | None:
        """Top, left, height and width of the part of the sample that it shows; None if it is all of it."""
        if self.kind == "blur":
            return None
        top, left, height, width = (
            int(self.row[name]) for name in ("top", "left", "restored_height", "restored_width")
        )
        whole = (height, width) == (self.row["height"], self.row["width"])
        return None if whole else (top, left, height, width)


@dataclass(frozen=True, eq=False)
class Subject:
    """A sample and its results, blur first, in the order of models."""

    row: Row
    results: tuple[Result, ...]

    @property
    def dataset(self) -> str:
        return str(self.row["dataset"])

    @property
    def id(self) -> str:
        return str(self.row["id"])

    @property
    def name(self) -> tuple[str, str]:
        """Dataset and id, which tell it from all others."""
        return self.dataset, self.id

    @property
    def slug(self) -> str:
        """The name of its folder."""
        return safe_name(self.id, f"{self.dataset}/{self.id}".encode())

    def of_kind(self, kind: Kind) -> list[Result]:
        return [result for result in self.results if result.kind == kind]


def read_subjects(
    index: PathLike, metrics: Mapping[Kind, PathLike], pictures: Mapping[Kind, PathLike]
) -> list[Subject]:
    """All samples of the index with what there is of them, sorted by dataset and id.

    ``pictures`` are tables of pictures, whose paths are relative to the folder that the table is in.
    """
    found: dict[tuple[str, str], list[Result]] = {}
    for kind, table in metrics.items():
        folder = Path(pictures[kind]).parent
        places = {_key(row): folder / row["picture"] for row in pq.read_table(pictures[kind]).to_pylist()}
        for row in pq.read_table(table).to_pylist():
            result = Result(kind, row["model"], row, places[_key(row)])
            found.setdefault((row["dataset"], row["id"]), []).append(result)
    rows = sorted(pq.read_table(index).to_pylist(), key=lambda row: (row["dataset"], row["id"]))
    return [Subject(row, tuple(found.get((row["dataset"], row["id"]), ()))) for row in rows]


def _key(row: Row) -> tuple[str, str, str]:
    return row["dataset"], row["id"], row["model"]
