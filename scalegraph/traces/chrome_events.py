"""Converts events of the Chrome format, one by one, to columns."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from scalegraph.traces.chrome_links import Flows, Spans
from scalegraph.traces.formats import Reading
from scalegraph.traces.kinds import KINDS, NOBODY, Array, What
from scalegraph.traces.model import Group, Location, Metric, Region, State, Trace
from scalegraph.traces.nesting import match

NANOSECONDS = 1000  # per microsecond
OWN = "scalegraph."  # prefix of the categories of events that hold whole rows of ours
_ENTER, _LEAVE, _WHOLE = 1, 2, 3
_PHASES = {"B": _ENTER, "E": _LEAVE, "X": _WHOLE}
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_LATEST = 4.6e15  # microseconds: later times are invalid, and their differences in nanoseconds would overflow


def nanoseconds(microseconds: Any) -> int:
    """Return a time in whole nanoseconds; exact for integers of any size and for decimal numbers.

    Raises `TypeError` or `ValueError` for an invalid time.
    """
    if isinstance(microseconds, str):
        microseconds = Decimal(microseconds) if _NUMBER.fullmatch(microseconds) else float("nan")
    if not abs(microseconds) < _LATEST:
        raise ValueError("time")
    whole = int(microseconds)
    made: int = whole * NANOSECONDS + round((microseconds - whole) * NANOSECONDS)
    return made


def text(name: Any) -> str:
    """Return *name* as text that can be encoded: a lone surrogate, which JSON allows, is replaced."""
    return str(name).encode("utf-8", "replace").decode()


class OwnEvents:
    """Events that ScaleGraph wrote: rows of ours, or enters, leaves and counters with numbers next to their names."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        builder = reading.builder
        self._tick = builder.meta.ticks_per_second / 1e6
        self._calls, self._counters = builder.rows("calls"), builder.rows("counters")

    def add(self, event: Any) -> None:
        """Add one event."""
        try:
            phase = event["ph"]
            if phase in "BE":
                what = What.ENTER if phase == "B" else What.LEAVE
                self._calls.add(self._time(event), event["tid"], what, event["region"])
            elif phase == "C":
                value = event["args"]["value"]
                exact = value if event["exact"] else 0
                self._counters.add(self._time(event), event["tid"], event["metric"], float(value), exact)
            elif "args" in event and str(event.get("cat", "")).startswith(OWN):
                self._row(event["cat"][len(OWN) :], event["args"])
        except (KeyError, TypeError, ValueError, OverflowError):
            self._reading.builder.note("events of ScaleGraph that are damaged")

    def _time(self, event: dict[str, Any]) -> int:
        exact = event.get("tick")
        return int(exact) if exact is not None else round(float(event["ts"]) * self._tick)

    def _row(self, kind: str, row: dict[str, Any]) -> None:
        spec = KINDS[kind]
        row = {**spec.added, **row}
        values = [float(row[n]) if t.kind == "f" else int(row[n]) for n, t in spec.columns.items()]
        self._reading.builder.rows(kind).add(*values)

    def finish(self) -> Trace:
        """Return the trace."""
        meta = self._reading.builder.meta
        return self._reading.builder.finish(begin=meta.begin, end=meta.end)


