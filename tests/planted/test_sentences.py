"""Sentences about a loss beyond its location: how a loop allocates iterations, which call, or that nothing is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from scalegraph.analyze import culprits, verdicts, whatif
from scalegraph.analyze.loops.dealing import dealing
from scalegraph.base.loops import LoopCost
from scalegraph.base.run import Region, RunPoint, RunRecord
from scalegraph.link.build import BuiltSource
from scalegraph.link.static_loops import with_schedules
from scalegraph.request import Session
from scalegraph.request.model.request import MachineChoice, ProgramChoice, Request

LOOPS = """
#define MANY 500
int few = 3;
void f(int n) {
#pragma omp parallel for
    for (int i = 0; i < few; i++) a[i] = i;
#pragma omp parallel for schedule(static, MANY)
    for (int i = MANY - 1; i >= 0; i -= 2) a[i] = i;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) a[i] = i;
#pragma omp parallel for schedule(dynamic, 1000)
    for (int i = 0; i < MANY; i++) a[i] = i;
#pragma omp parallel for collapse(2)
    for (int i = 0; i < 2; i++) for (int k = 0; k < 2; k++) a[i] = k;
}
"""


def _loops(text: str, *lines: int) -> list[Region]:
    regions = [Region(id=at, kind="for", name="for", file="a.c", line=at, end_line=at + 1) for at in lines]
    return list(with_schedules(regions, [BuiltSource("a.c", text, text)]))


def test_the_text_of_a_static_loop_says_its_schedule_and_iterations() -> None:
    found = [(one.schedule, one.iterations) for one in _loops(LOOPS, 5, 7, 9, 11, 13)]
    assert found == [("static", 3), ("static,500", 250), ("static", None), ("", None), ("static", None)]
    assert _loops(LOOPS.replace("int few = 3;", "int few = 3; few++;"), 5)[0].iterations is None
    fortran = "\n!$omp parallel do schedule(static, 10)\ndo i = 1, 100, 3\n"
    assert [(one.schedule, one.iterations) for one in _loops(fortran, 2)] == [("static,10", 34)]
    assert _loops(LOOPS.replace("parallel for\n", "parallel for num_threads(2)\n", 1), 5)[0].iterations is None


def test_a_loop_with_fewer_chunks_than_threads_says_so() -> None:
    cost = LoopCost(
        file="a.c",
        line=5,
        schedule="dynamic,1000",
        iterations=500,
        executions=2,
        members=16,
        processor=(0,),
        entered=(2,),
        chunks={"central": (2,)},
        body=(9,),
        stall=(0,),
        asking=(0,),
        lock=(0,),
        ending=(0,),
    )
    run = RunRecord.model_construct(point=RunPoint(processors=16), loops=(cost,), processes=None)
    asked = Region(id=1, kind="for", name="for", file="a.c", line=5)
    words = "schedule(dynamic,1000) makes 1 chunk of 500 iterations for 16 threads, which leaves 15 without any"
    assert dealing(run, asked) == words
    static = Region(id=2, kind="for", name="for", file="a.c", line=9, schedule="static", iterations=3)
    words = "schedule(static) makes 3 chunks of 3 iterations for 16 threads, which leaves 13 without any"
    assert dealing(run, static) == words
    assert dealing(run, static.model_copy(update={"iterations": 64})).endswith(
        "16 chunks of 64 iterations for 16 threads"
    )


COUNTED = """
#include <stdlib.h>
static double a[1000];
static double work(int n)
{
    double x = n;
    for (int k = 0; k < n; k++)
        x = x * 0.999 + 1.0;
    return x;
}
static void run(int n, int c)
{
#pragma omp parallel for
    for (int i = 0; i < n; i++)
        a[i] = work(90000);
#pragma omp parallel for schedule(static, c)
    for (int i = 0; i < 10 * n; i += 2)
        a[i] += work(9000);
}
int main(int argc, char **argv)
{
    run(atoi(argv[1]), 5);
    return a[3] == 42;
}
"""


@pytest.mark.slow
@pytest.mark.compiler
def test_static_loops_whose_bounds_are_variables_are_counted_when_culprits_are_checked(tmp_path: Path) -> None:
    (tmp_path / "few.c").write_text(COUNTED, encoding="utf-8")
    request = Request(
        program=ProgramChoice(sources=("few.c",), directory=str(tmp_path), args=("5",)),
        machine=MachineChoice(name="server-2x32"),
        processors=(1, 8),
        verify=True,
    )
    with Session().submit(request, None) as study:
        found = culprits.of_largest(study.runs(), study.manifest.regions, list(study.variants()))
        assert len(study.variants()) == 3  # two places made free, and the run that counts, once more
        assert all(one.ok for one in study.variants())
        assert len(whatif.compared(study.runs(), study.variants())) == 2
    assert found is not None
    said = {line: how for line, how in zip(found[1]["line"], found[1]["dealing"], strict=True) if how}
    words = "chunks of {} iterations for 8 threads, which leaves 3 without any"
    assert said[13] == f"schedule(static) makes 5 {words.format(5)}"
    assert said[16] == f"schedule(static,5) makes 5 {words.format(25)}"


FORTRAN = """program lines
  use mpi
  implicit none
  integer :: e, r, n, q(2), st(mpi_status_size, 2)
  real(8) :: x(100), y(100)
  call mpi_init(e)
  call mpi_comm_rank(mpi_comm_world, r, e); call mpi_comm_size(mpi_comm_world, n, e)
  x = r
  call mpi_irecv(y, 100, mpi_double_precision, mod(r+n-1,n), 3, mpi_comm_world, q(1), e)
  call mpi_isend(x, 100, mpi_double_precision, mod(r+1,n), 3, mpi_comm_world, q(2), e)

  call mpi_waitall(2, q, st, e)
  call mpi_barrier(mpi_comm_world, e); call mpi_bcast(x, 100, mpi_double_precision, 0, mpi_comm_world, e)
  call mpi_finalize(e)
