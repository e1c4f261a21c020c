"""Ranks on several computers: how they are started, how their clocks compare, and their accounts."""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from scalegraph import machine as machines
from scalegraph.base.errors import InputError, MissingTool
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.workplaces import LOCK
from scalegraph.cli.measuring.options import most_processors
from scalegraph.control import build
from scalegraph.link import Job, Measuring, TraceOrder
from scalegraph.link.accounting import Operating, combined
from scalegraph.link.targets import _clocks, _collectives, _computers, _traced, named
from scalegraph.runtime.format import EVENT, TRACE_HEADER, TRACE_RECORD, TRACED
from scalegraph.runtime.results import Result
from scalegraph.toolchain.host_mpi import HostMpi, host_mpi
from scalegraph.traces.checking import check
from scalegraph.traces.kinds import Wait
from scalegraph.traces.reading import read
from tests.monitor.test_monitor import check_identity, waited
from tests.monitor.test_mpi import COLLECTIVES

MICRO = 1e-6
MESSAGES = r"""
#include <mpi.h>
#include <time.h>

int main(int count, char **words)
{
    int rank, sum, other;
    double out[64] = {0}, in[64];
    struct timespec rest = {0, 100000000};
    MPI_Request all[2];
    MPI_Message probed;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    for (int turn = 0; turn < 20; turn++) { /* there and back */
        if (rank == turn % 2)
            MPI_Send(out, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(in, 64, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        nanosleep(&rest, NULL);
    MPI_Irecv(in, 64, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &all[0]);
    MPI_Isend(out, 2, MPI_DOUBLE, other, 2, MPI_COMM_WORLD, &all[1]);
    MPI_Waitall(2, all, MPI_STATUSES_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(out, 3, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD);
    else {
        MPI_Mprobe(0, 3, MPI_COMM_WORLD, &probed, MPI_STATUS_IGNORE);
        MPI_Mrecv(in, 64, MPI_DOUBLE, &probed, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize() + (sum != 1);
}
"""


def test_hosts_are_named_with_or_without_a_number_of_ranks(tmp_path: Path) -> None:
    assert _computers.hosts({"hosts": "node1,node2:4"}, 6) == [("node1", 3), ("node2", 4)]
    assert _computers.hosts({}, 6) == []
    file = tmp_path / "hosts"
    file.write_text("# two\nnode1:2\n\nnode2 slots=3 max_slots=4\nnode3\n")
    assert _computers.hosts({"hostfile": str(file)}, 7) == [("node1", 2), ("node2", 3), ("node3", 3)]


@pytest.mark.parametrize(
    ("hosts", "text", "sentence"),
    [
        ("node1,-oProxyCommand=x", None, "'-oProxyCommand=x' is not a host; expected hosts=NODE1,NODE2:4"),
        ("node1:0", None, "'node1:0' is not a host"),
        ("", "node1\n-x\n", r"hosts:2: '-x' is not a host; expected 'node1', 'node1:4' or 'node1 slots=4'"),
        ("", "# none\n", "lists no hosts"),
        ("", None, "hosts: cannot be read: no such file"),
    ],
)
def test_what_is_no_host_is_one_sentence(hosts: str, text: str | None, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=sentence):
        _computers.hosts({"hosts": hosts, "hostfile": str(file)}, 2)


def test_each_library_is_told_the_hosts_in_its_own_words() -> None:
    hosts = [("node1", 2), ("node2", 2)]
    mpich, other = (HostMpi("an MPI", Path("mpirun"), open_mpi=open_mpi) for open_mpi in (False, True))
    assert mpich.start(4, hosts, ["A"]) == ["mpirun", "-launcher", "ssh", "-hosts", "node1:2,node2:2", "-n", "4"]
    assert " ".join(other.start(4, hosts, ["A"])).endswith("--host node1:2,node2:2 -x A -n 4")


def test_a_batch_job_of_several_nodes_has_the_hosts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_NUM_NODES", raising=False)
    assert not _computers.several({})
    assert named("mpi").refusal(10**6)
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    assert _computers.several({})
    assert not named("mpi").refusal(10**6)
    assert not named("mpi").away({})
    assert named("mpi").away({"hosts": "node1"})


