"""Many processes that begin at once on an empty cache of compiled code, as the nodes of a cluster do."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.pipeline import ROOT

# Everybody has seen what names are taken before the first notes one.
CODE = """
import sys, time
import numpy as np
from numba.core import caching

note = caching.IndexDataCacheFile._save_index
def slowly(self, overloads):
    time.sleep({pause})
    note(self, overloads)
caching.IndexDataCacheFile._save_index = slowly

from tiny import twice
type_ = np.dtype(sys.argv[1]).type
print("ready", flush=True)
sys.stdin.readline()
print(complex(twice(type_(3))), len(twice.stats.cache_hits), flush=True)
"""

MODULE = """
from icb.compiled import njit

@njit
def twice(value):
    return value * 2
"""

TYPES = ("float64", "float32", "int64")


def run_at_once(folder: Path, *types: str, pause: float = 0.0) -> list[list[str]]:
    """What each prints; they go off together once all of them are ready."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": f"{folder}:{ROOT}"}
    command = [sys.executable, "-c", CODE.format(pause=pause)]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*command, type_], env=environment, **pipes) for type_ in types]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate()[0].split() for process in processes]
    assert all(process.returncode == 0 for process in processes)
    return said


def test_each_finds_its_own_code_again(tmp_path: Path) -> None:
    """Compiled for several types at once, and read by others."""
    (tmp_path / "tiny.py").write_text(MODULE)
    assert run_at_once(tmp_path, *TYPES, pause=1.5) == [["(6+0j)", "0"]] * len(TYPES)
    assert run_at_once(tmp_path, *TYPES) == [["(6+0j)", "1"]] * len(TYPES)
    assert len(list((tmp_path / "cache").rglob("*twice*.nbc"))) == len(TYPES)


def test_a_cache_that_cannot_be_read_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(MODULE)
    run_at_once(tmp_path, "float64")
    for path in (tmp_path / "cache").rglob("*.nbi"):
        path.write_bytes(path.read_bytes()[:-30])
    assert run_at_once(tmp_path, "float64") == [["(6+0j)", "0"]]
