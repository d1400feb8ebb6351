"""Make the report's page of every sample."""

import time
from collections.abc import Mapping
from pathlib import Path

from datasets import published
from datasets.capture import hash_files
from datasets.sample import Sample
from workflow.lib.manifest import LeftOut, Row, Task
from workflow.lib.site.sample_page import make_page
from workflow.lib.site.subjects import Kind, PathLike, Subject, read_subjects
from workflow.lib.site.templates import SAMPLE_PAGE, version
from workflow.lib.store import Record
from workflow.lib.units import Changed, digest, printable_name

STAGE = "pages"


def page_samples(
    task: Task,
    *,
    index: PathLike,
    metrics: Mapping[Kind, PathLike],
    pictures: Mapping[Kind, PathLike],
    threads: int,
) -> None:
    """Write the manifest of the pages of all samples, from a run's tables and the pictures beside them."""
    subjects = read_subjects(index, metrics, pictures)
    templates, datasets = version(SAMPLE_PAGE), Path(index).parent

    def make_one(subject: Subject) -> tuple[list[Row], bool]:
        # Rows hold hashes of the pictures they are about.
        rows = [subject.row, *({"of": result.kind, **result.row} for result in subject.results)]
        key = digest({"stage": STAGE, "code": task.code, "templates": templates, "rows": rows})
        entry = task.store.obtain(STAGE, key, lambda folder: _make(subject, datasets, folder))
        row = {"unit": subject.row["source"], "dataset": subject.dataset, "id": subject.id, "key": key}
        return [{**row, "record": entry.record}], entry.made

    def blame(subject: Subject, reason: str) -> LeftOut:
        return LeftOut(STAGE, printable_name(str(subject.row["source"])), subject.id, subject.dataset, None, reason)

    task.run(subjects, make_one, blame, threads=threads)


def _make(subject: Subject, datasets: Path, folder: Path) -> Record:
    begin = time.perf_counter()
    make_page(subject, _read(subject, datasets / subject.dataset), folder)
    return {"seconds": time.perf_counter() - begin}


def _read(subject: Subject, folder: Path) -> Sample:
    """The sample of the row: what was published lies elsewhere, and may have changed since it was looked into."""
    try:
        return published.read_from(folder, subject.dataset, subject.id)
    finally:
        found = hash_files(published.sample_files(folder, subject.dataset, subject.id), folder)
        if found != subject.row["sample_sha256"]:
            raise Changed(f"{folder}: {subject.id} was changed while the pipeline was at it; run snakemake again")
