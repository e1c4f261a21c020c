"""Iteration times over the index space and the executions."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.loops import chunks
from scalegraph.request.results.quantity import Quantity
from scalegraph.request.results.run_choice import tables_of_loops
from scalegraph.subjects.study import StudyData


def _table(data: StudyData, processors: int | None) -> pd.DataFrame:
    return tables_of_loops(data, processors, chunks.profile)


QUANTITY = Quantity(
    "iteration-times",
    "time of an iteration over the index space and the executions of each loop",
    _table,
    view="iteration-times",
    compares=False,
)
