"""Wrong programs that other MPI libraries accept: each error is reported with ranks and lines, at no simulated cost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

BEGIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
typedef struct { int a; double b; } pair;
static int in[100], out[100], counts[8] = {1, 1, 1, 1}, places[8] = {0, 1, 2, 3}, rank, other;
static double d[100];
static pair pairs[3];
static MPI_Datatype made;
static MPI_Request r[3];
static int refuse_once(MPI_Comm comm, int key, void *value, void *extra)
{
    static int refused;
    return refused++ == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}
int main(int argc, char **argv)
{
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Type_create_struct(2, lengths, at, types, &made);
    MPI_Type_commit(&made);
"""
END = r"""
    MPI_Type_free(&made);
    MPI_Finalize();
    return 0;
}
"""
Simulate = Any


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function that simulates the statements of a program on two ranks; it returns the one run."""
    monkeypatch.chdir(tmp_path)

    def simulated(body: str, *, processors: int = 2, code: int = 0) -> dict[str, Any]:
        Path("p.c").write_text(BEGIN + body + END)
        assert scalegraph(["simulate", "p.c", "-p", str(processors), "--no-reference", "--json"]) == code
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulated


def line_of(body: str, text: str) -> str:
    """Return "p.c:N", the line of *text* in the program."""
    before = (BEGIN + body).partition(text)[0]
    return f"p.c:{before.count(chr(10)) + 1} in main"


def exchanged(sent: str, received: str) -> str:
    """Return statements in which rank 0 sends and rank 1 receives; arguments are buffer, count and type."""
    return f"""
    if (rank == 0)
        MPI_Send({sent}, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv({received}, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
"""


@pytest.mark.parametrize(
    ("sent", "received", "names"),
    [
        ("in, 2, MPI_INT", "d, 1, MPI_DOUBLE", ("MPI_DOUBLE", "MPI_INT")),
        ("in, 8, MPI_BYTE", "d, 1, MPI_DOUBLE", ("MPI_DOUBLE", "MPI_BYTE")),
        ("in, 2, MPI_UNSIGNED", "in, 2, MPI_INT", ("MPI_INT", "MPI_UNSIGNED")),
        ("pairs, 3, made", "in, 9, MPI_INT", ("MPI_INT", "elements of several types")),
        ("in, 3, MPI_INT", "pairs, 3, made", ("elements of several types", "MPI_INT")),
    ],
)
def test_data_that_is_received_as_another_type_is_named(
    simulate: Simulate, sent: str, received: str, names: tuple[str, str]
) -> None:
    body = exchanged(sent, received)
    row = simulate(body)
    assert row["status"] == "ok"
    assert row["warnings"] == [
        (
            f"rank 1: MPI_Recv at {line_of(body, 'MPI_Recv')} receives {names[0]}, but rank 0 sent {names[1]} "
            f"with MPI_Send at {line_of(body, 'MPI_Send')}"
        )
    ]


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ("in, 8, MPI_PACKED", "d, 1, MPI_DOUBLE"),
        ("d, 1, MPI_DOUBLE", "in, 8, MPI_PACKED"),
        ("pairs, 3, made", "pairs, 3, made"),
        ("pairs, 1, MPI_INT", "pairs, 1, made"),
        ("pairs, 2, made", "pairs, 3, made"),
        ("in, 2, MPI_INT", "in, 1, MPI_2INT"),
        ("in, 2, MPI_INT", "in, 2, MPI_INTEGER"),
        ("in, 2, MPI_INT32_T", "in, 90, MPI_INT"),
        ("in, 0, MPI_INT", "d, 1, MPI_DOUBLE"),
    ],
)
def test_the_same_elements_may_come_as_another_datatype(simulate: Simulate, sent: str, received: str) -> None:
    assert simulate(exchanged(sent, received))["warnings"] == []


@pytest.mark.parametrize(
    ("call", "warning"),
    [
        (
            "MPI_Bcast(in, 4, rank ? MPI_INT : MPI_FLOAT, 0, MPI_COMM_WORLD);",
            "rank 1: MPI_Bcast at {0} passes MPI_INT, but rank 0 of the communicator MPI_FLOAT at {0}",
        ),
        (
            "MPI_Allreduce(in, out, 4, rank ? MPI_INT : MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);",
            "rank 1: MPI_Allreduce at {0} passes MPI_INT, but rank 0 of the communicator MPI_UNSIGNED at {0}",
        ),
        (
            "MPI_Allgatherv(MPI_IN_PLACE, 0, made, out, counts, places, rank ? MPI_INT : MPI_FLOAT, MPI_COMM_WORLD);",
            "rank 1: MPI_Allgatherv at {0} passes MPI_INT, but rank 0 of the communicator MPI_FLOAT at {0}",
        ),
        (
            "MPI_Gather(in, 1, MPI_INT, out, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);",
            "rank 0: MPI_Gather at {0} receives MPI_FLOAT, but rank 0 sent MPI_INT with MPI_Gather at {0}",
        ),
        (
            "MPI_Gatherv(in, 1, rank ? MPI_INT : MPI_FLOAT, out, counts, places, MPI_FLOAT, 0, MPI_COMM_WORLD);",
            "rank 0: MPI_Gatherv at {0} receives MPI_FLOAT, but rank 1 sent MPI_INT with MPI_Gatherv at {0}",
        ),
    ],
)
def test_types_of_a_collective_operation_that_differ_are_named(simulate: Simulate, call: str, warning: str) -> None:
    row = simulate(call)
    assert row["status"] == "ok"
    assert row["warnings"] == [warning.format(line_of(call, call))]


FIRST = "MPI_Irecv(in, 10, MPI_INT, other, 0, MPI_COMM_WORLD, &r[0]);"


@pytest.mark.parametrize(
    ("second", "warning"),
    [
        (
            "MPI_Irecv(in + 9, 10, MPI_INT, other, 1, MPI_COMM_WORLD, &r[1]);",
            "MPI_Irecv at {1} receives into 4 bytes that MPI_Irecv at {0} still receives into",
        ),
        (
            "MPI_Isend(in + 5, 2, MPI_INT, other, 2, MPI_COMM_WORLD, &r[1]);",
            "MPI_Isend at {1} sends from 8 bytes that MPI_Irecv at {0} still receives into",
        ),
        (
            "MPI_Send(in + 5, 2, MPI_INT, other, 2, MPI_COMM_WORLD);",
            "MPI_Send at {1} sends from 8 bytes that MPI_Irecv at {0} still receives into",
        ),
    ],
)
def test_memory_that_a_pending_receive_fills_is_not_used_otherwise(
    simulate: Simulate, second: str, warning: str
) -> None:
    received = (
        "" if "Irecv" in second else "MPI_Recv(out + 2, 2, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    )
    sent = "MPI_Send(out, 1, MPI_INT, other, 1, MPI_COMM_WORLD);" if "Irecv" in second else ""
    own = "MPI_Send(out, 1, MPI_INT, other, 0, MPI_COMM_WORLD);"
    body = (
        f"r[1] = MPI_REQUEST_NULL;\n{FIRST}\n{second}\n{own}\n{sent}{received}\nMPI_Waitall(2, r, MPI_STATUSES_IGNORE);"
    )
    row = simulate(body)
    named = warning.format(line_of(body, FIRST), line_of(body, second))
    assert row["warnings"] in ([f"rank 0: {named}"], [f"rank 1: {named}"])


def test_neighbouring_memory_and_complete_requests_are_no_fault(simulate: Simulate) -> None:
    row = simulate("""
    for (int turn = 0; turn < 2; turn++) {
        MPI_Irecv(in, 10, MPI_INT, other, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(in + 10, 10, MPI_INT, other, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(in + 20, 10, MPI_INT, other, 0, MPI_COMM_WORLD, &r[2]);
        MPI_Send(in + 20, 10, MPI_INT, other, 1, MPI_COMM_WORLD);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    }
""")
    assert row["warnings"] == []


# Requests of both ranks, what the program does meanwhile, and what rank 0 does next.
SENDS = "MPI_Isend(out, 2, MPI_INT, other, 0, MPI_COMM_WORLD, &r[0]);"
RECEIVES = "MPI_Irecv(in, 2, MPI_INT, other, 0, MPI_COMM_WORLD, &r[1]);"
WAITS = "MPI_Waitall(2, r, MPI_STATUSES_IGNORE);"


@pytest.mark.parametrize(
    ("written", "begun"),
    [("out[1] = 7;", SENDS), ("in[0] = 7;", RECEIVES)],
)
@pytest.mark.parametrize("waits", [WAITS, "for (int i = 0; i < 2; i++) MPI_Wait(&r[i], MPI_STATUS_IGNORE);"])
def test_a_buffer_that_the_program_changes_before_its_request_ends_is_named(
    simulate: Simulate, written: str, begun: str, waits: str
) -> None:
    body = f"{RECEIVES}\n{SENDS}\nif (rank == 1)\n{written}\n{waits}"
    call = begun.partition("(")[0]
    ended = waits[waits.index("MPI_Wait") :].partition("(")[0]
    (warning,) = simulate(body)["warnings"]
    assert warning == (
        f"rank 1: the buffer of {call} at {line_of(body, begun)} was changed before {ended} at {line_of(body, waits)}"
        " completed it"
    )


def test_both_ends_of_a_large_buffer_are_looked_at(simulate: Simulate) -> None:
    body = """
    char *large = calloc(1 << 20, 1);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Irecv(large, 1 << 20, MPI_CHAR, other, turn, MPI_COMM_WORLD, &r[turn]);
        if (rank == 0)
            large[turn ? (1 << 20) - 1 : 0] = 1 + turn;
        MPI_Send(in, turn, MPI_CHAR, other, turn, MPI_COMM_WORLD);
        if (turn == 0) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
        else MPI_Waitall(1, &r[1], MPI_STATUSES_IGNORE);
        memset(large, 5, 1 << 20);
    }
    free(large);
"""
    (first,) = simulate(body)["warnings"]  # the line in which the requests begin
    assert "rank 0: the buffer of MPI_Irecv at " in first
    (last,) = simulate(body.replace("turn ? ", "!turn ? "))["warnings"]
    assert "rank 0: the buffer of MPI_Irecv at " in last


def test_persistent_and_cancelled_requests_may_be_filled_between(simulate: Simulate) -> None:
    row = simulate("""
    MPI_Send_init(out, 2, MPI_INT, other, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, 2, MPI_INT, other, 0, MPI_COMM_WORLD, &r[1]);
    for (int turn = 0; turn < 3; turn++) {
        out[0] = out[1] = 10 * turn;
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        if (in[1] != 10 * turn) MPI_Abort(MPI_COMM_WORLD, 1);
        in[0] = in[1] = 0;
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Irecv(in, 2, MPI_INT, other, 9, MPI_COMM_WORLD, &r[2]);
    MPI_Cancel(&r[2]);
    in[0] = 5;
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
""")
    assert row["warnings"] == []


def test_buffers_of_one_call_that_overlap_are_named(simulate: Simulate) -> None:
    call = "MPI_Allgather(in, 2, MPI_INT, in + 1, 2, MPI_INT, MPI_COMM_WORLD);"
    row = simulate(call, code=1)
    assert "the buffer that is sent from and the one that is received into overlap in 4 bytes" in row["message"]
    assert line_of(call, call) in row["message"]
    same = "MPI_Sendrecv(out, 2, MPI_INT, other, 0, out + 1, 2, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);"
    assert "receives into 4 bytes that the same call" in simulate(same)["warnings"][0]


def test_operations_that_differ_are_returned_to_the_rank_that_came_later(simulate: Simulate) -> None:
    row = simulate("""
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Allreduce(in, out, 4, MPI_INT, rank ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
    printf("%d\\n", error == MPI_ERR_OP);
    MPI_Barrier(MPI_COMM_WORLD);
""")
    assert sorted(row["stdout"].split()) == ["0", "1"]


def test_a_send_that_nobody_receives_is_cancelled(simulate: Simulate) -> None:
    row = simulate("""
    static char many[1 << 20];
    MPI_Status s = {.MPI_ERROR = 77};
    int flag = 0;
    if (rank == 0) {
        MPI_Issend(many, 1 << 20, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &r[0]);
        MPI_Cancel(&r[0]);
        MPI_Wait(&r[0], &s);
        MPI_Test_cancelled(&s, &flag);
        printf("%d %d\\n", flag, s.MPI_ERROR);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Iprobe(0, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        printf("%d\\n", flag);
    }
""")
    assert sorted(row["stdout"].splitlines()) == ["0", "1 77"]  # a single completion leaves MPI_ERROR alone


def test_an_error_of_an_attribute_s_function_goes_to_its_communicator(simulate: Simulate) -> None:
    row = simulate(
        """
    MPI_Comm own;
    int key, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_once, &key, NULL);
    MPI_Comm_set_attr(own, key, in);
    printf("%d\\n", MPI_Comm_delete_attr(own, key) == MPI_ERR_OTHER);
    copy = key;
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&copy); /* of the same key, which the attribute still has */
    printf("%d %d\\n", key == MPI_KEYVAL_INVALID, copy == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&own);
""",
        processors=1,
    )
    assert row["stdout"].splitlines() == ["1", "1 1"]


def test_elements_that_a_status_is_set_to_are_basic_ones(simulate: Simulate) -> None:
    row = simulate(
        """
    MPI_Status s;
    for (int n = 0; n < 6; n++) {
        int elements, count;
        MPI_Status_set_elements(&s, made, n);
        MPI_Get_elements(&s, made, &elements);
        MPI_Get_count(&s, made, &count);
        printf("%d %d\\n", elements, count == MPI_UNDEFINED ? -1 : count);
    }
""",
        processors=1,
    )
    assert row["stdout"].splitlines() == ["0 0", "1 -1", "2 1", "3 -1", "4 2", "5 -1"]


def test_an_operation_that_does_not_fit_is_named_by_its_number_when_ranks_are_ahead(simulate: Simulate) -> None:
    """The root of a broadcast need not wait: rank 0 gets ahead of rank 1, which computes in between."""
    body = """
    for (int i = 0; i < 300; i++) {
        for (int k = 0; rank == 1 && k < 1000; k++) in[50] += k;
        MPI_Bcast(in, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 2)
        MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Scan(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
"""
    said = simulate(body, processors=3, code=1)["message"]
    assert {call for call in ("MPI_Reduce", "MPI_Scan") if f"{call} at {line_of(body, call)}" in said}
    assert "instead, at p.c:" in said
    assert said.endswith("as its collective operation number 301")


LEAVES = "if (rank == 1)\n        {};\n    MPI_Barrier(MPI_COMM_WORLD);"


@pytest.mark.parametrize("call", ["exit(3)", "_exit(3)", "quick_exit(3)"])
def test_a_rank_that_leaves_without_finalize_is_named_by_those_who_wait_for_it(simulate: Simulate, call: str) -> None:
    body = LEAVES.format(call)
    row = simulate(body, code=1)
    end = f"rank 1 ended with exit code 3 at {line_of(body, call)}, without MPI_Finalize"
    assert row["status"] == "deadlock"
    waits = f"rank 0 waits in MPI_Barrier for a message from rank 1 with tag 1 at {line_of(body, 'MPI_Barrier')}"
    assert waits in row["message"]
    assert row["message"].startswith(f"{end}; then deadlock: ")
    assert row["warnings"] == [end]


@pytest.mark.parametrize("call", ["exit(0)", "return 0", "_exit(0)"])
def test_a_program_that_ends_without_finalize_is_named(simulate: Simulate, call: str) -> None:
    row = simulate(f"{call};")
    place = "the end of main" if "return" in call else line_of(f"{call};", f"{call};")
    assert row["status"] == "ok"
    assert row["warnings"] == [f"rank 0 ended with exit code 0 at {place}, without MPI_Finalize"]


def test_a_last_call_of_the_program_may_finalize(simulate: Simulate) -> None:
    assert simulate("atexit((void (*)(void))MPI_Finalize);\n    exit(0);")["warnings"] == []


@pytest.mark.parametrize("fault", ["*(volatile int *)8 = 1;", "abort();", "in[other] /= zero;"])
def test_a_rank_that_crashes_is_named_with_its_line(simulate: Simulate, fault: str) -> None:
    body = f"volatile int zero = 0;\n    if (rank == 1) {{\n        in[0]++;\n        {fault}\n    }}"
    row = simulate(body, code=1)
    assert row["status"] == "crashed"
    assert row["message"].startswith("rank 1: the program ended with SIG")
    assert f"on processor 1 at {line_of(body, fault)}" in row["message"]


@pytest.mark.parametrize(("memory", "part"), [("(int[4]){7}", "stack"), ("memset(malloc(4000), 0, 4000)", "heap")])
@pytest.mark.parametrize(("use", "does"), [("in[1] = *there", "reads"), ("*there = 3", "writes")])
@pytest.mark.parametrize("owner", [0, 1])
def test_a_rank_that_uses_a_pointer_of_another_rank_is_named(
    simulate: Simulate, memory: str, part: str, use: str, does: str, owner: int
) -> None:
    body = f"""
    volatile int *mine = {memory}, *there;
    MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, other, 0, &there, sizeof there, MPI_BYTE, other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    in[0] = *mine;
    if (rank != {owner})
        {use};
    MPI_Barrier(MPI_COMM_WORLD);
"""
    row = simulate("#include <string.h>\n" + body)
    place = line_of("#include <string.h>\n" + body, f"{use};")
    (warning,) = row["warnings"]
    assert warning == (
        f"rank {1 - owner} {does} memory of rank {owner}, on its {part}, at {place}: "
        "a pointer means nothing to another rank"
    )


def test_memory_that_ranks_share_may_be_used_by_all(simulate: Simulate) -> None:
    body = """
    MPI_Win window;
    int *mine, *there, unit;
    MPI_Aint size;
    MPI_Win_allocate_shared(400, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    MPI_Win_shared_query(window, other, &size, &unit, &there);
    *there = rank;
    MPI_Win_fence(0, window);
    in[0] = *mine;
    MPI_Win_free(&window);
"""
    assert simulate(body)["warnings"] == []


@pytest.mark.parametrize("more", ["", ", the first of several such messages"])
def test_messages_that_nobody_receives_are_named(simulate: Simulate, more: str) -> None:
    body = """
    if (rank == 0)
        for (int i = 0; i < TIMES; i++)
            MPI_Send(out, 3, MPI_INT, 1, 5, MPI_COMM_WORLD);
    else
        MPI_Recv(in, 100, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
""".replace("TIMES", "3" if more else "2")
    (warning,) = simulate(body)["warnings"]
    assert warning == (
        "rank 1 ends MPI without having received 12 bytes with tag 5 that rank 0 has sent with MPI_Send "
        f"at {line_of(body, 'MPI_Send')}{more}"
    )


SAID = {
    "wildcard": (
        """if (rank) MPI_Send(&in[0], 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        else for (int i = 1; i < 3; i++) MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, 0);""",
        ("rank 0 receives from any rank with MPI_Recv", "rank 1 (MPI_Send", "rank 2 (MPI_Send", "both be the first"),
    ),
    "puts": (
        """MPI_Win w; MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);
        MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
        MPI_Win_fence(0, w); MPI_Win_free(&w);""",
        ("(MPI_Put at", "access the same bytes of rank 0 between two fences"),
    ),
    "lines of puts": (
        """MPI_Datatype t; MPI_Win w; MPI_Type_vector(3, 1, 4, MPI_INT, &t); MPI_Type_commit(&t);
        MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);
        MPI_Put(out, 3, MPI_INT, 0, rank % 2, 1, t, w);
        MPI_Win_fence(0, w); MPI_Win_free(&w); MPI_Type_free(&t);""",
        ("rank 0 (MPI_Put at", "and rank 2 (MPI_Put at", "access the same bytes of rank 0 between two fences"),
    ),
    "shared locks": (
        """MPI_Win w; MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w); MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
        MPI_Win_unlock(0, w); MPI_Win_free(&w);""",
        ("(MPI_Put at", "access the same bytes of rank 0 while nothing orders one before the other"),
    ),
    "an early result": (
        """MPI_Win w; MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_lock_all(0, w);
        if (rank == 0) MPI_Get(out, 1, MPI_INT, 1, 0, 1, MPI_INT, w);
        if (rank == 0 && out[0] == 77) puts("?");
        MPI_Win_unlock_all(w); MPI_Win_free(&w);""",
        ("rank 0: the buffer of MPI_Get at", "is read at", "before MPI_Win_unlock or MPI_Win_flush completes it"),
    ),
    "an early copy": (
        """MPI_Win w; MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);
        MPI_Get(out, 60, MPI_INT, 0, 0, 60, MPI_INT, w); memcpy(d, out + 30, 80 + 8 * rank);
        MPI_Win_fence(0, w); MPI_Win_free(&w);""",
        ("the buffer of MPI_Get at", "is read at", "before MPI_Win_fence completes it"),
    ),
    "a late change": (
        """MPI_Win w; MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);
        MPI_Put(out, 1, MPI_INT, other & 1, rank, 1, MPI_INT, w); out[0] = 7;
        MPI_Win_fence(0, w); MPI_Win_free(&w);""",
        ("the buffer of MPI_Put at", "is changed at", "before MPI_Win_fence completes it"),
    ),
    "an early receive": (
        """MPI_Irecv(in, 10, MPI_INT, (rank + 1) % 3, 1, MPI_COMM_WORLD, &r[0]);
        MPI_Send(out, 10, MPI_INT, (rank + 2) % 3, 1, MPI_COMM_WORLD); MPI_Barrier(MPI_COMM_WORLD);
        if (in[3] == 77) puts("?");
        MPI_Wait(&r[0], 0);""",
        ("the buffer of MPI_Irecv at", "is read at", "before MPI_Wait or MPI_Test completes it"),
    ),
    "block": (
        """int *b = malloc(40), *c = calloc(200, 4);
        if (rank == 0) MPI_Send(c, 200, MPI_INT, 1, 1, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(b + 2, 200, MPI_INT, 0, 1, MPI_COMM_WORLD, 0);
        free(b);""",
        ("rank 1 writes the 800 bytes of a message from rank 0 with MPI_Recv", "block of 40 bytes, allocated at"),
    ),
}


@pytest.mark.parametrize("fault", SAID)
def test_what_time_decides_and_what_a_message_overwrites_is_said_once(simulate: Simulate, fault: str) -> None:
    body, words = SAID[fault]
    (remark,) = simulate(body, processors=3)["warnings"]
    assert [word for word in words if word not in remark] == [], remark


def test_a_message_into_the_midst_of_a_block_of_zeros_is_no_fault(simulate: Simulate) -> None:
    """One of 1,024 places in zeroed memory looks like the header of a small block."""
    body = """char *b = calloc(8192, 16);
        for (int i = 0; i < 8100; i++)
            MPI_Sendrecv(out, 20, MPI_INT, rank, 0, b + 16 * i, 20, MPI_INT, rank, 0, MPI_COMM_WORLD, 0);"""
    assert simulate(body.replace("out", "in"))["warnings"] == []


def test_puts_to_places_of_their_own_and_sums_are_no_conflict(simulate: Simulate) -> None:
    body = """MPI_Win w; MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w); MPI_Win_fence(0, w);
        MPI_Put(out, 1, MPI_INT, 0, rank, 1, MPI_INT, w); MPI_Win_fence(0, w);
        MPI_Accumulate(out, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w); MPI_Win_fence(0, w);
        if (rank == 0) MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
        MPI_Win_fence(0, w); MPI_Win_free(&w);"""
    assert simulate(body, processors=3)["warnings"] == []


def test_what_is_used_after_it_is_complete_or_beside_it_is_no_fault(simulate: Simulate) -> None:
    body = """MPI_Win w; long sum = 0; MPI_Win_create(in, sizeof in, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w); MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, w); MPI_Win_unlock(0, w);
        MPI_Irecv(in + 4, 10, MPI_INT, other, 1, MPI_COMM_WORLD, &r[0]);
        for (int i = 0; i < 500; i++) { d[i % 90] += i; sum += in[i % 4] + in[20 + i * 7 % 70]; }
        MPI_Send(out, 10, MPI_INT, other, 1, MPI_COMM_WORLD);
        MPI_Wait(&r[0], 0);
        MPI_Win_lock_all(0, w); MPI_Get(out, 4, MPI_INT, other, 10, 4, MPI_INT, w); MPI_Win_flush(other, w);
        counts[0] = in[4] + out[0] + (int)sum; MPI_Win_unlock_all(w); MPI_Win_free(&w);"""
    assert simulate(body)["warnings"] == []


def test_the_first_rank_that_ended_comes_first_with_its_last_words(simulate: Simulate) -> None:
    body = 'if (rank == 1) { fprintf(stderr, "cannot open input.dat\\n"); exit(1); } MPI_Barrier(MPI_COMM_WORLD);'
    message = simulate(body, processors=3, code=1)["message"]
    assert message.startswith("rank 1 ended with exit code 1 at ")
    assert '(its last words: "cannot open input.dat"); then deadlock' in message
    assert "rank 0 waits in MPI_Barrier" in message


def test_a_message_in_another_communicator_is_named(simulate: Simulate) -> None:
    body = """MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c);
        if (rank == 0) MPI_Recv(in, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, 0); else MPI_Send(in, 1, MPI_INT, 0, 5, c);"""
    assert "(rank 1 has sent it one in another communicator, with MPI_Send at" in simulate(body, code=1)["message"]


def test_the_name_of_a_processor_is_its_node_s(simulate: Simulate) -> None:
    body = 'char n[MPI_MAX_PROCESSOR_NAME]; int l; MPI_Get_processor_name(n, &l); if (!rank) printf("%s\\n", n);'
    assert simulate(body)["stdout"] == "node0\n"


def test_so_many_ranks_are_on_each_node(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = 'char n[MPI_MAX_PROCESSOR_NAME]; int l; MPI_Get_processor_name(n, &l); printf("%d %s\\n", rank, n);'
    (tmp_path / "p.c").write_text(BEGIN + body + END)
    words = ["-m", "cluster-hdr", "-p", "6", "--ranks-per-node", "2", "--no-reference", "--json"]
    assert scalegraph(["simulate", str(tmp_path / "p.c"), *words]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert sorted(row["stdout"].splitlines()) == [f"{rank} node{rank // 2}" for rank in range(6)]
