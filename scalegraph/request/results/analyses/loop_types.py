"""Locality and type of each loop."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.loops import chunks
from scalegraph.request.results.quantity import Quantity
from scalegraph.request.results.run_choice import tables_under_schedules
from scalegraph.subjects.study import StudyData


def _table(data: StudyData, processors: int | None) -> pd.DataFrame:
    return tables_under_schedules(data, processors, chunks.kinds)


QUANTITY = Quantity(
    "loop-types",
    "locality rate, affinity strength and type (I to VI) of each loop",
    _table,
    view="iteration-times",
    compares=False,
)
