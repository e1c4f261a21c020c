"""Messages and waits: rows in time order, and the longest or largest among many.

Rows are sorted by begin. With the ends sorted as well, the number of rows touching an interval is the difference of two
positions; the rows themselves lie between the first that lasts into it and the last that has begun. The 64 greatest of
every 1,024 rows, of every 16,384 and so on are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from scalegraph.traces.kinds import KINDS, NO_TIME, Array, Columns
from scalegraph.traces.lod.scratch import Growing, Scratch, forget
from scalegraph.traces.lod.streams import PIECE, Step
from scalegraph.traces.model import Trace

SAMPLED = ("messages", "waits")
BLOCK, BLOCKS, TOP = 1024, 16, 64
_FEW = 1 << 16  # up to this many rows are read every time
_MANY = 1 << 20  # rows of which only the end is read
_KEPT = 4  # cached selections of locations


@dataclass
class Chain:
    """The greatest rows of blocks by one criterion: *tops* by level, [blocks, TOP] row numbers (-1: none)."""

    tops: list[Array]

    def greatest(self, low: int, high: int) -> Array:
        """Return rows from *low* to *high* that include the greatest of every block in between."""
        if high - low <= _FEW:
            return np.arange(low, high)
        found = []
        size = BLOCK
        for level, tops in enumerate(self.tops):
            first, last = -(-low // size), high // size
            if (last - first) * TOP <= _FEW or level == len(self.tops) - 1:
                found += [np.arange(low, first * size), tops[first:last].ravel(), np.arange(last * size, high)]
                break
            # the ends of the range at this level, the middle at the next
            above = size * BLOCKS
            start, stop = -(-low // above), high // above
            found += [np.arange(low, first * size), np.arange(last * size, high)]
            found += [tops[first : start * BLOCKS].ravel(), tops[stop * BLOCKS : last].ravel()]
            low, high, size = start * above, stop * above, above
        rows = np.concatenate(found)
        return rows[rows >= 0]


@dataclass
class Sorted:
    """The rows of one kind by begin; *until*: the greatest end so far, *ends*: the sorted ends."""

    columns: Columns
    start: Array
    stop: Array
    until: Array
    ends: Array
    chains: dict[str, Chain]
    _chosen: dict[bytes, Sorted] = field(default_factory=dict)

    def total(self, begin: int, end: int) -> int:
        """Return how many rows touch the time from *begin* to *end* (both included)."""
        return int(np.searchsorted(self.start, end, "right")) - int(np.searchsorted(self.ends, begin))

    def sample(self, begin: int, end: int, limit: int, by: str) -> Array:
        """Return the *limit* greatest rows that touch the time from *begin* to *end*, in their order."""
        low = int(np.searchsorted(self.until, begin))
        high = int(np.searchsorted(self.start, end, "right"))
        begun = min(max(int(np.searchsorted(self.start, begin)), low), max(high, low))
        # few that began before last into the interval; blocks would mostly hold others
        early = np.arange(low, begun) if begun - low <= _MANY else self.chains["length"].greatest(low, begun)
        early = early[self.stop[early] >= begin]
        rows = np.concatenate([early, self.chains[by].greatest(begun, max(high, begun))])
        if len(rows) > limit:
            rank = self.columns["size"][rows] if by == "size" else self.stop[rows] - self.start[rows]
            rows = rows[np.argpartition(rank, len(rows) - limit)[len(rows) - limit :]]
        return np.sort(rows)

    def of(self, kind: str, locations: Array) -> Sorted:
        """Return the rows whose locations (both for messages) are all in *locations*; a few results are cached."""
        key = locations.tobytes()
        if key not in self._chosen:
            if len(self._chosen) >= _KEPT:
                self._chosen.pop(next(iter(self._chosen)))
            size = max(int(locations.max(initial=0)), *(int(self.columns[n].max(initial=0)) for n in _whose(kind))) + 2
            inside = np.zeros(size, bool)
            inside[locations] = True  # the last entry stays False: index -1 finds it
            keep = np.logical_and.reduce([inside[self.columns[name]] for name in _whose(kind)])
            self._chosen[key] = self._some(kind, np.flatnonzero(keep))
        return self._chosen[key]

    def lasting(self, kind: str, least: int) -> Sorted:
        """Return the rows that last at least *least* ticks (1 or more), with both ends known."""
        return self._some(kind, np.flatnonzero(self.stop - self.start >= least))

    def _some(self, kind: str, rows: Array) -> Sorted:
        columns = {name: np.asarray(values[rows]) for name, values in self.columns.items()}
        return made(columns, np.asarray(self.start[rows]), np.asarray(self.stop[rows]), kind)


def _whose(kind: str) -> tuple[str, ...]:
    return ("sender", "receiver") if kind == "messages" else ("location",)


def made(columns: Columns, start: Array, stop: Array, kind: str) -> Sorted:
    """Return rows sorted by *start*."""
    until = np.maximum.accumulate(stop) if len(stop) else stop
    chains = {"length": Chain(_tops(stop - start))}
    if kind == "messages":
        chains["size"] = Chain(_tops(columns["size"]))
    return Sorted(columns, start, stop, until, np.sort(stop), chains)


def _tops(rank: Array) -> list[Array]:
    tops: list[Array] = []
    candidates, count = np.arange(len(rank)), BLOCK
    while True:
        blocks = -(-len(candidates) // count)
        padded: Array = np.full((blocks, count), -1, np.int64)
        padded.ravel()[: len(candidates)] = candidates
        if count > TOP:
            values = np.where(padded >= 0, rank[np.maximum(padded, 0)], np.iinfo(np.int64).min)
            best = np.argpartition(values, count - TOP, axis=1)[:, count - TOP :]
            padded = np.take_along_axis(padded, best, axis=1)
        tops.append(padded)
        if blocks <= BLOCKS:
            return tops
        candidates, count = padded.ravel(), TOP * BLOCKS


def times(kind: str, columns: Columns) -> tuple[Array, Array]:
    """Return begin and end of rows of *kind*; an unknown end of a message is replaced by the other."""
    first, last = ("sent", "received") if kind == "messages" else ("begin", "end")
    start, stop = columns[first], columns[last]
    start = np.where(start == NO_TIME, stop, start)
    return start, np.maximum(np.where(stop == NO_TIME, start, stop), start)


def gather(trace: Trace, kind: str, scratch: Scratch, step: Step) -> Sorted:
    """Return the rows of *kind* by begin. Memory holds the times and one column at a time."""
    names = KINDS[kind].times[:1] + KINDS[kind].times[-1:] if kind == "messages" else ("begin", "end")
    starts, stops = [], []
    for part in trace.parts[kind]:
        step(0.0)
        begin, end = times(kind, {name: part.column(name) for name in names})
        starts.append(begin)
        stops.append(end)
        part.forget()
    nothing = np.empty(0, np.int64)
    start, stop = np.concatenate([nothing, *starts]), np.concatenate([nothing, *stops])
    del starts, stops
    order = np.argsort(start, kind="stable")
    columns = {}
    for name, dtype in KINDS[kind].columns.items():
        step(0.5)
        whole = Growing(scratch, dtype)
        values = trace.columns(kind, [name])[name]
        for at in range(0, len(order), PIECE):
            whole.append(values[order[at : at + PIECE]])
        columns[name] = whole.whole()
        for part in trace.parts[kind]:
            part.forget()
    found = made(columns, start[order], stop[order], kind)
    forget(*columns.values())
    return found


def arrays(kind: str, found: Sorted) -> dict[str, Array]:
    """Return the arrays of *found* to store, by name."""
    named = {f"{kind}.{name}": values for name, values in found.columns.items()}
    for name in ("start", "stop", "until", "ends"):
        named[f"{kind}:{name}"] = getattr(found, name)
    for by, chain in found.chains.items():
        named |= {f"{kind}:{by}{level}": tops for level, tops in enumerate(chain.tops)}
    return named


def restored(kind: str, rows: int, named: Mapping[str, Array]) -> Sorted:
    """Return the rows from `arrays`. Raises `KeyError` or `ValueError` if they do not fit."""
    columns = {name: named[f"{kind}.{name}"] for name in KINDS[kind].columns}
    start, stop, until, ends = (named[f"{kind}:{name}"] for name in ("start", "stop", "until", "ends"))
    found = Sorted(columns, start, stop, until, ends, {})
    for by in ("length", "size") if kind == "messages" else ("length",):
        tops: list[Array] = []
        while f"{kind}:{by}{len(tops)}" in named:
            tops.append(named[f"{kind}:{by}{len(tops)}"])
        found.chains[by] = Chain(tops)
        right = bool(tops) and all(top.ndim == 2 and top.max(initial=-1) < rows for top in tops)
        if not right:
            raise ValueError("tops")
    if {len(values) for values in (*columns.values(), found.start, found.stop, found.until, found.ends)} != {rows}:
        raise ValueError("rows")
    return found
