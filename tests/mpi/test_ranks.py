"""Ranks of a simulated MPI program: their private data, messages, waiting, and to what it is charged."""

from __future__ import annotations

import json
import resource
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.resources import resource_dir
from scalegraph.cli.main import run as scalegraph
from scalegraph.runtime.compiler import find_compiler
from scalegraph.store import Study
from scalegraph.traces.container import open_container

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

BEGIN = r"""
#define _GNU_SOURCE
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int rank, ranks;
static void begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}
"""

Simulate = Any


@pytest.fixture
def simulate(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Simulate:
    """Return a function that simulates the text of a program and returns the document of its one run."""
    monkeypatch.chdir(tmp_path)

    def simulated(body: str, processors: int, *arguments: str, ending: str = "c", code: int = 0) -> dict[str, Any]:
        Path(f"p.{ending}").write_text(BEGIN + body)
        command = ["simulate", f"p.{ending}", "-p", str(processors), "--no-reference", "--json", *arguments]
        assert scalegraph(command) == code
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        return row

    return simulated


OWN = r"""
static int small = 7, zero;
static double large[200000];
static __thread int local = 3;
static char words[] = "one two three";
static int ended(void) { return small; }
static void last(void) { printf("end %d %d\n", rank, ended()); }
int main(int argc, char **argv)
{
    int option, n = 0;
    begin(&argc, &argv);
    atexit(last);
    while ((option = getopt(argc, argv, "vn:")) != -1)
        if (option == 'n')
            n = atoi(optarg);
    small += rank;
    zero += 2 * rank;
    local += rank;
    for (int i = 0; i < 200000; i += 500)
        large[i] = rank + i;
    srand(rank / 2);
    int first = rand();
    char *word = strtok(words, " ");
    for (int turn = 0; turn < 3; turn++)
        MPI_Barrier(MPI_COMM_WORLD);
    int wrong = 0;
    for (int i = 0; i < 200000; i += 500)
        wrong += large[i] != rank + i;
    word = strtok(NULL, " ");
    srand(rank / 2);
    char *heap = malloc(100);
    printf("%d: %d %d %d wrong %d %s n %d again %d rest %s %d\n", rank, small, zero, local, wrong, word, n,
           first == rand(), argv[optind], heap != NULL);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("on", ["server-2x32-inorder", "ksr1"])
def test_each_rank_has_data_heap_arguments_and_hidden_state_of_its_own(simulate: Simulate, on: str) -> None:
    row = simulate(OWN, 5, "--machine", on, "--", "-v", "-n", "4", "file")
    lines = sorted(row["stdout"].splitlines())
    assert lines[:5] == [f"{r}: {7 + r} {2 * r} {3 + r} wrong 0 two n 4 again 1 rest file 1" for r in range(5)]
    assert lines[5:] == [f"end {r} {7 + r}" for r in range(5)]
    assert row["processes"] == 5
    assert sum(row["leaves"].values()) == 5 * row["time_cycles"]


def test_constructors_run_once_in_every_rank(simulate: Simulate) -> None:
    body = r"""
#include <string>
#include <vector>
struct counter {
    int times = 1;
    std::vector<int> v = std::vector<int>(3, 5);
    std::string s = "a long text of its own, on the heap";
    ~counter() { printf("gone %d %d\n", rank, times); }
};
static counter global;
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    global.times += rank;
    global.v.push_back(rank);
    global.s[0] = 'a' + rank;
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d %d %d %c\n", rank, global.times, global.v[3], global.s[0]);
    MPI_Finalize();
}
"""
    row = simulate(body, 3, ending="cpp")
    assert sorted(row["stdout"].splitlines()) == ["0 1 0 a", "1 2 1 b", "2 3 2 c", "gone 0 1", "gone 1 2", "gone 2 3"]


LIBRARY = r"""
#include <mutex>
static std::once_flag once;
static std::mutex mutex;
static int begun, values;
/* Takes far longer than ranks of a node run ahead of each other. */
static void initialize()
{
    begun++;
    for (int i = 0; i < 20000; i++)
        std::lock_guard<std::mutex> held(mutex);
    values++;
}
struct slow {
    slow() { initialize(); }
};
extern "C" int use_once() { std::call_once(once, initialize); return 10 * begun + values; }
extern "C" int use_static() { static slow one; return 10 * begun + values; }
"""


@pytest.mark.parametrize("use", ["use_once", "use_static"])
def test_what_a_library_initializes_once_is_whole_for_every_rank(simulate: Simulate, use: str) -> None:
    Path("library.cpp").write_text(LIBRARY)
    find_compiler().run(["-shared", "-fPIC", "library.cpp", "-lstdc++", "-o", "library.so"])
    body = rf"""
