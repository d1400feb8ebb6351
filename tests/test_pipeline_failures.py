"""Captures that cannot be used, configurations that mean nothing, and jobs that fail: who is told what."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icb import InputError
from tests import captures
from tests.pipeline import MACRO, PHONE, Project, Run, chain_of, environment, make_project, settings
from workflow.lib import configuration

ODD = "Bär & Söhne's 1"
TURNED = "turned"
"""A capture that yields a sample, which no model can blur."""
"""A name that is odd and can be used."""

BROKEN = {
    "cut frame": "frames/frame_2.png: the PNG ends too early",  # seen only when frames are decoded
    "no depth": "depth/3.png: missing",
    "missing frame": "frames/frame_2.png: missing",
    "folder for a frame": "frames/frame_2.png: cannot be read",
    "dangling frame": "frames/frame_2.png: cannot be read",
    "no params": "params.txt",
    "no JSON": "camera_logs_1.txt: expected JSON",
    "no pose": "camera_logs_1.txt",
    "cut recording": "image_P0_",
    "empty": "not a capture",
    "no archive": "no archive.npz",
    '"quoted"': "expected the name of a file",
    "<script>alert(1)": "expected the name of a file",
    "two\nlines": "expected the name of a file",
    "two\\nlines": "expected the name of a file",  # looks like the one before where that is escaped
    b"not \xff UTF-8": "expected a name in UTF-8",
}
"""What is wrong with each, by its name."""


def shown(name: str | bytes) -> str:
    text = os.fsdecode(name).replace("\\", "\\\\")
    return text.replace("\n", "\\n").replace("\udcff", "\\udcff")


def make_broken(raw: Path) -> None:
    unity, recording = raw / MACRO, raw / PHONE
    for name in BROKEN:
        place = raw / os.fsdecode(name)
        if name in ("cut recording",):
            shutil.copytree(recording, place)
        elif name not in ("empty", "no archive"):
            shutil.copytree(unity, place)
    frame = raw / "cut frame" / "frames" / "frame_2.png"
    frame.write_bytes(frame.read_bytes()[:-20])
    (raw / "no depth" / "depth" / "3.png").unlink()
    for name in ("missing frame", "folder for a frame", "dangling frame"):
        (raw / name / "frames" / "frame_2.png").unlink()
    (raw / "folder for a frame" / "frames" / "frame_2.png").mkdir()
    (raw / "dangling frame" / "frames" / "frame_2.png").symlink_to("nowhere.png")
    (raw / "no params" / "params.txt").unlink()
    (raw / "no JSON" / "camera_logs" / "camera_logs_1.txt").write_text("{")
    log = raw / "no pose" / "camera_logs" / "camera_logs_1.txt"
    log.write_text(re.sub(r"-?\d+\.\d+", "1e400", log.read_text()))
    picture = sorted((raw / "cut recording").glob("image_*"))[1]
    picture.write_bytes(picture.read_bytes()[:-7])
    (raw / "empty").mkdir()
    (raw / "no archive.npz").write_bytes(b"PK nothing")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Run]:
    """Captures of which most are broken, after a run that a terminal looked on."""
    project = Project(tmp_path_factory.mktemp("mixed"))
    raw = project.folder / "raw"
    captures.make_unity(raw, MACRO, size=(24, 33), poses=5)
    captures.make_ios(raw, PHONE, size=(96, 136), depth_size=(24, 34), frames=5)
    make_broken(raw)
    shutil.copytree(raw / MACRO, raw / ODD)
    (raw / ODD / "frames" / "round").symlink_to("..")  # in circles, which is no harm
    captures.make_unity(raw, TURNED, size=(24, 33), poses=5, first_turn=2.0)
    (raw / ".hidden").mkdir()
    (raw / "notes.txt").write_text("no capture, and nobody says so")
    return project, on_terminal(project)


def on_terminal(project: Project) -> Run:
    """Run it with a terminal as its output."""
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        project.command(), cwd=project.folder, env=environment(), stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    pieces = []
    with suppress(OSError), os.fdopen(ours, "rb", buffering=0) as stream:  # a terminal that is gone is an error
        while piece := stream.read(4096):
            pieces.append(piece)
    text = b"".join(pieces).decode(errors="replace").replace("\r\n", "\n")
    assert process.wait() == 0, text
    return Run(0, text)


def test_the_others_reach_the_tables(mixed: tuple[Project, Run]) -> None:
    project, _ = mixed
    rows = project.rows("metrics/blur.parquet")
    assert {(row["id"], row["model"]) for row in rows} == {
        (name, model) for name in (MACRO, PHONE, ODD) for model in ("ICB", "PWB")
    }
    assert (project.results / "blur" / "ICB" / "VirtualCMB" / f"{ODD}.png").stat().st_size > 100
    assert {row["id"] for row in project.rows("datasets/index.parquet")} == {MACRO, PHONE, ODD, TURNED}


def test_each_is_left_out_with_its_reason_in_the_tables(mixed: tuple[Project, Run]) -> None:
    project, _ = mixed
    reasons = project.reasons()
    assert set(reasons) == {shown(name) for name in BROKEN}
    for name, reason in BROKEN.items():
        assert reason in reasons[shown(name)]
    rows = {row["name"]: row for row in project.rows("captures.parquet")}
    assert len(rows) == len(BROKEN) + 4
    stages = {name: rows[name]["stage"] for name in ("missing frame", "cut frame")}
    assert stages == {"missing frame": "captures", "cut frame": "samples"}
    assert {rows[name]["status"] for name in stages} == {"left out"}
    assert rows["cut frame"]["frames"] == 5  # what could be learnt of it
    assert (rows[ODD]["status"], rows[ODD]["samples"], rows[ODD]["reason"]) == ("used", 1, None)
    left_out = {(row["unit"], row["model"]): row["reason"] for row in project.rows("metrics/left_out.parquet")}
    assert "turns the camera by a right angle or more" in left_out.pop((TURNED, "ICB"))
    assert "past part of the scene" in left_out.pop((TURNED, "PWB"))
    assert {unit: reason for (unit, _), reason in left_out.items()} == reasons


def test_the_reasons_are_in_the_logs_and_at_the_end(mixed: tuple[Project, Run]) -> None:
    project, run = mixed
    logs = "".join(path.read_text() for path in project.results.glob("logs/**/*.log"))
    end = run.text.partition("\nLeft out: ")[2]
    assert end.startswith(f"{len(BROKEN) + 2} ")  # and what neither model can blur
    for name, reason in project.reasons().items():
        assert f"left out: {name}: {reason}" in logs
        assert reason in end and name in end


def test_progress_is_shown_while_it_runs(mixed: tuple[Project, Run]) -> None:
    _, run = mixed
    assert re.search(r"^(captures|samples|blur \w+|score blur): \d+ of \d+\b", run.text, re.MULTILINE)
    assert run.counts["captures"] == {"made": 6, "left out": len(BROKEN) - 2}
    assert run.counts["samples"] == {"made": 4, "left out": 2}
    assert run.counts["blur ICB"] == {"made": 3, "left out": 1}


def test_the_end_speaks_of_this_run_alone(mixed: tuple[Project, Run]) -> None:
    """What no model could blur is no concern of a run that only builds datasets."""
    project, _ = mixed
    (project.results / "datasets" / "index.parquet").unlink()
    end = project.run("datasets").text.partition("\nLeft out: ")[2]
    assert end.startswith(f"{len(BROKEN)} (listed in results/captures.parquet)\n")
    assert TURNED not in end and "No LPIPS" not in end


def test_strict_makes_it_fatal(mixed: tuple[Project, Run], tmp_path: Path) -> None:
    project, _ = mixed
    shutil.copytree(project.folder, tmp_path / "strict", symlinks=True)
    project = Project(tmp_path / "strict", config=settings(strict=True))
    run = project.run(code=1)
    (log,) = set(re.findall(r"The log is (\S+)", run.text))
    said = (project.folder / log).read_text()
    assert f"{len(BROKEN) - 2} of {len(BROKEN) + 4} left out, which `strict` forbids" in said
    for name, reason in BROKEN.items():
        if name not in ("cut frame", "no depth"):  # which a later stage would find
            assert reason in said and reason in run.text, name
    assert "build_samples" not in run.jobs


def test_nothing_but_broken_captures_and_then_nothing_at_all(tmp_path: Path) -> None:
    project = Project(tmp_path)
    for name in ("one", "two"):
        (tmp_path / "raw" / name).mkdir(parents=True)
    run = project.run()
    assert set(project.reasons()) == {"one", "two"}
    assert "Left out: 2" in run.text
    columns = project.table("metrics/blur.parquet").schema
    assert len(project.table("metrics/blur.parquet")) == 0
    for name in ("one", "two"):
        (tmp_path / "raw" / name).rmdir()
    project.run()
    assert len(project.table("captures.parquet")) == len(project.table("metrics/left_out.parquet")) == 0
    assert project.table("metrics/blur.parquet").schema == columns
    assert "psnr" in columns.names
    assert project.run().idle


def test_a_job_that_fails_names_its_log_and_the_next_run_goes_on(tmp_path: Path) -> None:
    """The disk, not a capture, is at fault: nothing is left out, everything else is done."""
    project = make_project(tmp_path)
    obstacle = project.results / "store" / "blur"
    obstacle.parent.mkdir(parents=True)
    obstacle.write_text("where a folder has to be")
    run = project.run(code=1)
    logs = set(re.findall(r"The log is (\S+)", run.text))
    assert logs == {f"results/logs/blur/{model}/all/1-of-1.log" for model in ("ICB", "PWB")}
    assert all("store/blur" in (tmp_path / log).read_text() for log in logs)
    assert "The run did not end well" in run.text
    assert project.reasons() == {}
    assert {"show_datasets", "list_captures"} <= run.jobs.keys()
    obstacle.unlink()
    before = project.store()
    project.run()
    expected = chain_of(*(row["name"] for row in project.rows("captures.parquet")))
    assert project.computed(before) == {kind: expected[kind] for kind in ("blur", "score")}


def test_a_sample_that_one_model_cannot_do_is_left_out_of_it_and_every_table_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path, config=settings(costs={"samples": None}))
    captures.make_unity(tmp_path / "raw", MACRO, size=(24, 33), poses=5)
    wobble = captures.wobble

    def through_the_plane(*given: Any, **more: Any) -> np.ndarray:
        motion = wobble(*given, **more)
        motion[-1, 2, 3] += 3.0
        return motion

    monkeypatch.setattr(captures, "wobble", through_the_plane)
    captures.make_unity(tmp_path / "raw", "CityMacro_3", size=(40, 50), poses=5, all_depths=False)
    run = project.run("tables")
    (left_out,) = project.rows("metrics/left_out.parquet")
    assert (left_out["stage"], left_out["id"], left_out["model"]) == ("blur", "CityMacro_3", "PWB")
    # The largest sample that can be measured with both models.
    assert [(row["id"], row["model"]) for row in project.rows("metrics/costs.parquet")] == [
        (MACRO, "ICB"), (MACRO, "PWB"),
    ]  # fmt: skip
    assert run.counts["costs"] == {"made": 2}


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Project]:
    """Nothing is there, and after a run that was refused nothing is."""
    (tmp_path / "raw").mkdir()
    yield Project(tmp_path)
    assert not (tmp_path / "results").exists()


def test_two_captures_of_one_name(empty: Project) -> None:
    for folder in ("raw", "more"):
        captures.make_unity(empty.folder / folder, MACRO, size=(8, 8), poses=3)
    empty.config["captures"]["folders"] = ["raw", "more"]
    assert f"more/{MACRO}: got '{MACRO}' again, which raw/{MACRO} has" in empty.run(code=1).text


def test_a_folder_that_is_not_there(empty: Project) -> None:
    empty.config["captures"]["folders"] = ["raw", "nowhere"]
    assert "nowhere: expected a folder of captures" in empty.run(code=1).text


def test_a_published_dataset_that_is_none(empty: Project) -> None:
    empty.config["captures"]["published"] = ["raw"]
    assert "raw: no dataset" in empty.run(code=1).text


def test_a_configuration_with_several_mistakes(empty: Project) -> None:
    empty.config |= {"sample_per_job": 3, "strict": "perhaps", "build": {"averaging": "mean"}}
    text = empty.run(code=1).text
    for key in ("'sample_per_job'", "strict: 'perhaps'", "build.averaging: 'mean'"):
        assert key in text


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("captures", 3),
        ("captures", {"folders": "raw"}),
        ("captures", {"folders": [1]}),
        ("captures", {"simulate": {"size": [8]}}),
        ("captures", {"simulate": {"poses": 1}}),
        ("captures", {"archives": [{"source": "a.zip"}]}),
        ("captures", {"archives": [{"source": "a.zip", "checksum": "sha256:12"}]}),
        ("captures", None),
        ("strict", 1),
        ("build", "plain"),
        ("build", {"window": 2.5}),
        ("blur", {}),
        ("blur", {"ICB": None}),
        ("blur", {"ICB": {"model": "box"}}),
        ("blur", {"ICB": {"model": "icb", "sigma": 0}}),
        ("blur", {"a/b": {"model": "icb"}}),
        ("samples_per_job", 0),
        ("samples_per_job", True),
    ],
)
def test_a_value_that_means_nothing_is_refused_by_its_key(key: str, value: object) -> None:
    with pytest.raises(InputError, match=f"configuration: {key}"):
        configuration.complete(settings() | {key: value})


@pytest.mark.parametrize("path", [(), ("captures",), ("captures", "simulate"), ("build",), ("blur", "ICB")])
def test_an_unknown_key_is_refused_wherever_it_is(path: tuple[str, ...]) -> None:
    content: dict[str, Any] = settings(blur={"ICB": {"model": "icb"}}, build={}, captures={"simulate": {}})
    section = content
    for name in path:
        section = section[name]
    section["colour"] = 1
    with pytest.raises(InputError, match=rf"{'.'.join(path) or 'top level'}: .*'colour'"):
        configuration.complete(content)


def test_a_default_model_or_method_is_taken_away() -> None:
    content = settings(blur={"PWB": None, "Soft": {"model": "icb", "sigma": 8}}, restore={"methods": {"PWB": None}})
    content["blur"]["ICB"] = {"model": "icb"}
    configuration.complete(content)
    assert set(content["blur"]) == {"ICB", "Soft"}
    assert content["restore"]["methods"] == {}
    configuration.check_methods(content)


def test_what_is_left_out_has_its_default() -> None:
    content: dict[str, Any] = {"captures": {"simulate": {"ios": 1}}}
    configuration.complete(content)
    assert content["captures"]["simulate"]["seeds"] == [0]
    assert content["captures"]["folders"] == []
    assert content["build"]["averaging"] == "plain"
    assert (content["strict"], content["samples_per_job"]) == (False, 16)
    again = json.loads(json.dumps(content))
    configuration.complete(again)
    assert again == content
