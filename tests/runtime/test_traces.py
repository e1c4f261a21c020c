"""Traces of simulated runs: exactly known events, sums that equal the accounts, no disturbance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.base.errors import WorkError
from scalegraph.base.run import Region
from scalegraph.runtime.format import CATEGORY_NAMES, COUNTER_NAMES, TRACE_HEADER, TRACE_RECORD
from scalegraph.runtime.shares import Moves
from scalegraph.runtime.trace import METRICS, ROWS, write_trace
from scalegraph.traces.checking import check
from scalegraph.traces.container import open_container
from scalegraph.traces.kinds import Columns, LockStep, TaskStep, Wait, What
from scalegraph.traces.model import Trace
from tests.runtime.conftest import Outcome, Simulator

pytestmark = pytest.mark.compiler

REGIONS = [Region(id=0, kind="program", name="main"), Region(id=1, kind="loop", name="one", file="a.c", line=3)]
PROGRAMS = {
    "in_turn": """
        #include <omp.h>
        double x[64][16];
        static void work(int me, int n) { for (int i = 0; i < n; i++) x[me][0] = x[me][0] * 0.5 + 1; }
        int main(void)
        {
        #pragma omp parallel
            {
                int me = omp_get_thread_num();
        #pragma omp barrier
                work(me, 10 + 300 * me);
        #pragma omp critical
                work(me, 12000);
            }
            return 0;
        }""",
    "few_tasks": """
        #include <omp.h>
        double x[64][16];
        int main(void)
        {
        #pragma omp parallel
        #pragma omp single
            for (int k = 0; k < 10; k++)
        #pragma omp task
                for (int i = 0; i < 1000; i++)
                    x[k][0] = x[k][0] * 0.5 + 1;
            return 0;
        }""",
    "chunks": """
        int x[100];
        int main(void)
        {
        #pragma omp parallel for schedule(dynamic, 7)
            for (int i = 0; i < 100; i++)
                x[i] = i;
            return 0;
        }""",
    "scopes": """
        static int depth(int n)
        {
            SCALEGRAPH_SCOPE(2);
            return n > 0 ? depth(n - 1) + 1 : 0;
        }
        int x[4096];
        int main(void)
        {
            {
                SCALEGRAPH_SCOPE(1);
                for (int i = 0; i < 4096; i++)
                    x[i] = depth(1);
            }
        #pragma omp parallel
            {
                SCALEGRAPH_SCOPE(3);
                depth(2);
            }
            return 0;
        }""",
    "joined": """
        #include <pthread.h>
        #include <stddef.h>
        int x[4096];
        static void *work(void *unused)
        {
            SCALEGRAPH_SCOPE(1);
            for (int i = 0; i < 4096; i++)
                x[i]++;
            return unused;
        }
        int main(void)
        {
            pthread_t t;
            pthread_create(&t, NULL, work, NULL);
            pthread_join(t, NULL);
            return 0;
        }""",
}


@dataclass(frozen=True)
class Traced:
    """A traced run, and the same without a trace."""

    plain: Outcome
    outcome: Outcome
    raw: Path
    trace: Trace
    notes: list[str]

    def rows(self, kind: str, **values: int) -> Columns:
        """Return the rows of *kind* in which columns have *values*."""
        columns = self.trace.columns(kind)
        keep = np.ones(len(next(iter(columns.values()))), bool)
        for name, value in values.items():
            keep &= columns[name] == value
        return {name: column[keep] for name, column in columns.items()}

    def marks(self, name: str) -> Columns:
        names = [region.name for region in self.trace.definitions.regions]
        return self.rows("marks", region=names.index(name))


Tracer = Callable[..., Traced]


@pytest.fixture
def traced(simulator: Simulator, tmp_path: Path) -> Tracer:
    """Run a program with and without a trace; check what must hold for all."""

    def run(name: str, processors: int, *, trace: dict[str, str] | None = None, **options: Any) -> Traced:
        if name in PROGRAMS and not (simulator.directory / f"{name}.c").exists():
            (simulator.directory / f"{name}.c").write_text(PROGRAMS[name])
        plain = simulator.run(name, processors, **options)
        raw, out = tmp_path / "raw", tmp_path / f"{name}-{processors}.sgtrace"
        options["settings"] = {**(options.get("settings") or {}), "trace.file": str(raw), **(trace or {})}
        outcome = simulator.run(name, processors, **options)
        assert np.array_equal(plain.result.costs, outcome.result.costs)
        assert np.array_equal(plain.result.sites, outcome.result.sites)
        assert plain.result.meta["time_cycles"] == outcome.result.meta["time_cycles"]
        assert plain.stdout == outcome.stdout
        written = write_trace(raw, out, regions=REGIONS, result=outcome.result, machine="M", program=name)
        whole = open_container(out)
        report = check(whole)
        assert [violation.sentence() for violation in report.violations] == []
        assert written.rows == whole.counts()
        return Traced(plain, outcome, raw, whole, [note.what for note in written.notes])

    return run


def whole(run: Traced) -> None:
    """Check that the shares and counters in a whole run's trace equal the accounts."""
    assert "accounting" in run.trace.meta.properties  # so the checker has compared the shares with it
    assert (run.trace.meta.begin, run.trace.meta.end) == (0, run.outcome.time)
    assert run.notes == []
    costs, counters = run.outcome.result.costs, run.trace.columns("counters")
    counted = dict(zip(COUNTER_NAMES, costs["counters"].sum(axis=0, dtype=np.int64).tolist(), strict=True))
    counted["references"] = counted["reads"] + counted["writes"]
    sums = [int(counters["exact"][counters["metric"] == number].sum()) for number in range(len(METRICS))]
    assert sums == [counted[name] for name in METRICS]


