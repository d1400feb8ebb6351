"""Memory and run time: each model in a process of its own, measured alike, without what is there before."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets import published
from datasets.build import Options, build
from tests import captures
from workflow.lib.cost import RUNS, measure_cost
from workflow.lib.manifest import Task, read
from workflow.lib.progress import Ticker
from workflow.lib.stages import costs
from workflow.lib.store import Store
from workflow.lib.tables import write_costs
from workflow.lib.units import CAPTURED, PUBLISHED, Unit, fingerprint

MODELS = {"ICB": {"model": "icb", "n": 1, "sigma": 4}, "PWB": {"model": "pwb"}}
SIZE = (240, 321)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The entry of a sample, as the stage before has it."""
    folder = tmp_path_factory.mktemp("costs")
    capture = captures.make_unity(folder / "raw", "VillageMacro_1", size=SIZE, poses=5)
    build([capture], folder / "built", Options())
    return entry("VillageMacro_1", folder / "built" / "VirtualCMB", *SIZE)


def entry(
    name: str, folder: Path, height: int, width: int, poses: int = 5, dataset: str = "VirtualCMB"
) -> dict[str, Any]:
    row = {"sample_sha256": name * 3, "height": height, "width": width, "poses": poses, "simulated": True}
    row |= {"source_format": "unity"}
    row |= {"dataset": dataset, "id": name, "scene": "Village", "case": "Macro", "motion": None}
    return {"unit": name, "id": name, "dataset": dataset, "folder": str(folder), "origin": CAPTURED, "row": row}


def task(folder: Path, strict: bool = True) -> Task:
    return Task(str(folder / "costs.json"), "", strict, Store(folder / "store"), Ticker("costs/", folder / "progress"))


def write_manifests(folder: Path, *entries: dict[str, Any], undone: Sequence[tuple[str, str]] = ()) -> list[list[Path]]:
    """The manifests of samples and of what the models blurred: all but the pairs of sample and model in ``undone``."""
    found = {"samples": list(entries)}
    for model in MODELS:
        found[model] = [{**row, "model": model} for row in entries if (row["id"], model) not in undone]
    for name, rows in found.items():
        (folder / f"{name}.json").write_text(json.dumps({"entries": rows, "left_out": []}))
    return [[folder / "samples.json"], [folder / f"{model}.json" for model in MODELS]]


def test_each_model_is_measured_in_a_process_of_its_own_and_alike(
    sample: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []
    run = subprocess.run

    def spy(command: list[str], **options: Any) -> Any:
        commands.append(command)
        return run(command, **options)

    monkeypatch.setattr(subprocess, "run", spy)
    manifests = write_manifests(tmp_path, sample)
    options: dict[str, Any] = {"models": MODELS, "codes": {"ICB": "a", "PWB": "b"}, "patterns": None, "threads": 1}
    costs.measure_costs(task(tmp_path), *manifests, **options)
    assert [command[:3] for command in commands] == [[sys.executable, "-m", "workflow.lib.cost"]] * 2
    requests = [json.loads(command[3]) for command in commands]
    assert [request.pop("model") for request in requests] == list(MODELS.values())
    assert requests[0] == requests[1]

    rows = read(tmp_path / "costs.json").entries
    image = SIZE[0] * SIZE[1] * 3 * 4  # bytes of a picture in float32, which is what comes out
    for row in rows:
        record = row["record"]
        assert record["runs"] == RUNS and record["threads"] == 1 and record["processor"]
        assert record["build_seconds"] > 0 and record["apply_seconds"] > 0
        assert record["seconds"] < 10 * (record["build_seconds"] + record["apply_seconds"])
        # The result is counted; the interpreter, the libraries and the sample, a hundred images' worth, are not.
        assert 0.9 * image < record["peak_memory"] < 12 * image

    # Once measured, it stays so, and a change of one model concerns that one.
    costs.measure_costs(task(tmp_path), *manifests, **options)
    assert len(commands) == 2
    costs.measure_costs(task(tmp_path), *manifests, **{**options, "codes": {"ICB": "a", "PWB": "c"}})
    assert len(commands) == 3
    assert read(tmp_path / "costs.json").entries[0] == rows[0]
    write_costs(tmp_path / "costs.parquet", tmp_path / "costs.json")


def test_what_was_freed_before_counts_as_growth(sample: dict[str, Any]) -> None:
    """Memory that a process has had and given up would otherwise hide what a model takes."""
    program = (
        "import json, sys, numpy as np\n"
        "from workflow.lib.cost import measure_cost\n"
        "pieces = [np.ones(12_000) for _ in range(400)]\n"  # small enough to stay with the process: 38 MB
        "kept = pieces[::50]\n"
        "del pieces\n"
        "print(json.dumps(measure_cost(**json.loads(sys.argv[1]))))\n"
    )
    request = {"sample": sample, "model": MODELS["PWB"], "threads": 1}
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(request)], check=True, capture_output=True, text=True,
        cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert json.loads(done.stdout)["peak_memory"] > 0.9 * SIZE[0] * SIZE[1] * 3 * 4