def test_the_command_line_takes_more_processors_on_hosts_than_there_are_here() -> None:
    here, machine = len(os.sched_getaffinity(0)), machines.load("ksr1")
    assert most_processors("mpi", machine) == (here, "target 'mpi'")
    assert most_processors("mpi", machine, {"directory": "/scratch"}) == (here, "target 'mpi'")
    assert most_processors("mpi", machine, {"hosts": "node1,node2"})[0] > 1000
    assert most_processors("simulated", machine, {"hosts": "node1,node2"})[0] == machine.max_processors


def result(computer: str, rank: int, hertz: float, **more: str) -> Result:
    return Result({"computer": f"{computer} x", "rank": str(rank), "frequency_hz": str(hertz), **more}, {})


@pytest.mark.parametrize(
    ("begin", "end", "error", "within"),
    [
        ((10**9, 500), (31 * 10**9, 10**10 + 400), 1e-6, 2e-6),  # 10 s apart: the conversion is a line through both
        ((10**9, 500), (10**9 + 3 * 10**6, 10**6 + 400), 1e-6, 2e-6),  # 1 ms: the measured frequencies
    ],
)
def test_time_stamps_of_another_computer_become_those_of_the_first(
    begin: tuple[int, int], end: tuple[int, int], error: float, within: float
) -> None:
    """The other clock runs at 3 GHz, not 1 GHz, measured 20 millionths too high; it started 1/3 s earlier."""
    ticks = round(error * 3e9)
    other = result(
        "b",
        1,
        3e9 * (1 + 2e-5),
        **{"clock.0": f"{begin[0]} {begin[1]} {ticks}", "clock.1": f"{end[0]} {end[1]} {ticks}"},
    )
    first = result("a", 0, 1e9)
    (same, clock), remark = _clocks.clocks([first, other])
    assert not same.foreign
    assert clock.error >= error * 1e9 * 0.99
    own = np.array([begin[0], (begin[0] + end[0]) // 2, end[0]], np.uint64)
    there = (own.astype(float) - begin[0]) / 3 + 450
    assert np.abs(clock.converted(own).astype(float) - there).max() < within * 1e9
    assert remark.startswith("ranks on 2 computers; their clocks were compared by messages, to ")
    assert np.array_equal(same.converted(own), own)


def test_clocks_that_nobody_compared_are_not_believed() -> None:
    found, remark = _clocks.clocks([result("a", 0, 1e9), result("b", 1, 1e9)])
    assert remark == "ranks on 2 computers, whose clocks were not compared"
    assert len(found) == 2
    assert _clocks.clocks([result("a", 0, 1e9), result("a", 1, 1e9)])[1] == ""


class Seen:
    """The arguments and results of `separated`; and its results if rank 1 claims to be on another computer."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.results: list[Result] = []
        self.here: Operating = {}
        self.elsewhere: Operating = {}
        self.remarks: Sequence[str] = ()
        self._real = _collectives.separated
        monkeypatch.setattr(_collectives, "separated", self._separated)

    def _separated(self, raw: Path, results: Sequence[Result]) -> tuple[Operating, Sequence[str]]:
        found = self._real(raw, results)
        self.results = sorted(results, key=lambda one: int(one.meta["rank"]))
        self.here = found[0]
        other = self.results[1]
        path = raw.with_name(f"{raw.name}.{other.meta['pid']}")
        header, records = (
            np.fromfile(path, TRACE_HEADER, 1),
            np.fromfile(path, TRACE_RECORD, offset=TRACE_HEADER.itemsize),
        )
        mine = records["event"] == EVENT["collective"]
        stamps = [int(records[name][mine].min()) for name in ("first", "time")]
        for name in ("first", "time"):
            records[name][mine] = records[name][mine] * 2 + 10**12  # another clock, of twice the frequency
        with path.open("wb") as file:
            header.tofile(file)
            records.tofile(file)
        marks = [f"{2 * at + 10**12} {at} 100" for at in (stamps[0], stamps[0] + 10**11)]
        meta = {"computer": "other x", "clock.0": marks[0], "clock.1": marks[1]}
        meta["frequency_hz"] = str(2 * float(other.meta["frequency_hz"]))
        foreign = Result({**other.meta, **meta}, {})
        self.elsewhere, self.remarks = self._real(raw, [self.results[0], foreign])
        return found


@pytest.fixture
def reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for ssh that runs the command on this computer and logs the intended host."""
    try:
        host_mpi()
    except MissingTool as error:
        pytest.skip(str(error))
    if host_mpi().open_mpi:
        pytest.skip("the hosts are reached as MPICH does it")
    place = tmp_path / "bin"
    place.mkdir()
    (place / "ssh").write_text(
        f'#!/bin/sh\nwhile [ "${{1#-}}" != "$1" ]; do shift; done\necho "$1" >> {place}/said\nshift\nexec sh -c "$*"\n'
    )
    (place / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    return place / "said"


@pytest.fixture
def apart(reached: Path) -> Path:
    """Makes node2 of `reached` look like a separate computer to its processes."""
    words = ["unshare", *(["--map-root-user"] if os.geteuid() else []), "--mount", "--uts"]
    boot = reached.with_name("boot_id")
    boot.write_text("11111111-2222-3333-4444-555555555555\n")
    inside = f"hostname $HOST && mount --bind {boot} /proc/sys/kernel/random/boot_id"
    if subprocess.run([*words, "sh", "-c", inside], env={**os.environ, "HOST": "x"}, capture_output=True).returncode:
        pytest.skip("no namespaces of mounts and host names can be made here")
    said = reached.with_name("apart")
    (reached.parent / "ssh").write_text(
        '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nHOST=$1\nshift\nexport HOST\n'
        f'test "$HOST" = node2 || exec sh -c "$*"\necho "$HOST" >> {said}\n'
        f'exec {" ".join(words)} sh -c \'{inside} && exec sh -c "$0"\' "$*"\n'
    )
    return said


def measured(place: Path, program: str = COLLECTIVES, **more: object) -> RunRecord:
    (place / "p.c").write_text(program, encoding="utf-8")
    built = build(["p.c"], cwd=place, builds="mpi")
    point = RunPoint(processors=2, target="mpi")
    settings = {"hosts": "node1,node2", "directory": str(place)}
    measuring = Measuring(pin="none", disturbed=100, warm_up=0)
    job = Job(built, machines.load("ksr1"), point, cwd=place, measuring=measuring, settings=settings, **more)  # type: ignore[arg-type]
    record = named("mpi").run(job)
    assert record.status == "ok", record.message
    return record


@pytest.mark.slow
def test_accounts_of_all_ranks_come_back_and_their_clocks_are_compared(
    reached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen(monkeypatch)
    left = tmp_path / f".scalegraph-mpi-{socket.gethostname()}-left"
    left.mkdir()
    (left / LOCK).touch()
    record = measured(tmp_path)
    assert sorted(reached.read_text().split()) == ["node1", "node2"]
    assert not list(tmp_path.glob(".scalegraph-mpi-*"))
    assert record.processes == 2
    check_identity(record)
    assert waited(record, "idle_collective") > 0.02
    compared = [name in one.meta for one in seen.results for name in ("clock.0", "clock.1")]
    assert compared == [False, False, True, True]
    hertz = float(seen.results[0].meta["frequency_hz"])
    for name in ("clock.0", "clock.1"):  # both ranks run here: the difference is 0, within the stated error
        own, there, error = map(int, seen.results[1].meta[name].split())
        assert abs(there - own) <= error + MICRO * hertz
    pids = [one.meta["pid"] for one in seen.results]
    assert sum(seen.here[pids[1]].values()) > 0
    assert sum(seen.elsewhere[pids[0]].values()) == pytest.approx(sum(seen.here[pids[0]].values()), abs=400)
    assert sum(seen.elsewhere[pids[1]].values()) == pytest.approx(2 * sum(seen.here[pids[1]].values()), abs=800)
    assert seen.remarks[0].startswith("ranks on 2 computers; their clocks were compared")


@pytest.mark.slow
def test_ranks_of_another_frequency_fill_their_processors(
    reached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen(monkeypatch)
    record = measured(tmp_path)
    first, second = seen.results
    hertz = float(second.meta["frequency_hz"])
    second.meta |= {"computer": "other x", "frequency_hz": str(hertz / 8)}
    job = Job(build(["p.c"], cwd=tmp_path, builds="mpi"), machines.load("ksr1"), record.point)
    account = combined(job, [first, second])
    assert sum(account.categories().values()) == 2 * account.ticks
    took = account.ticks / account.hertz
    assert took == pytest.approx(8 * int(second.meta["time_cycles"]) / hertz)  # eight times as long as it seemed
    finished = account.by_processor()["idle_finished"]
    ended = int(first.meta["time_cycles"]) / float(first.meta["frequency_hz"])
    assert finished[0] / account.hertz == pytest.approx(took - ended, rel=0.1)  # except for the kernel's share
    assert reached.exists()


@pytest.mark.slow
def test_a_trace_of_ranks_on_hosts_is_recorded_in_the_directory_that_they_share(reached: Path, tmp_path: Path) -> None:
    record = measured(tmp_path, MESSAGES, trace=order(tmp_path))
    assert not list(tmp_path.glob(".scalegraph-mpi-*"))
    assert reached.read_text().split().count("node2") == 2  # the measured run, and the traced one
    assert not any("computers" in remark for remark in record.warnings)  # both are here: they share a clock
    check_messages(record)


@pytest.mark.slow
@pytest.mark.usefixtures("reached")
def test_ranks_on_two_computers_have_one_trace_on_one_clock(apart: Path, tmp_path: Path) -> None:
    """Namespaces give the second host its own name, network and boot; in truth its clock is the same."""
    record = measured(tmp_path, MESSAGES, trace=order(tmp_path))
    assert apart.read_text().split() == ["node2", "node2"]
    said = [remark for remark in record.warnings if "ranks on 2 computers; their clocks were compared" in remark]
    assert len(said) == 2, record.warnings  # one warning of the measured run, and one of the traced run
    assert any(
        re.search(r"(none|[0-9]+) of 23 messages between computers (was|were) ", remark) for remark in record.warnings
    )
    check_messages(record)
    assert record.trace is not None
    with read(Path(record.trace.path)) as trace:
        shares = trace.columns("shares", ("location", "begin", "end", "ticks"))
        for location in (0, 1):
            mine = shares["location"] == location
            assert shares["ticks"][mine].sum() == trace.meta.end - trace.meta.begin
        assert (shares["ticks"] == shares["end"] - shares["begin"]).all()
        assert (trace.meta.end - trace.meta.begin) / trace.meta.ticks_per_second < 60


def order(place: Path) -> TraceOrder:
    return TraceOrder(place / "traces", "run", TRACED, identity="x")


def check_messages(record: RunRecord) -> None:
    """The trace of MESSAGES has all messages, in order; the longest wait is for the rank that sleeps."""
    assert record.trace is not None, record.warnings
    with read(Path(record.trace.path)) as trace:
        assert check(trace).violations == []
        rows = trace.columns("messages", ("sent", "received", "sender", "receiver"))
        assert len(rows["sent"]) == 23
        assert (rows["sent"] <= rows["received"]).all()
        waits = trace.columns("waits", ("begin", "end", "location", "holder", "why"))
        longest = int(np.argmax((waits["end"] - waits["begin"]) * (waits["why"] == Wait.RECEIVE)))
        assert (int(waits["location"][longest]), int(waits["holder"][longest])) == (1, 0)


@pytest.mark.slow
def test_a_trace_lacks_no_rank(reached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = _traced._results

    def results(place: Path, job: Job) -> list[Result]:
        next(iter(place.glob("monitor.*"))).unlink()
        return real(place, job)

    monkeypatch.setattr(_traced, "_results", results)
    record = measured(tmp_path, MESSAGES, trace=order(tmp_path))
    assert record.trace is None
    said = (
        r"no trace was kept: only 1 of 2 ranks left a result of the traced run in .*/traced: all hosts have to share it"
    )
    assert re.fullmatch(said, record.warnings[-1])
    assert reached.exists()


@pytest.mark.slow
def test_ranks_that_do_not_share_the_directory_are_counted(
    reached: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scalegraph.link.targets import host

    real = host.read_results
    monkeypatch.setattr(host, "read_results", lambda result: (real(result)[0][:1], []))
    record = measured(tmp_path)
    assert record.time_s == record.host_s
    assert not record.categories
    assert f"1 of 2 ranks left accounts in {tmp_path}: all hosts have to share that directory" in record.warnings[0]
    assert named("mpi").reached({"hosts": "node1,node2"}).found.startswith("MPICH")
    assert reached.exists()
