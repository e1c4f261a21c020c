"""The commands of the how-to guides run, and name the places that the guides show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GUIDES = sorted(path.stem for path in (Path(__file__).parents[2] / "docs" / "howto").glob("*.md"))
_FILE = re.compile(r'^```\w+ title="([\w.]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PLACE = re.compile(r"\b[\w.]+\.(?:c|cpp|f90):\d+\b")
NEEDS = {
    "fortran-makefile": ("gfortran", "make"),
    "cpp-threads": ("g++",),
    "measure-a-command": ("xz", "sort", "mpirun"),
}


@pytest.mark.slow(6)
@pytest.mark.compiler
@pytest.mark.parametrize("name", [name for name in GUIDES if name != "index"])
def test_the_commands_of_a_guide_run_and_find_what_it_shows(name: str, root: Path, tmp_path: Path) -> None:
    for tool in NEEDS.get(name, ()):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    if name == "otf2-trace":
        pytest.importorskip("otf2")
        for sample in ("pipeline.otf2", "pipeline.def"):
            shutil.copy(root / "traces" / sample, tmp_path)
        shutil.copytree(root / "traces" / "pipeline", tmp_path / "pipeline")
    page = (root / "docs" / "howto" / f"{name}.md").read_text()
    for file, text in _FILE.findall(page):
        (tmp_path / file).write_text(text)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    said = ""
    for command in _commands(page):
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        said += done.stdout
    missing = {place for block in _CONSOLE.findall(page) for place in _PLACE.findall(block)} - set(_PLACE.findall(said))
    assert not missing, said


def _commands(page: str) -> list[str]:
    lines = "".join(_CONSOLE.findall(page)).splitlines()
    found = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    assert found
    return found


def test_the_list_of_guides_names_all(root: Path) -> None:
    listed = re.findall(r"\]\(([\w-]+)\.md\)", (root / "docs" / "howto" / "index.md").read_text())
    assert sorted(listed) == [name for name in GUIDES if name != "index"]
