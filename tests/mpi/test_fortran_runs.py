"""MPI from Fortran: by mpif.h, by the module mpi and by mpi_f08 the same calls, with the results of C."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Job, Simulated

WAYS = {
    "mpif": ("", "include 'mpif.h'", ", ierr"),
    "mpi": ("use mpi", "", ", ierr"),
    "mpi_f08": ("use mpi_f08", "", ""),
}
DECLARED = {
    "status": ("integer :: status(MPI_STATUS_SIZE), both(MPI_STATUS_SIZE, 2)", "type(MPI_Status) :: status, both(2)"),
    "handles": (
        "integer :: requests(2), row, line",
        "type(MPI_Request) :: requests(2)\n  type(MPI_Datatype) :: row\n  type(MPI_Comm) :: line",
    ),
    "from": ("status(MPI_SOURCE)", "status%MPI_SOURCE"),
}  # fmt: skip
PROGRAM = """
program all_ways
  {use}
  implicit none
  {include}
  integer :: ierr, rank, ranks, left, right, length, index, got
  {status}
  {handles}
  double precision :: values(4), sums(4), table(3, 2), start
  logical :: known
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=20) :: text
  integer(kind=MPI_ADDRESS_KIND) :: most
  call MPI_Init({only})
  start = MPI_Wtime()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank{ierr})
  call MPI_Comm_size(MPI_COMM_WORLD, ranks{ierr})
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  values = rank
  call MPI_Irecv(sums, 4, MPI_DOUBLE_PRECISION, left, 7, MPI_COMM_WORLD, requests(1){ierr})
  call MPI_Isend(values, 4, MPI_DOUBLE_PRECISION, right, 7, MPI_COMM_WORLD, requests(2){ierr})
  call MPI_Waitall(2, requests, both{ierr})
  if (any(sums /= left)) print *, 'wrong values', sums
  call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD{ierr})
  if (any(values /= ranks * (ranks - 1) / 2)) print *, 'wrong sum', values
  call MPI_Type_vector(2, 1, 3, MPI_DOUBLE_PRECISION, row{ierr})
  call MPI_Type_commit(row{ierr})
  table = rank
  if (rank == 0) then
    call MPI_Send(table, 1, row, ranks - 1, 8, MPI_COMM_WORLD{ierr})
  else if (rank == ranks - 1) then
    call MPI_Recv(table(2, 1), 1, row, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status{ierr})
    call MPI_Get_count(status, row, got{ierr})
    if (any(table(2, :) /= 0) .or. any(table(1, :) /= rank) .or. got /= 1 .or. {from} /= 0) print *, 'wrong row'
  end if
  call MPI_Irecv(sums, 1, MPI_DOUBLE_PRECISION, left, 9, MPI_COMM_WORLD, requests(1){ierr})
  call MPI_Send(values, 1, MPI_DOUBLE_PRECISION, right, 9, MPI_COMM_WORLD{ierr})
  call MPI_Waitany(1, requests, index, MPI_STATUS_IGNORE{ierr})
  if (index /= 1 .or. requests(1) /= MPI_REQUEST_NULL) print *, 'wrong index', index
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, most, known{ierr})
  if (.not. known .or. most < 32767) print *, 'wrong attribute', known, most
  call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, line{ierr})
  call MPI_Comm_set_name(line, 'odd or even  '{ierr})
  call MPI_Comm_get_name(line, text, length{ierr})
  if (text /= 'odd or even' .or. length /= 11) print *, 'wrong name ', text, length
  call MPI_Get_processor_name(name, length{ierr})
  if (length < 1 .or. name(length + 1:) /= '' .or. MPI_Wtime() < start) print *, 'wrong name or time'
  call MPI_Barrier(MPI_COMM_WORLD{ierr})
  if (rank == ranks - 1) print '(a, i0, f8.1)', 'ranks ', ranks, values(1)
  call MPI_Finalize({only})
