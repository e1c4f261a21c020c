"""Calls of mpi_f08 may omit their last argument."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint
from scalegraph.control import build
from scalegraph.link import Job, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


def test_calls_without_an_error_code_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("needs gfortran: apt-get install gfortran")
    monkeypatch.chdir(tmp_path)
    lines = [
        "program p",
        "  use mpi_f08",
        "  call MPI_Init()",
        "  print '(l1)', MPI_Wtime() > 0",
        "  call MPI_Finalize()",
        "end program",
        "",
    ]
    Path("p.f90").write_text("\n".join(lines))
    record = Simulated().run(Job(build(["p.f90"]), machines.load("ksr1"), RunPoint(processors=2)))
    assert (record.status, record.message, record.stdout) == ("ok", "", "T\nT\n")


HANDLER = """
program p
  use mpi_f08
  procedure(MPI_File_errhandler_function) :: note
  type(MPI_Errhandler) :: handler
  type(MPI_File) :: file
  integer :: ierror
  call MPI_Init()
  call MPI_File_create_errhandler(note, handler)
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler)
  call MPI_File_open(MPI_COMM_WORLD, 'none', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  print '(l1)', ierror == MPI_SUCCESS
  call MPI_Finalize()
end program

subroutine note(file, error_code)
  use mpi_f08
  type(MPI_File) :: file
  integer :: error_code
  print '(2l1)', file == MPI_FILE_NULL, error_code == MPI_ERR_NO_SUCH_FILE
  error_code = MPI_SUCCESS
end subroutine
"""


def test_functions_of_the_programs_have_the_interfaces_of_mpi_f08(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("gfortran") is None:
        pytest.skip("needs gfortran: apt-get install gfortran")
    monkeypatch.chdir(tmp_path)
    Path("p.f90").write_text(HANDLER)
    record = Simulated().run(Job(build(["p.f90"]), machines.load("ksr1"), RunPoint(processors=1)))
    assert (record.status, record.message, record.stdout) == ("ok", "", "TT\nT\n")
