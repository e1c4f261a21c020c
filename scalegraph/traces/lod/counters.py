"""Metrics over time: step functions for every metric and location, and for the sum over all locations.

A value of mode last holds from its time on; one of mode sum or next counts events since the previous value, so it is
spread over that time and becomes a rate per second. Either way a metric is a step function. Its running integral makes
means exact however many steps a bin holds; minimum and maximum of every 64 steps are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.clipping import ranges
from scalegraph.traces.lod.scratch import Growing, Scratch
from scalegraph.traces.lod.streams import Gather, Step, by_location
from scalegraph.traces.model import Trace

ALL = -1  # stands for all locations together
_BLOCK = 64
_FEW = 1 << 18  # up to this many steps are read every time
_MERGED = 1 << 23  # values whose sum over locations is computed value by value
_COARSE = 1 << 18  # bins of the sum, beyond that


@dataclass
class Series:
    """Steps of all series: *index* [series, 3] holds metric, location and first row, plus one end row.

    From *time* to the time of the next row *value* holds (NaN: unknown); the last row of a series is NaN. *area*: sum
    of value times ticks before the row, *known*: ticks before it with a known value; *low* and *high*: for every 64
    rows.
    """

    index: Array
    time: Array
    value: Array
    area: Array
    known: Array
    low: Array
    high: Array

    def rows(self, metric: int, location: int) -> slice:
        """Return the rows of a series; empty if there is none."""
        at = np.flatnonzero((self.index[:-1, 0] == metric) & (self.index[:-1, 1] == location))
        return slice(int(self.index[at[0], 2]), int(self.index[at[0] + 1, 2])) if len(at) else slice(0, 0)

    @np.errstate(all="ignore")
    def binned(self, where: slice, edges: Array) -> tuple[Array, Array, Array]:
        """Return minimum, maximum and mean of the series *where* in the bins between *edges* (NaN: unknown)."""
        count = len(edges) - 1
        nothing = np.full(count, np.nan)
        time = self.time[where]
        if not len(time):
            return nothing, nothing, nothing
        at = np.maximum(np.searchsorted(time, edges, "right") - 1, 0) + where.start
        until = np.searchsorted(time, edges[1:]) + where.start
        since = np.maximum(edges - self.time[at], 0)
        value = self.value[at]
        there = ~np.isnan(value)
        area = np.diff(self.area[at] + np.where(there, value, 0.0) * since)
        known = np.diff(self.known[at] + there * since)
        mean = np.where(known > 0, area / known, np.nan)
        low, high = self._extremes(at[:-1], np.maximum(until, at[:-1]))
        low[known == 0] = np.nan
        high[known == 0] = np.nan
        return low, high, np.clip(mean, low, high)

    def _extremes(self, starts: Array, stops: Array) -> tuple[Array, Array]:
        """Return minimum and maximum of the rows from each start to its stop (exclusive)."""
        if int((stops - starts).sum()) <= _FEW:
            return _reduced(starts, stops, self.value, self.value)
        first, last = -(-starts // _BLOCK), stops // _BLOCK
        inner = first < last
        before = _reduced(starts, np.where(inner, first * _BLOCK, stops), self.value, self.value)
        between = _reduced(first, np.where(inner, last, first), self.low, self.high)
        after = _reduced(np.where(inner, last * _BLOCK, stops), stops, self.value, self.value)
        return (np.fmin(np.fmin(before[0], between[0]), after[0]), np.fmax(np.fmax(before[1], between[1]), after[1]))


def _reduced(starts: Array, stops: Array, low: Array, high: Array) -> tuple[Array, Array]:
    least, most = np.full(len(starts), np.nan), np.full(len(starts), np.nan)
    some = np.flatnonzero(stops > starts)
    if len(some):
        rows, _ = ranges(starts[some], stops[some])
        lengths = (stops - starts)[some]
        begins = np.cumsum(lengths) - lengths
        least[some] = np.fmin.reduceat(low[rows], begins)
        most[some] = np.fmax.reduceat(high[rows], begins)
    return least, most


def steps(time: Array, value: Array, mode: str, run: tuple[int, int], second: int) -> tuple[Array, Array]:
    """Return the steps of a metric in a location: the times from which values hold, and the values; the last is NaN."""
    time = np.maximum.accumulate(np.clip(time, *run))
    if mode == "last":
        keep = np.r_[time[1:] > time[:-1], True]
        keep &= time < run[1]
        return np.r_[time[keep], run[1]], np.r_[value[keep], np.nan]
    if mode == "sum":
        value = np.diff(value, prepend=0.0)
    first = np.flatnonzero(np.r_[True, time[1:] > time[:-1]])
    ends, value = time[first], np.add.reduceat(value, first)
    begins = np.r_[run[0], ends[:-1]]
    keep = ends > begins
    if not keep.any():
        return np.empty(0, np.int64), np.empty(0)
    rate = value[keep] / (ends[keep] - begins[keep]) * second
    return np.r_[begins[keep], ends[-1]], np.r_[rate, np.nan]


class _Made:
    """Series under construction."""

    def __init__(self, scratch: Scratch) -> None:
        self._index: list[tuple[int, int, int]] = []
        self._scratch = scratch
        self.columns = {
            name: Growing(scratch, np.int64 if name == "time" else np.float64)
            for name in ("time", "value", "area", "known")
        }

    def add(self, metric: int, location: int, time: Array, value: Array) -> None:
        """Add a series."""
        if not len(time):
            return
        self._index.append((metric, location, self.columns["time"].rows))
        length = np.diff(time).astype(np.float64)
        there = ~np.isnan(value[:-1])
        area = np.r_[0.0, np.cumsum(np.where(there, value[:-1], 0.0) * length)]
        known = np.r_[0.0, np.cumsum(np.where(there, length, 0.0))]
        for name, values in (("time", time), ("value", value), ("area", area), ("known", known)):
            self.columns[name].append(values)

    def finish(self) -> Series:
        """Return all series."""
        rows = self.columns["time"].rows
        index = np.array([*self._index, (-1, -1, rows)], np.int64).reshape(-1, 3)
        low, high = Growing(self._scratch, np.float64), Growing(self._scratch, np.float64)
        value = self.columns["value"].whole()
        for start in range(0, rows, 1 << 20):
            some = value[start : start + (1 << 20)]
            begins = np.arange(0, len(some), _BLOCK)
            low.append(np.fmin.reduceat(some, begins))
            high.append(np.fmax.reduceat(some, begins))
        done = {name: column.whole() for name, column in self.columns.items()}
        return Series(index, **done, low=low.whole(), high=high.whole())


@np.errstate(all="ignore")  # overflow of very large values is not an error
def gather(trace: Trace, scratch: Scratch, run: tuple[int, int], notes: Counter[str], step: Step) -> Series:
    """Return the series of *trace*, read one metric of one location at a time to limit memory."""
    locations, metrics = len(trace.definitions.locations), trace.definitions.metrics
    kept = Gather(scratch, locations * len(metrics), {"time": np.dtype(np.int64), "value": np.dtype(np.float64)})
    for part in trace.parts["counters"]:
        step(0.0)
        which, location = part.column("metric"), part.column("location")
        good = (which >= 0) & (which < len(metrics)) & (location >= 0) & (location < locations)
        notes["counters of an unknown location or metric"] += len(good) - int(np.count_nonzero(good))
        key = which[good].astype(np.int64) * locations + location[good]
        order = by_location(key)
        kept.add(key[order], {name: part.column(name)[good][order] for name in ("time", "value")})
        part.forget()
    made = _Made(scratch)
    for number, metric in enumerate(metrics):
        rows = sum(
            stop - start for some in kept.extents[number * locations : (number + 1) * locations] for start, stop in some
        )
        total = _Total(run, rows > _MERGED)
        for who in range(locations):
            chunks = list(kept.location(number * locations + who))
            if chunks:
                step(number / len(metrics))
                time, value = (np.concatenate([chunk[name] for chunk in chunks]) for name in ("time", "value"))
                one = steps(time, value, metric.mode, run, trace.meta.ticks_per_second)
                made.add(number, who, *one)
                total.add(*one)
        made.add(number, ALL, *total.finish())
    return made.finish()


class _Total:
    """The sum of one metric over locations: unknown where all are, otherwise the sum of the known ones."""

    def __init__(self, run: tuple[int, int], coarse: bool) -> None:
        self._edges = np.unique(np.linspace(*run, _COARSE + 1).astype(np.int64)) if coarse else None
        self._series: list[tuple[Array, Array]] = []
        self._area, self._known = (np.zeros(0 if self._edges is None else len(self._edges) - 1) for _ in range(2))

    def add(self, time: Array, value: Array) -> None:
        """Add a location."""
        if not len(time):
            return
        if self._edges is None:
            self._series.append((time, value))
            return
        scratch = Scratch()
        one = _Made(scratch)
        one.add(0, 0, time, value)
        _, _, mean = one.finish().binned(slice(0, len(time)), self._edges)
        scratch.close()
        self._area += np.nan_to_num(mean)
        self._known += ~np.isnan(mean)

    def finish(self) -> tuple[Array, Array]:
        """Return its steps."""
        if self._edges is not None:
            return self._edges, np.r_[np.where(self._known > 0, self._area, np.nan), np.nan]
        if len(self._series) < 2:
            return self._series[0] if self._series else (np.empty(0, np.int64), np.empty(0))
        time = np.concatenate([time for time, _ in self._series])
        change = np.concatenate([np.diff(np.nan_to_num(value), prepend=0.0) for _, value in self._series])
        known = np.concatenate([np.diff((~np.isnan(value)).astype(np.int64), prepend=0) for _, value in self._series])
        order = np.argsort(time, kind="stable")
        time = time[order]
        first = np.flatnonzero(np.r_[True, time[1:] > time[:-1]])
        height = np.cumsum(np.add.reduceat(change[order], first))
        there = np.cumsum(np.add.reduceat(known[order], first))
        return time[first], np.where(there > 0, height, np.nan)


NAMES = ("index", "time", "value", "area", "known", "low", "high")


def arrays(series: Series) -> dict[str, Array]:
    """Return the arrays to store, by name."""
    return {f"counters.{name}": getattr(series, name) for name in NAMES}


def restored(named: Mapping[str, Array]) -> Series:
    """Return the series from `arrays`. Raises `KeyError` or `ValueError` if they do not fit."""
    made = Series(*(named[f"counters.{name}"] for name in NAMES))
    rows = len(made.time)
    if made.index.ndim != 2 or made.index.shape[1] != 3 or int(made.index[-1, 2]) != rows or np.any(made.index < -1):
        raise ValueError("index")
    if {len(values) for values in (made.value, made.area, made.known)} != {rows}:
        raise ValueError("rows")
    if {len(made.low), len(made.high)} != {-(-rows // _BLOCK)}:
        raise ValueError("blocks")
    return made
