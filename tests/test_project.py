"""The project around the code: dependencies that agree, documents whose commands and snippets run."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import icb

ROOT = Path(__file__).parent.parent


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower().strip()


def pins(lines: list[str]) -> dict[str, str]:
    """``name==version ; marker`` as {name: version}."""
    found = (re.fullmatch(r"([A-Za-z0-9._-]+)==([^ ;]+)(?:\s*;.*)?", line.strip()) for line in lines)
    return {normal(match[1]): match[2] for match in found if match}


def declared() -> set[str]:
    """Names of all direct dependencies, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    return {normal(re.split(r"[;<>=! ]", item)[0]) for items in lists for item in items}


def constraints() -> dict[str, str]:
    return pins((ROOT / "constraints.txt").read_text().splitlines())


def test_every_dependency_is_pinned() -> None:
    assert declared() <= set(constraints())
    assert constraints()["torch"] == "2.13.0"


def test_what_is_installed_is_what_is_pinned() -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "freeze", "--all", "--exclude-editable"],
        check=True,
        capture_output=True,
        text=True,
    )
    installed = {name: version.partition("+")[0] for name, version in pins(listed.stdout.splitlines()).items()}
    installed.pop("pip", None)
    # Elsewhere torch comes with a GPU's libraries, which have no pin here.
    extra = {name for name in installed if name.startswith(("nvidia-", "triton", "cuda-"))}
    assert {name: version for name, version in installed.items() if name not in extra}.items() <= constraints().items()


def test_conda_users_get_the_same() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (wheels,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert pins(wheels) == {name: version for name, version in constraints().items() if name in declared()}
    assert len(pins(wheels)) == len(wheels)


def test_the_library_knows_nothing_of_datasets_or_workflow() -> None:
    for path in (ROOT / "icb").rglob("*.py"):
        assert not re.search(
            r"^\s*(?:from|import) (?:datasets|workflow|snakemake|tests)\b", path.read_text(), re.MULTILINE
        ), path


def test_importing_the_library_does_not_import_torch() -> None:
    code = "import sys, icb, icb.cli; assert 'torch' not in sys.modules; icb.restore; assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'retsore'"):
        icb.retsore  # noqa: B018


def test_the_readme_names_the_two_commands_and_make_has_them() -> None:
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in ("demo", "test", "lint", "bench"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:.*\bsetup\b", makefile, re.MULTILINE)
    script = (ROOT / ".ci" / "run").read_text()
    assert "make lint" in script and "make test" in script


def blocks(language: str) -> list[str]:
    """Fenced blocks of the README in one language, without line continuations."""
    found = re.findall(rf"^```{language}\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    return [block.replace("\\\n", " ") for block in found]


def snakemake(command: str, folder: Path) -> list[str]:
    """A command for Snakemake as a dry run: that it plans all jobs; what they do has tests of its own."""
    (folder / "data" / "RealCMB" / "sharp_ref").mkdir(parents=True, exist_ok=True)  # where config/paper.yaml looks
    given = [str(ROOT / word) if word.startswith("config/") else word for word in command.split()[1:]]
    program = str(Path(sys.executable).with_name("snakemake"))
    return [program, *given, "--snakefile", str(ROOT / "Snakefile"), "--dry-run"]


def test_every_shell_command_of_the_readme_runs(tmp_path: Path) -> None:
    """In an empty folder, in order; `make` targets have tests of their own, or are what runs this."""
    ran = 0
    for block in blocks("sh"):
        for line in block.splitlines():
            command = line.partition("#")[0].strip()
            if command.startswith("icb "):
                program = [str(Path(sys.executable).with_name("icb")), *command.split()[1:]]
            elif command.startswith("python -m datasets "):
                program = [sys.executable, *command.split()[1:]]
            elif command.startswith("snakemake"):
                program = snakemake(command, tmp_path)
            else:
                assert re.fullmatch(r"(make [a-z-]+|git clone \S+.*|cd \S+|source \S+|)", command), command
                continue
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
            assert done.returncode == 0, f"{command}\n{done.stderr}"
            ran += 1
    assert ran >= 6


@pytest.mark.slow
def test_make_demo_says_where_its_report_is() -> None:
    done = subprocess.run(["make", "demo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (page,) = re.findall(r"Look at (\S+/index\.html)", done.stdout)
    assert "Blur formation" in Path(page).read_text()


def test_every_snippet_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    snippets = blocks("python")
    assert snippets
    names: dict[str, object] = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), names)


def test_make_without_rights_prints_the_command_and_leaves_nothing(tmp_path: Path) -> None:
    """As somebody who is not root, on a machine where a system library is missing."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, body in {"id": "echo 1000", "ldconfig": "echo", "apt-get": "echo must not run >&2; exit 9"}.items():
        (tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (tools / name).chmod(0o755)
    copy = tmp_path / "copy"
    (copy / ".ci").mkdir(parents=True)
    for name in (".ci/setup", "pyproject.toml", "constraints.txt"):
        (copy / name).write_text((ROOT / name).read_text())
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "PYTHON": sys.executable, "HOME": str(tmp_path)}
    done = subprocess.run(["bash", ".ci/setup"], cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(r"apt-get update && apt-get install -y --no-install-recommends .*libusb-1\.0-0", done.stderr)
    assert "must not run" not in done.stderr
    assert sorted(path.name for path in copy.iterdir()) == [".ci", "constraints.txt", "pyproject.toml"]
