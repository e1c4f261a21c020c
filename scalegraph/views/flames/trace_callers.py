"""Callers and callees of one region in a part of a trace."""

from __future__ import annotations

from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects import trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.views.flames import butterfly, trace_trees
from scalegraph.views.trace import common as trace_common
from scalegraph.views.view import View

_NAME, _TITLE = "trace-callers", "Callers and callees in the interval"
_FUNCTION = Option(
    "function", "Function", "text", description="name of the region; otherwise what is selected, or the most expensive"
)


def _make(data: TraceData, function: object = None, duration: object = None, **options: object) -> Figure | Need:
    grown = trace_trees.grown(data, "time", duration, **options)
    if isinstance(grown, Need):
        return grown
    return butterfly.figure(_NAME, trace_common.title(data, _TITLE), grown, function, grown.notes)


VIEW = View(
    _NAME,
    _TITLE,
    "Who calls a region and what it calls, with time and visits; a click goes to the caller or callee.",
    _make,
    (_FUNCTION, trace_window.BEGIN, trace_window.END, trace_window.LOCATIONS, trace_choices.DURATION),
    needs=(*trace_trees.NEEDS,),
    subject="trace",
)
