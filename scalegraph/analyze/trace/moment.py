"""One moment of a trace: activity, wait and holder of every location, and the next change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalegraph.analyze.trace.stacks import place
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Trace


@dataclass(frozen=True, eq=False)
class StateRows:
    """The states of a trace: those of location l are rows ``first[l]`` to ``first[l + 1]``, sorted by begin (ticks)."""

    first: Array
    begin: Array
    end: Array

    @classmethod
    def of(cls, trace: Trace) -> StateRows:
        """Read the states of *trace*.

        Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        columns = trace.columns("states", ("begin", "end", "location"))
        count = len(trace.definitions.locations)
        location, begin = columns["location"], columns["begin"]
        order = np.lexsort((begin, location))
        return cls(np.searchsorted(location[order], np.arange(count + 1)), begin[order], columns["end"][order])


@dataclass(frozen=True, eq=False)
class Moment:
    """What *locations* do just after *tick*, one entry each.

    *row* is the innermost enter among `Waits.stacks` (-1: outside every region), *wait* the row among `Waits.rows` (-1:
    not waiting). *since* (ticks) is the start of the wait, or else of the region, or else of the state; -1 if there is
    none.
    """

    tick: int
    locations: Array
    row: Array
    wait: Array
    since: Array


def moment(waits: Waits, tick: int, locations: Sequence[int], states: StateRows | None = None) -> Moment:
    """Return what *locations* do at *tick*; *states* if the trace records any.

    Shape: one entry for each location. Unit: ticks. Source: ScaleGraph.
    """
    chosen = np.asarray(locations, np.int64)
    when = np.full(len(chosen), tick, np.int64)
    stacks, rows = waits.stacks, waits.rows
    row = stacks.at(chosen, when)
    wait = place(waits.first, rows.begin, chosen, when)
    if len(rows):
        wait = np.where((wait >= 0) & (rows.end[wait] > tick), wait, -1)
    since = np.full(len(chosen), -1, np.int64)
    if states is not None and len(states.begin):
        state = place(states.first, states.begin, chosen, when)
        lasting = (state >= 0) & (states.end[state] > tick)
        since[lasting] = states.begin[state[lasting]]
    inside = row >= 0
    since[inside] = stacks.time[row[inside]]
    since[wait >= 0] = rows.begin[wait[wait >= 0]]
    return Moment(tick, chosen, row, wait, since)


@dataclass(frozen=True, eq=False)
class Changes:
    """When locations change what they do: times (ticks) ascending within a location, from several kinds of events.

    Each of *kinds* is (first, times): those of location l are ``times[first[l]:first[l + 1]]``.
    """

    kinds: tuple[tuple[Array, Array], ...]

    @classmethod
    def of(cls, waits: Waits, states: StateRows | None = None) -> Changes:
        """Collect calls and waits, and *states* if there are any.

        Shape: (changes,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        kinds = [(waits.stacks.first, waits.stacks.time)]
        kinds += [(waits.first, waits.rows.begin), (waits.first, waits.rows.end)]
        if states is not None:
            # overlapping states do not end in the order in which they begin
            kinds += [(states.first, states.begin), (states.first, _rising(states.first, states.end))]
        return cls(tuple(kinds))

    def after(self, tick: int, locations: Sequence[int]) -> int | None:
        """Return the next change of any of *locations* after *tick*; ``None`` if there is none.

        Unit: ticks. Source: ScaleGraph.
        """
        found = [
            int(times[at])
            for first, times in self.kinds
            for who in locations
            if (at := int(first[who]) + int(_place(first, times, who, tick, "right"))) < int(first[who + 1])
        ]
        return min(found, default=None)

    def before(self, tick: int, locations: Sequence[int]) -> int | None:
        """Return the last change of any of *locations* before *tick*; ``None`` if there is none.

        Unit: ticks. Source: ScaleGraph.
        """
        found = [
            int(times[at])
            for first, times in self.kinds
            for who in locations
            if (at := int(first[who]) + int(_place(first, times, who, tick, "left")) - 1) >= int(first[who])
        ]
        return max(found, default=None)


def _place(first: Array, times: Array, who: int, tick: int, side: str) -> int:
    return int(np.searchsorted(times[int(first[who]) : int(first[who + 1])], tick, side=side))  # type: ignore[call-overload]


def _rising(first: Array, times: Array) -> Array:
    """Return *times* sorted within each location."""
    found = times.copy()
    for low, high in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
        found[low:high].sort()
    return found
