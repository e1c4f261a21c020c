"""Collective operations on cm5's control network: results, exact cycles, and operations that still use messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scalegraph import control
from scalegraph import machine as machines
from scalegraph.base.run import RunPoint, Variant
from scalegraph.cli.main import run as scalegraph
from scalegraph.link import Job, Simulated, TraceOrder
from scalegraph.traces.container import open_container

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

RANKS = 5
LATENCY, BYTE = 160, 10  # cycles, as cm5.toml declares
CALLING = 20  # most cycles that the instructions of a call take between two clock readings
PROGRAM = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{{
    int rank, size, x = 0, y[400] = {{0}};
    double d = 1, e;
    volatile double sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    {body}
    (void)d, (void)e, (void)x, (void)y, (void)sum;
    MPI_Finalize();
}}
"""
WORK = "for (int i = 1; i < 2000; i++) sum += 1.0 / i;"


@pytest.fixture
def simulated(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that simulates a program's body on some ranks of cm5 and returns its run."""
    monkeypatch.chdir(tmp_path)

    def simulate(body: str, *options: str, ranks: int = RANKS, code: int = 0) -> dict[str, Any]:
        Path("p.c").write_text(body if "#include" in body else PROGRAM.format(body=body))
        command = ["simulate", "p.c", "-m", "cm5", "-p", str(ranks), "--no-reference", "--json", *options]
        assert scalegraph(command) == code
        (row,) = json.loads(capsys.readouterr().out)["runs"]
        assert isinstance(row, dict)
        if code == 0:
            assert sum(row["leaves"].values()) == ranks * row["time_cycles"]
        return row

    return simulate


@pytest.mark.parametrize("ranks", [2, 5, 8])
def test_all_collective_operations_give_the_right_results(simulated: Any, ranks: int) -> None:
    row = simulated(Path(__file__).with_name("collectives.c").read_text(), ranks=ranks)
    assert row["stdout"] == "wrong 0\n"


def test_each_waits_for_the_network_as_long_as_the_machine_says(simulated: Any) -> None:
    body = """
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(y, 4, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(&rank, &x, 1, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
    MPI_Scan(&rank, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(&rank, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);"""
    leaves = simulated(body)["leaves"]
    # ranks that wait: in MPI_Init and _Finalize, barrier, allreduce, scan: all; bcast, exscan: all but one; reduce: one
    waits = 5 * RANKS + 2 * (RANKS - 1) + 1
    assert leaves["idle_transfer"] == LATENCY * waits
    assert leaves["prim_send"] == BYTE * 4 * (4 * RANKS + 4)  # 4 operations of a word by all, 4 words by the root
    assert "prim_receive" not in leaves or leaves["prim_receive"] == 0
    assert leaves.get("idle_network", 0) == 0


def test_the_last_one_that_comes_leaves_a_barrier_after_its_cycles(simulated: Any) -> None:
    body = f"""
    if (rank == 3) {{ {WORK} }}
    double before = MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
    double after = MPI_Wtime();
    printf("%d %.0f\\n", rank, (after - before) * 32e6);"""
    took = dict(map(int, line.split()) for line in simulated(body)["stdout"].splitlines())
    assert LATENCY <= took.pop(3) <= LATENCY + CALLING
    assert min(took.values()) > 10 * LATENCY


def test_the_root_of_a_broadcast_waits_for_nobody_and_a_late_rank_finds_the_data(simulated: Any) -> None:
    body = f"""
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 3) {{ {WORK} }}
    y[0] = rank == 1 ? 42 : 0;
    double before = MPI_Wtime();
    MPI_Bcast(y, 1, MPI_INT, 1, MPI_COMM_WORLD);
    double after = MPI_Wtime();
    printf("%d %d %.0f\\n", rank, y[0], (after - before) * 32e6);"""
    rows = [line.split() for line in simulated(body)["stdout"].splitlines()]
    took = {int(rank): int(cycles) for rank, _, cycles in rows}
    assert {value for _, value, _ in rows} == {"42"}
    assert 4 * BYTE <= took[1] <= 4 * BYTE + CALLING
    assert took[3] <= 100  # returns at once: only the copy into its memory costs time
    assert all(took[rank] >= LATENCY for rank in (0, 2, 4))


BY_MESSAGES = {
    "a reduction of floating-point numbers": "MPI_Allreduce(&d, &e, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);",
    "a product": "MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_PROD, MPI_COMM_WORLD);",
    "more than 1,024 bytes": "MPI_Bcast(y, 257, MPI_INT, 0, MPI_COMM_WORLD);",
    "some of the processes": """MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &some);
    MPI_Barrier(some);
    MPI_Comm_free(&some);""",
}


@pytest.mark.parametrize("what", BY_MESSAGES)
def test_what_the_network_cannot_do_is_made_of_messages(simulated: Any, what: str) -> None:
    assert simulated(BY_MESSAGES[what])["leaves"]["prim_receive"] > 0


@pytest.mark.parametrize("rule", ["barrier=dissemination", "allreduce=doubling", "bcast=binomial", "scan=doubling"])
def test_a_rule_chooses_messages_instead(simulated: Any, rule: str) -> None:
    body = """
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(y, 4, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scan(&rank, &y[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d %d\\n", x, y[1]);"""
    hardware = simulated(body)
    assert hardware["leaves"].get("prim_receive", 0) == 0
    chosen = simulated(body, "--env", f"SCALEGRAPH_MPI_RULE={rule}")
    assert chosen["leaves"]["prim_receive"] > 0
    assert chosen["time_cycles"] > hardware["time_cycles"]
    assert sorted(chosen["stdout"].splitlines()) == sorted(hardware["stdout"].splitlines())


def test_the_machine_can_leave_them_to_messages(simulated: Any) -> None:
    leaves = simulated("MPI_Barrier(MPI_COMM_WORLD);", "--set", "messages.collectives=messages")["leaves"]
    assert leaves["prim_receive"] > 0


def test_several_that_do_not_block_are_under_way_at_once(simulated: Any) -> None:
    body = """
    MPI_Request requests[3];
    int total = 0, all[2];
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Iallreduce(&rank, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1]);
    all[0] = all[1] = rank == 4 ? 7 : 0;
    MPI_Ibcast(all, 2, MPI_INT, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    printf("%d %d\\n", total, all[1]);"""
    assert simulated(body)["stdout"] == "10 7\n" * RANKS


def test_types_with_gaps_and_operations_in_place(simulated: Any) -> None:
    body = """
    MPI_Datatype every;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every);
    MPI_Type_commit(&every);
    for (int i = 0; i < 6; i++) y[i] = rank == 2 ? i : -1;
    MPI_Bcast(y, 1, every, 2, MPI_COMM_WORLD);
    x = rank + 1;
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    if (rank == 0) printf("%d %d %d %d %d, %d\\n", y[0], y[1], y[2], y[3], y[4], x);
    MPI_Type_free(&every);"""
    row = simulated(body)
    assert row["stdout"] == f"0 -1 2 -1 4, {1 ^ 2 ^ 3 ^ 4 ^ 5}\n"
    assert row["leaves"].get("prim_receive", 0) == 0


def test_nothing_takes_time_on_an_ideal_network(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM.format(body="MPI_Bcast(y, 4, MPI_INT, 1, MPI_COMM_WORLD);"))
    build = control.build([source])
    point = RunPoint(processors=2, variant=Variant(ideal=("messages",)))
    record = Simulated().run(Job(build, machines.load("cm5"), point))
    assert record.ok, record.message
    assert all(record.categories.get(name, 0) == 0 for name in ("prim_send", "idle_transfer", "idle_network"))


def test_a_rank_that_never_comes_is_a_deadlock_with_names(simulated: Any) -> None:
    row = simulated(
        "if (rank != 2) MPI_Barrier(MPI_COMM_WORLD);\n    else MPI_Recv(y, 1, MPI_INT, 0, 7, "
        "MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        code=1,
    )
    assert "rank 0 waits in MPI_Barrier for the other ranks at p.c:11" in row["message"].replace(
        str(Path.cwd()) + "/", ""
    )
    assert "rank 2 waits in MPI_Recv for a message from rank 0 with tag 7" in row["message"]


def test_a_trace_names_the_hardware(tmp_path: Path) -> None:
    source = tmp_path / "p.c"
    source.write_text(PROGRAM.format(body="MPI_Bcast(y, 4, MPI_INT, 1, MPI_COMM_WORLD);"))
    order = TraceOrder(tmp_path, "run", ("regions", "waits", "messages"))
    job = Job(control.build([source]), machines.load("cm5"), RunPoint(processors=2), trace=order)
    record = Simulated().run(job)
    assert record.ok, record.message
    assert record.trace is not None
    trace = open_container(Path(record.trace.path))
    names = [trace.definitions.regions[int(region)].name for region in trace.columns("marks")["region"]]
    assert {name for name in names if name.startswith("collective")} == {"collective_hardware"}
    rows = trace.columns("collectives")
    assert sorted(zip(rows["sent"].tolist(), rows["received"].tolist(), strict=True))[-2:] == [(0, 16), (16, 0)]
