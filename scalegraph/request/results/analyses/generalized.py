"""Generalized speedup: parallel speed over sequential speed."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import generalized
from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects.study import StudyData


def _generalized(data: StudyData, processors: int | None) -> pd.DataFrame:
    if data.one_program.empty:
        return pd.DataFrame()
    table = generalized.generalized_speedup(data.one_program)
    known = table[table["generalized_speedup"].notna()]
    return known if processors is None else known[known["processors"] == processors]


QUANTITY = Quantity(
    "generalized-speedup",
    "parallel speed over sequential speed (r_inf of one processor), and its share of N",
    _generalized,
    view="generalized-speedup",
)
