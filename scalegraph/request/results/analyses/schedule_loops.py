"""Times of loops under schedules."""

from __future__ import annotations

import pandas as pd

from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects.schedule_runs import schedule_runs
from scalegraph.subjects.study import StudyData


def _loops(data: StudyData, processors: int | None) -> pd.DataFrame:
    found = schedule_runs(data)
    rows = [
        {
            "processors": advice.processors,
            "loop": loop.loop,
            "schedule": name or "as written",
            "cycles": cycles,
            "best": name == loop.best,
        }
        for advice in (found.every_advice() if found is not None else ())
        for loop in advice.loops
        for name, cycles in loop.cycles.items()
        if processors in (None, advice.processors)
    ]
    return pd.DataFrame(rows)


QUANTITY = Quantity(
    "schedule-loops",
    "elapsed cycles of each worksharing loop under each schedule, and which one is best for it",
    _loops,
    view="schedule-loops",
    compares=False,
)