@pytest.mark.few(8)
@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, 4, 16])
@pytest.mark.parametrize(
    ("name", "on"),
    [
        ("in_turn", "ksr1"),
        ("few_tasks", "server-2x32-inorder"),
        ("scopes", "server-2x32-inorder"),
        ("threads", "ksr1"),
        ("nested", "bus-smp"),
    ],
)
def test_shares_add_up_to_the_accounts(traced: Tracer, name: str, on: str, processors: int) -> None:
    whole(traced(name, processors, on=on))


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"machine.barrier": "hardware"},
        {"machine.barrier": "tree"},
        {"machine.barrier": "simple"},
        {"machine.lock": "queue"},
        {"machine.lock": "ticket"},
        {"run.ideal": "network,cache,sync"},
        {"run.collect": "classes"},
    ],
)
def test_shares_add_up_whatever_the_machine(traced: Tracer, settings: dict[str, str]) -> None:
    whole(traced("sharing", 8, settings=settings, trace={"trace.interval": "700"}))


@pytest.mark.slow
def test_shares_add_up_where_threads_share_processors(traced: Tracer) -> None:
    run = traced("threads", 3, settings={"machine.slice_cycles": "2000"}, trace={"trace.interval": "300"})
    whole(run)
    whole(traced("task_depend", 3, env={"OMP_NUM_THREADS": "10"}))
    whole(traced("thread_ends", 3, on="server-2x32-inorder"))
    whole(traced("thread_places", 4, on="server-2x32-inorder"))


@pytest.mark.slow
def test_shares_add_up_under_virtual_speedups(traced: Tracer, tmp_path: Path) -> None:
    scale = tmp_path / "scale"
    scale.write_text("item region 3 1 2\nrange 1 2\nitem within 1 3 7\nrange 0 1\nitem lock 3 1 3\nrange 1 3\n")
    whole(traced("whatif", 4, on="server-2x32-inorder", settings={"run.scale_path": str(scale)}))


@pytest.mark.slow
@pytest.mark.parametrize("processors", [4, 16])
def test_who_comes_last_to_a_barrier_holds_the_others(traced: Tracer, processors: int) -> None:
    run = traced("arrivals", processors, settings={"machine.barrier": "central"})
    whole(run)
    last = processors - 1
    arrivals = run.marks("barrier")
    order = arrivals["location"][np.argsort(arrivals["time"], kind="stable")]
    assert order[processors - 1 : 2 * processors : processors].tolist() == [last, last]
    waits = run.rows("waits", why=Wait.BARRIER)
    assert set(waits["location"][waits["holder"] == last].tolist()) == set(range(last))
    for processor in range(last):
        mine = waits["holder"][(waits["location"] == processor)]
        assert mine[:2].tolist() == [last, last]
    shares = run.rows("shares", location=last)
    assert set(waits["released"][waits["holder"] == last].tolist()) <= set(shares["end"].tolist())
    assert np.array_equal(waits["released"], waits["end"])


