"""Every quantity that can be computed from a trace, by name: tables for the command line and for files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pandas as pd

from scalegraph.analyze.trace import tables as dependency_tables
from scalegraph.analyze.trace.wait_states import by_place, worst
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.request.results import trace_find, trace_tables
from scalegraph.subjects import trace_dependencies as trace_dependencies
from scalegraph.subjects.option import Option, OptionValue, checked
from scalegraph.subjects.phase_choice import DEPTH, PHASES
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.trace_choices import BY as MESSAGES_BY
from scalegraph.subjects.trace_choices import DURATION, METRIC, lasting, least
from scalegraph.subjects.window import COMMON, Window, window
from scalegraph.traces.kinds import KINDS

Table: TypeAlias = pd.DataFrame


@dataclass(frozen=True)
class TraceQuantity:
    """A named quantity of a trace.

    *compute* takes the part of the trace chosen by the common options (begin, end, locations, region), and the values
    of its own *options* as keywords; it returns a table with units in the column names.
    """

    name: str
    description: str
    compute: Callable[..., Table]
    options: tuple[Option, ...] = ()


def _locations(chosen: Window) -> Table:
    definitions = chosen.data.trace.definitions
    rows = []
    for number in chosen.locations:
        location = definitions.locations[number]
        group = definitions.groups[location.group].name if 0 <= location.group < len(definitions.groups) else ""
        rows.append({"location": number, "name": location.name, "kind": location.kind, "group": group})
    return pd.DataFrame(rows, columns=["location", "name", "kind", "group"])


def _events(chosen: Window) -> Table:
    trace = chosen.data.trace
    rows = []
    for kind, spec in KINDS.items():
        if not trace.count(kind):
            continue
        whose = spec.whose[0]
        found = trace.columns(kind, (whose,), begin=chosen.begin, end=chosen.end)[whose]
        keep = (chosen.lane_of(found.clip(-1)) >= 0).sum()
        rows.append({"kind": kind, "count": int(keep), "text": spec.text})
    return pd.DataFrame(rows, columns=["kind", "count", "text"])


def _critical_path(chosen: Window, show: str = "regions") -> Table:
    path, found = trace_dependencies.path_in(chosen), trace_dependencies.on_path_in(chosen)
    return dependency_tables.critical_path(chosen.data.trace, path, found, show)


def _waits(chosen: Window, by: str = "place", most: int = 200, duration: float | None = None) -> Table:
    trace = chosen.data.trace
    states = trace_dependencies.wait_states_in(chosen, least(chosen.data, duration))
    return dependency_tables.named(trace, by_place(trace, states) if by == "place" else worst(trace, states, most))


# To add a quantity, add an entry here, and import the function that computes it above.
_ALL: tuple[TraceQuantity, ...] = (
    TraceQuantity("locations", "processes, threads and processors, with their numbers", _locations),
    TraceQuantity("events", "how many events of each kind overlap the time", _events),
    TraceQuantity("utilisation", "mean count, share and time of each activity", trace_tables.utilisation),
    TraceQuantity("gantt", "seconds of each activity at each location", trace_tables.gantt),
    TraceQuantity("efficiencies", "parallel efficiency and its factors", trace_tables.efficiencies),
    TraceQuantity("profile", "visits and time of each region, and their spread over locations", trace_tables.flat),
    TraceQuantity("call-tree", "the same by call path", trace_tables.tree),
    TraceQuantity("accounts", "ticks of each state in each region, if the trace records shares", trace_tables.accounts),
    TraceQuantity("phases", "time of each phase of the program", trace_tables.phase_times, (PHASES, DEPTH)),
    TraceQuantity("tasks", "number and time of explicit tasks by the place that creates them", trace_tables.task_times),
    TraceQuantity(
        "speed",
        "work and average speed of each location in each phase, and the unit speed",
        trace_tables.speeds,
        (PHASES, DEPTH, METRIC),
    ),
    TraceQuantity(
        "messages",
        "messages, bytes, latency and bandwidth by pair, size, tag or communicator",
        trace_tables.sent,
        (MESSAGES_BY,),
    ),
    TraceQuantity("collectives", "collective operations by operation and communicator", trace_tables.collectives),
    TraceQuantity("holders", "waiter and holder, how often and how long", trace_tables.handed),
    TraceQuantity("waiting", "waits by reason: barrier, lock, message ..", trace_tables.reasons),
    TraceQuantity("counters", "what every metric counted at each location", trace_tables.counted),
    TraceQuantity("durations", "histogram of call durations", trace_tables.call_durations),
    TraceQuantity(
        "find",
        "regions, locations, marks, waits, states, metrics and tags by name: how often, where first, or the longest",
        trace_find.find,
        trace_find.OPTIONS,
    ),
    TraceQuantity(
        "critical-path",
        "the regions on the critical path, with their time in the whole run; or its segments in order",
        _critical_path,
        (Option("show", "Show", "choice", "regions", ("regions", "states", "locations", "pieces")),),
    ),
    TraceQuantity(
        "waits",
        "time lost in waits, by waiter, place and holder; or the longest waits one by one",
        _waits,
        (
            Option("by", "By", "choice", "place", ("place", "wait")),
            Option("most", "Most", "int", 200, minimum=1, description="number of single waits"),
            DURATION,
        ),
    ),
)
# quantities that count individual visits, waits or messages
_OF_DURATIONS = ("events", "profile", "call-tree", "messages", "holders", "waiting", "durations", "find")
TRACE_QUANTITIES: Mapping[str, TraceQuantity] = {quantity.name: quantity for quantity in _ALL}


def check(name: str) -> None:
    """Raise `InputError` unless there is a quantity called *name*; the error names the nearest known one."""
    if name not in TRACE_QUANTITIES:
        hint = near(name, TRACE_QUANTITIES) or f"; known for traces: {', '.join(TRACE_QUANTITIES)}"
        raise InputError(Fault(f"unknown quantity '{name}' of a trace{hint}", key="--what"))


def compute(data: TraceData, name: str, options: Mapping[str, OptionValue] | None = None) -> Table:
    """Return quantity *name* of a trace.

    Raises `InputError` for an unknown name or option, with the nearest known one, and for values that do not fit.
    """
    check(name)
    quantity = TRACE_QUANTITIES[name]
    lasts = (DURATION,) if name in _OF_DURATIONS else ()
    values = checked((*COMMON, *lasts, *quantity.options), options or {}, f"quantity '{name}'")
    common = {option.name: values.pop(option.name) for option in COMMON}
    if lasts:
        data = lasting(data, values.pop(DURATION.name))
    return quantity.compute(window(data, **common), **values)
