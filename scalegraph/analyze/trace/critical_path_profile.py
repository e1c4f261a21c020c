"""Profile of the critical path: regions, activities and locations on it, beside their time in the whole run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import pandas as pd

from scalegraph.analyze.trace.critical_path import PIECES, CriticalPath, Piece
from scalegraph.analyze.trace.idle import stretches
from scalegraph.analyze.trace.stacks import Stacks, overlaps
from scalegraph.analyze.trace.waiting import Waits
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import Array, Columns
from scalegraph.traces.model import Trace

_DEEP: Final = 256  # sums stop at this stack depth


@dataclass(frozen=True, eq=False)
class OnPath:
    """Tables of the contents of a path, largest share first; ticks are exact if the path does not cut recorded shares.

    *regions*: ``region`` (number, -1: outside all), ``path`` ticks of the path in the region itself, ``inclusive``
    those in it and everything it calls, ``total`` ticks of all locations in the region itself, ``mean`` per location;
    ``imbalance`` = path - mean where positive: what the run would gain if all locations shared the region evenly
    (Scalasca's critical-path imbalance). *states* has the same by ``state``, *locations* by ``location``, where
    ``pieces`` counts how often the path visits it. *kinds*: ``kind``, ``ticks``. *outside* is the time of hand-overs,
    messages and unexplained pieces; the rest is what locations did.
    """

    regions: pd.DataFrame
    states: pd.DataFrame
    locations: pd.DataFrame
    kinds: pd.DataFrame
    outside: int


class Contents:
    """Time by location; reused for several intervals of a trace, as it reads all calls, states and shares."""

    def __init__(self, trace: Trace, waits: Waits) -> None:
        self.trace, self.waits = trace, waits
        self.calls = _Calls.of(trace, waits.stacks)
        self.told: _Shares | _States = _Shares.of(trace) if trace.count("shares") else _States.of(trace)

    def sums(self, path: CriticalPath) -> Sums:
        """Return the ticks of *path*, or of a part of it, by region and state, and those of all locations in its time.

        Shape: (regions + 1,), (states + 1,). Unit: ticks. Source: Böhme and others 2012.
        """
        locations = np.flatnonzero(self.waits.present)
        whole = _Stretch(locations, np.full(len(locations), path.run_begin), np.full(len(locations), path.run_end))
        busy = path.kind == Piece.COMPUTE
        mine = _Stretch(path.location[busy], path.begin[busy], path.end[busy])
        inner, inclusive = self.calls.sums(mine)
        total, _ = self.calls.sums(whole, inclusive=False)
        checkpoint()
        state_path, shared_path = self.told.sums(mine)
        state_total, shared_total = self.told.sums(whole)
        if self.trace.count("shares"):  # shares record regions too, in cycles
            inner, total = shared_path, shared_total
        return Sums(inner, inclusive, total, state_path, state_total)


@dataclass(frozen=True, eq=False)
class Sums:
    """Ticks by region and by state (-1 first): on a path itself and, *total*, of all locations in its time.

    *inclusive* counts a region and everything it calls. Sums of consecutive intervals can be added.
    """

    inner: Array
    inclusive: Array
    total: Array
    state: Array
    state_total: Array

    @classmethod
    def none(cls) -> Sums:
        """Return the sums of an empty interval.

        Shape: (1,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        return cls(*(np.zeros(1) for _ in range(5)))

    def __add__(self, other: Sums) -> Sums:
        return Sums(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Sums)))


def on_path(contents: Contents, path: CriticalPath) -> OnPath:
    """Return the tables of *path*, or of a part of it (`CriticalPath.within`); totals are for the time that it covers.

    Shape: (regions,), (states,), (locations,). Unit: ticks. Source: Böhme and others 2012.
    """
    return on_path_of(contents.trace, contents.waits, path, contents.sums(path))


def on_path_of(trace: Trace, waits: Waits, path: CriticalPath, sums: Sums) -> OnPath:
    """Return the tables of *path* from its *sums* by region and state.

    Shape: (regions,), (states,), (locations,). Unit: ticks. Source: Böhme and others 2012.
    """
    busy = path.kind == Piece.COMPUTE
    locations = max(int(np.count_nonzero(waits.present)), 1)
    took = (path.end - path.begin)[busy]
    where = np.bincount(path.location[busy], took.astype(float), minlength=len(trace.definitions.locations))
    kinds = [(PIECES[kind], path.ticks(kind)) for kind in Piece]
    came = np.flatnonzero(np.r_[True, path.location[1:] != path.location[:-1]][: len(path)])
    return OnPath(
        _table("region", sums.inner, sums.total, locations, sums.inclusive),
        _table("state", sums.state, sums.state_total, locations),
        pd.DataFrame(
            {
                "location": np.arange(len(where)),
                "path": where.astype(np.int64),
                "pieces": np.bincount(path.location[came], minlength=len(where)),
            }
        )
        .sort_values("path", ascending=False, kind="stable")
        .reset_index(drop=True),
        pd.DataFrame(kinds, columns=pd.Index(["kind", "ticks"])),
        path.ticks() - path.ticks(Piece.COMPUTE),
    )


