"""Sums over the chosen part of a trace, shared by several views and quantities: computed once, kept with the trace."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, TypeVar

from scalegraph.analyze.trace import activity, profile
from scalegraph.analyze.trace.calls import CallTable
from scalegraph.analyze.trace.find import Finder
from scalegraph.analyze.trace.occupation import StateTable
from scalegraph.analyze.trace.work import Counted, countable, work_metric
from scalegraph.base.cancel import checkpoint
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import Array

_LOOK: Final = 0.05  # seconds between two checks for cancellation


_KEPT: Final = 6  # interval sums kept


_T = TypeVar("_T")


def remembered(data: TraceData, key: str, make: Callable[[], _T]) -> _T:
    """Return the result of *make* for *key*, cached with this trace; only the last few results for intervals are kept.

    Views are built in parallel threads: the first to need a result computes it, the others wait.
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
    """Return the object that searches the trace by name."""
    return remembered(data, "finder", lambda: Finder(data.trace))


def call_sums(chosen: Window) -> profile.CallSums:
    """Return the sums by call path within the chosen time and locations."""
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
    """Return the activities within the chosen time and locations; None if the trace records none."""
    data = chosen.data
    return remembered(
        data,
        _key("activity", chosen),
        lambda: activity.activity_sums(data.trace, _sources(chosen), chosen.begin, chosen.end, chosen.locations),
    )


def region_activity(chosen: Window) -> Array | None:
    """Return ticks by activity and region within the chosen time and locations; None if not recorded."""
    data = chosen.data
    return remembered(
        data,
        _key("regions", chosen),
        lambda: activity.region_activity(data.trace, _sources(chosen), chosen.begin, chosen.end, chosen.locations),
    )


def counted(data: TraceData, metric: int) -> Counted:
    """Return the running count of *metric* over time."""
    return remembered(data, f"counted {metric}", lambda: Counted(data.trace, metric))


def counted_work(data: TraceData) -> Counted | None:
    """Return the running count of the metric used as work; None if the trace has none."""
    name = remembered(data, "metric of work", lambda: work_metric(data.trace))
    return None if name is None else counted(data, countable(data.trace)[name])


def _key(what: str, chosen: Window) -> str:
    return f"interval {what} {chosen.begin} {chosen.end} {hash(chosen.locations)}"


def location_names(data: TraceData) -> list[str]:
    """Return the names of all locations for display."""
    return [data.location_name(number) for number in range(len(data.trace.definitions.locations))]
