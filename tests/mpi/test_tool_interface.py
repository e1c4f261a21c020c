"""MPI_T: variables that tools read and change, their values, and the codes of wrong calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph.cli.main import run as scalegraph

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

Simulate = Any

BEGIN = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rank, ranks, values[100000];
static int control(const char *name)
{
    int index = -1, value = -1, count;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS) {
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
        MPI_T_cvar_read(handle, &value);
        MPI_T_cvar_handle_free(&handle);
    }
    return value;
}
static void set(const char *name, int value)
{
    int index, count;
    MPI_T_cvar_handle handle;
    MPI_T_cvar_get_index(name, &index);
    MPI_T_cvar_handle_alloc(index, NULL, &handle, &count);
    MPI_T_cvar_write(handle, &value);
    MPI_T_cvar_handle_free(&handle);
}
static MPI_T_pvar_session session;
static MPI_T_pvar_handle measure(const char *name, int class, void *object)
{
    int index = -1, count;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_get_index(name, class, &index);
    MPI_T_pvar_handle_alloc(session, index, object, &handle, &count);
    return handle;
}
static unsigned long long value_of(MPI_T_pvar_handle handle)
{
    unsigned long long value = 0;
    MPI_T_pvar_read(session, handle, &value);
    return value;
}
int main(int argc, char **argv)
{
    int provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_T_pvar_session_create(&session);
    (void)control, (void)set, (void)measure, (void)value_of, (void)values;
"""
END = "\n    MPI_T_finalize();\n    MPI_Finalize();\n    return 0;\n}\n"


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function that simulates the statements of a program that uses MPI_T; it returns the one run."""
    monkeypatch.chdir(tmp_path)

    def simulated(body: str, processors: int, *arguments: str) -> dict[str, Any]:
        Path("p.c").write_text(BEGIN + body + END)
        command = ["simulate", "p.c", "-p", str(processors), "--no-reference", "--json", *arguments]
        assert scalegraph(command) == 0
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulated


LISTED = r"""
    int controls, measures, categories, items, in, of, parts;
    char name[100], text[200], item[40];
    MPI_T_cvar_get_num(&controls);
    MPI_T_pvar_get_num(&measures);
    MPI_T_category_get_num(&categories);
    for (int i = 0; i < controls; i++) {
        int length = sizeof name, room = sizeof text, verbosity, bind, scope, size;
        MPI_Datatype type;
        MPI_T_enum names;
        MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &names, text, &room, &bind, &scope);
        MPI_Type_size(type, &size);
        printf("%s %d %d:", name, control(name), size);
        if (names != MPI_T_ENUM_NULL) {
            MPI_T_enum_get_info(names, &items, NULL, NULL);
            for (int k = 0, value; k < items; k++) {
                length = sizeof item;
                MPI_T_enum_get_item(names, k, &value, item, &length);
                printf(" %s", item);
            }
        }
        puts("");
    }
    for (int i = 1, all = 0, counted = 0; i < categories; i++) {
        MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &in, &of, &parts);
        printf("%d %d\n", (all += in) == controls, (counted += of) == measures);
    }
