"""Tables of runs that have messages, one below the other."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from scalegraph.base.run import RunRecord
from scalegraph.subjects.study import StudyData


def tables_of_runs(data: StudyData, processors: int | None, make: Callable[[RunRecord], pd.DataFrame]) -> pd.DataFrame:
    """Return what *make* makes of each run with messages on *processors* (None: all), its coordinates in front."""
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
