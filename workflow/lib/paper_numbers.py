"""The paper's own numbers: ``config/paper/*.csv``, whose README says what is in them.

Torres and Kämäräinen, Depth-Aware Image Compositing Model for Parallax Camera Motion Blur, SCIA 2023.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from icb import InputError, files

FOLDER = Path(__file__).parent.parent.parent / "config" / "paper"
TABLES = ("table1", "table2", "table3", "table4", "table5", "ablation")
MISPRINTS = "misprints"

TEXT = ("scene", "case", "motion", "kind", "dataset", "method")
WHOLE = ("samples",)

#: What the paper's ICB was run with.
N, SIGMA = 1.0, 4.0

#: Images of its ablation.
ABLATED = 12

#: How the paper restored, all of a picture, in the names of our columns; and by patches that depend on its size.
FIT = {
    "epochs": 400,
    "network": "siren",
    "hidden_width": 192,
    "gradient": "analytic",
    "penalty": 8e-6,
    "learning_rate": 5e-4,
}


@dataclass(frozen=True)
class Misprint:
    """A cell of the paper that cannot be what was meant."""

    table: str
    row: str  #: ``column=value`` of the cells that name it, as they are printed
    column: str
    printed: str
    meant: str

    def __str__(self) -> str:
        return f"The paper prints {self.printed} for {self.row} ({self.column}), taken as {self.meant}."


def printed(table: str, folder: str | os.PathLike[str] = FOLDER) -> pd.DataFrame:
    """A table with every cell as text, as it is printed; empty cells are empty text."""
    path = Path(folder) / f"{table}.csv"
    files.read_bytes(path)
    try:
        return pd.read_csv(path, comment="#", dtype=str, keep_default_na=False)
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: expected a table: {error}") from None


def misprints(table: str, folder: str | os.PathLike[str] = FOLDER) -> list[Misprint]:
    """Those of one table."""
    rows = printed(MISPRINTS, folder).to_dict("records")
    return [Misprint(**{str(name): text for name, text in row.items()}) for row in rows if row["table"] == table]


def read(table: str, folder: str | os.PathLike[str] = FOLDER) -> pd.DataFrame:
    """A table as numbers, misprints put right."""
    rows = printed(table, folder)
    for slip in misprints(table, folder):
        here = pd.Series(True, index=rows.index)
        for part in slip.row.split():
            name, _, value = part.partition("=")
            here &= rows[name] == value
        if list(rows.loc[here, slip.column]) != [slip.printed]:
            raise InputError(f"{folder}: {MISPRINTS}.csv: {table}.csv has no {slip.printed} at {slip.row}")
        rows.loc[here, slip.column] = slip.meant
    for name in rows.columns:
        if name not in TEXT:
            try:
                rows[name] = rows[name].astype("int64" if name in WHOLE else "float64")
            except ValueError as error:
                raise InputError(f"{folder}: {table}.csv: {name}: expected numbers: {error}") from None
    return rows