extern "C" int {use}();
int main(int argc, char **argv)
{{
    begin(&argc, &argv);
    printf("%d\n", {use}());
    MPI_Finalize();
}}
"""
    row = simulate(body, 4, "--ldflags", str(Path("library.so").resolve()), ending="cpp")
    assert row["stdout"].split() == ["11"] * 4


def test_streams_of_cpp_work_in_every_rank_and_each_has_its_own_settings(simulate: Simulate) -> None:
    body = r"""
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
struct shape { virtual ~shape() {} virtual int sides() const { return 0; } };
struct square : shape { int sides() const override { return 4; } };
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    shape *s = rank % 2 ? new square : new shape;
    if (dynamic_cast<square *>(s) != nullptr ? s->sides() != 4 : s->sides() != 0)
        return 2;
    delete s;
    if (rank % 2)
        std::cout << std::setprecision(3) << std::fixed;
    MPI_Barrier(MPI_COMM_WORLD);
    std::ostringstream line;
    line << rank << ' ' << 1.5;
    std::cout << line.str() << ' ' << 2.25 << std::endl;
    std::cerr << "error of " << rank << '\n';
    std::ifstream missing("no-such-file");
    MPI_Finalize();
    return missing.good();
}
"""
    row = simulate(body, 4, ending="cpp")
    assert sorted(row["stdout"].splitlines()) == ["0 1.5 2.25", "1 1.5 2.250", "2 1.5 2.25", "3 1.5 2.250"]
    assert sorted(row["stderr"].splitlines()) == [f"error of {rank}" for rank in range(4)]


RING = r"""
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int n = atoi(argv[1]), wrong = 0;
    int *out = malloc(n * sizeof *out), *in = malloc(n * sizeof *in);
    for (int i = 0; i < n; i++)
        out[i] = rank * 1000 + i;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv(in, n, MPI_INT, (rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, n, MPI_INT, (rank + 1) % ranks, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], &status);
    int count;
    MPI_Get_count(&status, MPI_INT, &count);
    for (int i = 0; i < n; i++)
        wrong += in[i] != (rank + ranks - 1) % ranks * 1000 + i;
    printf("%d wrong %d count %d from %d tag %d\n", rank, wrong, count, status.MPI_SOURCE, status.MPI_TAG);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("count", [0, 1, 100, 10000])
def test_messages_arrive_whole_whether_they_are_short_or_long(simulate: Simulate, count: int) -> None:
    row = simulate(RING, 4, "--", str(count))
    expected = [f"{r} wrong 0 count {count} from {(r + 3) % 4} tag 4" for r in range(4)]
    assert sorted(row["stdout"].splitlines()) == expected
    again = simulate(RING, 4, "--", str(count))
    assert (again["time_cycles"], again["leaves"]) == (row["time_cycles"], row["leaves"])


