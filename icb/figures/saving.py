"""Figures as files, the same bytes for the same figure."""

import os
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from icb import files
from icb.errors import InputError
from icb.figures.style import STYLE

DOTS_PER_INCH = 200

# Without the date, and without versions of what drew it.
METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a ``.png`` of 200 dots per inch, or a ``.pdf`` in which all but pictures are vectors."""
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in METADATA:
        raise InputError(f"{path}: got {suffix or 'no ending'!r}, expected {' or '.join(METADATA)}")

    def write(temporary: Path) -> None:
        with rc_context(STYLE):
            figure.savefig(temporary, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=METADATA[suffix])

    files.write(path, write)
