"""Tables of the runs that have messages or loops, concatenated."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from scalegraph.base.loops import LoopCost
from scalegraph.base.run import RunRecord
from scalegraph.subjects.loop_runs import loop_runs
from scalegraph.subjects.study import StudyData


def tables_of_runs(data: StudyData, processors: int | None, make: Callable[[RunRecord], pd.DataFrame]) -> pd.DataFrame:
    """Return the result of *make* for each run with messages on *processors* (None: all), its coordinates in front."""
    tables = []
    for run in data.runs:
        if run.messages is None or processors not in (None, run.point.processors):
            continue
        found = make(run)
        found.insert(0, "processors", run.point.processors)
        for name, value in reversed(run.point.parameters.items()):
            found.insert(0, name, value)
        tables.append(found)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def tables_under_schedules(
    data: StudyData, processors: int | None, make: Callable[[RunRecord], pd.DataFrame]
) -> pd.DataFrame:
    """Return the result of *make* for each run with loops, with its schedule, N and parameters in front."""
    tables = []
    for name, run in loop_runs(data):
        if processors not in (None, run.point.processors):
            continue
        found = make(run)
        found.insert(0, "processors", run.point.processors)
        found.insert(0, "schedule", name or "as written")
        for parameter, value in reversed(run.point.parameters.items()):
            found.insert(0, parameter, value)
        tables.append(found)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def tables_of_loops(
    data: StudyData, processors: int | None, make: Callable[[RunRecord, LoopCost], pd.DataFrame]
) -> pd.DataFrame:
    """Return the result of *make* for each loop of each run, with its place, the run's schedule and N in front."""

    def of_run(run: RunRecord) -> pd.DataFrame:
        tables = []
        for loop in run.loops:
            found = make(run, loop)
            found.insert(0, "loop", loop.place)
            tables.append(found)
        return pd.concat(tables, ignore_index=True)

    return tables_under_schedules(data, processors, of_run)
