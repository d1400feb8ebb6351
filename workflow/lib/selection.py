"""Some samples of many."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase

from workflow.lib import manifest


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether any pattern, with ``*``, ``?`` and ``[...]``, fits the name."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def select(output: str | os.PathLike[str], paths: Iterable[str | os.PathLike[str]], units: Iterable[str]) -> None:
    """Write the entries of some units from several manifests as one. What is left out is said in those."""
    chosen = set(units)
    manifest.write(output, [row for row in manifest.read_all(paths).entries if row["unit"] in chosen], [])
