"""A run whose report is tested: four captures, one that cannot be used, and markup as names."""

import json
import os
from pathlib import Path

import pytest
import yaml

from datasets.transaction import locked
from tests import captures
from tests.pipeline import Project, settings

BAD = "<script>alert(1)<"
SCENE = "<img src=x onerror=alert(2)>"
MACRO, TRUCKING, STANDARD, PHONE = (
    "VillageMacro_1",
    "VillageTrucking_2",
    "OfficeStandard_3",
    "bundle-2022-05-01_10-00-00",
)
NAMES = (MACRO, TRUCKING, STANDARD, PHONE)
FIT = {"epochs": 2, "width": 16}


def make_project(folder: Path) -> Project:
    """Four captures of odd and unequal sizes, one of which is restored; one that cannot be used; markup as names."""
    raw = folder / "raw"
    captures.make_unity(raw, MACRO, size=(44, 61), poses=5)
    captures.make_unity(raw, TRUCKING, size=(40, 57), poses=4, seed=3, modes=("xy", ""))
    captures.make_unity(raw, STANDARD, size=(46, 51), poses=4, seed=5)
    captures.make_ios(raw, PHONE, size=(96, 136), depth_size=(48, 68), frames=5)
    (raw / BAD).mkdir()
    params = raw / STANDARD / "params.txt"
    content = json.loads(params.read_text())
    params.write_text(json.dumps({**content, "sceneName": SCENE}))
    methods = {"ICB": {"blur": "ICB", **FIT}, "PWB": {"blur": "PWB", **FIT}}
    config = settings(restore={"samples": [PHONE], "crop": [40, 44], "methods": methods})
    config["figures"] = {"draw": ["fig3_blur_variation", "psnr_distributions"]}
    return Project(folder, config=config)


def shared_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """After a run, which all processes that test share."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    folder = tmp_path_factory.getbasetemp().parent / f"site-{run}" if run else tmp_path_factory.mktemp("site")
    folder.mkdir(exist_ok=True)
    with locked(folder):
        if (folder / "done").exists():
            return Project(folder, config=yaml.safe_load((folder / "x.yaml").read_text()))
        made = make_project(folder)
        made.run("all")
        (folder / "done").touch()
        return made


def page_of(site: Path, name: str) -> str:
    [place] = [path for path in (site / "samples").iterdir() if path.name.startswith(f"{name}.")]
    return f"samples/{place.name}/index.html"
