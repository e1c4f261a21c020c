"""A program's own shared libraries: each rank has its own copy of their static data, like a native process.

The expected output follows from the C standard and the System V ABI: constructors of libraries run before the program,
those of dependencies first, and exit functions run in reverse order.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]
Linked = Callable[..., list[str]]

# A library that another one depends on. It counts its calls, including those from constructors.
BASE = r"""
static int calls = 40;
int base_calls(void) { return ++calls; }
__attribute__((constructor)) static void begin(void) { calls = 0; }
"""
# Zeroed and other data of BYTES bytes, a table that is read-only once it is relocated, memory from a constructor,
# a variable that the linker places in the program, and a function for the end.
LIBRARY = r"""
#include <stdio.h>
#include <stdlib.h>
int base_calls(void);
int shown = -1, begun = 5;
static char data[BYTES] = {1}, zeroed[BYTES];
static int values[3] = {10, 20, 30};
static int *const table[3] = {values, values + 1, values + 2};
typedef struct item { struct item *next; int value; } item;
static item *list;
static void put(int value)
{
    item *i = malloc(sizeof *i);
    *i = (item){list, value};
    list = i;
}
static void end(void)
{
    int length = 0;
    for (item *i = list; i != NULL; i = i->next)
        length++;
    printf("end %d: %d of %d\n", shown, length, begun);
    fflush(stdout);
}
__attribute__((constructor)) static void begin(void)
{
    begun += base_calls();
    for (int i = 0; i < 3; i++)
        put(i);
    atexit(end);
}
int use(int rank)
{
    shown = rank;
    data[BYTES - 7] += rank;
    zeroed[BYTES / 2] += rank + 1;
    *table[1] += rank;
    list->value += rank;
    for (int i = 0; i < rank; i++)
        put(i);
    return base_calls();
}
int sum(void)
{
    int all = data[0] + data[BYTES - 7] + zeroed[BYTES / 2] + values[1];
    for (item *i = list; i != NULL; i = i->next)
        all += i->value;
    return all;
}
"""
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
int use(int rank);
int sum(void);
extern int shown, begun;
int main(int argc, char **argv)
{
    int rank, called = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int turn = 0; turn < TURNS; turn++) {
        called = use(rank);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    printf("%d: shown %d, begun %d, called %d, sum %d\n", rank, shown, begun, called, sum());
    MPI_Finalize();
    return 0;
}
"""
TURNS = 20  # more turns than it takes until the program's own pages are made large


def printed(rank: int) -> list[str]:
    """Return the expected output of a rank."""
    length = 3 + TURNS * rank
    data = 1 + (TURNS * rank + TURNS * (rank + 1)) + 20 + TURNS * rank  # bytes, then the value of the table
    values = sum(range(3)) + TURNS * sum(range(rank)) + TURNS * rank
    return [
        f"{rank}: shown {rank}, begun 6, called {TURNS + 1}, sum {data + values}",
        f"end {rank}: {length} of 6",
    ]


@pytest.fixture
def linked(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Linked:
    """Return a function that simulates the program with its libraries and returns the lines that it prints."""
    monkeypatch.chdir(tmp_path)

    def library(name: str, source: str, *options: str) -> None:
        Path(f"{name}.c").write_text(source)
        command = ["gcc", "-shared", "-fPIC", "-O1", f"{name}.c", "-o", f"lib{name}.so", "-Wl,-rpath,$ORIGIN", *options]
        subprocess.run(command, check=True)

    def simulated(size: int, ranks: int, machine: str, *options: str) -> list[str]:
        library("base", BASE)
        library("user", LIBRARY.replace("BYTES", str(size)), "-L.", "-lbase", *options)
        Path("p.c").write_text(PROGRAM.replace("TURNS", str(TURNS)))
        link = f"--ldflags=-L{tmp_path} -luser -Wl,-rpath-link,{tmp_path} -Wl,-rpath,{tmp_path}"
        assert (
            scalegraph(["simulate", "p.c", "-p", str(ranks), "--machine", machine, "--no-reference", "--json", link])
            == 0
        )
        (run,) = json.loads(capsys.readouterr().out)["runs"]
        assert sum(run["leaves"].values()) == ranks * run["time_cycles"]
        assert run["warnings"] == [
            "the code of libuser.so and libbase.so has no hooks: what it computes takes no simulated time"
        ]
        output = run["stdout"]
        assert isinstance(output, str)
        return output.splitlines()

    return simulated


@pytest.mark.parametrize("size", [64, 20_000, 300_000])  # sizes at which data is copied, copied by pages, and moved
@pytest.mark.parametrize("machine", ["ncube2", "server-2x32-inorder"])
def test_each_rank_has_the_static_data_of_libraries_for_itself(machine: str, size: int, linked: Linked) -> None:
    lines = linked(size, 5, machine)
    assert sorted(lines) == sorted(line for rank in range(5) for line in printed(rank))


@pytest.mark.parametrize("option", ["-Wl,-z,norelro", "-Wl,-z,now"])
def test_whatever_the_linker_makes_read_only(option: str, linked: Linked) -> None:
    lines = linked(20_000, 3, "ncube2", option)
    assert sorted(lines) == sorted(line for rank in range(3) for line in printed(rank))