end program
"""


@pytest.mark.slow
@pytest.mark.compiler
@pytest.mark.skipif(shutil.which("gfortran") is None, reason="needs gfortran")
def test_fortran_calls_are_at_their_lines_and_those_of_one_line_have_their_names(tmp_path: Path) -> None:
    (tmp_path / "lines.f90").write_text(FORTRAN, encoding="utf-8")
    request = Request(
        program=ProgramChoice(sources=("lines.f90",), directory=str(tmp_path)),
        machine=MachineChoice(name="cluster-hdr"),
        processors=(4,),
        reference=False,
    )
    with Session().submit(request, None) as study:
        run = study.runs()[0]
        found = culprits.of_largest([run], study.manifest.regions)
    assert run.ok, run.message
    calls = {(one.call, one.line) for one in run.delays if one.file}
    assert {("MPI_Init", 6), ("MPI_Finalize", 14), ("MPI_Barrier", 13), ("MPI_Bcast", 13)} <= calls
    assert {line for _, line in calls} <= {6, 9, 10, 12, 13, 14}
    assert found is not None
    assert "MPI_" in verdicts.lost(found[1], 4)[0].text  # without a one-processor run, too


HALO = """
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int rank, ranks, rows = 96;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int mine = rows / ranks, up = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, down = rank ? rank - 1 : MPI_PROC_NULL;
    double *u = calloc((mine + 2) * 64, sizeof *u), x = rank;
    for (int step = 0; step < 3; step++) {
        for (int i = 64; i < (mine + 1) * 64; i++)
            for (int k = 0; k < 900; k++)
                u[i] = u[i] * 0.5 + x;
        MPI_Sendrecv(u + mine * 64, 64, MPI_DOUBLE, up, 0, u, 64, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return u[64] == 42;
}
"""


@pytest.mark.slow
@pytest.mark.compiler
def test_nothing_is_wrong_with_a_balanced_halo(tmp_path: Path) -> None:
    (tmp_path / "halo.c").write_text(HALO, encoding="utf-8")
    request = Request(
        program=ProgramChoice(sources=("halo.c",), directory=str(tmp_path)),
        machine=MachineChoice(name="cluster-hdr"),
        processors=(1, 4),
        verify=True,
    )
    with Session().submit(request, None) as study:
        found = culprits.of_largest(study.runs(), study.manifest.regions)
        assert not study.variants()  # nothing to check
    assert found is not None
    assert verdicts.lost(found[1], 4)[0].text.startswith("On 4 processors nothing is wrong: ")
