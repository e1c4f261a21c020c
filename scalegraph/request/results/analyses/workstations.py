"""Networks of workstations: power weights, weighted efficiency and latency, and their matrix."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.stations import workstations
from scalegraph.base.errors import Fault, InputError
from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects.study import StudyData


def _workstations(data: StudyData, processors: int | None) -> pd.DataFrame:
    try:
        table = workstations.table(data.scaling).drop(columns=["keys"], errors="ignore")
    except ValueError as error:
        raise InputError(Fault(str(error), key="speeds")) from None
    return table if processors is None or table.empty else table[table["processors"] == processors]


QUANTITY = Quantity(
    "workstations",
    "stations of different speed: power weights, heterogeneity, weighted efficiency and latency",
    _workstations,
    view="physical-power",
)
