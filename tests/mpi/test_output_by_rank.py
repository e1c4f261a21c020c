"""What each rank of an MPI program printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scalegraph import control, machine
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.cli import main as entry
from scalegraph.link import Job, Simulated

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

PROGRAM = r"""
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
static void list(const char *format, ...)
{
    va_list all;
    va_start(all, format);
    vprintf(format, all);
    va_end(all);
}
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < 3; turn++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 2 - turn || turn == 1) {
            printf("turn %d of rank %d\n", turn, rank);
            puts("\xc3\xa4");
            list("%d,", rank);
            fputs("text ", stdout);
            putchar('c');
            fwrite("[four]", 1, 6, stdout);
            fputc('\n', stdout);
            fprintf(stderr, "not here\n");
        }
        if (rank == 0)
            fflush(stdout);
    }
    MPI_Finalize();
}
"""
STREAM = r"""
#include <mpi.h>
#include <iostream>
int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::cout << "rank " << rank << std::endl;
    MPI_Finalize();
}
"""


def _turn(number: int, rank: int) -> str:
    return f"turn {number} of rank {rank}\nä\n{rank},text c[four]\n"


def _run(source: Path, ranks: int) -> RunRecord:
    record = Simulated().run(Job(control.build([source]), machine.load("ncube2"), RunPoint(processors=ranks)))
    assert record.ok, record.message
    return record


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "prints.c"
    path.write_text(PROGRAM)
    return path


def test_it_is_known_which_rank_printed_what(source: Path) -> None:
    record = _run(source, 4)
    assert record.rank_output == (_turn(1, 0) + _turn(2, 0), _turn(1, 1), _turn(0, 2) + _turn(1, 2), _turn(1, 3))
    assert sorted("".join(record.rank_output)) == sorted(record.stdout)
    assert record.stderr.count("not here") == 6


def test_one_process_printed_all(source: Path) -> None:
    record = _run(source, 1)
    assert record.stdout
    assert record.rank_output == (record.stdout,)


def test_what_was_not_written_with_streams_of_c_is_not_guessed(tmp_path: Path) -> None:
    path = tmp_path / "stream.cpp"
    path.write_text(STREAM)
    record = _run(path, 2)
    assert record.stdout.count("rank") == 2
    assert record.rank_output in (None, ("rank 0\n", "rank 1\n"))


def test_the_command_line_and_json_have_it(source: Path, capfd: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", str(source), "-p", "2", "--machine", "ncube2", "--no-reference"]
    assert entry.run([*arguments, "--output-by-rank"]) == 0
    assert f"--- rank 1\n{_turn(1, 1)}" in capfd.readouterr().out
    assert entry.run([*arguments, "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["runs"][-1]["stdout_by_rank"] == [_turn(1, 0) + _turn(2, 0), _turn(1, 1)]
