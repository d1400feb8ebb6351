"""Capture folders: written whole or not at all, and marked as simulated."""

import json
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import icb
from datasets.capture import SIMULATED
from icb.errors import InputError


def require_new(path: Path) -> None:
    """Refuse to touch what is there."""
    if path.exists():
        raise InputError(f"{path}: is there already, expected a new folder")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder beside ``path`` that takes its place once the block ends without an error."""
    require_new(path)
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        temporary.rename(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_mark(folder: Path, parameters: dict[str, Any]) -> None:
    """Write the file that says the capture is simulated, and how; no times, so that it is reproducible."""
    content = {
        "simulated": True,
        **parameters,
        "versions": {
            "icb": icb.__version__,
            "open3d": version("open3d-cpu"),
            "numpy": version("numpy"),
            "scikit-image": version("scikit-image"),
        },
    }
    (folder / SIMULATED).write_text(json.dumps(content, indent=1) + "\n")
