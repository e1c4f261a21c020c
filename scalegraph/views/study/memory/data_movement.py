"""Data movement: cache lines per microsecond through the network (latency-metric.txt Fig. 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze.table import numbers
from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Figure, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

UNIT = "packets/µs"
_NEED = needs.counts("Data movement needs simulated runs of one problem on two or more processor counts.")
_TITLE = "Data movement"
_COLUMN = "data_movement"


def movement(rows: pd.DataFrame) -> pd.Series[float]:
    """Return each run's network accesses per microsecond, of all processors; NaN if not known."""
    if "misses" not in rows:
        return pd.Series(np.nan, index=rows.index)
    return pd.Series(numbers(rows, "misses") / (1e6 * numbers(rows, "time_s")), index=rows.index)


def _make(data: StudyData, size: object = None) -> Figure | Need:
    series = series_.chosen_series(data, size)
    values = None if series is None else movement(series.rows)
    if series is None or values is None or not np.isfinite(values.to_numpy()).any():
        return _NEED
    rows = series.rows.assign(**{_COLUMN: values})
    most = int(np.nanargmax(values.to_numpy()))
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"{series.label or 'This problem'}: most goes through the network on {int(rows['processors'].iloc[most])} "
        f"processors, {significant(float(values.iloc[most]))} {UNIT}.",
        (
            Plot(
                common.processors_axis(series.processors),
                Axis("through the network", UNIT),
                (common.curve(rows, _COLUMN, "all processors", "memory_stall", unit=UNIT),),
            ),
        ),
        notes=(
            "A packet is one network access: fetching a line, or the right to write one.",
            *common.run_notes(data),
        ),
    )


VIEW = View(
    "data-movement",
    _TITLE,
    "How many accesses a microsecond go through the network, over N.",
    _make,
    (common.SIZE,),
    needs=(_NEED,),
)
