"""The empty state of a view whose needs are not met: a figure without panels."""

from __future__ import annotations

import re
from typing import Final

from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need, Way
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import ways
from scalegraph.views.trace import common as trace_common


def of_study(view: str, title: str, data: StudyData, need: Need) -> Figure:
    """Return the empty state of *view* for a study that lacks *need*, with a button to supply it."""
    runs = ways.can_run(data)
    text, onward = need.sentence(runs=runs), need.ways(runs=runs)
    if ways.is_command(data) and not need.always:
        text, onward = _of_command(need, onward)
    if data.runs and len(data.failed) == len(data.runs):
        which = f"None of the {len(data.runs)} runs" if len(data.runs) > 1 else "The only run has not"
        text = f"{which} succeeded; the table of runs gives the reasons. {text}"
        onward = onward or ((ways.START,) if runs else ())
    return Figure(title, empty=text, ways=onward, view=view)


def _of_command(need: Need, onward: tuple[Way, ...]) -> tuple[str, tuple[Way, ...]]:
    """Return, for a study that measured a command as it is, what is missing, how to get it, and a button for that."""
    if _INSIDE.search(need.text):
        gives = (
            "sample its call paths (`--stacks`), or have ScaleGraph build the program: `scalegraph measure SOURCES`, "
            "or `simulate`"
        )
        return f"{need.text} This study times a command as it is, without looking inside; {gives}.", ()
    counts = tuple(way for way in onward if way.name == "add-counts")
    if any(way.name == "add-sizes" for way in onward):
        gives = "write a parameter such as {n} into the command and measure several of its values"
        return f"{need.text} For a command: {gives} (`--parameter n=1000,2000`, or `--grow`).", ()
    return need.text, counts


_INSIDE: Final = re.compile(
    r"regions?\b|simulat|\blines?\b|costs|accounting|profile|trace|[Mm]iss|what-if|virtual|schedule|loops?\b|monitor"
    r"|has no source|predicted|operations|caches|waiting|call paths|stations",
)


def of_trace(view: str, title: str, data: TraceData, need: Need) -> Figure:
    """Return the empty state of *view* for a trace that lacks *need*, with a button to supply it."""
    runs = trace_common.origin(data) == "simulated"
    return Figure(trace_common.title(data, title), empty=need.sentence(runs=runs), ways=need.ways(runs=runs), view=view)
