"""Average latency of network accesses: all, computation, synchronisation (latency-metric.txt Fig. 10)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scalegraph.analyze import causes
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import percent
from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Figure, Line, Mark, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.counts(
    "Miss latencies need simulated runs of one problem on two or more processor counts.",
    needs.series(causes.is_known),
    record=needs.NOT_RECORDED,
)
_NO_ACCESS = Need("No access of these runs goes through the network.")
_TITLE = "Miss latencies"
OTHERS = "atomics, forks, chunks and tasks"
_FAR = 8.0  # factor: latencies further apart get a logarithmic axis
_CURVES = (
    ("program", "all accesses", "ink"),
    ("computation", "computation", "memory_stall"),
    ("synchronisation", "barriers and locks", "idle"),
    ("others", OTHERS, "primitive"),
)


def _make(data: StudyData, size: object = None) -> Figure | Need:
    series = common.the_series(data, size)
    latency = causes.miss_latency(series.rows)
    if not np.isfinite(latency.to_numpy()).any():
        return _NO_ACCESS
    lines = curves(series.rows, latency, _CURVES)
    fastest = int(np.nanargmin(numbers(series.rows, "time_s")))
    most = float(latency["program"].iloc[fastest])
    n = series.processors[fastest]
    marks = (Mark(f"latency where fastest (N = {n})", y=most),) if np.isfinite(most) and n > 1 else ()
    values = [value for line in lines for value in line.y if np.isfinite(value)]
    apart = min(values) > 0 and max(values) > _FAR * min(values)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(series, latency),
        (
            Plot(
                common.processors_axis(series.processors),
                Axis("remote access", "cycles", "log10" if apart else "linear"),
                lines,
                marks=marks,
            ),
        ),
        notes=(
            "The line is the miss latency of all accesses at the N where the program is fastest.",
            "Averages are over the accesses of all N processors of a run.",
            *common.run_notes(data),
        ),
    )


def _sentence(series: Series, latency: pd.DataFrame) -> str:
    """Return a sentence on the mean at the most processors, and its components with their shares of accesses."""
    last, shares = latency.iloc[-1], causes.access_shares(series.rows).iloc[-1]
    parts = [
        f"{words} {significant(float(last[name]))} ({percent(float(shares[name]))})"
        for name, words, _ in _CURVES[1:]
        if np.isfinite(float(last[name]))
    ]
    where = f"{series.label or 'This problem'}: on {series.processors[-1]} processors"
    if not parts:
        return f"{where} no access goes through the network."
    mean = f"an access through the network takes {significant(float(last['program']))} cycles on average"
    return f"{where} {mean}, by what makes it (share of accesses): {', '.join(parts)}."


def curves(rows: pd.DataFrame, latency: pd.DataFrame, wanted: Sequence[tuple[str, str, str]]) -> tuple[Line, ...]:
    """Return a line over N for every known one of *wanted* (column of *latency*, name, role)."""
    rows = rows.assign(**{f"latency.{name}": latency[name] for name in latency.columns})
    return tuple(
        common.curve(rows, f"latency.{name}", words, role, unit="cycles")
        for name, words, role in wanted
        if np.isfinite(numbers(latency, name)).any()
    )


VIEW = View(
    "miss-latency",
    _TITLE,
    "The average latency of a network access, for computation and for barriers and locks, over N.",
    _make,
    (common.SIZE,),
    needs=(_NEED, _NO_ACCESS),
)
