"""Operations per byte from memory, compared with the machine's roofs."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import roofline
from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects.machine_roofs import roofs_of
from scalegraph.subjects.study import StudyData


def _table(data: StudyData, processors: int | None) -> pd.DataFrame:
    tables = []
    for run in data.runs:
        found = roofs_of(data, run) if run.ok and run.counters.get(roofline.COUNTER) else None
        if found is None or processors not in (None, run.point.processors):
            continue
        made = roofline.table(run, data.regions, found)
        made.insert(0, "processors", run.point.processors)
        for name, value in reversed(run.point.parameters.items()):
            made.insert(0, name, value)
        tables.append(made)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


QUANTITY = Quantity(
    "roofline",
    "operations per byte from memory of each run, region and loop, and how near it is to the machine's roofs",
    _table,
    view="roofline",
    compares=False,
)
