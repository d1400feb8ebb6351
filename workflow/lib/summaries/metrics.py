"""Means of metrics, as columns of a summary, and the paper's beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from workflow.lib import paper_numbers
from workflow.lib.summaries.summary import TEXT, Column

METRICS = (
    Column("psnr", "PSNR [dB]", digits=2, better="higher"),
    Column("psnr_edge", "PSNR at depth edges [dB]", digits=2, better="higher"),
    Column("ssim", "SSIM", digits=4, better="higher"),
    Column("ssim_paper", "SSIM, as in the paper", digits=4, better="higher"),
    Column("lpips", "LPIPS", digits=4, better="lower"),
    Column("lpips_paper", "LPIPS, as in the paper", digits=3, better="lower", power=-5),
)

#: Of doing nothing: the picture that was given, in place of the estimate.
UNCHANGED = Column("psnr_unchanged", "PSNR of doing nothing [dB]", digits=2)

#: What the paper reports, in our names.
PRINTED = ("psnr", "ssim_paper", "lpips_paper")

CONVENTIONS = (
    "Means over samples. SSIM has a data range of 1 and LPIPS (VGG) sees pictures between -1 and 1; "
    "“as in the paper” are a data range of 2, and pictures between 0 and 1 scaled as if they were between 0 and 255."
)

CASES = ("Macro", "Trucking", "Standard")
MOTIONS = ("parallax", "xy-rotation", "6-DoF")
KINDS = ("icb", "pwb")

#: What the configuration calls a model or method, the paper calls by its kind of blur.
KIND = Column("kind", "Kind", TEXT, shown=False)

NAMED = 5
"""Samples that a note names."""


def with_common(rows: pd.DataFrame, within: Sequence[str]) -> pd.DataFrame:
    """The rows with a column ``common``: whether all models that have rows with the same ``within`` have the sample.

    Models compete on the same samples: what one of them could not do counts for none.
    """
    together = rows.groupby([*within, pd.Series(0, index=rows.index)], dropna=False)["model"].transform("nunique")
    here = rows.groupby(["dataset", "id"])["model"].transform("nunique")
    return rows.assign(common=here == together)


def means(rows: pd.DataFrame, keys: Sequence[str], columns: Sequence[Column]) -> pd.DataFrame:
    """One row for each combination of ``keys``: the number of ``common`` samples, and each column's mean over them."""
    names = [column.name for column in columns]
    counted = rows.assign(**{name: rows[name].where(rows["common"]) for name in names})
    groups = counted.groupby(list(keys), dropna=False, sort=False)
    found = groups[names].mean()
    found.insert(0, "samples", groups["common"].sum())
    return found.reset_index()


def in_order(rows: pd.DataFrame, orders: Mapping[str, Sequence[object] | None]) -> pd.DataFrame:
    """Sorted by some columns, each in an order of its own; what that does not name comes after, by itself."""
    ranks = pd.DataFrame(index=rows.index)
    for name, order in orders.items():
        known = {value: place for place, value in enumerate(order or ())}
        ranks[f"{name} rank"] = [known.get(value, len(known)) for value in rows[name]]
        ranks[name] = rows[name]
    return rows.loc[ranks.sort_values(list(ranks.columns), na_position="last", kind="stable").index]


def with_kind(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with a column ``as_printed``: the kind of the model, where it has the parameters of the paper."""
    # A model that has no such parameter, as PWB, has null.
    same = rows["n"].isin([paper_numbers.N]) | rows["n"].isna()
    same &= rows["sigma"].isin([paper_numbers.SIGMA]) | rows["sigma"].isna()
    return rows.assign(as_printed=rows["kind"].where(same, ""))


def beside_paper(rows: pd.DataFrame, paper: pd.DataFrame, keys: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """The rows with ``<name>_printed``, the paper's value of the row with the same keys, and ``<name>_difference``."""
    printed = paper[[*keys, *names]].rename(columns={name: f"{name}_printed" for name in names})
    joined = rows.merge(printed, on=list(keys), how="left", validate="many_to_one")
    for name in names:
        joined[f"{name}_difference"] = joined[name] - joined[f"{name}_printed"]
    return joined


def three(column: Column, paper: bool, digits: int | None = None) -> list[Column]:
    """Ours, the paper's and the difference: under one heading if the paper's are shown, else ours alone.

    The paper's are shown with as many digits as it prints: of LPIPS in all, of others after the decimal point.
    """
    difference = replace(column, name=f"{column.name}_difference", label="difference", better=None, signed=True)
    difference = replace(difference, shown=paper)
    printed = replace(difference, name=f"{column.name}_printed", label="paper", signed=False, digits=digits)
    if column.power:
        printed = replace(printed, digits=None, significant=digits)
    if not paper:
        return [column, printed, difference]
    ours = replace(column, label="ours")
    return [replace(part, group=column.heading) for part in (ours, printed, difference)]


def columns_of(columns: Sequence[Column], paper: bool, digits: Mapping[str, int]) -> list[Column]:
    """The columns of metrics; those that the paper has, with so many digits, have its values beside them."""
    found: list[Column] = []
    for column in columns:
        found += three(column, paper, digits[column.name]) if column.name in PRINTED else [column]
    return found


def describe_common(rows: pd.DataFrame) -> str:
    """Which samples are in no mean, because not every model has them."""
    samples = rows.loc[~rows["common"], ["dataset", "id"]].drop_duplicates()
    lost = sorted(samples["id"] if rows["dataset"].nunique() == 1 else samples["dataset"] + "/" + samples["id"])
    if not lost:
        return ""
    names = ", ".join(lost[:NAMED]) + (", ..." if len(lost) > NAMED else "")
    return f"Not in any mean, because not every model could do them: {names} ({len(lost)} in all)."


def describe_edges(rows: pd.DataFrame) -> str:
    """Of how many samples there is no PSNR at depth edges."""
    samples = rows[rows["common"]].drop_duplicates(["dataset", "id"])
    flat = int(samples["psnr_edge"].isna().sum())
    if not flat:
        return ""
    return f"PSNR at depth edges leaves out {flat} of {len(samples)} samples, which have no depth edges."


def describe_counts(found: pd.DataFrame) -> str:
    """Say so where our ``samples`` are not as many as the paper's, which are ``samples_printed``."""
    here = found[found["samples_printed"].notna() & (found["samples"] != found["samples_printed"])]
    if here.empty:
        return ""
    ours, printed = int(here["samples"].iloc[0]), int(here["samples_printed"].iloc[0])
    return (
        f"In {len(here)} of {len(found)} rows the number of samples is not the paper's, in the first {ours} instead of "
        f"{printed}: these are means of other samples."
    )


def describe_lpips(rows: pd.DataFrame, reason: str | None) -> str:
    """Why there is no LPIPS, or not of all samples; empty where there is."""
    missing = int(rows["lpips"].isna().sum())
    if not missing:
        return ""
    if reason:
        return f"No LPIPS: {reason}"
    return f"No LPIPS of {missing} of {len(rows)} pictures, which are smaller than its network needs."
