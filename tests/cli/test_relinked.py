"""A study can be continued with a relinked program, but not with a different one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scalegraph.store import Study

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

SOURCE = """
#include <stdio.h>
static const char linked[] = __DATE__ " " __TIME__;
int main(void)
{
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < COUNT; i++)
        sum += i;
    printf("%ld of %s\\n", sum, linked);
    return 0;
}
"""
REQUEST = """
processors = [1, 2COUNTS]
[program]
executable = "./prog"
[machine]
name = "server-2x32-inorder"
"""


def link(date: str, count: int = 1000) -> bytes:
    """Link the program with the timestamp *date*, in seconds since 1970; return the executable."""
    command = [sys.executable, "-m", "scalegraph.toolchain.wrapper", "c", "-g", "-O2", "-fopenmp", f"-DCOUNT={count}"]
    environment = os.environ | {"SOURCE_DATE_EPOCH": date}
    subprocess.run([*command, "-Wl,--build-id=uuid", "prog.c", "-o", "prog"], env=environment, check=True)
    return Path("prog").read_bytes()


def processors() -> list[int]:
    with Study.open(Path("a.sgstudy")) as study:
        return sorted(run.point.processors for run in study.runs())


def test_a_program_that_was_linked_again_is_the_same_program(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.c").write_text(SOURCE)
    Path("a.toml").write_text(REQUEST.replace("COUNTS", ""))
    first = link("1000000000")
    code, _, err = call("run", "a.toml", "--trust")
    assert code == 0, err
    assert link("1700000000") != first
    Path("a.toml").write_text(REQUEST.replace("COUNTS", ", 4"))
    code, _, err = call("run", "a.toml", "--trust")
    assert code == 0, err
    assert processors() == [1, 2, 4]
    link("1700000000", count=999)
    Path("a.toml").write_text(REQUEST.replace("COUNTS", ", 4, 8"))
    code, _, err = call("run", "a.toml", "--trust")
    assert code == 2
    assert "holds 3 runs of another program" in err
    assert processors() == [1, 2, 4]


def test_a_study_that_knows_an_executable_by_its_file_goes_on(
    call: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.c").write_text(SOURCE)
    Path("a.toml").write_text(REQUEST.replace("COUNTS", ""))
    link("1000000000")
    assert call("run", "a.toml", "--trust")[0] == 0
    digest = subprocess.run(["sha256sum", "prog"], capture_output=True, text=True, check=True).stdout.split()[0]
    with Study.open(Path("a.sgstudy"), write=True) as study:
        identity = study.manifest.identity | {"program": digest}
        study.set_manifest(study.manifest.model_copy(update={"identity": identity}))
    Path("a.toml").write_text(REQUEST.replace("COUNTS", ", 4"))
    code, _, err = call("run", "a.toml", "--trust")
    assert code == 0, err
    assert processors() == [1, 2, 4]
