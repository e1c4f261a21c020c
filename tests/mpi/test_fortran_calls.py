"""Calls of mpi_f08 may leave their last argument out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = pytest.mark.compiler


def test_calls_without_an_error_code_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("needs gfortran: apt-get install gfortran")
    monkeypatch.chdir(tmp_path)
    lines = ["program p", "  use mpi_f08", "  call MPI_Init()", "  print '(l1)', MPI_Wtime() > 0",
             "  call MPI_Finalize()", "end program", ""]  # fmt: skip
    Path("p.f90").write_text("\n".join(lines))
    record = Simulated().run(Job(build(["p.f90"]), machines.load("ksr1"), RunPoint(processors=2)))
    assert (record.status, record.message, record.stdout) == ("ok", "", "T\nT\n")