@pytest.mark.slow
def test_with_a_hardware_barrier_everybody_waits_for_the_last(traced: Tracer) -> None:
    run = traced("arrivals", 8, settings={"machine.barrier": "hardware"})
    waits = run.rows("waits", why=Wait.BARRIER)
    assert all(waits["holder"][waits["location"] == p][0] == 7 for p in range(7))


@pytest.mark.slow
@pytest.mark.parametrize("processors", [4, 16])
@pytest.mark.parametrize("kind", ["queue", "ticket"])
def test_a_lock_goes_from_holder_to_holder(traced: Tracer, kind: str, processors: int) -> None:
    run = traced("in_turn", processors, settings={"machine.lock": kind})
    taken = run.rows("locks", what=LockStep.ACQUIRED)
    assert sorted(zip(taken["order"].tolist(), taken["location"].tolist(), strict=True)) == [
        (p + 1, p) for p in range(processors)
    ]
    assert len(set(taken["lock"].tolist())) == 1
    given = run.rows("locks", what=LockStep.RELEASED)
    by_order = np.argsort(taken["order"]), np.argsort(given["order"])
    held = taken["time"][by_order[0]], given["time"][by_order[1]]
    assert (held[0] < held[1]).all()
    assert (held[1][:-1] <= held[0][1:]).all()
    waits = run.rows("waits", why=Wait.LOCK)
    final = dict(zip(waits["location"].tolist(), waits["holder"].tolist(), strict=True))
    assert final == {p: p - 1 for p in range(1, processors)}


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, 4, 16])
def test_tasks_are_created_once_and_end(traced: Tracer, processors: int) -> None:
    run = traced("few_tasks", processors)
    steps = {step: run.rows("tasks", what=step) for step in TaskStep}
    assert steps[TaskStep.CREATED]["task"].tolist() == list(range(1, 11))
    assert sorted(steps[TaskStep.ENDED]["task"].tolist()) == list(range(1, 11))
    ran = steps[TaskStep.SWITCHED_TO]
    assert sorted(ran["task"][ran["task"] > 0].tolist()) == list(range(1, 11))
    assert len(set(ran["location"].tolist())) > processors // 4


@pytest.mark.slow
@pytest.mark.parametrize("processors", [1, 4])
def test_chunks_tell_their_iterations(traced: Tracer, processors: int) -> None:
    run = traced("chunks", processors)
    assert sorted(run.marks("chunk")["value"].tolist()) == [2, *[7] * 14]
    assert sorted(run.marks("chunk_end")["value"].tolist()) == [2, *[7] * 14]
    assert sorted(run.marks("chunk_first")["value"].tolist()) == list(range(0, 100, 7))
    assert set(run.marks("chunk_owner")["value"].tolist()) == {0}  # dynamic: from one central queue
    assert run.marks("fork")["value"].tolist() == ([processors] if processors > 1 else [])


@pytest.mark.slow
def test_regions_nest_on_every_processor(traced: Tracer) -> None:
    run = traced("scopes", 2)
    whole(run)
    calls = run.rows("calls", location=0)
    events = [(What(w).name[0], int(r)) for w, r in zip(calls["what"], calls["region"], strict=True)]
    one = [("E", 2), ("E", 2), ("L", 2), ("L", 2)]
    three = [("E", 3), ("E", 2), ("E", 2), ("E", 2), ("L", 2), ("L", 2), ("L", 2), ("L", 3)]
    assert events == [("E", 0), ("E", 1), *(4096 * one), ("L", 1), *three, ("L", 0)]
    assert run.trace.definitions.regions[1].line == 3
    assert run.trace.definitions.regions[3].name == "region 3"


