"""Waiters and holders of a trace, shared by several views: found once and kept with the trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scalegraph.analyze.trace.critical_path import CriticalPath, critical_path
from scalegraph.analyze.trace.critical_path_profile import Contents, OnPath, on_path
from scalegraph.analyze.trace.interval import LARGE, part_of, reach, rows_in
from scalegraph.analyze.trace.wait_states import WaitStates, wait_states
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.analyze.trace.whole import on_path_by_times, times_of, waits_by_times
from scalegraph.base.cancel import stage
from scalegraph.base.units import thousands
from scalegraph.subjects.interval_sums import calls, remembered
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window

_NEAR: Final = 256  # parts of a very large trace, of which three are examined for one moment
_BEYOND: Final = "beyond"  # kept with a part of a trace
OUTSIDE: Final = "outside of all regions"


def waits(data: TraceData) -> Waits:
    """Return all waits of the trace."""
    return remembered(data, "waits", lambda: Waits.of(data.trace, data.memo.get(_BEYOND)))


def contents(data: TraceData) -> Contents:
    """Return where the time of every location went."""
    return remembered(data, "contents", lambda: Contents(data.trace, waits(data)))


def path(data: TraceData) -> CriticalPath:
    """Return the critical path of the whole run."""
    return remembered(data, "critical path", lambda: critical_path(data.trace, waits(data)))


def _is_whole(data: TraceData) -> bool:
    """Whether the whole trace can be examined at once."""
    return rows_in(data.trace, data.trace.meta.begin, data.trace.meta.end) <= LARGE


def _fits(window: Window) -> bool:
    """Whether the events in *window* can be examined at once."""
    trace = window.data.trace
    if _is_whole(window.data):
        return True
    since, until = reach(trace, window.begin, window.end)
    key = f"interval rows {since} {until}"
    return remembered(window.data, key, lambda: rows_in(trace, since, until)) <= LARGE


def _times(data: TraceData) -> list[tuple[int, int]]:
    return remembered(data, "times", lambda: times_of(data.trace, LARGE))


def waits_in(window: Window) -> Waits:
    """Return the waits of the trace, or for a very large one those that *window* needs, one interval at a time."""
    if _fits(window):
        return waits(subject(window))
    data = window.data
    with stage(0.0, 0.2):
        table = calls(data)
    with stage(0.2, 1.0):
        return remembered(data, "waits by times", lambda: waits_by_times(data.trace, table, _times(data), LARGE))


def around(window: Window, tick: int) -> Window:
    """Return *window* extended to all time, or for a very large trace to the neighbourhood of *tick*."""
    meta = window.data.trace.meta
    if _is_whole(window.data):
        return window
    length = (meta.end - meta.begin) // _NEAR
    since = meta.begin + (tick - meta.begin) // max(length, 1) * length  # neighbouring moments share what is examined
    return replace(window, begin=max(since - length, meta.begin), end=min(since + 2 * length, meta.end))


def subject(window: Window) -> TraceData:
    """Return the data examined for *window*: the whole trace, or for a very large one the part needed."""
    data = window.data
    if _is_whole(data) or not _fits(window):
        return data
    with stage(0.0, 0.3):
        table = calls(data)

    def made() -> TraceData:
        part, beyond = part_of(data.trace, table, window.begin, window.end)
        found = replace(data, trace=part)
        found.memo[_BEYOND] = beyond
        return found

    with stage(0.3, 1.0):
        return remembered(data, f"interval part {window.begin} {window.end}", made)


def path_of(window: Window) -> CriticalPath:
    """Return the critical path of the data examined for *window*: the whole run, or part of a very large one."""
    if _fits(window):
        return path(subject(window))
    with stage(0.0, 0.9):
        found = waits_in(window)
    data = window.data
    return remembered(data, "path by times", lambda: critical_path(data.trace, found))


def path_in(window: Window) -> CriticalPath:
    """Return the part of the critical path within the time of *window*."""
    return path_of(window).within(window.begin, window.end)


def on_path_in(window: Window) -> OnPath:
    """Return the regions on the critical path within the time of *window*."""
    data = subject(window)

    def made() -> OnPath:
        if _fits(window):
            return on_path(contents(data), path_in(window))
        with stage(0.0, 0.6):
            here = path_in(window)
        with stage(0.6, 1.0):
            return on_path_by_times(data.trace, calls(data), _times(data), waits_in(window), here)

    return remembered(data, f"interval on path {window.begin} {window.end}", made)


def wait_states_in(window: Window, least: int = 0) -> WaitStates:
    """Return the waits in *window* that last *least* ticks or more, the longest first."""
    data, found = subject(window), waits_in(window)
    return remembered(
        data,
        f"interval waits {window.begin} {window.end} {hash((window.locations, window.regions, least))}",
        lambda: wait_states(data.trace, found, window.begin, window.end, window.locations, window.regions, least),
    )


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def named(data: TraceData, region: int) -> str:
    """Return *region* with its place in the program text, as far as known: ``barrier solve (ge2.c:88)``."""
    if region < 0:
        return OUTSIDE
    name, regions = data.region_name(region), data.trace.definitions.regions
    if region >= len(regions) or not regions[region].file:
        return name
    line = regions[region].line
    return f"{name.removesuffix(f':{line}')} ({_file(regions[region].file)}{f':{line}' if line else ''})"


def at(data: TraceData, region: int) -> str:
    """Return *region* for use in a sentence: ``barrier in line 88 of ge2.c``, ``outside of all regions``."""
    if region < 0:
        return OUTSIDE
    name, regions = data.region_name(region), data.trace.definitions.regions
    where = regions[region] if region < len(regions) else None
    if where is None or not where.file or not where.line:
        return name
    return f"{name.removesuffix(f':{where.line}')} in line {where.line} of {_file(where.file)}"


def notes(window: Window) -> tuple[str, ...]:
    """Return the notes on what the trace does not record itself, and on what was not examined."""
    data = subject(window)
    found = waits_in(window).between(window.begin, window.end)
    said = [*found.doubts]
    if data is not window.data:
        said.append(
            "The trace is very large: only this time was examined, as if the run ended soon after it;"
            " effects of later events are unknown."
        )
    if found.derived:
        said.append(
            f"The trace does not record the holder of {thousands(found.derived)} of"
            f" {thousands(len(found.rows))} waits: it follows"
            " from messages, collective operations, barriers, locks and tasks."
        )
    if found.assumed:
        said.append(
            f"{thousands(found.assumed)} threads that begin or go on are assumed to be started by the first of"
            " their group."
        )
    return tuple(said)