def test_time_in_collective_operations_is_charged_to_the_line_that_calls_them(simulate: Simulate) -> None:
    body = r"""
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int sum = 0;
    for (int i = 0; i < 100; i++)
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // here
    MPI_Finalize();
    return 0;
}
"""
    row = simulate(body, 4, "-o", "p.sgstudy")
    here = (BEGIN + body).splitlines().index(next(line for line in body.splitlines() if "// here" in line)) + 1
    with Study.open("p.sgstudy") as study:
        (record,) = study.runs()
    spent = {line.line: line.idle + line.primitive for line in record.lines}
    names = ("prim_send", "prim_receive", "prim_pack", "idle_collective", "idle_transfer")
    assert spent[here] > 0.8 * sum(row["leaves"][name] for name in names)


def test_every_rank_gets_the_arguments_as_they_were_given(simulate: Simulate) -> None:
    body = r"""
int main(int argc, char **argv)
{
    int least = 0, most = 0, option;
    while ((option = getopt(argc, argv, "m:")) != -1) { /* brings its options to the front */
        least = atoi(strtok(optarg, ":"));
        most = atoi(strtok(NULL, ":"));
    }
    char *last = argv[argc - 1];
    int length = (int)strlen(last);
    memset(last, 'x', length);
    begin(&argc, &argv);
    printf("%d: %d to %d, %s, %d\n", rank, least, most, last, length);
    MPI_Finalize();
    return 0;
}
"""
    row = simulate(body, 3, "--", "file", "-m", "4:256")
    assert sorted(row["stdout"].splitlines()) == [f"{rank}: 4 to 256, xxxx, 4" for rank in range(3)]


