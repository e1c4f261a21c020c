"""Traces of real programs: shares equal the run's accounting to the cycle, and tracing does not change the run."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.base.cancel import CancelToken
from scalegraph.base.run import RunRecord
from scalegraph.request import Request, Session
from scalegraph.runtime.format import BUSY_NAMES
from scalegraph.traces import checking
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

SHIPPED: dict[str, dict[str, Any]] = {
    "billiard": {"num_balls": 60, "num_steps": 20},
    "ge2": {"n": 28},
}
# locks, tasks, threads (also more than processors, which take turns), loops
OWN = {
    "locks": "link/programs/critical.c",
    "tasks": "runtime/programs/tasks/tasks.c",
    "dependences": "runtime/programs/tasks/task_depend.c",
    "pthreads": "runtime/programs/threads/threads.c",
    "teams": "runtime/programs/nested.c",
}


def submitted(root: Path, tmp_path: Path, **values: Any) -> list[tuple[RunRecord, Path]]:
    """Run a request with everything traced; return its runs with their traces."""
    request = Request.model_validate(
        {
            "trace": {
                "what": ["regions", "waits", "locks", "tasks", "chunks", "shares", "counters"],
                "interval": "700 cycles",
            },
            **values,
        }
    )
    session = Session()
    with session.submit(request, tmp_path / "a.sgstudy") as study:
        assert session.lost_traces(study) == []
        records = {record.point.key: record for record in study.runs()}
        return [(records[run.key], run.path) for run in session.traces(study)]


def in_all(cycles: dict[str, int]) -> dict[str, int]:
    """Return *cycles* with the busy categories summed."""
    busy = sum(cycles.get(name, 0) for name in BUSY_NAMES)
    return {"busy": busy} | {name: value for name, value in cycles.items() if name not in BUSY_NAMES}


def agrees(record: RunRecord, trace: Trace) -> None:
    """Compare shares with the record, which comes from the result file and is counted independently."""
    states, shares = trace.definitions.states, trace.columns("shares")
    table = np.zeros((record.point.processors, len(states)), np.int64)
    np.add.at(table, (shares["location"], shares["state"]), shares["ticks"])
    for number, state in enumerate(states):
        if state.key not in BUSY_NAMES:
            expected = record.processor_categories.get(state.key, [0] * record.point.processors)
            assert table[:, number].tolist() == expected, state.key
    regions = np.zeros((len(trace.definitions.regions), len(states)), np.int64)
    np.add.at(regions, (shares["region"], shares["state"]), shares["ticks"])
    for cost in record.regions:
        told = {state.key: int(regions[cost.region, n]) for n, state in enumerate(states) if regions[cost.region, n]}
        known = {category: cycles for category, cycles in cost.categories.items() if cycles}
        assert in_all(told) == in_all(known), cost.region
        # whole cycles are assigned before the fractions of later operations are known (docs/TRACES.md)
        for name in BUSY_NAMES:
            assert abs(told.get(name, 0) - known.get(name, 0)) <= record.point.processors
    assert int(table.sum()) == record.point.processors * (record.time_cycles or 0)


@pytest.mark.parametrize("name", SHIPPED)
def test_programs_of_the_papers_hold_to_the_cycle(root: Path, tmp_path: Path, name: str) -> None:
    runs = submitted(root, tmp_path, program={"name": name}, parameters=SHIPPED[name], processors=[1, 4, 16])
    assert [record.point.processors for record, _ in runs] == [1, 4, 16]
    for record, path in runs:
        with read(path) as trace:
            assert "accounting" in trace.meta.properties
            report = checking.check(trace)
            assert report.holds, [one.sentence() for one in report.violations]
            agrees(record, trace)
            assert (trace.meta.begin, trace.meta.end) == (0, record.time_cycles)
    plain = Request.model_validate({"program": {"name": name}, "parameters": SHIPPED[name], "processors": [1, 4, 16]})
    with Session().submit(plain, None) as study:
        others = {record.point.key: record for record in study.runs(output=True)}
    ignored = {"host_s", "host_cpu_s", "trace", "stdout", "stderr"}
    for record, _ in runs:
        assert record.model_dump(exclude=ignored) == others[record.point.key].model_dump(exclude=ignored)


@pytest.mark.parametrize("name", OWN)
def test_locks_tasks_and_threads_hold_to_the_cycle(root: Path, tmp_path: Path, name: str) -> None:
    source = str(root / "tests" / OWN[name])
    runs = submitted(root, tmp_path, program={"sources": [source]}, processors=[3], reference=False)
    ((record, path),) = runs
    assert record.ok, record.message
    with read(path) as trace:
        report = checking.check(trace)
        assert report.holds, [one.sentence() for one in report.violations]
        agrees(record, trace)
        kinds = {"locks": "locks", "tasks": "tasks", "dependences": "tasks", "pthreads": "locks", "teams": "calls"}
        assert trace.count(kinds[name])
        assert trace.count("waits")


def test_a_trace_that_reaches_its_limit_says_so_once(root: Path, tmp_path: Path) -> None:
    values = {"program": {"name": "billiard"}, "parameters": SHIPPED["billiard"], "processors": [4], "reference": False}
    ((record, path),) = submitted(root, tmp_path, **values, trace={"limit": "64 KiB", "interval": "700 cycles"})
    (told,) = [warning for warning in record.warnings if "limit" in warning]
    assert told.startswith("trace: the limit of 65536 bytes was reached; the trace ends at cycle ")
    with read(path) as trace:
        assert checking.check(trace).holds


def test_a_run_that_ends_badly_has_a_trace_up_to_there(root: Path, tmp_path: Path) -> None:
    source = str(root / "tests/link/programs/deadlock.c")
    ((record, path),) = submitted(root, tmp_path, program={"sources": [source]}, processors=[2], reference=False)
    assert record.status == "deadlock"
    assert any("trace: the run was stopped" in warning for warning in record.warnings)
    with read(path) as trace:
        assert checking.check(trace).holds
        assert trace.count("calls")


def test_cancelling_leaves_no_trace(root: Path, tmp_path: Path) -> None:
    (tmp_path / "forever.c").write_text(
        "int main(void) { volatile int n = 0;\n#pragma omp parallel\n for (;;) n++; }\n"
    )
    token = CancelToken()
    request = Request.model_validate(
        {"program": {"sources": [str(tmp_path / "forever.c")]}, "processors": [2], "reference": False, "trace": {}}
    )
    events: list[Any] = []
    started = threading.Event()

    def emit(event: Any) -> None:
        events.append(event)
        if type(event).__name__ == "RunStarted":
            started.set()

    stopper = threading.Thread(target=lambda: (started.wait(60), token.cancel()))
    stopper.start()
    with Session().submit(request, tmp_path / "a.sgstudy", emit, token) as study:
        assert len(study) == 0
    stopper.join()
    assert not (tmp_path / "a.traces").exists()
