"""How a sample came to be: a small file beside the published layout, which other code passes over.

It is what keeps a simulated sample marked as such, whatever becomes of the index.
"""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from icb import InputError, files

TYPES: dict[str, tuple[type, ...]] = {"bool": (bool,), "str": (str,), "int": (int,), "float": (float, int)}


@dataclass(frozen=True)
class Provenance:
    """What a built sample cannot tell by itself."""

    simulated: bool
    averaging: str
    source: str  #: name of the capture
    source_format: str  #: the reader's name
    source_sha256: str
    first_frame: int
    share_filled: float
    scene: str | None
    case: str | None
    motion: str | None


def entry(key: str) -> str:
    """The file in its dataset's folder."""
    return f"provenance/{key}.json"


def encode(provenance: Provenance) -> bytes:
    """The file's bytes."""
    return (json.dumps(asdict(provenance), indent=1, sort_keys=True) + "\n").encode()


def read(folder: Path, key: str) -> Provenance | None:
    """Of a sample in its dataset's folder; None for what others built."""
    path = folder / entry(key)
    if not path.exists():
        return None
    content: Any = files.load_json(path)
    names = {field.name for field in fields(Provenance)}
    if not isinstance(content, dict) or set(content) != names:
        raise InputError(f"{path}: expected exactly {', '.join(sorted(names))}")
    for field in fields(Provenance):
        kinds = getattr(field.type, "__name__", str(field.type)).removesuffix(" | None")
        optional = str(field.type).endswith("| None")
        value = content[field.name]
        if not (isinstance(value, TYPES[kinds]) or (optional and value is None)):
            raise InputError(f"{path}: got {field.name} {value!r}, expected {field.type}")
    return Provenance(**content)