def _table(name: str, path: Array, total: Array, locations: int, inclusive: Array | None = None) -> pd.DataFrame:
    """Return the rows with any time; the first entry of the arrays is for -1."""
    mean = total / locations
    table = pd.DataFrame({name: np.arange(len(path)) - 1, "path": path})
    if inclusive is not None:
        table["inclusive"] = inclusive
    table = table.assign(total=total, mean=mean, imbalance=np.maximum(path - mean, 0.0))
    kept = (table["path"] > 0) | (table["total"] > 0)
    if inclusive is not None:
        kept |= table["inclusive"] > 0
    return table[kept].sort_values(["path", "total"], ascending=False, kind="stable").reset_index(drop=True)


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Intervals on locations."""

    location: Array
    begin: Array
    end: Array

    @property
    def ticks(self) -> float:
        return float((self.end - self.begin).sum())


@dataclass(frozen=True, eq=False)
class _Calls:
    """The innermost region over time."""

    stacks: Stacks
    until: Array
    regions: int

    @classmethod
    def of(cls, trace: Trace, stacks: Stacks) -> _Calls:
        return cls(stacks, stacks.until(trace.meta.end), len(trace.definitions.regions) + 1)

    def sums(self, within: _Stretch, *, inclusive: bool = True) -> tuple[Array, Array]:
        """Return the exclusive and inclusive ticks of each region (-1 first)."""
        stacks = self.stacks
        _, row, ticks = overlaps(stacks.first, stacks.time, self.until, within.location, within.begin, within.end)
        inside = stacks.inner[row] if len(row) else row
        own = np.bincount(stacks.region_of(inside) + 1, ticks.astype(float), minlength=self.regions)
        own[0] += within.ticks - float(ticks.sum())  # before the first call
        return own, self._inclusive(inside, ticks) if inclusive else own

    def _inclusive(self, inside: Array, ticks: Array) -> Array:
        found = np.zeros(self.regions)
        inside, which = np.unique(inside, return_inverse=True)
        weight = np.bincount(which, ticks.astype(float), minlength=len(inside))
        above: list[Array] = []
        while len(inside) and (inside >= 0).any() and len(above) < _DEEP:
            here = self.stacks.region_of(inside)
            fresh = here >= 0
            for other in above:  # recursion counts once
                fresh &= here != other
            found += np.bincount(here[fresh] + 1, weight[fresh], minlength=self.regions)
            above.append(here)
            inside = self.stacks.caller(inside)
        return found


@dataclass(frozen=True, eq=False)
class _Shares:
    """Stretches of time whose rows divide them by state and region."""

    found: Columns
    stretch: Array  # its first row
    sizes: Array
    begin: Array
    end: Array
    first: Array
    states: int
    regions: int

    @classmethod
    def of(cls, trace: Trace) -> _Shares:
        locations = len(trace.definitions.locations)
        states, regions = len(trace.definitions.states) + 1, len(trace.definitions.regions) + 1
        found = _sorted(trace.columns("shares"), locations, state=states, region=regions)
        stretch = stretches(found["location"], found["begin"])
        first = np.searchsorted(found["location"][stretch], np.arange(locations + 1))
        sizes = np.diff(np.r_[stretch, len(found["begin"])])
        return cls(found, stretch, sizes, found["begin"][stretch], found["end"][stretch], first, states, regions)

    def sums(self, within: _Stretch) -> tuple[Array, Array]:
        """Return ticks by state and by region (-1 first); a stretch that is cut counts in proportion."""
        found, stretch, sizes, since, until = self.found, self.stretch, self.sizes, self.begin, self.end
        _, at, ticks = overlaps(self.first, since, until, within.location, within.begin, within.end)
        rows = np.repeat(stretch[at] - np.r_[0, np.cumsum(sizes[at])[:-1]][: len(at)], sizes[at])
        rows += np.arange(len(rows))
        part = np.repeat(ticks / np.maximum(until[at] - since[at], 1), sizes[at]) * found["ticks"][rows]
        return (
            np.bincount(found["state"][rows] + 1, part, minlength=self.states),
            np.bincount(found["region"][rows] + 1, part, minlength=self.regions),
        )


@dataclass(frozen=True, eq=False)
class _States:
    """States of locations over time."""

    found: Columns
    first: Array
    states: int

    @classmethod
    def of(cls, trace: Trace) -> _States:
        locations, states = len(trace.definitions.locations), len(trace.definitions.states) + 1
        found = _sorted(trace.columns("states"), locations, state=states)
        return cls(found, np.searchsorted(found["location"], np.arange(locations + 1)), states)

    def sums(self, within: _Stretch) -> tuple[Array, Array]:
        """Return ticks by state (-1 first), and nothing by region."""
        found = self.found
        _, at, ticks = overlaps(self.first, found["begin"], found["end"], within.location, within.begin, within.end)
        return np.bincount(found["state"][at] + 1, ticks.astype(float), minlength=self.states), np.zeros(0)


def _sorted(found: Columns, locations: int, **limits: int) -> Columns:
    """Return rows of known locations, sorted by location and begin; numbers outside *limits* become -1."""
    inside = (found["location"] >= 0) & (found["location"] < locations)
    order = np.flatnonzero(inside)
    order = order[np.lexsort((found["begin"][order], found["location"][order]))]
    found = {name: values[order] for name, values in found.items()}
    for name, count in limits.items():
        found[name] = np.where(found[name] < count - 1, found[name], -1)
    return found
