"""Corollary 1 of isospeed.txt as a test of whether psi tends to 0."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import corollary
from scalegraph.request.results.quantity import Quantity
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData


def _corollary(data: StudyData, processors: int | None) -> pd.DataFrame:
    made = matrices.matrix(data, "speed", metric="isospeed")
    table = pd.DataFrame() if made is None else corollary.tends_to_zero(made)
    return table if processors is None or table.empty else table[table["n"] == processors]


QUANTITY = Quantity(
    "corollary-1",
    "test of every N: does the scalability from it tend to 0 as processors grow?",
    _corollary,
    view="matrix-row",
    of_runs=False,
)
