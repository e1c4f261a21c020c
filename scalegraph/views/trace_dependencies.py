"""Who waited for whom, as several views of a trace need it: found once and kept with the trace."""

from __future__ import annotations

from typing import Final

from scalegraph.analyze.trace.critical_path import CriticalPath, critical_path
from scalegraph.analyze.trace.on_path import Contents, OnPath, on_path
from scalegraph.analyze.trace.wait_states import WaitStates, wait_states
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.views.trace_common import Window
from scalegraph.views.trace_data import TraceData
from scalegraph.views.trace_sums import remembered

OUTSIDE: Final = "outside of all regions"


def waits(data: TraceData) -> Waits:
    """Return all waits of the trace."""
    return remembered(data, "waits", lambda: Waits.of(data.trace))


def contents(data: TraceData) -> Contents:
    """Return where the time of every location went."""
    return remembered(data, "contents", lambda: Contents(data.trace, waits(data)))


def path(data: TraceData) -> CriticalPath:
    """Return the critical path of the whole run."""
    return remembered(data, "critical path", lambda: critical_path(data.trace, waits(data)))


def path_in(window: Window) -> CriticalPath:
    """Return what of the critical path lies in the time of *window*."""
    return path(window.data).within(window.begin, window.end)


def on_path_in(window: Window) -> OnPath:
    """Return what lies on the critical path in the time of *window*."""
    data = window.data
    return remembered(
        data,
        f"interval on path {window.begin} {window.end}",
        lambda: on_path(contents(data), path_in(window)),
    )


def wait_states_in(window: Window) -> WaitStates:
    """Return the waits in *window*, the longest first."""
    data = window.data
    return remembered(
        data,
        f"interval waits {window.begin} {window.end} {hash((window.locations, window.regions))}",
        lambda: wait_states(data.trace, waits(data), window.begin, window.end, window.locations, window.regions),
    )


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def named(data: TraceData, region: int) -> str:
    """Return *region* with its place in the program text, as far as it is known: ``barrier solve (ge2.c:88)``."""
    if region < 0:
        return OUTSIDE
    name, regions = data.region_name(region), data.trace.definitions.regions
    if region >= len(regions) or not regions[region].file:
        return name
    line = regions[region].line
    return f"{name.removesuffix(f':{line}')} ({_file(regions[region].file)}{f':{line}' if line else ''})"


def at(data: TraceData, region: int) -> str:
    """Return *region* for a sentence: ``barrier in line 88 of ge2.c``, ``outside of all regions``."""
    if region < 0:
        return OUTSIDE
    name, regions = data.region_name(region), data.trace.definitions.regions
    where = regions[region] if region < len(regions) else None
    if where is None or not where.file or not where.line:
        return name
    return f"{name.removesuffix(f':{where.line}')} in line {where.line} of {_file(where.file)}"


def notes(data: TraceData) -> tuple[str, ...]:
    """Return what must be said of what the trace does not tell itself."""
    found = waits(data)
    said = [*found.doubts]
    if found.derived:
        said.append(
            f"The trace does not tell who waited for whom in {found.derived:,} of {len(found.rows):,} waits: it follows"
            " from messages, collective operations, barriers, locks and tasks."
        )
    if found.assumed:
        said.append(
            f"{found.assumed:,} threads that begin or go on are taken to be started by the first of their group."
        )
    return tuple(said)
