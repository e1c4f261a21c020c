"""Weak scaling: a problem that grows with the processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects import weak_runs

if TYPE_CHECKING:
    import pandas as pd

    from scalegraph.subjects.study import StudyData


def _weak(data: StudyData, processors: int | None) -> pd.DataFrame:
    table = weak_runs.table(data).drop(columns=["problem", "keys"], errors="ignore")
    return table if processors is None or table.empty else table[table["processors"] == processors]


QUANTITY = Quantity(
    "weak",
    "weak scaling: efficiency, scaled speedup and Gustafson's serial share of a problem that grows with N",
    _weak,
    view="weak-scaling",
)
