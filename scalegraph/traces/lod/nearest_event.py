"""The events nearest to a stretch of time, for navigating out of an empty stretch."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from scalegraph.traces.kinds import KINDS, NO_TIME, Array
from scalegraph.traces.lod.rows import SAMPLED
from scalegraph.traces.lod.streams import Stream, places
from scalegraph.traces.model import Trace

_REST = ("states", *SAMPLED, "collectives", "tasks", "locks", "marks")
MOST = 1 << 21  # rows of such a kind that are sorted in memory; larger kinds come with calls anyway
_ENDS: Mapping[str, Mapping[str, str]] = {
    "messages": {"sent": "sender", "received": "receiver"},
    "waits": {"begin": "location", "end": "location"},
}  # time columns and whose they are, where not all belong to the location


@dataclass(frozen=True)
class NearestEvents:
    """The last event *before* a stretch and the first *after* it (ticks; None: none); whether any is *inside*."""

    before: int | None
    inside: bool
    after: int | None


@dataclass(frozen=True, eq=False)
class Times:
    """Times of events in order (ticks); those of location l are from ``first[l]`` to ``last[l]`` (exclusive)."""

    first: Array
    last: Array
    time: Array

    @classmethod
    def of_stream(cls, stream: Stream, begin: int) -> Times:
        """Return the begins of the segments of *stream*, in a run that starts at *begin*."""
        first, last = stream.first[:-1].astype(np.int64), stream.first[1:].astype(np.int64)
        last = np.maximum(last - 1, first)  # the last row is the end of the run
        there = np.flatnonzero(last > first)
        at = first[there]
        # an empty segment at the start of the run is not an event
        first[there] += (stream.begin[at] == begin) & (stream.code[at] == 0)
        return cls(first, last, stream.begin)

    @classmethod
    def of_rest(cls, trace: Trace, streams: Collection[str]) -> Times:
        """Return the times of events that are in none of *streams*; counters only if there is nothing else."""
        kinds = [kind for kind in _REST if kind not in streams and trace.count(kind) <= MOST]
        if not any(trace.count(kind) for kind in ("calls", *_REST)):
            kinds.append("counters")
        times, whose = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for kind in kinds:
            ends = _ENDS.get(kind) or dict.fromkeys(KINDS[kind].times, "location")
            columns = trace.columns(kind, (*ends, *dict.fromkeys(ends.values())))
            for name, owner in ends.items():
                known = columns[name] != NO_TIME
                times.append(columns[name][known])
                whose.append(columns[owner][known].astype(np.int64))
        time, location = np.concatenate(times), np.concatenate(whose)
        order = np.lexsort((time, location))
        cuts = np.searchsorted(location[order], np.arange(len(trace.definitions.locations) + 1))
        return cls(cuts[:-1], cuts[1:], time[order])

    def nearest(self, begin: int, end: int, locations: Array) -> NearestEvents:
        """Return the events nearest to the time from *begin* to *end* on any of *locations*."""
        low, high = self.first[locations], self.last[locations]
        if not len(self.time) or not len(locations):
            return NearestEvents(None, False, None)
        since = places(self.time, low, high, np.full(len(low), begin, np.int64), after=False)
        until = places(self.time, low, high, np.full(len(low), end, np.int64), after=True)
        earlier, later = self.time[since[since > low] - 1], self.time[until[until < high]]
        return NearestEvents(
            int(earlier.max()) if len(earlier) else None,
            bool((until > since).any()),
            int(later.min()) if len(later) else None,
        )


def nearest_sorted(time: Array, begin: int, end: int) -> NearestEvents:
    """Return the nearest among sorted times."""
    since, until = int(np.searchsorted(time, begin)), int(np.searchsorted(time, end, "right"))
    before, after = int(time[since - 1]) if since else None, int(time[until]) if until < len(time) else None
    return NearestEvents(before, until > since, after)


def together(found: list[NearestEvents]) -> NearestEvents:
    """Combine the nearest events of several kinds."""
    return NearestEvents(
        max((one.before for one in found if one.before is not None), default=None),
        any(one.inside for one in found),
        min((one.after for one in found if one.after is not None), default=None),
    )