def test_the_largest_of_each_dataset_unless_some_are_named() -> None:
    entries = [
        entry("b", Path(), 20, 30, poses=5),
        entry("a", Path(), 30, 20, poses=9),
        entry("c", Path(), 10, 20, poses=99),
        entry("d", Path(), 5, 5, dataset="RealCMB"),
        entry("e", Path(), 5, 5, dataset="RealCMB"),
    ]
    assert [row["id"] for row in costs.choose(entries, None)] == ["d", "a"]  # as large as b, with more poses
    assert [row["id"] for row in costs.choose(entries, ["b", "[de]"])] == ["d", "e", "b"]
    assert costs.choose(entries, []) == []


OPTIONS: dict[str, Any] = {
    "models": {"PWB": {"model": "pwb"}},
    "codes": {"PWB": ""},
    "patterns": None,
    "threads": 1,
}


def published_entry(sample: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The same sample as one that others published, in a folder of theirs."""
    data = shutil.copytree(sample["folder"], folder / "VirtualCMB")
    files = fingerprint(Unit(sample["id"], str(data), PUBLISHED, "VirtualCMB"))
    return {**sample, "origin": PUBLISHED, "folder": str(data), "files": files}


def test_a_sample_that_cannot_be_measured_is_left_out_with_what_is_wrong_with_it(
    sample: dict[str, Any], tmp_path: Path
) -> None:
    entry = published_entry(sample, tmp_path)
    picture = Path(entry["folder"]) / "sharp_ref" / f"{entry['id']}.png"
    picture.write_bytes(b"none")
    entry["files"] = fingerprint(Unit(entry["id"], entry["folder"], PUBLISHED, "VirtualCMB"))
    costs.measure_costs(task(tmp_path, strict=False), *write_manifests(tmp_path, entry), **OPTIONS)
    (left_out,) = read(tmp_path / "costs.json").left_out
    assert (left_out.stage, left_out.id, left_out.model) == ("costs", sample["id"], "PWB")
    assert left_out.reason == f"{sample['id']}: cannot be measured: {picture}: expected a PNG"


def test_a_sample_that_is_another_by_now_is_not_measured(sample: dict[str, Any], tmp_path: Path) -> None:
    """What it costs would be kept as the cost of the sample that it was."""
    entry = published_entry(sample, tmp_path)
    picture = Path(entry["folder"]) / "sharp_ref" / f"{entry['id']}.png"
    picture.write_bytes(picture.read_bytes())
    with pytest.raises(ChildProcessError, match="was changed while the pipeline was at it"):
        costs.measure_costs(task(tmp_path, strict=False), *write_manifests(tmp_path, entry), **OPTIONS)
    assert not (tmp_path / "costs.json").exists()


def test_a_damaged_store_is_not_the_samples_fault(tmp_path: Path) -> None:
    gone = tmp_path / "store" / "samples" / "ab" / "abc" / "VirtualCMB"
    with pytest.raises(ChildProcessError, match=r"gone: cannot be measured: .*The store is damaged"):
        costs.measure_costs(
            task(tmp_path, strict=False), *write_manifests(tmp_path, entry("gone", gone, 5, 5)), **OPTIONS
        )
    assert not (tmp_path / "costs.json").exists()


def test_only_what_every_model_has_blurred_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = []
    record = {"seconds": 1.0}
    monkeypatch.setattr(costs, "_measure", lambda sample, model, threads: measured.append(sample["id"]) or record)
    entries = [entry("a", Path(), 9, 9), entry("b", Path(), 20, 30), entry("c", Path(), 8, 8)]
    manifests = write_manifests(tmp_path, *entries, undone=[("b", "PWB")])
    options: dict[str, Any] = {"models": MODELS, "codes": {"ICB": "", "PWB": ""}, "threads": 1}
    costs.measure_costs(task(tmp_path), *manifests, **options, patterns=None)
    assert measured == ["a", "a"]
    costs.measure_costs(task(tmp_path), *manifests, **options, patterns=["b", "c"])
    assert measured == ["a", "a", "c", "c"]


@pytest.mark.parametrize(
    ("code", "said"), [(-9, ""), (1, "MemoryError"), (1, "OSError: [Errno 5] Input/output error: 'a.png'")]
)
def test_the_machine_s_faults_are_not_the_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: str
) -> None:
    done = subprocess.CompletedProcess([], code, "", said)
    monkeypatch.setattr(subprocess, "run", lambda *given, **options: done)
    manifests = write_manifests(tmp_path, entry("a", tmp_path, 5, 5))
    with pytest.raises(ChildProcessError, match="a: cannot be measured"):
        costs.measure_costs(
            task(tmp_path, strict=False), *manifests, models=MODELS, codes={"ICB": "", "PWB": ""}, patterns=None,
            threads=1,
        )  # fmt: skip
    assert not (tmp_path / "costs.json").exists()


def test_threads_are_those_asked_for(sample: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    import icb
    from workflow.lib import cost

    seen = []
    build_operator = cost.build_operator

    def spy(*given: Any) -> Any:
        seen.append(icb.num_threads())
        return build_operator(*given)

    monkeypatch.setattr(cost, "build_operator", spy)
    before = icb.num_threads()
    try:
        result = measure_cost(sample, MODELS["PWB"], 2)
    finally:
        icb.set_num_threads(None)
    assert result["threads"] == 2 and set(seen) == {2} and len(seen) == RUNS + 1
    assert icb.num_threads() == before
    read_back = published.read_from(Path(sample["folder"]), "VirtualCMB", sample["id"])
    assert read_back.sharp.shape == (*SIZE, 3) and np.isfinite(read_back.depth).all()
