"""The critical path of simulated runs is as long as the run, to the cycle, and fully explained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalegraph.analyze.trace.candidates import Cause
from scalegraph.analyze.trace.critical_path import CriticalPath, Piece, critical_path
from scalegraph.analyze.trace.critical_path_profile import Contents, on_path
from scalegraph.analyze.trace.wait_states import wait_states
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.run import RunRecord
from scalegraph.traces import activities
from scalegraph.traces.model import Trace
from scalegraph.traces.reading import read
from tests.request.test_traced_programs import OWN, submitted

pytestmark = [pytest.mark.slow, pytest.mark.compiler]

TRACE = {"what": ["regions", "waits", "shares"]}
SIZES: dict[str, dict[str, Any]] = {"billiard": {"num_balls": 60, "num_steps": 2}, "ge2": {"n": 28}}


def followed(record: RunRecord, trace: Trace) -> tuple[Waits, CriticalPath]:
    """Return waits and path after checking what must always hold."""
    waits = Waits.of(trace)
    path = critical_path(trace, waits)
    assert path.length == record.time_cycles
    assert (path.begin[1:] == path.end[:-1]).all()
    assert not path.ticks(Piece.UNEXPLAINED, Piece.MESSAGE)
    return waits, path


@pytest.mark.parametrize("name", SIZES)
def test_programs_of_the_papers(root: Path, tmp_path: Path, name: str) -> None:
    runs = submitted(
        root,
        tmp_path,
        program={"name": name},
        parameters=SIZES[name],
        processors=[4, 16, 64],
        trace=TRACE,
        reference=False,
    )
    assert [record.point.processors for record, _ in runs] == [4, 16, 64]
    for record, file in runs:
        with read(file) as trace:
            waits, path = followed(record, trace)
            found = on_path(Contents(trace, waits), path)
            # its content by leaf and by region is exact: whole cycles that add up to the run
            for table in (found.states, found.regions):
                ticks = table["path"].to_numpy()
                assert (ticks == np.rint(ticks)).all()
                assert ticks.sum() + found.outside == record.time_cycles
            # and the path is never where a processor waits
            idle = activities.of_states(trace.definitions.states, trace.meta) == activities.IDLE
            assert not found.states[idle[found.states["state"].to_numpy()]]["path"].any()
            _all_idle_time_is_a_wait(record, trace, waits)


def _all_idle_time_is_a_wait(record: RunRecord, trace: Trace, waits: Waits) -> None:
    states = wait_states(trace, waits)
    idle = sum(sum(cycles) for category, cycles in record.processor_categories.items() if category.startswith("idle_"))
    assert states.total == idle
    assert not waits.assumed
    assert not (waits.rows.cause == Cause.UNKNOWN).any()
    assert (waits.rows.holder >= 0).all()


@pytest.mark.parametrize("name", OWN)
def test_locks_tasks_and_threads(root: Path, tmp_path: Path, name: str) -> None:
    source = str(root / "tests" / OWN[name])
    runs: list[tuple[RunRecord, Any]] = submitted(
        root, tmp_path, program={"sources": [source]}, processors=[3], reference=False
    )
    for record, file in runs:
        with read(file) as trace:
            followed(record, trace)
