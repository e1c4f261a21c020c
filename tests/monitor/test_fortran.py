"""MPI calls from Fortran with a real library: Open MPI's bindings call PMPI_* instead of MPI_*."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import MissingTool
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Job, Measuring, TraceOrder
from scalegraph.link.targets import named
from scalegraph.link.targets._records import processes
from scalegraph.runtime.compiler import find_compiler
from scalegraph.runtime.format import EVENT, TRACED
from scalegraph.runtime.monitor import library
from scalegraph.runtime.results import read_result
from scalegraph.toolchain import host_mpi as hosts
from scalegraph.traces.checking import check
from scalegraph.traces.kinds import Operation, Wait
from scalegraph.traces.reading import read
from tests.monitor.test_monitor import check_identity, waited

pytestmark = pytest.mark.slow

BODY = """
  integer :: rank, other, turn, ierror, number
  double precision :: out(64), in(64), sums(2)
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  out = 1
  do turn = 1, 3
    if (rank == 0) then
      call MPI_Send(out, turn, MPI_DOUBLE_PRECISION, other, 5, MPI_COMM_WORLD, ierror)
    else
      call MPI_Recv(in, 64, MPI_DOUBLE_PRECISION, other, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierror)
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, number, ierror)
      if (number /= turn) error stop "wrong count"
    end if
  end do
  if (rank == 0) call sleep(1)
  call MPI_Irecv(in, 64, MPI_DOUBLE_PRECISION, other, 6, MPI_COMM_WORLD, all(1), ierror)
  call MPI_Isend(out, 4, MPI_DOUBLE_PRECISION, other, 6, MPI_COMM_WORLD, all(2), ierror)
  call MPI_Waitall(2, all, MPI_STATUSES_IGNORE, ierror)
  call MPI_Sendrecv(out, 5, MPI_DOUBLE_PRECISION, other, 7, in, 64, MPI_DOUBLE_PRECISION, other, 7, &
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  call MPI_Recv_init(in, 64, MPI_DOUBLE_PRECISION, other, 8, MPI_COMM_WORLD, all(1), ierror)
  call MPI_Send_init(out, 6, MPI_DOUBLE_PRECISION, other, 8, MPI_COMM_WORLD, all(2), ierror)
  call MPI_Startall(2, all, ierror)
  do turn = 1, 2
    call MPI_Waitany(2, all, number, MPI_STATUS_IGNORE, ierror)
    if (number < 1 .or. number > 2) error stop "wrong index"
  end do
  call MPI_Request_free(all(1), ierror)
  call MPI_Request_free(all(2), ierror)
  sums = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (any(sums /= 3)) error stop "wrong sum"
  call MPI_Bcast(out, 7, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Finalize(ierror)
end program
"""
OLD = "  integer :: status(MPI_STATUS_SIZE), all(2)\n"
NEW = "  type(MPI_Status) :: status\n  type(MPI_Request) :: all(2)\n"
PROGRAMS = {
    "mpif.h": f"program p\n  implicit none\n  include 'mpif.h'\n{OLD}{BODY}",
    "use mpi": f"program p\n  use mpi\n  implicit none\n{OLD}{BODY}",
    "use mpi_f08": f"program p\n  use mpi_f08\n  implicit none\n{NEW}{BODY}".replace(", ierror)", ")").replace(
        "(ierror)", "()"
    ),
}


LIBRARY = r"""
#include <stddef.h>
#include <mpi.h>
void OF(init)(int *ierror) { *ierror = PMPI_Init(NULL, NULL); }
void OF(finalize)(int *ierror) { *ierror = PMPI_Finalize(); }
void OF(send)(int *to, int *ierror) { *ierror = PMPI_Send(to, 1, MPI_INT, *to, 3, MPI_COMM_WORLD); }
void OF(recv)(int *from, int *ierror)
{
    int got;
    *ierror = PMPI_Recv(&got, 1, MPI_INT, *from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
"""
MAIN = r"""
#include <mpi.h>
void fortran_init(int *), fortran_finalize(int *), fortran_send(int *, int *), fortran_recv(int *, int *);
void other_send(int *, int *), other_recv(int *, int *);
int main(void)
{
    int rank, other, ierror;
    fortran_init(&ierror);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int turn = 0; turn < 5; turn++) {
        if (rank == 0)
            turn < 3 ? fortran_send(&other, &ierror) : other_send(&other, &ierror);
        else
            turn < 3 ? fortran_recv(&other, &ierror) : other_recv(&other, &ierror);
    }
    if (rank == 0)
        PMPI_Send(&rank, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
    else
        MPI_Recv(&rank, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fortran_finalize(&ierror);
    return ierror;
}
"""


@pytest.fixture
def open_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use Open MPI as this computer's library, even if another one is installed."""
    if shutil.which("gfortran") is None:
        pytest.skip("there is no Fortran compiler here")
    places = [Path(one) for one in os.environ["PATH"].split(os.pathsep)]
    found = [place for place in places if (place / "mpifort").exists() and (place / "mpirun").exists()]
    for place in found:
        said = subprocess.run([place / "mpirun", "--version"], capture_output=True, text=True, check=False).stdout
        if "Open MPI" in said:
            break
    else:
        pytest.skip(
            "there is no Open MPI with a compiler for Fortran here (apt-get install libopenmpi-dev openmpi-bin)"
        )
    monkeypatch.setenv("PATH", os.pathsep.join([str(place), *map(str, places)]))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))  # MPICH may be installed with this Python
    hosts.host_mpi.cache_clear()
    hosts._shown.cache_clear()
    assert hosts.host_mpi().open_mpi


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    hosts.host_mpi.cache_clear()
    hosts._shown.cache_clear()


def traced(program: str, place: Path) -> RunRecord:
    (place / "p.f90").write_text(program, encoding="utf-8")
    built = build(["p.f90"], cwd=place, builds="mpi")
    order = TraceOrder(place / "traces", "run", TRACED, identity="x")
    point = RunPoint(processors=2, target="mpi")
    job = Job(built, machines.load("ksr1"), point, measuring=Measuring(pin="none", disturbed=100), trace=order)
    record = named("mpi").run(job)
    assert record.status == "ok", record.message
    return record


@pytest.mark.usefixtures("open_mpi")
@pytest.mark.parametrize("way", PROGRAMS)
def test_calls_from_fortran_are_measured_and_traced_under_open_mpi(way: str, tmp_path: Path) -> None:
    record = traced(PROGRAMS[way], tmp_path)
    check_identity(record)
    assert record.machine == "mpi"
    assert waited(record, "idle_message") > 0.5  # rank 1 waits for rank 0, which sleeps for a second
    assert record.categories["prim_send"] > 0
    assert record.categories["idle_collective"] + record.categories["prim_collective"] > 0
    assert record.trace is not None, record.warnings
    with read(Path(record.trace.path)) as trace:
        assert check(trace).violations == []
        assert [location.name for location in trace.definitions.locations] == ["rank 0", "rank 1"]
        found = trace.columns("messages", ("sender", "receiver", "size", "tag"))
        once = [(0, 1, 8 * turn, 5) for turn in (1, 2, 3)]
        both = [(rank, 1 - rank, 8 * size, tag) for rank in (0, 1) for size, tag in ((4, 6), (5, 7), (6, 8))]
        assert sorted(zip(*(found[name].tolist() for name in found), strict=True)) == sorted(once + both)
        rows = trace.columns("collectives", ("location", "operation", "root", "sent"))
        operations = sorted(zip(*(rows[name].tolist() for name in ("location", "operation", "root")), strict=True))
        each = [(Operation.BARRIER, -1), (Operation.BROADCAST, 1), (Operation.ALL_REDUCE, -1)]
        assert operations == sorted((rank, operation, root) for rank in (0, 1) for operation, root in each)
        assert set(rows["sent"][rows["operation"] == Operation.ALL_REDUCE].tolist()) == {0}  # it is MPI_IN_PLACE
        waits = trace.columns("waits", ("begin", "end", "location", "holder", "why"))
        longest = int(np.argmax((waits["end"] - waits["begin"]) * (waits["why"] == Wait.RECEIVE)))
        assert (int(waits["location"][longest]), int(waits["holder"][longest])) == (1, 0)


def compiled(words: list[str], place: Path) -> None:
    done = subprocess.run([*find_compiler().command, *words], cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_only_what_bindings_for_fortran_call_is_observed_behind_it(tmp_path: Path) -> None:
    """C libraries stand in for the bindings and another part of Open MPI, with any MPI library."""
    try:
        found = hosts.host_mpi()
    except MissingTool as error:
        pytest.skip(str(error))
    compiling, linking = found.options("c")
    observed = library.monitor(find_compiler(), [*compiling, "-DOPEN_MPI"])
    (tmp_path / "library.c").write_text(LIBRARY, encoding="utf-8")
    (tmp_path / "main.c").write_text(MAIN, encoding="utf-8")
    libraries = {"libmpi_mpifh.so": "fortran", "libmpi_other.so": "other"}
    for name, prefix in libraries.items():
        compiled(["-shared", "-fPIC", f"-DOF(x)={prefix}_##x", *compiling, "library.c", "-o", name], tmp_path)
    paths = [str(tmp_path / name) for name in libraries]
    program = ["-no-pie", "-fopenmp", *compiling, "main.c", *observed.link, *paths, *linking, "-o", "program"]
    compiled([*program, f"-Wl,-rpath,{tmp_path}"], tmp_path)
    what = str(1 << TRACED.index("messages"))
    env = {**os.environ, **found.env, "SCALEGRAPH_TRACE_WHAT": what, "SCALEGRAPH_TRACE": str(tmp_path / "records")}
    env["SCALEGRAPH_MONITOR"] = str(tmp_path / "result")
    done = subprocess.run(
        [*found.start(2), str(tmp_path / "program")], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    results = sorted((read_result(path) for path in tmp_path.glob("result.*")), key=lambda one: int(one.meta["rank"]))
    assert [result.meta["rank"] for result in results] == ["0", "1"]  # MPI_Init was observed, too
    sent, taken = (processes(tmp_path / "records", results)[rank].records["event"] for rank in (0, 1))
    assert np.count_nonzero(sent == EVENT["sent"]) == 3
    assert np.count_nonzero(taken == EVENT["taken"]) == 4  # and the program's own calls, in C


def test_whatever_is_observed_of_mpi_is_observed_behind_fortran_too_and_only_under_open_mpi(tmp_path: Path) -> None:
    try:
        compiling = hosts.host_mpi().options("c")[0]
    except MissingTool as error:
        pytest.skip(str(error))
    names: dict[bool, set[str]] = {}
    for behind in {True, hosts.host_mpi().open_mpi}:
        place = tmp_path / str(behind)
        place.mkdir()
        library._build(find_compiler(), place, [*compiling, *(["-DOPEN_MPI"] if behind else [])])
        listed = subprocess.run(
            ["nm", "--defined-only", *place.glob("*.o")], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        names[behind] = {line.split()[-1] for line in listed if " T " in line}
    observed = {name for name in names[True] if name.startswith("MPI_")}
    assert len(observed) > 50
    assert {f"P{name}" for name in observed} == {name for name in names[True] if name.startswith("PMPI_")}
    assert not [name for name in names.get(False, ()) if name.startswith("PMPI_")]
