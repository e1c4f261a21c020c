"""The latency metric between configurations of workstations."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze.stations import workstations
from scalegraph.base.errors import Fault, InputError
from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects.study import StudyData


def _matrix(data: StudyData, _processors: int | None) -> pd.DataFrame:
    wanted, _ = data.bound("efficiency")
    try:
        made = workstations.scalability(workstations.table(data.scaling), wanted)
    except ValueError as error:
        raise InputError(Fault(str(error), key="speeds")) from None
    if made is None:
        return pd.DataFrame()
    matrix, names = made
    frame = matrix.frame().set_axis(list(names), axis=1)
    frame.insert(0, "from", list(names))
    frame.insert(0, "efficiency_held", matrix.target)
    return frame.reset_index(drop=True)


QUANTITY = Quantity(
    "workstations-matrix",
    "scalability from each configuration of workstations to every more powerful one, with the efficiency held",
    _matrix,
    view="physical-power",
)
