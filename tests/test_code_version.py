"""Which code counts for which results."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pipeline import ROOT, copy_sources
from workflow.lib import code_version

STAGES = {
    "captures": ("workflow.lib.stages.captures",),
    "samples": ("workflow.lib.stages.samples",),
    "ICB": ("workflow.lib.stages.blur", "icb.compositing"),
    "PWB": ("workflow.lib.stages.blur", "icb.pixelwise"),
    "score": ("workflow.lib.stages.score",),
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_sources(tmp_path_factory.mktemp("code") / "copy")


@pytest.fixture
def versions(code: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, str]]:
    """Asks for the versions of all stages of a copy of the code."""
    monkeypatch.setattr(code_version, "ROOT", code)

    def ask() -> dict[str, str]:
        for part in vars(code_version).values():
            if hasattr(part, "cache_clear"):
                part.cache_clear()
        return {name: code_version.code_version(*modules) for name, modules in STAGES.items()}

    return ask


@pytest.mark.parametrize(
    ("module", "addition", "concerned"),
    [
        ("icb/pixelwise.py", "\n# A remark.\n", set()),
        ("icb/pixelwise.py", '\n\n"""A text."""\n', set()),
        ("icb/pixelwise.py", "\n\nif TYPE_CHECKING:\n    import icb.patches\n", set()),
        ("icb/version.py", "\nOTHER = 1\n", set()),
        ("icb/cli/blur.py", "\nOTHER = 1\n", set()),
        ("icb/pixelwise.py", "\nOTHER = 1\n", {"PWB"}),
        ("icb/compositing.py", "\nOTHER = 1\n", {"ICB"}),
        ("icb/compiled/compositing.py", "\nOTHER = 1\n", {"ICB"}),
        ("icb/operator.py", "\nOTHER = 1\n", {"ICB", "PWB"}),
        ("icb/figures/trajectory.py", "\nOTHER = 1\n", set()),  # which trajectories offer to draw
        ("icb/metrics/quality.py", "\nOTHER = 1\n", {"score"}),
        ("datasets/fill.py", "\nOTHER = 1\n", {"captures", "samples"}),
        ("datasets/readers/unity.py", "\nOTHER = 1\n", set(STAGES)),  # samples are read by it as well
        ("datasets/readers/frame_bundle.py", "\nOTHER = 1\n", {"captures", "samples"}),  # found by lying there
        ("icb/camera.py", "\nOTHER = 1\n", set(STAGES)),
        ("workflow/lib/stages/score.py", "\nOTHER = 1\n", {"score"}),
        ("workflow/lib/stages/blur.py", "\nOTHER = 1\n", {"ICB", "PWB"}),
    ],
)
def test_a_change_concerns_those_who_use_it(
    module: str, addition: str, concerned: set[str], versions: Callable[[], dict[str, str]], code: Path
) -> None:
    before = versions()
    path = code / module
    text = path.read_text()
    try:
        path.write_text(text + addition)
        after = versions()
    finally:
        path.write_text(text)
    changed = {name for name in STAGES if after[name] != before[name]}
    assert changed == concerned
    assert versions() == before


def test_figures_count_for_what_draws_alone() -> None:
    computing = {**STAGES, "restore": ("workflow.lib.stages.restore", "icb.compositing")}
    computing |= {"simulate": ("datasets.simulate.default_set",), "tables": ("workflow.lib.tables",)}

    def figures_behind(*modules: str) -> set[str]:
        return {name for name in code_version.modules_behind(*modules) if name.startswith("icb.figures")}

    for stage, modules in computing.items():
        assert not figures_behind(*modules), stage
    assert {"icb.figures.regions", "icb.figures.trajectory"} <= figures_behind("workflow.lib.drawing")
    assert {"icb.figures.comparison", "icb.figures.style"} <= figures_behind("workflow.lib.stages.pages")


def test_a_docstring_or_a_remark_inside_changes_nothing(versions: Callable[[], dict[str, str]], code: Path) -> None:
    before = versions()
    path = code / "icb" / "pixelwise.py"
    text = path.read_text()
    name = text.split('"""')[1]
    try:
        path.write_text(
            text.replace(name, "Something else.\n\n    And more.\n").replace("\n\n\n", "\n\n\n\n# A remark\n")
        )
        assert path.read_text() != text
        assert versions() == before
    finally:
        path.write_text(text)


def test_every_module_that_a_stage_really_imports_counts() -> None:
    """Imported for real, in a new process, and compared with what was found by reading."""
    for modules in STAGES.values():
        script = (
            "import sys, importlib\n"
            f"for name in {modules!r}: importlib.import_module(name)\n"
            "print(*(name for name in sys.modules if name.split('.')[0] in ('icb', 'datasets', 'workflow')))"
        )
        done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
        loaded = set(done.stdout.split())
        packages = {name for name in loaded if any(other.startswith(f"{name}.") for other in loaded)}
        # A package such as `icb` loads all that it passes on; what a stage does not name does not matter to it.
        passed_on = code_version.modules_behind(*(name for name in packages if code_version._is_hub(name)))
        counted = code_version.modules_behind(*modules)
        assert not loaded - counted - packages - passed_on - code_version.NEUTRAL
        assert set(modules) <= counted
