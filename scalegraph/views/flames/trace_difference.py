"""Difference of the flame graphs of two traces."""

from __future__ import annotations

from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects.trace import TraceData
from scalegraph.views import needs
from scalegraph.views.flames import building, trace_trees
from scalegraph.views.flames.difference import NEITHER, figure
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.view import View

_NAME, _TITLE = "trace-flame-difference", "Flame graphs of two traces, difference"


def _make(
    data: TraceData,
    value: object = "time",
    change: object = "absolute",
    frames: object = "second",
    *,
    icicle: bool = False,
) -> Figure | Need:
    other = data.others[0]
    first, second = sorted((data, other), key=trace_common.processors)  # so that growth with the processors is positive
    one, two = trace_trees.grown(first, value), trace_trees.grown(second, value)
    if isinstance(one, Need):
        return one
    if isinstance(two, Need):
        return two
    n, n2 = trace_common.processors(first), trace_common.processors(second)
    names = (f"N = {n}", f"N = {n2}") if n != n2 else (first.name, second.name)
    if names[0] == names[1]:
        names = (f"{names[0]} (A)", f"{names[1]} (B)")
    mine = first is data
    return figure(_NAME, _TITLE, one, two, names, str(change), str(frames), icicle=icicle, keys_of_first=mine)


VIEW = View(
    _NAME,
    _TITLE,
    "The flame graph of a trace, coloured by the change from another: more or less time in each call path.",
    _make,
    (trace_trees.METRIC, building.CHANGE, building.WIDTHS, building.ICICLE),
    needs=(needs.SECOND_TRACE, trace_sums.CALLS_OF_BOTH, *trace_trees.NEEDS, NEITHER),
    several=True,
    subject="trace",
)
