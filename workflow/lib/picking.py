"""Which samples figures show."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

import pandas as pd

MEDIAN, LARGEST = "median", "largest"
MOST = 6
"""Samples in one figure, unless more are named."""

SampleKey = tuple[str, str]


def pick_samples(rows: pd.DataFrame, models: Sequence[str], patterns: Sequence[str], how: str) -> list[SampleKey]:
    """(dataset, id) of the samples to show, from the metrics of ``rows``.

    Those that a pattern names, in the order of the patterns. With no patterns, one for each dataset and case: where
    the first model's PSNR is above the second's by the median of such differences, or by the largest.
    """
    table = rows.set_index(["dataset", "id", "model"])["psnr"].unstack("model")
    known = sorted((str(dataset), str(name)) for dataset, name in table.index)
    if patterns:
        named = [key for pattern in patterns for key in known if fnmatchcase(key[1], pattern)]
        return list(dict.fromkeys(named))
    present = [model for model in models if model in table.columns]
    if not present:
        return []
    difference = table[present[0]] - table[present[1]] if len(present) > 1 else table[present[0]]
    cases = rows.drop_duplicates(["dataset", "id"]).set_index(["dataset", "id"])["case"].fillna("")
    both = pd.DataFrame({"difference": difference, "case": cases}).dropna()
    return [_pick(part["difference"], how) for _, part in both.groupby(["dataset", "case"], sort=True)][:MOST]


def _pick(difference: pd.Series, how: str) -> SampleKey:
    """One of a group; of an even number the lower of the two in the middle, of several alike the first by name."""
    ordered = difference.sort_index().sort_values(kind="stable")
    if how == LARGEST:
        dataset, name = ordered.abs().sort_values(kind="stable", ascending=False).index[0]
    else:
        dataset, name = ordered.index[(len(ordered) - 1) // 2]
    return str(dataset), str(name)
