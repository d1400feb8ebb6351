"""The files of a run that the report is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workflow.lib import paper_numbers
from workflow.lib.picking import MEDIAN
from workflow.lib.site.subjects import Kind, PathLike


@dataclass(frozen=True)
class Sources:
    """Where they are."""

    pages: PathLike  #: manifest of the pages of samples
    captures: PathLike
    index: PathLike
    metrics: Mapping[Kind, PathLike]
    pictures: Mapping[Kind, PathLike]
    history: PathLike
    left_out: PathLike
    costs: PathLike
    lpips: PathLike
    figures: Sequence[PathLike]  #: PNG and PDF
    ablation: PathLike | None = None  #: None if there was none
    paper: PathLike = paper_numbers.FOLDER
    models: Mapping[Kind, Sequence[str]] = field(default_factory=dict)  #: and methods, in the order of figures
    patterns: Sequence[str] = ()  #: of the names of samples in figures
    pick: str = MEDIAN  #: how these are chosen otherwise

    def tables(self) -> dict[str, Path]:
        """The Parquet tables by name, as the page of data lists them."""
        found: dict[str, PathLike | None] = {"captures": self.captures, "index": self.index}
        found |= {kind: path for kind, path in self.metrics.items()}  # noqa: C416 (mypy: kinds are text)
        found |= {"history": self.history, "left_out": self.left_out, "costs": self.costs, "ablation": self.ablation}
        return {name: Path(path) for name, path in found.items() if path is not None}
