"""Make room: remove from the store what no current manifest lists."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from icb import InputError
from workflow.lib import manifest
from workflow.lib.store import CHECKPOINTS, STORE, Store

TARGET = "prune"


def require_alone(targets: Iterable[str]) -> None:
    """Refuse to prune in a run that has other targets: what they are making is in no manifest yet."""
    wanted = set(targets)
    if TARGET in wanted and wanted != {TARGET}:
        others = ", ".join(sorted(wanted - {TARGET}))
        raise InputError(f"{TARGET}: got it beside {others}, expected it alone: it removes what others are making")


def prune(manifests: Sequence[str | os.PathLike[str]], optional: Sequence[str | os.PathLike[str]] = ()) -> int:
    """Keep what these manifests list; older ones, of shards that are no more, go as well. How many were removed.

    Those of ``optional``, which not every run makes, count where they are there.
    """
    current = {str(path) for path in [*manifests, *(path for path in optional if Path(path).exists())]}
    for old in Path(manifest.FOLDER).rglob("*.json"):
        if str(old) not in current:
            old.unlink()
    keep = set()
    for path in current:
        stage = Path(path).relative_to(manifest.FOLDER).parts[1]
        for row in manifest.read(path).entries:
            keep.add((row.get("stage", stage), row["key"]))
            if "score_key" in row:
                keep.add(("score", row["score_key"]))
    removed = Store(STORE).prune(keep)
    for given_up in CHECKPOINTS.glob("*"):  # those of fits that ended are gone already
        given_up.unlink()
    print(f"{removed} entries removed, {len(keep)} kept", flush=True)
    return removed
