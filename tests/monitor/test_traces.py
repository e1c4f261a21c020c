"""Traces of measured runs: waits with their holders, locks, chunks, accounts of time, and limits of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph import machine as machines
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control import build
from scalegraph.link import Job, Measuring, TraceOrder
from scalegraph.link.targets import named
from scalegraph.request import Session
from scalegraph.request.model.request import Request
from scalegraph.runtime.format import TRACED
from scalegraph.traces.checking import check
from scalegraph.traces.kinds import Wait
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read
from tests.monitor import programs

pytestmark = pytest.mark.slow

LOCKS = r"""
#include <omp.h>
#include <time.h>
static void rest(long ms) { struct timespec wanted = {0, ms * 1000000}; nanosleep(&wanted, NULL); }
int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    #pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 0) { omp_set_lock(&lock); }
        #pragma omp barrier
        if (omp_get_thread_num() == 0) { rest(20); omp_unset_lock(&lock); }
        else { omp_set_lock(&lock); omp_unset_lock(&lock); }
        if (omp_get_thread_num() == 1) rest(20);
        #pragma omp barrier
        #pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < 10; i++)
            rest(1);
    }
    return 0;
}
"""


def traced(place: Path, text: str, processors: int, limit: int = 2**24) -> RunRecord:
    """Return the record of a traced run of the C program *text* on that many processors of this computer."""
    (place / "p.c").write_text(text, encoding="utf-8")
    built = build(["p.c"], cwd=place, builds="host", detail="all")
    order = TraceOrder(place / "traces", "run", TRACED, limit=limit, identity="x")
    point = RunPoint(processors=processors, target="host")
    job = Job(built, machines.load("ksr1"), point, measuring=Measuring("none", disturbed=100), trace=order)
    record = named("host").run(job)
    assert record.ok, record.message
    return record


@contextmanager
def opened(record: RunRecord) -> Iterator[Trace]:
    assert record.trace is not None, record.warnings
    with read(Path(record.trace.path)) as trace:
        yield trace


def rows(trace: Trace, kind: str, *names: str) -> dict[str, Any]:
    return trace.columns(kind, names)


def test_waits_name_the_thread_that_ended_them(tmp_path: Path) -> None:
    with opened(traced(tmp_path, LOCKS, 2)) as trace:
        assert check(trace).violations == []
        waits = rows(trace, "waits", "begin", "end", "location", "holder", "why")
        second = trace.meta.ticks_per_second
        long = waits["end"] - waits["begin"] > 0.01 * second
        for why, waiter in ((Wait.LOCK, 1), (Wait.BARRIER, 0)):
            found = long & (waits["why"] == why) & (waits["location"] == waiter)
            assert found.any(), why
            assert set(waits["holder"][found]) == {1 - waiter}
        locks = rows(trace, "locks", "lock", "order", "what")
        assert sorted(zip(locks["order"].tolist(), locks["what"].tolist(), strict=True)) == [
            (1, 1),
            (1, 2),
            (2, 1),
            (2, 2),
        ]
        names = [region.name for region in trace.definitions.regions]
        marks = rows(trace, "marks", "region", "value")
        chunks = marks["value"][marks["region"] == names.index("chunk")]
        assert sorted(chunks.tolist()) == [1, 3, 3, 3]


def test_every_tick_of_every_thread_is_in_one_share(tmp_path: Path) -> None:
    record = traced(tmp_path, programs.TEAM, 2)
    with opened(record) as trace:
        shares = rows(trace, "shares", "begin", "end", "location", "ticks")
        for location in (0, 1):
            mine = shares["location"] == location
            order = np.argsort(shares["begin"][mine], kind="stable")
            begin, end = shares["begin"][mine][order], shares["end"][mine][order]
            assert (begin[1:] == end[:-1]).all()
            assert (int(begin[0]), int(end[-1])) == (0, trace.meta.end)
        assert (shares["ticks"] == shares["end"] - shares["begin"]).all()
        assert (trace.meta.source, trace.meta.program) == ("measured", "p")
    assert any("the trace is from a separate run" in remark and "an event" in remark for remark in record.warnings)


def test_a_trace_that_reaches_its_limit_ends_there_and_says_so(tmp_path: Path) -> None:
    spins = LOCKS.replace(
        "rest(1);", "{ for (int k = 0; k < 1000; k++) { omp_set_lock(&lock); omp_unset_lock(&lock); } }"
    )
    record = traced(tmp_path, spins, 2, limit=2**16)
    with opened(record) as trace:
        assert check(trace).violations == []
    assert any("the limit of 65536 bytes was reached" in remark for remark in record.warnings)


MANY = r"""
#include <omp.h>
static volatile int sum;
int main(void)
{
    omp_lock_t lock;
    omp_init_lock(&lock);
    #pragma omp parallel num_threads(2)
    {
        #pragma omp barrier
        if (omp_get_thread_num() == 0)
            for (int k = 0; k < 20000; k++) {
                omp_set_lock(&lock);
                sum++;
                omp_unset_lock(&lock);
            }
    }
    return 0;
}
"""


def test_what_other_threads_have_recorded_when_the_limit_is_reached_is_kept(tmp_path: Path) -> None:
    with opened(traced(tmp_path, MANY, 2, limit=2**17)) as trace:
        assert check(trace).violations == []
        shares, locks = rows(trace, "shares", "begin", "end", "location"), rows(trace, "locks", "order")
        assert 1000 < len(locks["order"]) < 2**12  # records of 32 bytes stay within the limit
        assert set(shares["location"]) == {0, 1}
        assert int(shares["begin"][shares["location"] == 1].min()) < int(shares["end"].max()) // 2


PHASES = r"""
#include <time.h>
static void rest(long ms) { struct timespec wanted = {0, ms * 1000000}; nanosleep(&wanted, NULL); }
static void inner(void) { rest(10); }
static void phase(void)
{
    #pragma omp parallel num_threads(2)
    inner();
}
static void other(void) { rest(10); }
int main(void)
{
    for (int i = 0; i < 3; i++) {
        phase();
        other();
    }
    return 0;
}
"""


def windowed(place: Path, **part: Any) -> RunRecord:
    """Return the record of a run of PHASES on two processors; *part*: the traced part, as a request states it."""
    (place / "p.c").write_text(PHASES, encoding="utf-8")
    program = {"sources": ["p.c"], "directory": str(place)}
    request = Request.model_validate(
        {
            "program": program,
            "processors": [2],
            "reference": False,
            "target": {"name": "host", "disturbed": 100},
            "trace": part,
        }
    )
    with Session().submit(request, None, traces=place / "traces") as study:
        (record,) = study.every_run()
    assert record.ok, record.message
    return record


def test_a_part_of_the_time_is_recorded(tmp_path: Path) -> None:
    with opened(windowed(tmp_path, begin="25 ms", end="45 ms")) as trace:
        assert check(trace).violations == []
        second = trace.meta.ticks_per_second
        assert trace.meta.begin / second == pytest.approx(0.025, rel=0.02)
        assert trace.meta.end / second == pytest.approx(0.045, rel=0.02)
        shares = rows(trace, "shares", "location", "ticks")
        for location in (0, 1):
            assert shares["ticks"][shares["location"] == location].sum() == trace.meta.end - trace.meta.begin
        assert any("were asked for" in note.what for note in trace.meta.notes)


def test_only_what_happens_inside_a_region_is_recorded(tmp_path: Path) -> None:
    with opened(windowed(tmp_path, region="phase")) as trace:
        assert check(trace).violations == []
        names = [region.name for region in trace.definitions.regions]
        calls = rows(trace, "calls", "what", "region", "location")
        enters = [names[region] for region in calls["region"][calls["what"] == 1]]
        assert enters.count("function phase") == 3
        assert enters.count("function inner") == 6
        assert enters.count("function main") == 3  # one for each window
        assert "function other" not in enters
        assert any("entering to leaving a region" in note.what for note in trace.meta.notes)


def test_the_interval_is_that_of_counters(tmp_path: Path) -> None:
    with opened(windowed(tmp_path, interval="1 s")) as trace:
        times = rows(trace, "counters", "time", "location")
        assert all(len(np.unique(times["time"][times["location"] == one])) <= 1 for one in (0, 1))


PAGES = r"""
#include <stdlib.h>
#include <unistd.h>
static char *touch(long pages)
{
    char *found = malloc(pages * 4096);
    for (long i = 0; i < pages; i++)
        found[i * 4096] = 1;
    return found;
}
int main(void)
{
    char *found = touch(5000);
    for (int i = 0; i < 3; i++)
        usleep(1000);
    return found[4096] - 1;
}
"""


def test_counters_are_recorded_where_the_system_has_them(tmp_path: Path) -> None:
    record = traced(tmp_path, PAGES, 1)
    with opened(record) as trace:
        assert check(trace).violations == []
        metrics = {metric.key: number for number, metric in enumerate(trace.definitions.metrics)}
        assert {"page_faults", "context_switches", "cpu_time"} <= set(metrics)
        counters = rows(trace, "counters", "time", "metric", "exact")
        faults = counters["metric"] == metrics["page_faults"]
        assert counters["exact"][faults].sum() >= 5000
        # page faults of `touch` are counted when the first sleep begins, if not earlier
        assert counters["exact"][faults][np.argsort(counters["time"][faults])][-1] < 5000
        switches = counters["metric"] == metrics["context_switches"]
        assert counters["exact"][switches].sum() >= 3
    counted = "hw_cycles" in metrics
    assert counted == ("hw_cycles" in record.counters)
    assert counted != any("none of the processor" in remark for remark in record.warnings)
