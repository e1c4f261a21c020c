"""Sums over the chosen part of a trace, shared by several views; computed once and cached with the trace."""

from __future__ import annotations

import math
from dataclasses import replace

from scalegraph.base.measures import exact
from scalegraph.base.units import PREFIXES, plural, si, thousands
from scalegraph.figures.way import Need
from scalegraph.subjects.interval_sums import calls
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.model import Trace
from scalegraph.views import needs, ways
from scalegraph.views.trace.common import usual_notes

NO_CALLS = Need(
    "This trace has no calls of regions.",
    ways.traced("regions"),
    "Run the program with regions in its trace.",
    "Record them: a profiler's function or region instrumentation writes them.",
    met=needs.trace_with("calls"),
)
# for views that also work without calls
CALLS_CHOSEN = replace(NO_CALLS, met=None)
CALLS_OF_BOTH = replace(
    NO_CALLS,
    text="One of these traces has no calls of regions.",
    met=lambda data, **_: all(one.trace.count("calls") and one.active for one in (data, *data.others[:1])),
)
NOT_ENTERED = Need("No region was entered in {words}. Choose a longer time or more locations.")
NO_ACTIVITY = Need(
    "This trace records neither activities nor regions, so it does not show how busy locations were.",
    ways.traced("regions"),
    "Run the program with regions in its trace.",
    "Record states or regions.",
)


def call_notes(data: TraceData) -> tuple[str, ...]:
    """Return notes on calls without a matching enter or leave."""
    table, notes = calls(data), []
    if table.lone:
        what = "leave has no enter and counts" if table.lone == 1 else "leaves have no enter and count"
        notes.append(f"{thousands(table.lone)} {what} in no region.")
    if table.endless:
        what = "call is never left and lasts" if table.endless == 1 else "calls are never left and last"
        notes.append(f"{thousands(table.endless)} {what} to the end of the run.")
    return tuple(notes)


def notes(chosen: Window, *more: str) -> tuple[str, ...]:
    """Return a view's notes: the part shown, *more*, and what could not be read."""
    return (f"Shown: {chosen.words}.", *(one for one in more if one), *usual_notes(chosen.data))


def place(file: str, line: int) -> str:
    """Return a source location: ``solve.c:12``."""
    return f"{file}:{line}" if file and line else file


def located(trace: Trace, count: int) -> str:
    """Return ``4 locations`` with the trace's own term: processors, threads, processes."""
    kinds = {location.kind for location in trace.definitions.locations}
    word = kinds.pop() if len(kinds) == 1 else "location"
    return f"{count} {word if count == 1 else plural(word)}"


def prefix(largest: float, unit: str) -> tuple[float, str]:
    """Return scale and unit for values up to *largest*: ``(1e-3, "ms")``."""
    if not unit or not 0 < largest < float("inf"):
        return 1.0, unit
    power = max(-4, min(0 if unit == "s" else 6, math.floor(math.log10(largest) / 3)))
    return 1000.0**power, f"{PREFIXES[power]}{unit}"


def tick_tip(seconds: float, share: float) -> str:
    """Return a time and its share for a tooltip: ``1.2345 ms, 12.3 %``."""
    return f"{si(seconds, 's', 6)}, {exact(100 * share, '%')}"
