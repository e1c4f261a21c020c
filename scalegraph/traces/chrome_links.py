"""Flows (arrows) and asynchronous spans of the Chrome format, whose ends may come in any order.

An event refers to its flow or span by category and id: ``id`` is global, ``id2`` local to a process or global,
``bind_id`` connects whole events with the flags flow_out and flow_in.
"""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np

from scalegraph.traces.builder import Builder
from scalegraph.traces.kinds import NOBODY, Array
from scalegraph.traces.nesting import match

_BEGIN, _STEP, _END = 0, 1, 2
_PHASES = {"s": _BEGIN, "t": _STEP, "f": _END}


class _Points:
    """Points in time with location, flow or span number, type and one more number."""

    def __init__(self) -> None:
        self._columns: tuple[array[Any], ...] = (array("q"), array("i"), array("i"), array("b"), array("q"))
        self._numbers: dict[Any, int] = {}

    def add(self, time: int, where: int, key: Any, what: int, number: int) -> None:
        """Add a point; *key* identifies its flow or span."""
        known = self._numbers.setdefault(key, len(self._numbers))
        for column, value in zip(self._columns, (time, where, known, what, number), strict=True):
            column.append(value)

    def ordered(self, *, by_what: bool) -> tuple[Array, ...]:
        """Return time, location, number of the key, type and number: by key, then by time."""
        columns = tuple(np.array(column) for column in self._columns)
        time, _, key, what, _ = columns
        order = np.lexsort((what, time, key) if by_what else (time, key))
        return tuple(column[order] for column in columns)


class Flows:
    """Arrows: from s to f, or from s to t and on from there; each becomes a message without size."""

    def __init__(self) -> None:
        self._points = _Points()

    def add(self, event: dict[str, Any], time: int, where: int) -> None:
        """Add an event of phase s, t or f."""
        key = (event.get("cat"), event.get("name"), *scoped(event))
        self._points.add(time, where, key, _PHASES[event["ph"]], _tag(event.get("id")))

    def bind(self, event: dict[str, Any], time: int, where: int) -> None:
        """Note that a whole event is an end of an arrow."""
        out, into = event.get("flow_out"), event.get("flow_in")
        if out or into:
            what = _STEP if out and into else _BEGIN if out else _END
            self._points.add(time, where, ("bind", str(event["bind_id"])), what, _tag(event["bind_id"]))

    def finish(self, builder: Builder) -> None:
        """Add the messages, by sender in time order."""
        time, where, key, what, tag = self._points.ordered(by_what=True)
        if not len(time):
            return
        stepped = np.isin(key, key[what == _STEP])
        plain, chained = np.flatnonzero(~stepped), np.flatnonzero(stepped)
        pairs = [
            (rows[begin], rows[end])
            for rows, (begin, end) in (
                (plain, _in_turn(key[plain], what[plain])),
                (chained, _chains(key[chained], what[chained])),
            )
        ]
        begin, end = (np.concatenate(rows) for rows in zip(*pairs, strict=True))
        builder.note("flows that do not begin", int(np.count_nonzero(what != _BEGIN)) - len(end))
        builder.note("flows that do not end", int(np.count_nonzero(what != _END)) - len(begin))
        if len(begin):
            order = np.lexsort((time[begin], where[begin]))
            begin, end = begin[order], end[order]
            left, came = time[begin], time[end]
            builder.add(
                "messages",
                sent=left,
                left=left,
                posted=came,
                received=came,
                sender=where[begin],
                receiver=where[end],
                size=0,
                tag=tag[end],
                communicator=NOBODY,
            )


def _in_turn(key: Array, what: Array) -> tuple[Array, Array]:
    """Return the rows that begin and end each arrow: for one key, first in, first out."""
    begins = what == _BEGIN
    starts, ends = np.flatnonzero(begins), np.flatnonzero(~begins & (match(key, begins)[0] >= 0))
    turn = np.arange(len(ends)) - np.searchsorted(key[ends], key[ends])
    return starts[np.searchsorted(key[starts], key[ends]) + turn], ends


def _chains(key: Array, what: Array) -> tuple[Array, Array]:
    """Return the rows at both ends of each arrow: from every begin or step to the next step or end."""
    linked = np.flatnonzero((key[1:] == key[:-1]) & (what[:-1] != _END) & (what[1:] != _BEGIN))
    return linked, linked + 1


class Spans:
    """Asynchronous spans, b to e and S to F; those of one id nest. Each becomes a state where it began."""

    def __init__(self) -> None:
        self._points = _Points()

    def add(self, event: dict[str, Any], time: int, where: int, state: int) -> None:
        """Add an event of phase b, e, S or F; *state*: the number of its name, at the location where it begins."""
        name = event.get("name") if event["ph"] in "SF" else None
        self._points.add(time, where, (event.get("cat"), name, *scoped(event)), event["ph"] in "bS", state)

    def finish(self, builder: Builder) -> None:
        """Add the states, by location in time order."""
        time, where, key, begins, state = self._points.ordered(by_what=False)
        if not len(time):
            return
        begins = begins.astype(bool)
        partner, _ = match(key, begins)
        builder.note("asynchronous spans that do not end", int(np.count_nonzero(begins & (partner < 0))))
        builder.note("asynchronous spans that end without a beginning", int(np.count_nonzero(~begins & (partner < 0))))
        rows = np.flatnonzero(begins & (partner >= 0))
        if len(rows):
            rows = rows[np.lexsort((time[rows], where[rows]))]
            builder.add("states", begin=time[rows], end=time[partner[rows]], location=where[rows], state=state[rows])


def scoped(event: dict[str, Any]) -> tuple[Any, ...]:
    """Return the id of *event* together with its scope."""
    scope, second = event.get("scope"), event.get("id2")
    if not isinstance(second, dict):
        return scope, str(event.get("id"))
    if "global" in second:
        return scope, str(second["global"])
    return scope, str(second.get("local")), event.get("pid")


def _tag(number: Any) -> int:
    """Return an id as the tag of a message; 0 if it is not a number of 63 bits."""
    try:
        value = int(number, 0) if isinstance(number, str) else int(number)
    except (TypeError, ValueError):
        return 0
    return value if abs(value) < 2**63 else 0
