"""What a shard of a stage came to: the job's output, small, while the results themselves are in the store."""

import json
import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeVar

from icb import InputError, files
from icb.errors import OutputError
from workflow.lib.job import is_current
from workflow.lib.progress import Ticker, job_name
from workflow.lib.store import STORE, Store
from workflow.lib.units import Changed, printable, printable_name

FOLDER = "results/manifests"

Item = TypeVar("Item")
Row = dict[str, Any]


class Parameters(Protocol):
    """What every rule that works on a shard declares."""

    stage: str  #: what progress is shown under
    code: str
    strict: bool


@dataclass(frozen=True)
class Task:
    """What every stage needs to know of the job that it does."""

    output: str  #: the manifest to write
    code: str  #: version of the code that does it
    strict: bool  #: whether leaving something out is an error
    store: Store
    ticker: Ticker

    @classmethod
    def of(cls, output: str, parameters: "Parameters") -> "Task":
        """The task of a job, as its rule declares it."""
        ticker = Ticker(job_name(parameters.stage, output))
        return cls(str(output), parameters.code, parameters.strict, Store(STORE), ticker)

    def run(
        self,
        items: Sequence[Item],
        work: Callable[[Item], tuple[list[Row], bool]],
        blame: Callable[[Item, str], "LeftOut"],
        *,
        threads: int = 1,
    ) -> None:
        """Work through the items of a shard, so many at a time, and write its manifest, in their order.

        ``work`` returns entries and whether anything had to be made. An item that cannot be done is left out, with
        the reason that ``blame`` puts into words; with ``strict`` that is an error, once all others are done.
        """
        self.ticker.begin(len(items))
        entries: list[Row] = []
        left_out: list[LeftOut] = []
        with _mapping(threads) as each:
            for item, (rows, what) in zip(items, each(lambda item: _attempt(work, item), items), strict=True):
                self.ticker.tick(what)
                if isinstance(rows, str):
                    left_out.append(blame(item, rows))
                    print(f"left out: {left_out[-1].unit}: {rows}", flush=True)
                else:
                    entries += rows
        if self.strict and left_out:
            reasons = "\n".join(f"  {row.unit}: {row.reason}" for row in left_out)
            raise InputError(f"{len(left_out)} of {len(items)} left out, which `strict` forbids:\n{reasons}")
        if not is_current():
            raise OutputError(f"{self.output}: another run has taken over these results")
        write(self.output, entries, left_out)


@contextmanager
def _mapping(threads: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """What is called as ``map`` is, for so many items at a time; one at a time in this thread, without others."""
    if threads == 1:
        yield map
        return
    pool = ThreadPoolExecutor(threads)
    try:
        yield pool.map
    finally:
        pool.shutdown(cancel_futures=True)


def _attempt(work: Callable[[Item], tuple[list[Row], bool]], item: Item) -> tuple[list[Row] | str, str]:
    """What came of an item and what to call that; the reason where it cannot be done."""
    try:
        rows, made = work(item)
    except Exception as error:
        if (reason := reason_to_leave_out(error)) is None:
            raise  # nothing is wrong with the item: the job is to be done again
        return reason, "left out"
    return rows, "made" if made else "kept"


def reason_to_leave_out(error: Exception) -> str | None:
    """What is wrong with an item, by the error that it led to; None where it is not to blame.

    What of an item cannot be read is an InputError, so any other trouble with files is one of the results.
    """
    if isinstance(error, InputError):
        return None if isinstance(error, OutputError) else printable(str(error))
    if isinstance(error, OSError | Changed) or files.machine_at_fault(error):
        return None
    traceback.print_exception(error)
    return printable(f"unexpected {type(error).__name__}: {error}")


@dataclass(frozen=True)
class LeftOut:
    """Something that could not be done, and why."""

    stage: str
    unit: str  #: name of the capture or published sample
    id: str | None  #: of the sample, where it got that far
    dataset: str | None
    model: str | None
    reason: str

    @classmethod
    def of(cls, stage: str, sample: Row, model: str | None, reason: str) -> "LeftOut":
        """A sample, by any row that has its unit, id and dataset."""
        return cls(stage, printable_name(sample["unit"]), sample["id"], sample["dataset"], model, reason)


@dataclass(frozen=True)
class Manifest:
    """Entries that a stage made, in order, and what it left out."""

    entries: list[Row]
    left_out: list[LeftOut]


def read(path: str | os.PathLike[str]) -> Manifest:
    """A manifest that :meth:`Task.run` wrote."""
    content = files.load_json(path)
    return Manifest(content["entries"], [LeftOut(**row) for row in content["left_out"]])


def write(output: str | os.PathLike[str], entries: Sequence[Row], left_out: Sequence["LeftOut"]) -> None:
    """Write a manifest, whole or not at all."""
    content = {"entries": list(entries), "left_out": [asdict(row) for row in left_out]}
    text = json.dumps(content, indent=1, sort_keys=True)
    files.write(output, lambda path: path.write_text(text + "\n"))


def read_all(paths: Iterable[str | os.PathLike[str]]) -> Manifest:
    """Several as one."""
    manifests = [read(path) for path in paths]
    return Manifest(
        [row for manifest in manifests for row in manifest.entries],
        [row for manifest in manifests for row in manifest.left_out],
    )


def by_sample(paths: Iterable[str | os.PathLike[str]]) -> dict[tuple[str, str], Row]:
    """The entries of several manifests of samples by dataset and id."""
    found: dict[tuple[str, str], Row] = {}
    for row in read_all(paths).entries:
        other = found.setdefault((row["dataset"], row["id"]), row)
        if other is not row:
            raise OutputError(f"{row['unit']}: yields {row['id']!r} as {other['unit']} does, expected every id once")
    return found