def test_functions_that_mpi_3_has_removed_are_served(simulate: Simulate) -> None:
    body = r"""
static void failed(MPI_Comm *comm, int *code, ...) { printf("error %d\n", *code == MPI_ERR_RANK); (void)comm; }
int main(int argc, char **argv)
{
    struct { double a; int n; char c; } in = {0}, out = {1.5 + 1, 7, 'x'};
    int lengths[3] = {1, 1, 1}, flat[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    MPI_Aint places[3], base, extent, low, high;
    MPI_Datatype types[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, whole, column;
    MPI_Errhandler handler;
    begin(&argc, &argv);
    MPI_Address(&out, &base);
    MPI_Address(&out.a, &places[0]);
    MPI_Address(&out.n, &places[1]);
    MPI_Address(&out.c, &places[2]);
    for (int i = 0; i < 3; i++)
        places[i] -= base;
    MPI_Type_struct(3, lengths, places, types, &whole);
    MPI_Type_commit(&whole);
    MPI_Type_extent(whole, &extent);
    MPI_Type_lb(whole, &low);
    MPI_Type_ub(whole, &high);
    MPI_Type_hvector(4, 1, 2 * sizeof(int), MPI_INT, &column);
    MPI_Type_commit(&column);
    if (rank == 0) {
        MPI_Send(&out, 1, whole, 1, 0, MPI_COMM_WORLD);
        MPI_Send(flat, 1, column, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&in, 1, whole, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(flat, 4, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%.1f %d %c %d %d %d %d\n", in.a, in.n, in.c, extent == sizeof in, low == 0, high == extent, flat[3]);
        MPI_Errhandler_create(failed, &handler);
        MPI_Errhandler_set(MPI_COMM_WORLD, handler);
        MPI_Send(&out, 1, whole, 9, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""
    assert simulate(body, 2)["stdout"] == "2.5 7 x 1 1 1 6\nerror 1\n"


LATE = r"""
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    int late = atoi(argv[1]), bytes = atoi(argv[2]);
    char *data = calloc(bytes, 1);
    volatile double sum = 0;
    if (rank == late)
        for (int i = 0; i < 100000; i++)
            sum += i;
    if (rank == 0)
        MPI_Send(data, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(data, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize(
    ("late", "size", "waited"),
    [("0", "10", "idle_late_sender"), ("0", "100000", "idle_late_sender"), ("1", "100000", "idle_late_receiver")],
)
def test_who_waits_is_charged_to_whom_he_waits_for(simulate: Simulate, late: str, size: str, waited: str) -> None:
    leaves = simulate(LATE, 2, "--", late, size)["leaves"]
    busy = sum(leaves[name] for name in ("busy_int", "busy_fp", "busy_mem", "busy_control"))
    assert leaves[waited] > busy / 3  # the sender copies its data first
    others = {"idle_late_sender", "idle_late_receiver", "idle_message"} - {waited}
    assert all(leaves[name] == 0 for name in others)


def test_a_short_message_does_not_wait_for_its_receiver(simulate: Simulate) -> None:
    leaves = simulate(LATE, 2, "--", "1", "10")["leaves"]
    assert leaves["idle_late_receiver"] == 0


def test_a_deadlock_names_ranks_partners_tags_and_places(simulate: Simulate) -> None:
    body = r"""
int main(int argc, char **argv)
{
    int x = 0;
    begin(&argc, &argv);
    MPI_Recv(&x, 1, MPI_INT, (rank + 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""
    row = simulate(body, 2, code=1)
    line = (BEGIN + body).splitlines().index("    begin(&argc, &argv);") + 2
    assert row["status"] == "deadlock"
    for r in range(2):
        place = f"rank {r} waits in MPI_Recv for a message from rank {1 - r} with tag 7 at p.c:{line} in main"
        assert place in row["message"].replace(str(Path.cwd()) + "/", "")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("MPI_Send(&x, 1, MPI_INT, 9, 0, MPI_COMM_WORLD);", "rank 9 is not one of the 2 ranks of the communicator"),
        ("MPI_Abort(MPI_COMM_WORLD, 3);", "called MPI_Abort with code 3"),
        (
            "MPI_Sendrecv(many, 4, MPI_INT, rank, 0, &x, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            "a message of 16 bytes from rank 0 with tag 0 does not fit into the 4 bytes of the receive",
        ),
    ],
)
def test_a_wrong_call_is_named_with_its_rank_and_place(simulate: Simulate, call: str, says: str) -> None:
    start = "int main(int argc, char **argv) { int x = 0, many[4] = {0}; (void)many; begin(&argc, &argv);"
    body = f"{start}\n{call}\nMPI_Finalize(); return x; }}"
    row = simulate(body, 2, code=1)
    line = (BEGIN + body).splitlines().index(call) + 1
    assert says in row["message"]
    assert f"p.c:{line}" in row["message"]


@pytest.mark.parametrize("processors", [1, 3, 8])
def test_burg_gives_the_same_result_on_any_number_of_ranks(capsys: pytest.CaptureFixture[str], processors: int) -> None:
    burg = str(resource_dir("programs") / "mpi" / "burg.c")
    assert scalegraph(["simulate", burg, "-p", f"{processors}", "--no-reference", "--json", "--", "1003", "10"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert row["stdout"].startswith("1003 points, 10 lags: power 0.00")
    assert row["stdout"].endswith("work 101896 flops\n")


PING = r"""
int main(int argc, char **argv)
{
    double began = 0, ended = 0;
    static char data[1024];
    begin(&argc, &argv);
    for (int i = 0; i < 4; i++) {
        static const int sizes[] = {0, 4, 8, 1024};
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            for (volatile int wait = 0; wait < 1000; wait++)
                ;
            began = MPI_Wtime();
            MPI_Send(data, sizes[i], MPI_CHAR, 1, 0, MPI_COMM_WORLD);
            MPI_Send(&began, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(data, sizes[i], MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            ended = MPI_Wtime();
            MPI_Recv(&began, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("%.0f\n", (ended - began) * 20e6);
        }
    }
    MPI_Finalize();
    return 0;
}
"""


def test_a_message_between_neighbours_of_ncube2_takes_what_the_paper_measured(simulate: Simulate) -> None:
    taken = [int(line) for line in simulate(PING, 2, "--machine", "ncube2")["stdout"].split()]
    alpha, beta = 2600, 10  # 130 us and 0.5 us a byte at 20 MHz
    assert [cycles - taken[0] for cycles in taken] == [beta * size for size in (0, 4, 8, 1024)]
    assert alpha <= taken[0] < alpha + 60  # the program's own instructions between the two clocks


def test_ranks_of_different_nodes_have_static_data_of_their_own_and_share_no_line(simulate: Simulate) -> None:
    row = simulate(OWN, 5, "--machine", "ncube2", "--", "-v", "-n", "4", "file")
    expected = [f"{r}: {7 + r} {2 * r} {3 + r} wrong 0 two n 4 again 1 rest file 1" for r in range(5)]
    assert sorted(row["stdout"].splitlines())[:5] == expected
    assert row["leaves"]["stall_upgrade"] == 0
    assert row["invalidations"] == 0


HYBRID = r"""
#include <omp.h>
static int counted;
#pragma omp threadprivate(counted)
int main(int argc, char **argv)
{
    int sum = 0, threads = 0;
    begin(&argc, &argv);
#pragma omp parallel reduction(+ : sum)
    {
        counted = rank + omp_get_thread_num();
#pragma omp critical
        threads++;
#pragma omp barrier
        sum += counted;
    }
    printf("%d: %d threads of %d processors, sum %d\n", rank, threads, omp_get_num_procs(), sum);
    MPI_Finalize();
    return 0;
}
"""


def test_each_rank_has_threads_and_critical_sections_of_its_own(simulate: Simulate) -> None:
    row = simulate(HYBRID, 8, "--threads-per-process", "4")
    assert sorted(row["stdout"].splitlines()) == [f"{r}: 4 threads of 4 processors, sum {4 * r + 6}" for r in range(2)]
    assert (row["processes"], row["threads_per_process"]) == (2, 4)
    assert sum(row["leaves"].values()) == 8 * row["time_cycles"]


STENCIL = r"""
#include <omp.h>
static double a[60000], b[60000];
int main(int argc, char **argv)
{
    begin(&argc, &argv);
    double *from = a, *to = b, sum = 0, all;
    for (int turn = 0; turn < 4; turn++) {
#pragma omp parallel for
        for (int i = 1; i < 59999; i++)
            to[i] = (from[i - 1] + from[i] + from[i + 1] + rank) / 3;
        double *other = from;
        from = to;
        to = other;
        MPI_Allreduce(&from[100], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        from[100] = sum;
    }
    MPI_Finalize();
    return 0;
}
"""


@pytest.mark.parametrize("threads", [16, 64])
def test_ranks_of_several_threads_do_not_change_the_data_of_the_host_at_every_reference(
    simulate: Simulate, threads: int
) -> None:
    """Ranks of one node take turns after thousands of cycles, ranks on different nodes only when they must wait."""
    arguments = ("--machine", "cluster-hdr", "--threads-per-process", str(threads))
    simulate(STENCIL, threads, *arguments)  # builds
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt
    simulate(STENCIL, 2 * threads if threads == 64 else 64, *arguments)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt - before < 25_000


def test_a_trace_has_every_message_with_both_its_ends(simulate: Simulate) -> None:
    row = simulate(RING, 4, "--machine", "ncube2", "--trace", "--trace-output", "traces", "--", "100")
    with open_container(Path(row["trace"])) as trace:
        messages = trace.columns("messages")
        names = [communicator.name for communicator in trace.definitions.communicators]
    world = messages["communicator"] == 0
    assert sorted(zip(messages["sender"][world].tolist(), messages["receiver"][world].tolist(), strict=True)) == [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 0),
    ]
    assert set(messages["size"][world].tolist()) == {400}
    assert set(messages["tag"][world].tolist()) == {4}
    assert (messages["sent"] <= messages["left"]).all()
    assert (messages["left"] < messages["received"]).all()
    assert (messages["posted"] < messages["received"]).all()
    assert names[0] == "MPI_COMM_WORLD"
