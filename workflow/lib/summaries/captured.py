"""Table 1: how many samples there are, by scene, case and motion."""

from itertools import product

import pandas as pd

from workflow.lib.summaries.metrics import CASES, MOTIONS
from workflow.lib.summaries.origin import DATASETS, apart, comparable, describe_data, describe_paper, titled, with_data
from workflow.lib.summaries.summary import DIFFERENCE, SOURCE, TEXT, WHOLE, Column, Summary, arranged

DATASET, OTHER = DATASETS
TOTAL = "Total"
CELLS = {f"{case} {motion}": (case, motion) for case, motion in product(CASES, MOTIONS)}
ELSE = "other"


def captured(index: pd.DataFrame, paper: pd.DataFrame, paper_real: int) -> Summary:
    """Counts of the samples of VirtualCMB; those of RealCMB, where the paper has ``paper_real``, are in a note.

    Beside published samples each scene has two more rows: the paper's counts, and ours minus the paper's.
    """
    samples = with_data(index)
    virtual, real = samples[samples["dataset"] == DATASET], samples[samples["dataset"] == OTHER]
    ours = _counts(virtual.assign(samples=1))
    shown = comparable(virtual)
    if shown:
        printed = _counts(paper)
        scenes = [*printed.index, *ours.index.difference(printed.index)]
        ours, printed = (table.reindex(scenes, fill_value=0) for table in (ours, printed))
        ours, printed = _with_total(ours), _with_total(printed)
        difference = (ours - printed).where((ours != 0) | (printed != 0))
        tables = {"ours": _or_none(ours), "paper": _or_none(printed), DIFFERENCE: difference}
        rows = pd.concat([table.assign(**{SOURCE: name}) for name, table in tables.items()])
        rows = rows.loc[[*scenes, TOTAL]]
    else:
        rows = _or_none(_with_total(ours)).assign(**{SOURCE: "ours"})
    columns = [Column("scene", "Scene", TEXT), Column(SOURCE, "", TEXT, shown=shown)]
    columns += [Column(name, motion, WHOLE, group=case) for name, (case, motion) in CELLS.items()]
    columns += [Column(ELSE, "Other", WHOLE, shown=bool(rows[ELSE].notna().any())), Column("total", TOTAL, WHOLE)]
    notes = [describe_data(samples, DATASETS)]
    if comparable(real):
        notes.append(f"The paper's {OTHER} has {paper_real} samples.")
    notes.append(describe_paper("Table 1", "table1", *apart(DATASET, shown)))
    return Summary(
        "table1",
        titled(f"Captured images of {DATASET}", virtual),
        arranged(rows.rename_axis("scene").reset_index(), columns),
        tuple(columns),
        within=("scene",),
        notes=tuple(notes),
    )


def _counts(rows: pd.DataFrame) -> pd.DataFrame:
    """Sums of ``samples``: scenes by columns, in order of scenes as they first appear in ``rows``."""
    cells = [f"{case} {motion}" for case, motion in zip(rows["case"], rows["motion"], strict=True)]
    named = pd.DataFrame(
        {
            "scene": [scene if isinstance(scene, str) else "unknown" for scene in rows["scene"]],
            "cell": [cell if cell in CELLS else ELSE for cell in cells],
            "samples": rows["samples"].to_numpy("int64"),
        }
    )
    table = named.pivot_table(index="scene", columns="cell", values="samples", aggfunc="sum", sort=False)
    return table.reindex(columns=[*CELLS, ELSE]).fillna(0).astype("int64")


def _with_total(counts: pd.DataFrame) -> pd.DataFrame:
    whole = pd.concat([counts, counts.sum().rename(TOTAL).to_frame().T])
    return whole.assign(total=whole.sum(axis=1))


def _or_none(counts: pd.DataFrame) -> pd.DataFrame:
    """Nothing where there is no sample, which the paper prints as a dash."""
    return counts.where(counts != 0)
