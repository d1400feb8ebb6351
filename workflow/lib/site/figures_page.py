"""The page of figures, with what they say and whom they show."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from workflow.lib.picking import pick_samples
from workflow.lib.site.sources import Sources
from workflow.lib.site.subjects import Kind, Subject
from workflow.lib.site.templates import CAPTIONS

COMPARED: dict[str, Kind] = {"fig5_blur_formation": "blur", "fig6_restoration": "restoration"}
"""Figures with numbers of single samples, whose pages have the rows that these come from."""


def figures(sources: Sources, subjects: Iterable[Subject]) -> list[dict[str, Any]]:
    """The content of the page; ``subjects`` are the samples that have pages."""
    slugs = {subject.name: subject.slug for subject in subjects}
    return [
        {
            "name": name,
            "caption": (CAPTIONS / f"{name}.rst").read_text().strip(),
            "samples": [(sample[1], slugs[sample]) for sample in _shown(name, sources) if sample in slugs],
        }
        for name in dict.fromkeys(Path(figure).stem for figure in sources.figures)
    ]


def _shown(figure: str, sources: Sources) -> list[tuple[str, str]]:
    """Dataset and id of the samples of a figure, from top to bottom."""
    if (kind := COMPARED.get(figure)) is None:
        return []
    rows = pd.read_parquet(sources.metrics[kind])
    return pick_samples(rows, sources.models.get(kind, ()), sources.patterns, sources.pick)
