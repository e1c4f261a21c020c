"""Each processor's part in each loop."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.loops import chunks
from scalegraph.request.results.quantity import Quantity
from scalegraph.request.results.run_choice import tables_of_loops
from scalegraph.subjects.study import StudyData


def _table(data: StudyData, processors: int | None) -> pd.DataFrame:
    return tables_of_loops(data, processors, chunks.load)


QUANTITY = Quantity(
    "loop-load",
    "iterations, chunks and time of each processor in each loop",
    _table,
    view="loop-load",
    compares=False,
)