class ForeignEvents:
    """Events of any program: B, E and X become calls, i marks, C counters, b and e states; s, t and f messages."""

    def __init__(self, reading: Reading) -> None:
        self._builder = reading.builder
        self._time, self._length = array("q"), array("q")
        self._where, self._region, self._phase = array("i"), array("i"), array("b")
        self._marks: tuple[array[Any], ...] = array("q"), array("i"), array("i")
        self._counters: dict[str, Any] = {
            "time": array("q"),
            "location": array("i"),
            "metric": array("i"),
            "value": array("d"),
            "exact": array("q"),
        }
        self._places: dict[tuple[Any, Any], int] = {}
        self._regions: dict[tuple[Any, str], int] = {}
        self._fractions: set[int] = set()  # metrics with fractional values
        self._flows, self._spans = Flows(), Spans()
        self._names: dict[tuple[str, Any], str] = {}
        self._handle: dict[str, Callable[[dict[str, Any], int, int], None]] = {
            "B": self._call,
            "E": self._call,
            "X": self._call,
            "C": self._counter,
            "i": self._mark,
            "I": self._mark,
            "R": self._mark,
            "n": self._mark,
            "s": self._flow,
            "t": self._flow,
            "f": self._flow,
            "b": self._span,
            "e": self._span,
            "S": self._span,
            "F": self._span,
            "T": self._mark,
            "p": self._mark,
        }

    def add(self, event: Any) -> None:
        """Add one event, or count it as unsupported."""
        if not isinstance(event, dict):
            self._builder.note("elements that are not events")
            return
        phase = event.get("ph")
        try:
            if phase == "M":
                self._metadata(event)
                return
            handle = self._handle.get(phase)  # type: ignore[arg-type]
            if handle is None:
                self._builder.note(f"events of phase '{text(phase)[:20]}'")
                return
            handle(event, nanoseconds(event["ts"]), self._location(event))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            self._builder.note(f"events of phase '{text(phase)[:20]}' with a missing or invalid time or name")

    def _location(self, event: dict[str, Any]) -> int:
        pid, tid = event.get("pid", 0), event.get("tid")
        known = self._places.get((pid, tid))
        if known is None:
            known = self._places[pid, tid] = self._builder.location((pid, tid), lambda: self._new(pid, tid))
        return known

    def _new(self, pid: Any, tid: Any) -> Location:
        group = self._builder.group(pid, lambda: Group(text(pid)))
        name = text(pid) if tid is None else text(f"{pid}:{tid}")
        return Location(name, "process" if tid is None else "thread", group, name)

    def _number(self, name: Any, kind: str) -> int:
        known = self._regions.get((name, kind))
        if known is None:
            known = self._builder.region((name, kind), lambda: Region(text(name), kind=kind))
            self._regions[name, kind] = known
        return known

    def _call(self, event: dict[str, Any], time: int, where: int) -> None:
        phase = event["ph"]
        length = nanoseconds(event.get("dur", 0)) if phase == "X" else 0
        if time + length > _LATEST * NANOSECONDS:
            raise ValueError("time")
        name = (event.get("name") or None) if phase == "E" else event.get("name", "")
        region = NOBODY if name is None else self._number(name, "function")
        self._time.append(time)
        self._length.append(max(length, 0))
        self._where.append(where)
        self._region.append(region)
        self._phase.append(_PHASES[phase])
        if "bind_id" in event:
            self._flows.bind(event, time, where)

    def _mark(self, event: dict[str, Any], time: int, where: int) -> None:
        region = self._number(event.get("name", ""), "mark")
        for column, value in zip(self._marks, (time, where, region), strict=True):
            column.append(value)

    def _counter(self, event: dict[str, Any], time: int, where: int) -> None:
        for series, value in event["args"].items():
            if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
                self._builder.note("values of counters that are not numbers")
                continue
            key = (event["name"], event.get("id"), series)
            name = ".".join(str(part) for part in key if part is not None)
            metric = self._builder.metric(key, lambda name=name: Metric(text(name)))  # type: ignore[misc]
            exact = value if isinstance(value, int) and abs(value) < 2**63 else None
            if exact is None:
                self._fractions.add(metric)
            for column, item in zip(
                self._counters.values(), (time, where, metric, float(value), exact or 0), strict=True
            ):
                column.append(item)

    def _flow(self, event: dict[str, Any], time: int, where: int) -> None:
        self._flows.add(event, time, where)

    def _span(self, event: dict[str, Any], time: int, where: int) -> None:
        name = event["name"] if event["ph"] in "bS" else ""
        state = self._builder.state(name, lambda: State(text(name))) if event["ph"] in "bS" else NOBODY
        self._spans.add(event, time, where, state)

    def _metadata(self, event: dict[str, Any]) -> None:
        kind, pid = event["name"], event.get("pid", 0)
        if kind == "process_name":
            self._names["group", pid] = text(event["args"]["name"])
        elif kind == "thread_name":
            self._location({"pid": pid, "tid": event.get("tid", 0)})
            self._names["location", (pid, event.get("tid", 0))] = text(event["args"]["name"])
        elif kind not in {"process_sort_index", "thread_sort_index", "process_labels"}:
            self._builder.note(f"metadata '{text(kind)[:40]}'")

    def finish(self) -> Trace:
        """Sort the rows of every location by time and return the trace."""
        builder = self._builder
        self._finish_calls()
        self._finish_others()
        self._spans.finish(builder)
        self._flows.finish(builder)
        definitions = builder.definitions
        definitions.metrics = [
            Metric(m.name, m.unit, m.mode, i not in self._fractions) for i, m in enumerate(definitions.metrics)
        ]
        for (table, key), name in self._names.items():
            if table == "group":
                builder.group(key, lambda name=name: Group(name))  # type: ignore[misc]
                at = builder.group(key, lambda: Group(""))
                definitions.groups[at] = Group(name)
            else:
                at = builder.location(key, lambda: Location(""))
                old = definitions.locations[at]
                definitions.locations[at] = Location(name, old.kind, old.group, old.key)
        return builder.finish()

    def _finish_calls(self) -> None:
        time, length = np.array(self._time), np.array(self._length)
        where, region = np.array(self._where, np.int32), np.array(self._region, np.int32)
        phase = np.array(self._phase, np.int8)
        if not len(time):
            return
        columns = calls_in_order(time, time + length, where, region, phase)
        partner, _ = match(columns["location"], columns["what"] == What.ENTER)
        entered = columns["what"] == What.ENTER
        nameless = ~entered & (columns["region"] == NOBODY) & (partner >= 0)
        columns["region"][nameless] = columns["region"][partner[nameless]]
        self._builder.note("regions that are not left", int(((partner < 0) & entered).sum()))
        self._builder.note("ends without a beginning", int(((partner < 0) & ~entered).sum()))
        self._builder.add("calls", **columns)

    def _finish_others(self) -> None:
        builder = self._builder
        time, where, region = (np.array(column) for column in self._marks)
        if len(time):
            order = np.lexsort((time, where))
            builder.add("marks", time=time[order], location=where[order], region=region[order], value=0)
        counters = {name: np.array(column) for name, column in self._counters.items()}
        if len(counters["time"]):
            order = np.lexsort((counters["time"], counters["location"]))
            builder.add("counters", **{name: column[order] for name, column in counters.items()})


