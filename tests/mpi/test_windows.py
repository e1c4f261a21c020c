"""One-sided communication: the results of another MPI library, costs computed by hand, and messages about errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

HERE = Path(__file__).parent
Simulate = Any

BEGIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int rank, ranks, x;
static int fixed[64];
static MPI_Win win;
static void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Win_create(fixed, sizeof fixed, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
}
int main(int argc, char **argv)
{
    begin(&argc, &argv);
"""
END = "\n    MPI_Finalize();\n    return x * 0;\n}\n"


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function that simulates the statements of a program with a window; it returns the one run."""
    monkeypatch.chdir(tmp_path)

    def simulated(body: str, processors: int, *arguments: str, code: int = 0) -> dict[str, Any]:
        Path("p.c").write_text(BEGIN + body + END)
        command = ["simulate", "p.c", "-p", str(processors), "--no-reference", "--json", *arguments]
        assert scalegraph(command) == code
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulated


@pytest.mark.parametrize("machine", ["server-2x32-inorder", "cluster-hdr", "ncube2", "cm5"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_windows_give_what_mpich_gives(capsys: pytest.CaptureFixture[str], ranks: int, machine: str) -> None:
    program = str(HERE / "windows.c")
    assert scalegraph(["simulate", program, "-p", str(ranks), "--no-reference", "--json", "--machine", machine]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(row["stdout"].splitlines()) == sorted((HERE / f"windows_{ranks}.txt").read_text().splitlines())
    assert row["warnings"] == []


COSTS = r"""
    double began, put, get;
    int size = atoi(argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win);
        began = MPI_Wtime();
        MPI_Put(fixed, size, MPI_CHAR, 1, 0, size, MPI_CHAR, win);
        MPI_Win_flush(1, win);
        put = MPI_Wtime() - began;
        began = MPI_Wtime();
        MPI_Get(fixed, size, MPI_CHAR, 1, 0, size, MPI_CHAR, win);
        MPI_Win_flush(1, win);
        get = MPI_Wtime() - began;
        MPI_Win_unlock(1, win);
        printf("%.0f %.0f\n", put * 20e6, get * 20e6);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
"""


def test_a_transfer_that_software_serves_takes_a_message_there_and_the_wire_back(simulate: Simulate) -> None:
    times = {
        size: [int(t) for t in simulate(COSTS, 2, "--machine", "ncube2", "--", str(size))["stdout"].split()]
        for size in (0, 8, 200)
    }
    alpha, beta, wire = 2600, 10, 200  # cycles of a message, of its bytes, and the wire's part of alpha
    for size, (put, get) in times.items():
        assert alpha + wire + beta * size <= put < alpha + wire + beta * size + 60  # the program's own instructions
        answer = 1200 if size else 0  # the target's software sends the data
        assert alpha + wire + beta * size + answer <= get < alpha + wire + beta * size + answer + 60


TOUCHED = r"""
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Put(fixed, 16, MPI_INT, 1, 0, 16, MPI_INT, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < atoi(argv[1]); i++) {
        if (rank == 1)
            x += fixed[0];
        MPI_Win_fence(0, win);
        if (rank == 0)
            MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
"""


def test_a_put_within_a_node_takes_the_line_from_its_reader(simulate: Simulate) -> None:
    few, many = (simulate(TOUCHED, 2, "--", str(turns))["counters"]["invalidations"] for turns in (2, 12))
    fences = r"""
    for (int i = 0; i < atoi(argv[1]); i++) {
        MPI_Win_fence(0, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
"""
    idle_few, idle_many = (simulate(fences, 2, "--", str(turns))["counters"]["invalidations"] for turns in (2, 12))
    assert (many - few) - (idle_many - idle_few) >= 10  # one for each turn, plus those of the fences' messages


SERVED = r"""
    int many[64] = {0};
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, MPI_MODE_NOCHECK, win);
        for (int i = 0; i < 10; i++)
            MPI_Put(many, 64, MPI_INT, 1, 0, 64, MPI_INT, win);
        MPI_Win_unlock(1, win);
    } else {
        for (volatile int i = 0; i < 200000; i++)
            ;
    }
    MPI_Win_free(&win);
"""


def test_only_a_network_interface_that_writes_memory_saves_the_target_its_work(simulate: Simulate) -> None:
    interface = ["--set", "messages.one_sided=interface"]
    by_interface = simulate(SERVED, 2, "--machine", "ncube2", *interface)["leaves"]["prim_receive"]
    by_software = simulate(SERVED, 2, "--machine", "ncube2")["leaves"]["prim_receive"]
    assert by_software - by_interface == 10 * 1200  # receive_cycles; the bytes cost nothing on that machine


SHARED = r"""
    int *own, *other, unit;
    MPI_Aint size;
    MPI_Win shared;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &own, &shared);
    MPI_Win_shared_query(shared, 0, &size, &unit, &other);
    if (rank == 1)
        for (volatile int i = 0; i < 5000; i++)
            ;
    if (rank == 1)
        __atomic_store_n(other, 7, __ATOMIC_RELEASE);
    else
        while (__atomic_load_n(own, __ATOMIC_ACQUIRE) != 7)
            ;
    printf("%d %d\n", rank, *other);
    MPI_Win_free(&shared);
    MPI_Win_free(&win);
