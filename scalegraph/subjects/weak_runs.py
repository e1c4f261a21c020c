"""Weak scaling of a study."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import verdicts, weak
from scalegraph.analyze.series import Series
from scalegraph.measurements.runs import varies
from scalegraph.subjects.study import StudyData


def series(data: StudyData) -> Series | None:
    """Return the runs whose problem grows with N: a weak-scaling set, otherwise those of equal work per processor."""
    if data.one_program.empty:
        return None
    if data.meaning is not None and data.imported is not None and data.meaning.scaling == "weak":
        return weak.grown_series(data.one_program)
    found = verdicts.weak_series(data.one_program)
    return found if found is not None and varies(found.rows["problem"]) else None


def table(data: StudyData) -> pd.DataFrame:
    """Return `weak.efficiencies` of the study; empty if no problem grows with N."""
    found = series(data)
    return pd.DataFrame() if found is None else weak.efficiencies(found)