@pytest.mark.slow
def test_whoever_joins_waits_for_the_thread_that_ends(traced: Tracer) -> None:
    run = traced("joined", 2)
    whole(run)
    waits = run.rows("waits", location=0, why=Wait.JOIN)
    assert waits["holder"].tolist() == [1]
    assert run.rows("calls", location=1, region=1)["what"].tolist() == [What.ENTER, What.LEAVE]
    start = run.rows("waits", location=1)
    assert (int(start["begin"][0]), int(start["holder"][0])) == (0, 0)


@pytest.mark.slow
def test_a_sleeping_thread_waits_for_nobody(traced: Tracer) -> None:
    run = traced("clock", 1)
    whole(run)
    waits = run.rows("waits")
    assert (waits["end"] - waits["begin"]).tolist() == [5_000_000]
    assert (waits["holder"].tolist(), waits["why"].tolist()) == ([-1], [Wait.OTHER])


@pytest.mark.slow
def test_stretches_are_as_short_as_asked_for(traced: Tracer) -> None:
    run = traced("imbalance", 2, trace={"trace.interval": "500"})
    whole(run)
    shares = run.trace.columns("shares")
    busy = shares["state"] < CATEGORY_NAMES.index("stall_local")
    assert int((shares["end"] - shares["begin"])[busy].max()) < 3000  # a whole block, or a primitive
    assert len(shares["begin"]) > 2 * len(traced("imbalance", 2).trace.columns("shares")["begin"])


@pytest.mark.slow
def test_two_traced_runs_write_the_same(traced: Tracer) -> None:
    first = traced("sharing", 16).raw.read_bytes()
    assert traced("sharing", 16).raw.read_bytes() == first


def test_only_the_time_asked_for_is_told(traced: Tracer) -> None:
    run = traced("arrivals", 4, trace={"trace.begin": "3000", "trace.end": "9000", "trace.interval": "100"})
    assert run.trace.meta.begin == 3000
    assert 9000 <= run.trace.meta.end < 9500  # the block or miss in progress
    assert "accounting" not in run.trace.meta.properties
    assert "cycles from 3000 to 9000" in run.notes[0]
    shares = run.trace.columns("shares")
    for processor in range(4):
        mine = shares["location"] == processor
        begin, end = shares["begin"][mine], shares["end"][mine]
        assert 3000 <= int(begin[0]) < 3500
        assert int(end[-1]) >= 9000
        assert ((begin[1:] == begin[:-1]) | (begin[1:] == end[:-1])).all()
        assert int(shares["ticks"][mine].sum()) == int(end[-1] - begin[0])


def test_only_what_happens_inside_a_region_is_told(traced: Tracer) -> None:
    run = traced("arrivals", 4, trace={"trace.region": "1", "trace.interval": "100"})
    calls = run.rows("calls", region=1)
    assert run.trace.meta.begin == int(calls["time"].min())
    assert len(calls["time"]) == 8
    assert run.rows("waits", why=Wait.BARRIER, region=1)["holder"].tolist() == [3, 3, 3]
    assert run.trace.meta.end - int(calls["time"].max()) < 1000
    assert run.notes == ["only the time from entering to leaving a region was asked for"]


def test_only_the_kinds_asked_for_are_told(traced: Tracer) -> None:
    run = traced("sharing", 4, trace={"trace.what": "regions,waits"})
    assert set(run.trace.counts()) == {"calls", "waits", "marks"}
    assert run.notes == []
    assert run.trace.meta.properties["not asked for"] == "locks, tasks, chunks, shares, counters, messages"


def test_a_full_trace_ends_early_and_says_so(traced: Tracer) -> None:
    run = traced("scopes", 4, trace={"trace.limit": "100000"})
    assert run.raw.stat().st_size <= 100_000
    assert run.trace.meta.end < run.outcome.time
    assert "limit of 100000 bytes was reached" in run.notes[0]
    assert "reached its limit of 100000 bytes" in run.outcome.result.meta["warnings"]


def test_a_full_disk_does_not_stop_the_run(simulator: Simulator) -> None:
    outcome = simulator.run("sharing", 4, settings={"trace.file": "/dev/full"})
    assert (outcome.status, outcome.returncode) == ("ok", 0)
    assert "/dev/full cannot be written: No space left on device" in outcome.stderr
    outcome = simulator.run("sharing", 4, settings={"trace.file": "/nowhere/raw"})
    assert outcome.status == "ok"
    assert "/nowhere/raw cannot be written: No such file or directory" in outcome.result.meta["warnings"]