"""


def test_a_rank_sees_what_another_stores_into_shared_memory_without_a_call(simulate: Simulate) -> None:
    row = simulate(SHARED, 2)
    assert sorted(row["stdout"].splitlines()) == ["0 7", "1 7"]
    assert row["counters"]["invalidations"] > 0


WRONG = {
    "MPI_Put(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, win);": "rank 1 is accessed outside an epoch",
    "MPI_Win_fence(0, win); MPI_Put(&x, 1, MPI_INT, 1, 64, 1, MPI_INT, win);": (
        "1 items of the datatype from displacement 64 on are not within the 256 bytes of the window of rank 1"
    ),
    "MPI_Win_unlock(1, win);": "rank 1 is not locked by MPI_Win_lock",
    "MPI_Win_complete(win);": "no epoch of MPI_Win_start is open",
    "MPI_Win_wait(win);": "no epoch of MPI_Win_post is open",
    "MPI_Win_flush(1, win);": "no lock is held",
    "MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); MPI_Win_fence(0, win);": "the window is locked",
    "MPI_Win_fence(0, win); MPI_Accumulate(fixed, 1, MPI_FLOAT, 1, 0, 1, MPI_FLOAT, MPI_BXOR, win);": (
        "MPI_BXOR does not work on the datatype of the target"
    ),
    "MPI_Win_fence(0, win); MPI_Compare_and_swap(fixed, fixed, &x, MPI_FLOAT, 1, 0, win);": (
        "only whole numbers, logical values and bytes can be swapped"
    ),
    "MPI_Win_fence(0, win); MPI_Put(&x, 1, MPI_INT, 1, 0, 2, MPI_INT, win);": (
        "4 bytes are sent, but the datatype of the target has 8"
    ),
    "MPI_Win_free(&win); MPI_Win_fence(0, win);": "the window is MPI_WIN_NULL",
}


@pytest.mark.parametrize("call", list(WRONG))
def test_a_wrong_call_is_named_with_its_rank_and_place(simulate: Simulate, call: str) -> None:
    row = simulate(call, 2, code=1)
    line = (BEGIN + call).splitlines().index(call) + 1
    assert WRONG[call] in row["message"]
    assert "rank " in row["message"]
    assert f"p.c:{line}" in row["message"]


def test_a_window_that_is_left_is_named_at_the_end(simulate: Simulate) -> None:
    (warning, *_) = simulate("", 2)["warnings"]
    assert "windows that it has not freed, the first of MPI_Win_create" in warning


@pytest.mark.parametrize("machine", ["server-2x32-inorder", "ncube2"])
def test_a_deadlock_of_locks_names_who_holds_what_and_where(simulate: Simulate, machine: str) -> None:
    first = "    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);"
    second = "    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1 - rank, 0, win);"
    body = f"{first}\n    MPI_Barrier(MPI_COMM_WORLD);\n{second}"
    row = simulate(body, 2, "--machine", machine, code=1)
    lines = (BEGIN + body).splitlines()
    assert row["status"] == "deadlock"
    said = row["message"].replace(str(Path.cwd()) + "/", "")
    for r in range(2):
        assert (
            f"rank {r} waits in MPI_Win_lock for the lock of rank {1 - r} of the window, which rank {1 - r} got at "
            f"p.c:{lines.index(first) + 1} in main, at p.c:{lines.index(second) + 1} in main"
        ) in said
