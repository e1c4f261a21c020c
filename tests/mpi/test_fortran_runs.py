"""MPI from Fortran: mpif.h and the modules mpi and mpi_f08 offer the same calls, with the results of C."""

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
}
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

pytestmark = [pytest.mark.slow, pytest.mark.compiler]


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
    lines = [
        "program p",
        "include 'mpif.h'",
        "integer ierr, extent, low, high, column, pair, a(8), rank",
        "call mpi_init(ierr)",
        "call mpi_comm_rank(MPI_COMM_WORLD, rank, ierr)",
        "call mpi_type_hvector(4, 1, 8, MPI_INTEGER, column, ierr)",
        "call mpi_type_commit(column, ierr)",
        "call mpi_type_extent(column, extent, ierr)",
        "call mpi_type_lb(column, low, ierr)",
        "call mpi_type_struct(2, (/1, 1/), (/0, 8/), (/MPI_INTEGER, MPI_REAL/), pair, ierr)",
        "call mpi_type_ub(pair, high, ierr)",
        "call mpi_errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierr)",
        "a = (/1, 2, 3, 4, 5, 6, 7, 8/)",
        "if (rank == 0) call mpi_send(a, 1, column, 1, 0, MPI_COMM_WORLD, ierr)",
        "if (rank == 1) call mpi_recv(a, 4, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)",
        "if (rank == 1) print '(7i3)', a(1:4), extent, low, high",
        "call mpi_finalize(ierr)",
        "end",
        "",
    ]
    record = run(place, "\n".join(lines), 2)
    assert (record.status, record.stdout) == ("ok", "  1  3  5  7 28  0 12\n")


def test_fixed_form_takes_the_same_header(place: Path) -> None:
    lines = [
        "      program p",
        "      include 'mpif.h'",
        "      integer ierr, n",
        "      call mpi_init(ierr)",
        "      call mpi_comm_size(MPI_COMM_WORLD, n, ierr)",
        "      if (n .ne. 2) stop 1",
        "      call mpi_finalize(ierr)",
        "      end",
        "",
    ]
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
    lines = [
        "program p",
        "use mpi",
        "integer :: n, ierr",
        "n = 1",
        "call MPI_Init(ierr)",
        "do n = 1, 100",
        "call MPI_Barrier(MPI_COMM_WORLD, ierr)",
        "end do",
        "call MPI_Finalize(ierr)",
        "end program",
        "",
    ]
    record = run(place, "\n".join(lines), 4)
    passing = {line.line: line.primitive for line in record.lines}
    assert passing[7] > 0.8 * sum(record.categories[name] for name in ("prim_send", "prim_receive", "prim_pack"))


FUNCTIONS = """
subroutine copy_it(comm, key, extra, before, after, flag, ierr)
  integer :: comm, key, extra, before, after, ierr
  logical :: flag
  after = before + extra
  flag = .true.
  ierr = 0
end subroutine
subroutine delete_it(comm, key, before, extra, ierr)
  integer :: comm, key, before, extra, ierr
  print '(a, i0)', 'deleted ', before
  ierr = 0
end subroutine
subroutine ask(extra, status, ierr)
  use mpi
  integer :: status(MPI_STATUS_SIZE), ierr
  integer(kind=MPI_ADDRESS_KIND) :: extra
  status(MPI_SOURCE) = int(extra)
  status(MPI_TAG) = 5
  call MPI_Status_set_elements(status, MPI_INTEGER, 2, ierr)
  call MPI_Status_set_cancelled(status, .false., ierr)
end subroutine
subroutine let_go(extra, ierr)
  use mpi
  integer(kind=MPI_ADDRESS_KIND) :: extra
  integer :: ierr
  print '(a, i0)', 'freed ', extra
  ierr = 0
end subroutine
subroutine stop_it(extra, complete, ierr)
  use mpi
  integer(kind=MPI_ADDRESS_KIND) :: extra
  logical :: complete
  integer :: ierr
  ierr = 0
end subroutine
program functions
  use mpi
  implicit none
  external :: copy_it, delete_it, ask, let_go, stop_it
  integer :: ierr, key, twin, got, request, status(MPI_STATUS_SIZE), row, integers(3), types(1), size
  integer(kind=MPI_ADDRESS_KIND) :: addresses(1)
  logical :: flag
  complex(8) :: z
  real :: table(2, 3)
  call MPI_Init(ierr)
  call MPI_Keyval_create(copy_it, delete_it, key, 30, ierr)
  call MPI_Attr_put(MPI_COMM_SELF, key, 12, ierr)
  call MPI_Comm_dup(MPI_COMM_SELF, twin, ierr)
  call MPI_Attr_get(twin, key, got, flag, ierr)
  print '(l1, i3)', flag, got
  call MPI_Comm_free(twin, ierr)
  call MPI_Attr_delete(MPI_COMM_SELF, key, ierr)
  call MPI_Keyval_free(key, ierr)
  call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, key, 0, ierr)
  call MPI_Attr_put(MPI_COMM_SELF, key, 77, ierr)
  call MPI_Comm_dup(MPI_COMM_SELF, twin, ierr)
  call MPI_Attr_get(twin, key, got, flag, ierr)
  print '(l1, i3)', flag, got
  call MPI_Grequest_start(ask, let_go, stop_it, 9_MPI_ADDRESS_KIND, request, ierr)
  call MPI_Grequest_complete(request, ierr)
  call MPI_Wait(request, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, got, ierr)
  print '(3i3)', status(MPI_SOURCE), status(MPI_TAG), got
  call MPI_Type_vector(2, 1, 3, MPI_REAL, row, ierr)
  call MPI_Type_get_contents(row, 3, 0, 1, integers, addresses, types, ierr)
  print '(3i3, l2)', integers, types(1) == MPI_REAL
  call MPI_Sizeof(z, size, ierr)
  call MPI_Sizeof(table, got, ierr)
  print '(2i3)', size, got
  call MPI_Finalize(ierr)
end program
"""