@pytest.mark.slow
def test_a_stopped_run_has_a_trace_up_to_there(simulator: Simulator, tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out.sgtrace"
    for name in ("deadlock", "crash"):
        outcome = simulator.run(name, 3, settings={"trace.file": str(raw)})
        assert outcome.status != "ok"
        written = write_trace(raw, out, regions=REGIONS, result=outcome.result)
        assert written.notes[0].what.startswith("the run was stopped")
        assert check(open_container(out)).holds


@pytest.mark.slow
@pytest.mark.parametrize("cut", [0, 1, 7, 32, 333, 5000])
def test_a_killed_run_has_a_trace_of_what_was_written(traced: Tracer, tmp_path: Path, cut: int) -> None:
    run = traced("in_turn", 4, trace={"trace.interval": "500"})
    header = np.fromfile(run.raw, TRACE_HEADER, 1)
    for name in ("state", "records", "begin", "end"):
        header[name] = 0
    killed, out = tmp_path / "killed", tmp_path / "killed.sgtrace"
    data = header.tobytes() + run.raw.read_bytes()[TRACE_HEADER.itemsize :]
    killed.write_bytes(data[: len(data) - cut])
    written = write_trace(killed, out, regions=REGIONS)
    assert written.notes[0].what.startswith("the run was killed")
    assert check(open_container(out)).holds


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out.sgtrace"
    header = np.zeros(1, TRACE_HEADER)
    for change, words in (
        ({}, "should begin with SGEVENTS"),
        ({"magic": b"SGEVENTS"}, "another byte order"),
        ({"endian": 0x01020304}, "records of version 0"),
        ({"version": 1, "record_size": TRACE_RECORD.itemsize, "state": 9}, "is damaged"),
        ({"state": 1, "records": 5}, "is cut short: 0 records, 5 were written"),
    ):
        for name, value in change.items():
            header[name] = value
        header.tofile(raw)
        with pytest.raises(WorkError, match=words):
            write_trace(raw, out, regions=[])
    raw.write_bytes(b"SGEVENTS")
    with pytest.raises(WorkError, match="cut short: 8 bytes"):
        write_trace(raw, out, regions=[])
    with pytest.raises(WorkError, match="cannot be read"):
        write_trace(tmp_path / "nothing", out, regions=[])
    assert not out.exists()


@pytest.mark.slow
def test_long_traces_are_converted_part_by_part(traced: Tracer, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = traced("in_turn", 4)
    assert sum(at_once.trace.counts().values()) < ROWS
    monkeypatch.setattr("scalegraph.runtime.trace.ROWS", 37)
    in_parts = traced("in_turn", 4)
    assert len(in_parts.trace.parts["shares"]) > 3
    for kind in at_once.trace.counts():
        for name, column in at_once.trace.columns(kind).items():
            assert np.array_equal(column, in_parts.trace.columns(kind)[name])


def test_cycles_that_stand_in_another_busy_leaf_are_moved() -> None:
    told = np.zeros((2, 3, 4), np.int64)
    told[1, 2] = [10, 7, 20, 0]
    costs = np.zeros(1, [("processor", "u4"), ("region", "u4"), ("categories", "u8", (len(CATEGORY_NAMES),))])
    costs["processor"], costs["region"], costs["categories"][0, :4] = 1, 2, [9, 9, 18, 1]
    moves = Moves.to_match(told, costs)
    rows = {
        "begin": [0, 0, 5, 5],
        "end": [5, 5, 40, 40],
        "location": [1] * 4,
        "state": [0, 1, 0, 2],
        "region": [2] * 4,
        "ticks": [2, 3, 8, 20],
    }
    columns = moves.apply({name: np.array(values, "<i4") for name, values in rows.items()})
    sums = [int(columns["ticks"][columns["state"] == category].sum()) for category in range(4)]
    assert sums == [9, 3 + 2, 18, 1]  # 4 of the 7 are not in these rows
    assert int(columns["ticks"][columns["begin"] == 5].sum()) == 28
    assert moves.todo == {}