"""


def test_switch_points_have_the_names_and_values_of_mpich(simulate: Simulate) -> None:
    lines = simulate(LISTED, 1, "--machine", "cluster-hdr")["stdout"].splitlines()
    shown = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if line.startswith("MPIR")}
    assert shown["MPIR_CVAR_BCAST_SHORT_MSG_SIZE"] == "12288 4:"
    assert shown["MPIR_CVAR_BCAST_MIN_PROCS"] == "8 4:"
    assert shown["MPIR_CVAR_BCAST_LONG_MSG_SIZE"] == "524288 4:"
    assert shown["MPIR_CVAR_REDUCE_SHORT_MSG_SIZE"] == "2048 4:"
    assert shown["MPIR_CVAR_ALLREDUCE_SHORT_MSG_SIZE"] == "2048 4:"
    assert shown["MPIR_CVAR_ALLGATHER_LONG_MSG_SIZE"] == "524288 4:"
    assert shown["MPIR_CVAR_ALLGATHER_SHORT_MSG_SIZE"] == "81920 4:"
    assert shown["MPIR_CVAR_ALLTOALL_SHORT_MSG_SIZE"] == "256 4:"
    assert shown["MPIR_CVAR_ALLTOALL_MEDIUM_MSG_SIZE"] == "32768 4:"
    assert shown["MPIR_CVAR_REDSCAT_COMMUTATIVE_LONG_MSG_SIZE"] == "524288 4:"
    assert shown["MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM"] == "0 4: auto doubling rabenseifner ring"
    assert lines[-1] == "1 1"  # every variable is in one category


COUNTED = r"""
    set("MPIR_CVAR_BCAST_SHORT_MSG_SIZE", atoi(argv[1]));
    set("MPIR_CVAR_BCAST_MIN_PROCS", 2);
    MPI_T_pvar_handle sent = measure("messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_handle bytes = measure("bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle begun = measure("collective_operations", MPI_T_PVAR_CLASS_COUNTER, &world);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_Bcast(values, 1000, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        printf("%llu %llu %llu\n", value_of(sent), value_of(bytes), value_of(begun));
"""


def test_a_switch_point_that_is_written_changes_the_algorithm_of_the_next_operation(simulate: Simulate) -> None:
    binomial = simulate(COUNTED, 4, "--", "5000")["stdout"]
    scattered = simulate(COUNTED, 4, "--", "100")["stdout"]
    assert binomial == "2 8000 1\n"  # rank 0 sends all to ranks 2 and 1
    assert scattered != binomial
    messages, sent, begun = map(int, scattered.split())
    assert (messages, sent, begun) == (4, 2000 + 1000 + 1000 + 2000, 1)  # halves and quarters, then doubling


CHOSEN = r"""
    int items, length, value = 0;
    char item[40];
    MPI_T_enum names;
    int index;
    MPI_T_cvar_get_index("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", &index);
    MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL);
    MPI_T_enum_get_info(names, &items, NULL, NULL);
    for (int k = 0, v; k < items; k++) {
        length = sizeof item;
        MPI_T_enum_get_item(names, k, &v, item, &length);
        if (strcmp(item, argv[1]) == 0)
            value = v;
    }
    set("MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", value);
    MPI_T_pvar_handle sent = measure("messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
    MPI_T_pvar_start(session, sent);
    MPI_Allreduce(MPI_IN_PLACE, values, 4096, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%llu\n", value_of(sent));
"""


def test_an_algorithm_that_is_written_is_used(simulate: Simulate) -> None:
    messages = {name: int(simulate(CHOSEN, 8, "--", name)["stdout"]) for name in ("doubling", "ring", "auto")}
    assert messages == {"doubling": 3, "ring": 14, "auto": 6}  # log2 8; 2 x 7; 2 x log2 8


EAGER = r"""
    double began;
    MPI_Request request;
    if (rank == 0)
        set("MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE", atoi(argv[1]));
    began = MPI_Wtime();
    if (rank == 0) {
        MPI_Send(values, 1000, MPI_INT, 1, 0, MPI_COMM_WORLD);
        printf("%d\n", MPI_Wtime() - began < 1e-4);
    } else {
        for (volatile int i = 0; i < 3000000; i++)
            ;
        MPI_Recv(values, 1000, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    (void)request;
"""


def test_the_eager_limit_says_which_messages_wait_for_their_receiver(simulate: Simulate) -> None:
    assert simulate(EAGER, 2, "--machine", "cluster-hdr", "--", "4000")["stdout"] == "1\n"
    assert simulate(EAGER, 2, "--machine", "cluster-hdr", "--", "3999")["stdout"] == "0\n"


TIMES = r"""
    static const char *const names[] = {"cycles_sending", "cycles_receiving", "cycles_packing", "cycles_late_sender",
        "cycles_late_receiver", "cycles_transfer", "cycles_network", "cycles_collective"};
    MPI_T_pvar_handle handles[8];
    for (int i = 0; i < 8; i++)
        handles[i] = measure(names[i], MPI_T_PVAR_CLASS_TIMER, NULL);
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    if (rank == 0)
        for (volatile int i = 0; i < 100000; i++)
            ;
    if (rank == 0)
        MPI_Send(values, 1000, MPI_INT, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(values, 1000, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++)
        printf("%d %s %llu\n", rank, names[i], value_of(handles[i]));
"""


def test_cycles_of_waiting_are_those_of_the_accounts(simulate: Simulate) -> None:
    row = simulate(TIMES, 2, "--machine", "ncube2")
    shown = {(int(line.split()[0]), line.split()[1]): int(line.split()[2]) for line in row["stdout"].splitlines()}
    leaves = row["leaves"]
    assert shown[1, "cycles_late_sender"] == leaves["idle_late_sender"] > 100000
    assert shown[0, "cycles_late_sender"] == shown[0, "cycles_late_receiver"] == 0
    assert 0 < shown[1, "cycles_transfer"] < leaves["idle_transfer"]  # MPI_Init and MPI_Finalize wait, too
    assert 0 < shown[0, "cycles_sending"] < leaves["prim_send"]
    assert shown[0, "cycles_receiving"] == 0


QUEUES = r"""
    MPI_Request requests[3];
    if (rank == 1)
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&values[i], 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[i]);
    if (rank == 0)
        for (int i = 0; i < 3; i++)
            MPI_Isend(&values[i], 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &requests[i]);
    for (volatile int i = 0; i < (rank == 0 ? 1000000 : 100000); i++)
        ;
    if (rank == 1) {
        unsigned unexpected, posted;
        MPI_T_pvar_read(session, measure("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, NULL), &unexpected);
        MPI_T_pvar_read(session, measure("posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL), &posted);
        printf("%u %u\n", unexpected, posted);
        for (int i = 0; i < 3; i++)
            MPI_Recv(&values[i], 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 2; i++)
            MPI_Send(values, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    }
"""


def test_queues_have_messages_without_receives_and_receives_without_messages(simulate: Simulate) -> None:
    assert simulate(QUEUES, 2)["stdout"] == "3 2\n"


WRONG = {
    "MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)": "MPI_T_ERR_INVALID_INDEX",
    'MPI_T_cvar_get_index("none", &x)': "MPI_T_ERR_INVALID_NAME",
    "MPI_T_cvar_handle_alloc(999, NULL, &control_handle, &x)": "MPI_T_ERR_INVALID_INDEX",
    "MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &x)": "MPI_T_ERR_INVALID_HANDLE",
    "MPI_T_enum_get_info(MPI_T_ENUM_NULL, &x, NULL, NULL)": "MPI_T_ERR_INVALID_HANDLE",
    'MPI_T_pvar_get_index("bytes_sent", MPI_T_PVAR_CLASS_LEVEL, &x)': "MPI_T_ERR_INVALID_NAME",
    "MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, level, &x)": "MPI_T_ERR_INVALID_SESSION",
    "MPI_T_pvar_read(session, MPI_T_PVAR_HANDLE_NULL, &x)": "MPI_T_ERR_INVALID_HANDLE",
    "MPI_T_pvar_start(session, level)": "MPI_T_ERR_PVAR_NO_STARTSTOP",
    "MPI_T_pvar_reset(session, level)": "MPI_T_ERR_PVAR_NO_WRITE",
    "MPI_T_pvar_readreset(session, level, &x)": "MPI_T_ERR_PVAR_NO_ATOMIC",
    "MPI_T_pvar_read(session, level, &x)": "MPI_SUCCESS",
    "MPI_T_category_get_cvars(77, 0, &x)": "MPI_T_ERR_INVALID_INDEX",
    "(MPI_T_finalize(), MPI_T_cvar_get_num(&x))": "MPI_T_ERR_NOT_INITIALIZED",
}


def test_wrong_calls_return_their_codes(simulate: Simulate) -> None:
    calls = "\n".join(f'    printf("%d\\n", {call} == {code});' for call, code in WRONG.items())
    declared = """
    int x, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_T_cvar_handle control_handle;
    MPI_T_pvar_handle level = measure("posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
    (void)control_handle;
    """
    last = r"""
    MPI_Error_string(MPI_T_ERR_INVALID_NAME, text, &length);
    puts(text);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &x);
    """
    *held, text = simulate(declared + calls + last, 1)["stdout"].splitlines()
    assert held == ["1"] * len(WRONG)
    assert text == "MPI_T_ERR_INVALID_NAME: no variable or category has the name"
