"""What pages need to know of all samples, as scripts: pages from a file system may not fetch anything else."""

import json
import math
from collections.abc import Sequence
from typing import Any

from workflow.lib.site.numbers import METRICS, value_of
from workflow.lib.site.subjects import Subject
from workflow.lib.summaries.captured import CELLS

FILTERS = ("dataset", "scene", "case", "motion")


def gallery_script(subjects: Sequence[Subject]) -> str:
    """``window.GALLERY``: samples, their results, and what the columns of these are called.

    A sample is [slug, id, simulated, height, width, *filters]; a result is [number of the sample, slug, *metrics]. A
    sample that nothing was made of has one without a slug.
    """
    content = {
        "filters": FILTERS,
        "metrics": [
            {"name": column.name, "label": column.heading, "power": column.power}
            | {"digits": column.digits, "signed": column.signed}
            for column in METRICS
        ],
        "cells": list(CELLS.values()),
        "labels": {result.slug: result.label for subject in subjects for result in subject.results},
        "samples": [_sample(subject) for subject in subjects],
        "results": [row for number, subject in enumerate(subjects) for row in _results(number, subject)],
    }
    return f"window.GALLERY = {json_in_script(content)};\n"


def samples_script(subjects: Sequence[Subject]) -> str:
    """``window.SAMPLES``: the folders of all pages, in order, for these to find their neighbours by."""
    return f"window.SAMPLES = {json_in_script([subject.slug for subject in subjects])};\n"


def json_in_script(content: Any) -> str:
    """JSON that no text in it can end the script of, or be taken for markup in."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _sample(subject: Subject) -> list[Any]:
    row = subject.row
    size = [bool(row["simulated"]), row["height"], row["width"]]
    return [subject.slug, subject.id, *size, *(row[name] for name in FILTERS)]


def _results(number: int, subject: Subject) -> list[list[Any]]:
    return [
        [number, result.slug, *(_number(value_of(result.row, column)) for column in METRICS)]
        for result in subject.results
    ] or [[number, ""]]


def _number(value: float | None) -> float | str | None:
    """As text, as JavaScript spells it, where JSON has no such number."""
    if value is None or math.isnan(value):
        return None
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
