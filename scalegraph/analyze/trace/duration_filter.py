"""A filter by duration: shorter calls count for their callers, shorter waits and messages are dropped."""

from __future__ import annotations

from typing import Final

import numpy as np

from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import KINDS, NO_TIME, Array, Columns, What
from scalegraph.traces.model import Part, SomeRows, Trace
from scalegraph.traces.nesting import match

_ENDS: Final = {"waits": ("begin", "end"), "states": ("begin", "end"), "messages": ("sent", "received")}


def lasting(trace: Trace, least: int) -> Trace:
    """Return *trace* with only the calls, waits, states and messages that last at least *least* ticks.

    A call counts with its whole length even if only part of it is shown; one that is never left ends with the run.
    Leave events without an enter are dropped, and so are messages with an unknown end. Everything else stays as it is.

    Shape: remaining rows. Unit: ticks. Source: ScaleGraph.
    """
    parts: dict[str, list[Part]] = {kind: list(trace.parts[kind]) for kind in KINDS}
    parts["calls"] = _taken(trace, "calls", _calls(trace, least))
    for kind, (begin, end) in _ENDS.items():
        parts[kind] = _taken(trace, kind, [_long(part, begin, end, least) for part in trace.parts[kind]])
    return Trace(trace.definitions, trace.meta, parts)


def _taken(trace: Trace, kind: str, masks: list[Array]) -> list[Part]:
    made: list[Part] = []
    for part, mask in zip(trace.parts[kind], masks, strict=True):
        if mask.any():
            made.append(part if mask.all() else SomeRows(part, mask))
    return made


def _long(part: Part, begin: str, end: str, least: int) -> Array:
    checkpoint()
    first, last = part.column(begin), part.column(end)
    known = (first != NO_TIME) & (last != NO_TIME)
    return np.asarray(known & (np.where(known, last, 0) - np.where(known, first, 0) >= least))


def _calls(trace: Trace, least: int) -> list[Array]:
    """Return for every part of the calls which rows enter or leave a call that is long enough."""
    parts = trace.parts["calls"]
    keep = [np.zeros(part.rows, bool) for part in parts]
    still: Columns = {name: np.empty(0, np.int64) for name in ("time", "location", "part", "row")}
    for number, part in enumerate(parts):
        checkpoint(number / len(parts))
        carried = len(still["time"])
        time = np.concatenate([still["time"], part.column("time")])
        location = np.concatenate([still["location"], part.column("location")])
        enters = np.concatenate([np.ones(carried, bool), part.column("what") == What.ENTER])
        row = np.concatenate([still["row"], np.arange(part.rows)])
        partner, _depth = match(location, enters)
        done = np.flatnonzero(enters & (partner >= 0))
        long = done[time[partner[done]] - time[done] >= least]
        keep[number][row[partner[long]]] = True
        keep[number][row[long[long >= carried]]] = True
        _mark(keep, still["part"][long[long < carried]], still["row"][long[long < carried]])
        left = np.flatnonzero(enters & (partner < 0))
        home = np.concatenate([still["part"], np.full(part.rows, number)])
        still = {"time": time[left], "location": location[left], "part": home[left], "row": row[left]}
    endless = trace.meta.end - still["time"] >= least
    _mark(keep, still["part"][endless], still["row"][endless])
    return keep


def _mark(keep: list[Array], part: Array, row: Array) -> None:
    for number in np.unique(part).tolist():
        keep[number][row[part == number]] = True