def test_functions_of_the_program_are_called_with_their_own_kinds_of_integers(place: Path) -> None:
    record = run(place, FUNCTIONS, 1)
    said = ["T 42", "deleted 42", "deleted 12", "T 77", "freed 9", "  9  5  2", "  2  1  3 T", " 16  4"]
    assert (record.status, record.message, record.stdout.splitlines()) == ("ok", "", said)


GRAPH = """
program graph
  {use}
  implicit none
  {include}
  integer :: rank, ranks, from(1), to(1), into, out, weights(1), others(1), got(1), ierr
  {comm}
  logical :: weighted
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  from = mod(rank + ranks - 1, ranks)
  to = mod(rank + 1, ranks)
  weights = 10 + rank
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, weights, 1, to, weights + 5, MPI_INFO_NULL, .false., &
    ring, ierr)
  call MPI_Dist_graph_neighbors_count(ring, into, out, weighted, ierr)
  call MPI_Dist_graph_neighbors(ring, 1, from, others, 1, to, got, ierr)
  if (.not. weighted .or. others(1) /= 10 + rank .or. got(1) /= 15 + rank .or. into /= 1) print *, 'wrong weights'
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, &
    MPI_INFO_NULL, .false., ring, ierr)
  call MPI_Dist_graph_neighbors_count(ring, into, out, weighted, ierr)
  if (weighted .or. out /= 1) print *, 'weights that were not given'
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, ring, ierr)
  if (rank == 2) print '(i0)', got(1)
  call MPI_Finalize(ierr)
end program
"""


@pytest.mark.parametrize("way", WAYS)
def test_graphs_have_the_weights_that_the_program_gives_or_none(way: str, place: Path) -> None:
    use, include, _ = WAYS[way]
    comm = "type(MPI_Comm) :: ring" if way == "mpi_f08" else "integer :: ring"
    record = run(place, GRAPH.format(use=use, include=include, comm=comm), 3)
    assert (record.status, record.message, record.stdout) == ("ok", "", "1\n")


INFO = """
program infos
  {use}
  implicit none
  {include}
  {kind} :: info
  integer :: length, ierr
  logical :: flag
  character(len=6) :: text
  call MPI_Init(ierr)
  call MPI_Info_create(info, ierr)
  call MPI_Info_set(info, 'key', 'value', ierr)
  text = 'before'
  call MPI_Info_get(info, 'other', 6, text, flag, ierr)
  print '(l1, 1x, a)', flag, text
  length = 6
  call MPI_Info_get_string(info, 'other', length, text, flag, ierr)
  print '(l1, i2, 1x, a)', flag, length, text
  length = 0
  call MPI_Info_get_string(info, 'key', length, text, flag, ierr)
  print '(l1, i2, 1x, a)', flag, length, text
  length = 3
  call MPI_Info_get_string(info, 'key', length, text, flag, ierr)
  print '(l1, i2, 1x, a)', flag, length, text
  call MPI_Info_get(info, 'key', 6, text, flag, ierr)
  print '(l1, 1x, a)', flag, text
  call MPI_Info_free(info, ierr)
  call MPI_Finalize(ierr)
end program
"""


@pytest.mark.parametrize("way", WAYS)
def test_values_of_infos_stay_where_there_is_none_and_lengths_have_no_end_of_string(way: str, place: Path) -> None:
    use, include, _ = WAYS[way]
    kind = "type(MPI_Info)" if way == "mpi_f08" else "integer"
    record = run(place, INFO.format(use=use, include=include, kind=kind), 1)
    said = ["F before", "F 6 before", "T 5 before", "T 5 val   ", "T value "]
    assert (record.status, record.message, record.stdout.splitlines()) == ("ok", "", said)


CRASH = """
program crash
  use mpi
  implicit none
  integer, pointer :: nothing(:)
  integer :: ierr
  call MPI_Init(ierr)
  nullify(nothing)
  nothing(1) = ierr
end program
"""


def test_a_crash_is_named_with_the_line_of_the_fortran_program(place: Path) -> None:
    record = run(place, CRASH, 2)
    assert record.status == "crashed"
    assert "rank 0: the program ended with SIGSEGV (invalid memory access) on processor 0 at p.f90:9" in record.message