end program
"""

pytestmark = pytest.mark.compiler


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if shutil.which("gfortran") is None:
        pytest.skip("needs gfortran: apt-get install gfortran")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def program(way: str) -> str:
    """Return the program with the headers and types of *way*."""
    use, include, ierr = WAYS[way]
    types = {name: pair[way == "mpi_f08"] for name, pair in DECLARED.items()}
    return PROGRAM.format(use=use, include=include, ierr=ierr, only=ierr[2:], **types)


def run(place: Path, source: str, ranks: int) -> RunRecord:
    (place / "p.f90").write_text(source)
    made = build(["p.f90"])
    assert made.mpi
    return Simulated().run(Job(made, machines.load("ksr1"), RunPoint(processors=ranks)))


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_mpi_gives_the_same_results(way: str, place: Path) -> None:
    for ranks in (1, 3):
        record = run(place, program(way), ranks)
        assert (record.status, record.message) == ("ok", "")
        assert record.stdout == f"ranks {ranks}{ranks * (ranks - 1) / 2:8.1f}\n"
        assert (record.processes, record.threads_per_process) == (ranks, 1)


def test_functions_that_mpi_3_has_removed_are_served(place: Path) -> None:
    lines = ["program p", "include 'mpif.h'", "integer ierr, extent, low, high, column, pair, a(8), rank",
             "call mpi_init(ierr)", "call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)",
             "call mpi_type_hvector(4, 1, 8, MPI_INTEGER, column, ierr)", "call mpi_type_commit(column, ierr)",
             "call mpi_type_extent(column, extent, ierr)", "call mpi_type_lb(column, low, ierr)",
             "call mpi_type_struct(2, (/1, 1/), (/0, 8/), (/MPI_INTEGER, MPI_REAL/), pair, ierr)",
             "call mpi_type_ub(pair, high, ierr)",
             "call mpi_errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)", "a = (/1, 2, 3, 4, 5, 6, 7, 8/)",
             "if (rank == 0) call mpi_send(a, 1, column, 1, 0, MPI_COMM_WORLD, ierr)",
             "if (rank == 1) call mpi_recv(a, 4, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)",
             "if (rank == 1) print '(7i3)', a(1:4), extent, low, high",
             "call mpi_finalize(ierr)", "end", ""]  # fmt: skip
    record = run(place, "\n".join(lines), 2)
    assert (record.status, record.stdout) == ("ok", "  1  3  5  7 28  0 12\n")


def test_fixed_form_takes_the_same_header(place: Path) -> None:
    lines = ["      program p", "      include 'mpif.h'", "      integer ierr, n", "      call mpi_init(ierr)",
             "      call mpi_comm_size(MPI_COMM_WORLD, n, ierr)", "      if (n .ne. 2) stop 1",
             "      call mpi_finalize(ierr)", "      end", ""]  # fmt: skip
    (place / "p.f").write_text("\n".join(lines))
    record = Simulated().run(Job(build(["p.f"]), machines.load("ksr1"), RunPoint(processors=2)))
    assert (record.status, record.message) == ("ok", "")


@pytest.mark.parametrize("way", WAYS)
def test_a_wrong_call_is_named_with_the_line_of_the_fortran_program(way: str, place: Path) -> None:
    use, include, ierr = WAYS[way]
    calls = [f"call MPI_Init({ierr[2:]})", "", f"call MPI_Send(n, 1, MPI_INTEGER, 7, 0, MPI_COMM_WORLD{ierr})"]
    lines = ["program p", use, include, "integer :: n, ierr", "n = 1", *calls, "print *, n", "end program", ""]
    record = run(place, "\n".join(lines), 2)
    assert record.status != "ok"
    assert "MPI_Send" in record.message
    assert "p.f90:8" in record.message


def test_time_is_charged_to_the_lines_of_fortran_that_call_mpi(place: Path) -> None:
    lines = ["program p", "use mpi", "integer :: n, ierr", "n = 1", "call MPI_Init(ierr)",
             "do n = 1, 100", "call MPI_Barrier(MPI_COMM_WORLD, ierr)", "end do", "call MPI_Finalize(ierr)",
             "end program", ""]  # fmt: skip
    record = run(place, "\n".join(lines), 4)
    passing = {line.line: line.primitive for line in record.lines}
    assert passing[7] > 0.8 * sum(record.categories[name] for name in ("prim_send", "prim_receive", "prim_pack"))
