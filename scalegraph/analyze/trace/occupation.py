"""Time of each location in an interval, by state and by region: exact where the trace is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Part, Trace

_BLOCK: Final = 1 << 16  # rows in a block whose sums are cached
_CELLS: Final = 1 << 25  # cells of cached sums, in all


@dataclass(frozen=True)
class _Rows:
    """Stretches of known locations and states; *ticks* is the part of the stretch spent in the state."""

    begin: Array
    end: Array
    location: Array
    state: Array
    ticks: Array
    region: Array

    def within(self, begin: int, end: int) -> Array:
        """Return the ticks of each stretch in the interval; in proportion if the interval cuts it."""
        length = self.end - self.begin
        inside = np.clip(np.minimum(self.end, end) - np.maximum(self.begin, begin), 0, None)
        whole: Array = self.ticks.astype(np.float64)
        cut = np.flatnonzero(inside < length)
        part, span = inside[cut], length[cut]
        # a stretch with a single state stays exact
        whole[cut] = np.where(whole[cut] == span, part, whole[cut] * (part / span))
        return whole


@dataclass
class _Block:
    """A block of rows: their times, and once computed their sums by state and location."""

    first: int
    last: int
    kept: tuple[Array, Array] | None = None  # cells and their sums


class StateTable:
    """The shares or states of a trace: sums over any interval. Sums of whole blocks are cached.

    Overlapping states in a location each count in full.
    """

    def __init__(self, trace: Trace, kind: str = "shares") -> None:
        self._trace, self._kind = trace, kind
        self._blocks: dict[tuple[int, int], _Block] = {}
        self._room = _CELLS

    def by_location(self, begin: int, end: int, locations: Sequence[int] | None = None) -> Array:
        """Return ticks in [*begin*, *end*) by state and location (default all), shape (states, locations).

        A stretch that the interval cuts counts in proportion, so ticks may be fractions; whole stretches are exact.

        Unit: ticks. Source: ScaleGraph.
        """
        definitions = self._trace.definitions
        shape = (len(definitions.states), len(definitions.locations))
        total = np.zeros(shape[0] * shape[1])
        for number, part, at in self._near(begin, end):
            checkpoint()
            block = self._blocks.get((number, at))
            if block is not None and (block.last <= begin or block.first >= end):
                continue
            if block is not None and begin <= block.first and block.last <= end and block.kept is not None:
                cells, values = block.kept
                total[cells] += values
                continue
            rows = self._rows(part, at)
            cell = rows.state.astype(np.int64) * shape[1] + rows.location
            sums = np.bincount(cell, rows.within(begin, end), len(total))
            total += sums
            self._keep(number, at, rows, sums, begin, end)
        made: Array = total.reshape(shape)
        return made if locations is None else made[:, sorted(set(locations))]

    def by_region(self, begin: int, end: int, locations: Sequence[int] | None = None) -> Array:
        """Return ticks in [*begin*, *end*) of *locations* by state and region, shape (states, regions + 1).

        The last region stands for none. States have no region: their ticks are there.

        Unit: ticks. Source: ScaleGraph.
        """
        definitions = self._trace.definitions
        regions = len(definitions.regions)
        wanted = np.ones(len(definitions.locations), bool)
        if locations is not None:
            wanted = np.isin(np.arange(len(wanted)), list(locations))
        total = np.zeros((len(definitions.states), regions + 1))
        for _, part, at in self._near(begin, end):
            checkpoint()
            rows = self._rows(part, at)
            ticks = np.where(wanted[rows.location], rows.within(begin, end), 0.0)
            region = np.where((rows.region >= 0) & (rows.region < regions), rows.region, regions)
            cell = rows.state.astype(np.int64) * (regions + 1) + region
            total += np.bincount(cell, ticks, total.size).reshape(total.shape)
        return total

    def _near(self, begin: int, end: int) -> Iterator[tuple[int, Part, int]]:
        """Yield the parts that overlap the interval with the first row of each of their blocks."""
        for number, part in enumerate(self._trace.parts[self._kind]):
            if part.first <= end and part.last >= begin:
                for at in range(0, part.rows, _BLOCK):
                    yield number, part, at

    def _rows(self, part: Part, at: int) -> _Rows:
        """Return the rows of a block with positive length, known location and known state."""
        piece = slice(at, at + _BLOCK)
        definitions = self._trace.definitions
        owner, state = part.column("location")[piece], part.column("state")[piece]
        first, last = part.column("begin")[piece], part.column("end")[piece]
        shared = self._kind == "shares"
        ticks = part.column("ticks")[piece] if shared else last - first
        region = part.column("region")[piece] if shared else np.full(len(owner), -1, np.int32)
        good = (owner >= 0) & (owner < len(definitions.locations)) & (state >= 0) & (state < len(definitions.states))
        good &= last > first
        if good.all():
            return _Rows(first, last, owner, state, ticks, region)
        return _Rows(first[good], last[good], owner[good], state[good], ticks[good], region[good])

    def _keep(self, number: int, at: int, rows: _Rows, sums: Array, begin: int, end: int) -> None:
        """Keep the times of a block, and its sums if it is inside the interval and there is room."""
        first, last = (int(rows.begin.min()), int(rows.end.max())) if len(rows.begin) else (0, 0)
        block = self._blocks.setdefault((number, at), _Block(first, last))
        if begin <= first and last <= end:
            cells = np.flatnonzero(sums)
            if len(cells) <= self._room:
                self._room -= len(cells)
                block.kept = cells, sums[cells]
