"""Pages from templates, in which no name can break out of its place."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).parent / "templates"
ASSETS = Path(__file__).parent / "assets"

CAPTIONS = Path(__file__).parent.parent.parent / "report"
"""Captions of figures, which `snakemake --report` has as well."""

SAMPLE_PAGE = ("base.html", "sample.html")
"""What the pages of samples are made with."""


def render(template: str, **content: Any) -> str:
    """A page; everything in ``content`` is text, and is escaped, unless it is marked as markup."""
    return _environment().get_template(template).render(**content)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def version(names: Iterable[str] | None = None) -> str:
    """Changes when one of these templates does; by default all, and what belongs to them."""
    everything = (path for folder in (FOLDER, ASSETS, CAPTIONS) for path in sorted(folder.iterdir()))
    files = everything if names is None else (FOLDER / name for name in sorted(names))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()
