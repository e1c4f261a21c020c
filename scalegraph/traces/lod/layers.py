"""The layers of a trace, and the streams from which they are made."""

from __future__ import annotations

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import numpy as np

from scalegraph.traces import activities
from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.shapes import Code, Layer
from scalegraph.traces.model import Trace


def sources(trace: Trace) -> tuple[str, ...]:
    """Return the kinds of events that segments are made from: the source of states, and calls."""
    chosen = []
    if trace.count("shares"):
        chosen.append("shares")
    elif trace.count("states") and not (trace.meta.format == "chrome" and trace.count("calls")):
        # asynchronous spans in Chrome traces are overlapping states: they do not say what a thread does
        chosen.append("states")
    if trace.count("calls"):
        chosen.append("calls")
    return tuple(chosen)


_KNOWN: WeakKeyDictionary[Trace, tuple[tuple[object, ...], Mapping[str, Layer]]] = WeakKeyDictionary()


def layers_of(trace: Trace) -> Mapping[str, Layer]:
    """Return the layers of *trace*: activity and region always, state if it has states or shares.

    They are cached with the trace, as classifying very many names takes long.
    """
    defined, found = trace.definitions, sources(trace)
    of = (found, trace.meta.format, len(defined.regions), len(defined.states))
    known = _KNOWN.get(trace)
    if known is None or known[0] != of:
        known = _KNOWN[trace] = of, _made(trace, found)
    return known[1]


def _made(trace: Trace, found: tuple[str, ...]) -> Mapping[str, Layer]:
    states = next((kind for kind in found if kind != "calls"), "")
    made = {"activity": _activity(trace, states or "calls")}
    if states:
        made["state"] = _states(trace, states)
    made["region"] = _regions(trace)
    return made


def _activity(trace: Trace, source: str) -> Layer:
    definitions = trace.definitions
    if source == "calls":
        # time outside all regions is idle
        table = np.r_[activities.IDLE, activities.of_regions(definitions.regions)]
    else:
        table = np.r_[-1, activities.of_states(definitions.states, trace.meta)]
    codes = tuple(
        Code(title, role if role != "other" else "muted", key=role)
        for role, title in zip(activities.ACTIVITIES, activities.TITLES, strict=True)
    )
    kept = len(np.unique(table[table >= 0]))
    return Layer("activity", "Activity", codes, source, table.astype(np.int32), kept, whole=True)


def _states(trace: Trace, source: str) -> Layer:
    states = trace.definitions.states
    roles = _roles(activities.of_states(states, trace.meta))
    codes = [
        Code(s.name, role, s.colour, s.key, number) for number, (s, role) in enumerate(zip(states, roles, strict=True))
    ]
    return Layer(
        "state",
        "State",
        (*codes, Code("other states", "muted")),
        source,
        np.arange(-1, len(codes), dtype=np.int32),
        4,
        whole=False,
    )


def _regions(trace: Trace) -> Layer:
    regions = trace.definitions.regions
    roles = _roles(activities.of_regions(regions), series=True)
    codes = [
        Code(r.name, role, "", r.name, number) for number, (r, role) in enumerate(zip(regions, roles, strict=True))
    ]
    return Layer(
        "region",
        "Region",
        (*codes, Code("other regions", "muted")),
        "calls",
        np.arange(-1, len(codes), dtype=np.int32),
        2,
        whole=False,
    )


def _roles(activity: Array, *, series: bool = False) -> list[str]:
    """Return a palette role for each code: shades of its activity; with *series*, distinct colours for busy ones."""
    seen: dict[int, int] = {}
    roles = []
    for number in activity.tolist():
        at = seen[number] = seen.get(number, -1) + 1
        name = "series" if series and number == activities.BUSY else activities.ACTIVITIES[number]
        roles.append("muted" if name == "other" else f"{name}:{at}")
    return roles