def calls_in_order(begin: Array, end: Array, where: Array, region: Array, phase: Array) -> dict[str, Array]:
    """Return the columns of calls, sorted by time within each location; of nested calls the longer is outside.

    Times in ticks, all of shape n; *phase*: enter, leave or whole. In a location without whole events, simultaneous
    events keep the order of the file.
    """
    order = np.lexsort((begin, where))
    begin, end, where, region, phase = (column[order] for column in (begin, end, where, region, phase))
    whole_there = np.isin(where, np.unique(where[phase == _WHOLE]))
    plain = ~whole_there
    made = [(where[plain], begin[plain], region[plain], phase[plain] == _ENTER)]
    if whole_there.any():
        made.append(_mixed(*(column[whole_there] for column in (begin, end, where, region, phase))))
    location, time, regions, enters = (np.concatenate(columns) for columns in zip(*made, strict=True))
    what = np.where(enters, What.ENTER, What.LEAVE).astype(np.uint8)
    return {"time": time, "location": location, "what": what, "region": regions}


def _mixed(begin: Array, end: Array, where: Array, region: Array, phase: Array) -> tuple[Array, Array, Array, Array]:
    """Return location, time, region and whether it is an enter, for locations with whole events."""
    paired = phase != _WHOLE
    partner = np.full(len(begin), -1, np.int64)
    rows = np.flatnonzero(paired)
    inner, _ = match(where[rows], phase[rows] == _ENTER)
    partner[rows[inner >= 0]] = rows[inner[inner >= 0]]
    lone = (phase == _LEAVE) & (partner < 0)
    opened = (phase == _ENTER) & (partner < 0)
    opens = (phase == _WHOLE) | (phase == _ENTER)
    begun = (phase == _ENTER) & (partner >= 0)
    end = end.copy()
    end[begun] = begin[partner[begun]]
    end[opened] = 2**63 - 1
    index = np.arange(len(begin), dtype=np.int64)
    short = begin == end
    enter, leave = np.flatnonzero(opens), np.flatnonzero((opens & ~opened) | lone)
    time = np.r_[begin[enter], np.where(lone, begin, end)[leave]]
    # order at one moment: ends first, the latest begun before the others; then begins, the longest first; last the
    # events of zero duration, each with its end
    step = np.r_[np.where(short[enter], 2, 1), np.where(short[leave] & ~lone[leave], 2, 0)]
    first = np.r_[np.where(short[enter], 0, -end[enter]), np.where(short[leave], 0, -begin[leave])]
    second = np.r_[2 * index[enter], np.where(short[leave], 2 * index[leave] + 1, -index[leave])]
    source = np.r_[enter, leave]
    order = np.lexsort((second, first, step, time, where[source]))
    entering = np.r_[np.ones(len(enter), bool), np.zeros(len(leave), bool)]
    source = source[order]
    return where[source], time[order], region[source], entering[order]
