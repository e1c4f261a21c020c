"""The empty state of a view: a need that the study or the trace does not meet, as a figure without a panel."""

from __future__ import annotations

from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import ways
from scalegraph.views.trace import common as trace_common


def of_study(view: str, title: str, data: StudyData, need: Need) -> Figure:
    """Return the empty state of *view* for a study that does not meet *need*, with the button that leads there."""
    runs = ways.can_run(data)
    text, onward = need.sentence(runs=runs), need.ways(runs=runs)
    if data.runs and len(data.failed) == len(data.runs):
        text = f"None of the {len(data.runs)} runs succeeded; the table of runs gives the reasons. {text}"
        onward = onward or ((ways.START,) if runs else ())
    return Figure(title, empty=text, ways=onward, view=view)


def of_trace(view: str, title: str, data: TraceData, need: Need) -> Figure:
    """Return the empty state of *view* for a trace that does not meet *need*, with the button that leads there."""
    runs = trace_common.origin(data) == "simulated"
    return Figure(trace_common.title(data, title), empty=need.sentence(runs=runs), ways=need.ways(runs=runs), view=view)
