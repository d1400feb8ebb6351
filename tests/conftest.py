"""Fixtures that several test modules share."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import icb
from datasets.build import Options, build
from tests import captures
from tests.captures import IOS, UNITY
from tests.fits import SIZE
from tests.scenes import scene, smooth_picture

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser import Visit
    from tests.pipeline import Project


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    captures.make_unity(folder)
    captures.make_ios(folder)
    captures.make_frame_bundle(folder / IOS, folder / "converted")
    return folder


@pytest.fixture(scope="module")
def built(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    build([raw / UNITY, raw / IOS], out, Options())
    return out


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """For networks too small to be worth more: tests run beside each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def sharp() -> np.ndarray:
    return smooth_picture(*SIZE)


@pytest.fixture(scope="module")
def blur() -> icb.ICB:
    s = scene(*SIZE, "pan-tilt", 4.0)
    return icb.ICB(s.depth, s.trajectory, s.camera)


@pytest.fixture(scope="module")
def blurry(sharp: np.ndarray, blur: icb.ICB) -> np.ndarray:
    return blur(sharp)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> "Project":
    """A run with a report."""
    from tests.site import shared_project

    return shared_project(tmp_path_factory)


@pytest.fixture(scope="module")
def site(project: "Project") -> Path:
    """Its report."""
    return project.results / "report"


@pytest.fixture(scope="module")
def chromium() -> "Iterator[Browser]":
    from tests import browser

    if reason := browser.reason_to_skip():
        pytest.skip(reason)
    with browser.chromium() as started:
        yield started


@pytest.fixture
def visit(chromium: "Browser", site: Path) -> "Iterator[Visit]":
    from tests import browser

    with browser.visit(chromium, site) as seen:
        yield seen
