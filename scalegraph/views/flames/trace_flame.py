"""Flame graph of a part of a trace: call paths as frames as wide as the time spent in them."""

from __future__ import annotations

from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects import trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.trace import TraceData
from scalegraph.views.flames import building, trace_trees
from scalegraph.views.flames.flame import sentence
from scalegraph.views.trace import common as trace_common
from scalegraph.views.view import View

_NAME, _TITLE = "trace-flame", "Flame graph of the interval"


def _make(
    data: TraceData, value: object = "time", duration: object = None, *, icicle: bool = False, **options: object
) -> Figure | Need:
    grown = trace_trees.grown(data, value, duration, **options)
    if isinstance(grown, Need):
        return grown
    made, notes = building.flame(grown, icicle=icicle)
    return Figure(trace_common.title(data, _TITLE), sentence(grown), (made,), notes=(*grown.notes, *notes))


VIEW = View(
    _NAME,
    _TITLE,
    "Call paths in the chosen interval as frames stacked on their callers, as wide as the time spent in them.",
    _make,
    (trace_trees.METRIC, *trace_window.COMMON, trace_choices.DURATION, building.ICICLE),
    needs=(*trace_trees.NEEDS,),
    subject="trace",
)
