"""Sums over the chosen part of a trace that several views show: made once and kept with the trace."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from scalegraph.analyze.trace import activity, profile
from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.find import Finder
from scalegraph.analyze.trace.occupation import StateTable
from scalegraph.analyze.trace.work import Counted, countable, work_metric
from scalegraph.base.cancel import checkpoint
from scalegraph.base.units import plural, si
from scalegraph.figures.way import Need
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Trace
from scalegraph.views import ways
from scalegraph.views.trace.common import Window, usual_notes
from scalegraph.views.trace_data import TraceData

_LOOK: Final = 0.05  # seconds between two looks of who waits at whether to stop
_KEPT: Final = 6  # sums of intervals that are kept
_T = TypeVar("_T")

NO_CALLS = Need(
    "This trace has no calls of regions.",
    ways.traced("regions"),
    "Run the program with regions in its trace.",
    "Record them: a profiler's function or region instrumentation writes them.",
)
NO_ACTIVITY = Need(
    "This trace tells neither what locations did nor which regions they were in, so nothing is known of how busy they"
    " were.",
    ways.traced("regions"),
    "Run the program with regions in its trace.",
    "Record states or regions.",
)


def remembered(data: TraceData, key: str, make: Callable[[], _T]) -> _T:
    """Return what *make* made for *key* of this trace; of those that belong to intervals the last few are kept.

    Views are built side by side in threads: what several of them need is made by the first, and the others wait.
    """
    lock: threading.Lock = data.memo.setdefault(f"lock {key}", threading.Lock())
    while not lock.acquire(timeout=_LOOK):
        checkpoint()
    try:
        if key in data.memo:
            kept: _T = data.memo[key]
            return kept
        made = make()
        data.memo[key] = made
    finally:
        lock.release()
    for name in [name for name in list(data.memo) if name.startswith("interval ")][:-_KEPT]:
        data.memo.pop(name, None)
        data.memo.pop(f"lock {name}", None)
    return made


def calls(data: TraceData) -> CallTable:
    """Return the calls of the trace, matched."""
    return remembered(data, "calls", lambda: CallTable(data.trace))


def finder(data: TraceData) -> Finder:
    """Return what looks for things by name in the trace."""
    return remembered(data, "finder", lambda: Finder(data.trace))


def call_sums(chosen: Window) -> profile.CallSums:
    """Return the sums by call path of the chosen time and locations."""
    return remembered(
        chosen.data,
        _key("calls", chosen),
        lambda: profile.call_sums(calls(chosen.data), chosen.data.trace, chosen.begin, chosen.end, chosen.locations),
    )


def states(data: TraceData, kind: str) -> StateTable:
    """Return the shares or states of the trace."""
    return remembered(data, f"states {kind}", lambda: StateTable(data.trace, kind))


def _sources(chosen: Window) -> activity.Sources:
    data = chosen.data
    return activity.Sources(lambda: calls(data), lambda kind: states(data, kind), lambda: call_sums(chosen))


def activity_sums(chosen: Window) -> activity.ActivitySums | None:
    """Return the activities of the chosen time and locations; None if the trace tells nothing of them."""
    data = chosen.data
    return remembered(
        data,
        _key("activity", chosen),
        lambda: activity.activity_sums(data.trace, _sources(chosen), chosen.begin, chosen.end, chosen.locations),
    )


def region_activity(chosen: Window) -> Array | None:
    """Return ticks by activity and region of the chosen time and locations; None if that is not told."""
    data = chosen.data
    return remembered(
        data,
        _key("regions", chosen),
        lambda: activity.region_activity(data.trace, _sources(chosen), chosen.begin, chosen.end, chosen.locations),
    )


def counted(data: TraceData, metric: int) -> Counted:
    """Return how far *metric* had counted at any time."""
    return remembered(data, f"counted {metric}", lambda: Counted(data.trace, metric))


def counted_work(data: TraceData) -> Counted | None:
    """Return how far the metric that is taken as work had counted at any time; None if the trace counts none."""
    name = remembered(data, "metric of work", lambda: work_metric(data.trace))
    return None if name is None else counted(data, countable(data.trace)[name])


def _key(what: str, chosen: Window) -> str:
    return f"interval {what} {chosen.begin} {chosen.end} {hash(chosen.locations)}"


def call_notes(data: TraceData) -> tuple[str, ...]:
    """Return what must be said of calls whose other end the trace lacks."""
    table, notes = calls(data), []
    if table.lone:
        what = "leave has no enter and counts" if table.lone == 1 else "leaves have no enter and count"
        notes.append(f"{table.lone:,} {what} in no region.")
    if table.endless:
        what = "call is never left and lasts" if table.endless == 1 else "calls are never left and last"
        notes.append(f"{table.endless:,} {what} to the end of the run.")
    return tuple(notes)


def notes(chosen: Window, *more: str) -> tuple[str, ...]:
    """Return the notes of a view: which part is shown, *more*, and what could not be read."""
    return (f"Shown: {chosen.words}.", *(one for one in more if one), *usual_notes(chosen.data))


def place(file: str, line: int) -> str:
    """Return a place in the program text: ``solve.c:12``."""
    return f"{file}:{line}" if file and line else file


def known(value: float) -> float | None:
    """Return *value*, None where it is not a number."""
    return float(value) if math.isfinite(value) else None


def location_names(data: TraceData) -> list[str]:
    """Return the names of all locations for people."""
    return [data.location_name(number) for number in range(len(data.trace.definitions.locations))]


def located(trace: Trace, count: int) -> str:
    """Return ``4 locations`` in the words of the trace: processors, threads, processes."""
    kinds = {location.kind for location in trace.definitions.locations}
    word = kinds.pop() if len(kinds) == 1 else "location"
    return f"{count} {word if count == 1 else plural(word)}"


def prefix(largest: float, unit: str) -> tuple[float, str]:
    """Return by what to divide values up to *largest*, and their unit then: ``(1e-3, "ms")``."""
    if not unit or not 0 < largest < float("inf"):
        return 1.0, unit
    powers = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T", 5: "P", 6: "E"}
    power = max(-4, min(0 if unit == "s" else 6, math.floor(math.log10(largest) / 3)))
    return 1000.0**power, f"{powers[power]}{unit}"


def tick_tip(seconds: float, share: float) -> str:
    """Return a time and its share for a tip: ``1.2345 ms, 12.3 %``."""
    return f"{si(seconds, 's', 6)}, {100 * share:.3g}\u00a0%"
