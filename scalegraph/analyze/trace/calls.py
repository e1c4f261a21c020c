"""All calls of a trace, part by part: when each began and ended, and on which call path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, Columns, What
from scalegraph.traces.model import Trace
from scalegraph.traces.nesting import match

_KEPT: Final = 1 << 29  # bytes of matched calls kept in memory; the others are matched again on demand
_ROW: Final = 24  # bytes per call
NEVER: Final = 2**63 - 1  # a tick after all others


@dataclass(frozen=True)
class Calls:
    """Calls in no particular order: *begin* and *end* in ticks, location number and call path number."""

    begin: Array
    end: Array
    location: Array
    path: Array

    @property
    def bytes(self) -> int:
        """Bytes held in memory.

        Unit: bytes. Source: ScaleGraph.
        """
        return _ROW * len(self.begin)


@dataclass(frozen=True)
class Paths:
    """Call paths by number: *region* and *parent* (-1: none), *depth* from 0; parents have smaller numbers.

    *inner* marks recursion: the region occurs already further out on the path.
    """

    region: Array
    parent: Array
    depth: Array
    inner: Array

    def __len__(self) -> int:
        return len(self.region)


class _Book:
    """Numbers call paths in the order of their first occurrence."""

    def __init__(self) -> None:
        self.region: list[int] = []
        self.parent: list[int] = []
        self._known: dict[int, int] = {}

    def number(self, parent: Array, region: Array) -> Array:
        """Return the paths from *parent* (-1: none) into *region*."""
        codes, pairs = pd.factorize((parent.astype(np.int64) + 1) << 32 | (region.astype(np.int64) + 1))
        found = np.empty(len(pairs), np.int32)
        for place, pair in enumerate(pairs.tolist()):
            at = self._known.setdefault(pair, len(self.region))
            if at == len(self.region):
                self.parent.append((pair >> 32) - 1)
                self.region.append((pair & 0xFFFFFFFF) - 1)
            found[place] = at
        return found[codes]

    def paths(self) -> Paths:
        """Return all paths numbered so far."""
        region, parent = np.array(self.region, np.int64), np.array(self.parent, np.int64)
        depth, inner = np.zeros(len(region), np.int64), np.zeros(len(region), bool)
        above = parent.copy()
        while (up := np.flatnonzero(above >= 0)).size:
            depth[up] += 1
            inner[up] |= region[above[up]] == region[up]
            above[up] = parent[above[up]]
        return Paths(region, parent, depth, inner)


_Open = Columns  # open calls: time, location, path; for each location the outermost first


class CallTable:
    """The calls of a trace, found in one pass over the events; the calls open at the start of each part are kept.

    So an interval needs only the parts that it overlaps. *lone* counts leave events without an enter; they belong to no
    call. *endless* counts calls that are never left; they end with the run. *located* says which locations have calls.
    *first* and *last* are the ticks of the first and last event of each location in each part, shape (parts,
    locations); for a location without events in a part, first is after last.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        shape = (len(trace.parts["calls"]), len(trace.definitions.locations))
        self.first, self.last = np.full(shape, NEVER), np.full(shape, NO_TIME)
        self._book = _Book()
        self._open: list[_Open] = [{name: np.empty(0, np.int64) for name in ("time", "location", "path")}]
        self._kept: dict[int, Calls] = {}
        self.lone = 0
        self.located = np.zeros(len(trace.definitions.locations), bool)
        room = _KEPT
        parts = trace.parts["calls"]
        for index in range(len(parts)):
            checkpoint()
            calls, still, lone = self._match(index)
            self._open.append(still)
            self.lone += lone
            self.located[calls.location] = True
            if calls.bytes <= room:
                self._kept[index] = calls
                room -= calls.bytes
            checkpoint((index + 1) / len(parts))
        self.endless = len(self._open[-1]["time"])
        self.located[self._open[-1]["location"].astype(np.int64)] = True
        self.paths = self._book.paths()

    def calls(self, begin: int, end: int) -> Iterator[Calls]:
        """Yield all calls that overlap *begin* to *end*, and perhaps others. Calls left later end with the run.

        Shape: (calls,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        parts = self._trace.parts["calls"]
        known = [index for index, part in enumerate(parts) if part.first <= part.last]
        # a part in between that begins after *end* may still contain the leave of an earlier call
        first = min((index for index in known if parts[index].last >= begin), default=len(parts))
        last = max((index for index in known if parts[index].first <= end), default=-1)
        for index in range(first, last + 1):
            if parts[index].last < begin:
                continue
            checkpoint()
            kept = self._kept.get(index)
            yield kept if kept is not None else self._match(index)[0]
        still = self._open[last + 1]
        yield Calls(still["time"], np.full(len(still["time"]), self._trace.meta.end), still["location"], still["path"])

    def _columns(self, index: int) -> Columns:
        """Return the events of a part that name a location; undefined regions become `NOBODY`."""
        part, definitions = self._trace.parts["calls"][index], self._trace.definitions
        columns = {name: part.column(name) for name in ("time", "location", "what", "region")}
        location = columns["location"]
        if len(location) and not (int(location.min()) >= 0 and int(location.max()) < len(definitions.locations)):
            inside = (location >= 0) & (location < len(definitions.locations))
            columns = {name: values[inside] for name, values in columns.items()}
        region = columns["region"]
        if len(region) and int(region.max()) >= len(definitions.regions):
            columns["region"] = np.where(region < len(definitions.regions), region, NOBODY)
        return columns

    def _match(self, index: int) -> tuple[Calls, _Open, int]:
        """Return the calls left in a part, those open at its end, and the number of leaves without enter."""
        columns, before = self._columns(index), self._open[index]
        np.minimum.at(self.first[index], columns["location"], columns["time"])
        np.maximum.at(self.last[index], columns["location"], columns["time"])
        carried = len(before["time"])
        time = np.concatenate([before["time"], columns["time"]])
        location = np.concatenate([before["location"].astype(np.int32), columns["location"]])
        enters = np.concatenate([np.ones(carried, bool), columns["what"] == What.ENTER])
        region = np.concatenate([np.zeros(carried, np.int32), columns["region"]])
        if not bool((location[1:] >= location[:-1]).all()):
            small = int(location.max()) < 1 << 16
            order = np.argsort(location.astype(np.uint16) if small else location, kind="stable")
            time, location, enters, region = time[order], location[order], enters[order], region[order]
            held = np.flatnonzero(order < carried)
        else:
            held = np.flatnonzero(np.arange(len(time)) < carried)
        partner, depth = match(location, enters)
        path = np.full(len(time), -1, np.int32)
        path[held] = before["path"]
        self._number(path, region, np.flatnonzero(enters), depth)
        done = np.flatnonzero(enters & (partner >= 0))
        calls = Calls(time[done], time[partner[done]], location[done], path[done])
        still = np.flatnonzero(enters & (partner < 0))
        lone = int(np.count_nonzero(~enters & (partner < 0)))
        return calls, {"time": time[still], "location": location[still], "path": path[still]}, lone

    def _number(self, path: Array, region: Array, enters: Array, depth: Array) -> None:
        """Set the missing paths of the rows *enters* in *path*: level by level, outermost first."""
        if not len(enters):
            return
        levels = depth[enters]
        order = np.argsort(levels.astype(np.uint16) if int(levels.max()) < 1 << 16 else levels, kind="stable")
        enters, levels = enters[order], levels[order]
        ends = np.flatnonzero(np.r_[levels[1:] != levels[:-1], True]) + 1
        outer, start = np.empty(0, np.int64), 0
        for end in ends.tolist():
            rows = enters[start:end]
            fresh = rows[path[rows] < 0]
            if not len(outer) or levels[start] == 1:
                parents = np.full(len(fresh), -1, np.int64)
            else:  # the last enter one level further out; it has the same location
                parents = path[outer[np.searchsorted(outer, fresh) - 1]].astype(np.int64)
            path[fresh] = self._book.number(parents, region[fresh])
            outer, start = rows, end
