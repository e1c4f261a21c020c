"""Our compilers build for this computer, too; programs for one target do not run on another."""

import subprocess
import sys
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import InputError
from scalegraph.base.run import RunPoint
from scalegraph.control import adopt
from scalegraph.link import Job, Measuring
from scalegraph.link.targets import named

pytestmark = pytest.mark.slow

PROGRAM = """
#include <stdio.h>
static double sum(int n) { double s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void) { printf("%g\\n", sum(1000)); return 0; }
"""


def compiler(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run scalegraph-cc in *place*."""
    command = [sys.executable, "-m", "scalegraph.toolchain.wrapper", "c", *words]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)


def test_a_program_built_for_the_host_has_regions_and_is_measured(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    assert compiler(tmp_path, "--for", "host", "-O3", "-c", "p.c").returncode == 0
    assert compiler(tmp_path, "--for=host", "p.o", "-o", "prog").returncode == 0
    built = adopt("prog", cwd=tmp_path, builds="host")
    assert {region.name for region in built.regions if region.kind == "function"}
    job = Job(built, machines.load("ksr1"), RunPoint(processors=1, target="host"), measuring=Measuring("none"))
    record = named("host").run(job)
    assert (record.status, record.stdout) == ("ok", "499500\n")
    assert record.regions
    with pytest.raises(InputError, match="was not built for the simulator"):
        adopt("prog", cwd=tmp_path)


def test_another_target_of_a_compiler_is_refused(tmp_path: Path) -> None:
    made = compiler(tmp_path, "--for", "moon", "p.c")
    assert made.returncode == 1
    assert "--for moon: expected simulated or host" in made.stderr


def test_a_program_that_was_not_built_for_the_host_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM, encoding="utf-8")
    subprocess.run(["gcc", "p.c", "-o", "plain"], cwd=tmp_path, check=True)
    with pytest.raises(InputError, match="was not built for this computer"):
        adopt("plain", cwd=tmp_path, builds="host")
