"""Times of runs under schedules of loops."""

from __future__ import annotations

import pandas as pd

from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.schedule_runs import saving, schedule_runs
from scalegraph.subjects.study import StudyData


def _schedules(data: StudyData, processors: int | None) -> pd.DataFrame:
    found = schedule_runs(data)
    if found is None:
        return pd.DataFrame()
    rows = []
    for count in found.counts:
        records = found.records(count)
        records |= {name: run for (name, n), run in found.together.items() if n == count}
        for name, run in sorted(records.items(), key=lambda item: (item[1].time_s or 0.0, item[0])):
            if processors in (None, count):
                rows.append(
                    {
                        "processors": count,
                        "schedule": name or "as written",
                        "time_s": run.time_s,
                        "saved": saving(records[WRITTEN], run),
                        "chunks": run.counters.get("chunks"),
                    }
                )
    return pd.DataFrame(rows)


QUANTITY = Quantity(
    "schedules",
    "time under each schedule of worksharing loops, and the share that it saves of the time as written",
    _schedules,
    view="schedules",
    compares=False,
)
