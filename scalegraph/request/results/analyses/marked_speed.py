"""Isospeed-efficiency of processors that are not alike: marked speeds, and psi between configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from scalegraph.analyze.stations import marked_speed
from scalegraph.base.errors import Fault, InputError
from scalegraph.request.results.quantity import Quantity

if TYPE_CHECKING:
    from scalegraph.subjects.study import StudyData


def _table(data: StudyData) -> pd.DataFrame:
    try:
        return marked_speed.table(data.scaling)
    except ValueError as error:
        raise InputError(Fault(str(error), key="speeds")) from None


def _marked(data: StudyData, processors: int | None) -> pd.DataFrame:
    table = _table(data).drop(columns=["keys"], errors="ignore")
    return table if processors is None or table.empty else table[table["processors"] == processors]


def _matrix(data: StudyData, _processors: int | None) -> pd.DataFrame:
    made = marked_speed.scalability(_table(data))
    if made is None:
        return pd.DataFrame()
    matrix, names = made
    frame = matrix.frame().set_axis(list(names), axis=1)
    frame.insert(0, "from", list(names))
    frame.insert(0, "speed_efficiency_held", matrix.target)
    return frame.reset_index(drop=True)


QUANTITIES = (
    Quantity(
        "marked-speed",
        "marked speed of each configuration of processors, and speed-efficiency W/(T C) of every run",
        _marked,
        view="isospeed-speed",
    ),
    Quantity(
        "isospeed-efficiency-matrix",
        "psi(C,C') = C' W/(C W') between configurations of unlike processors, with the speed-efficiency held",
        _matrix,
        view="isospeed-speed",
    ),
)
