"""The first chunks of each loop."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.loops import chunks
from scalegraph.request.results.quantity import Quantity
from scalegraph.request.results.run_choice import tables_of_loops
from scalegraph.subjects.study import StudyData


def _table(data: StudyData, processors: int | None) -> pd.DataFrame:
    return tables_of_loops(data, processors, chunks.history)


QUANTITY = Quantity(
    "chunk-history",
    "the first chunks of each loop: who took which iterations from whom, k, state of the load, when",
    _table,
    view="chunk-history",
    compares=False,
)
