"""The queries: what is visible of a trace, at any place and zoom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.traces.kinds import NO_TIME, Array, Columns
from scalegraph.traces.lod import bins, streams
from scalegraph.traces.lod.bins import Window
from scalegraph.traces.lod.layers import layers_of, sources
from scalegraph.traces.lod.merging import merged
from scalegraph.traces.lod.scratch import Scratch
from scalegraph.traces.lod.shapes import Bins, Lanes, Layer, Sample, Totals
from scalegraph.traces.model import Note, Trace

Progress = Callable[[float], None]
_MAKERS = {"calls": streams.of_calls, "states": streams.of_states, "shares": streams.of_shares}


class Timeline:
    """A trace at any level of detail. Times are ticks, locations the numbers of the trace's definitions."""

    def __init__(self, trace: Trace, made: Mapping[str, streams.Stream], notes: Sequence[Note]) -> None:
        self.trace = trace
        self.begin, self.end = trace.meta.begin, max(trace.meta.end, trace.meta.begin + 1)
        self.layers: Mapping[str, Layer] = layers_of(trace)
        self.notes = tuple(notes)
        self._streams = made

    @classmethod
    def open(
        cls, trace: Trace, *, cancel: CancelToken | None = None, progress: Progress = lambda _share: None
    ) -> Timeline:
        """Return the timeline of *trace*. Raises `Cancelled` if the user stopped it."""

        def step(share: float) -> None:
            if cancel is not None:
                cancel.check()
            progress(min(share, 1.0))

        notes: Counter[str] = Counter()
        scratch = Scratch()
        try:
            made = {source: _MAKERS[source](trace, scratch, notes, step) for source in sources(trace)}
        finally:
            scratch.close()
        return cls(trace, made, [Note(what, count) for what, count in sorted(notes.items()) if count])

    def all_locations(self, locations: Sequence[int] | Array | None) -> list[int]:
        """Return *locations* as a list; all for None."""
        count = len(self.trace.definitions.locations)
        return list(range(count)) if locations is None else [int(n) for n in locations if 0 <= int(n) < count]

    def _window(self, begin: float, end: float, width: int) -> Window:
        low = min(max(int(begin), self.begin), self.end - 1)
        return Window.over((self.begin, self.end), low, max(min(int(end), self.end), low + 1), width)

    def lanes(
        self,
        layer: str,
        begin: float,
        end: float,
        width: int,
        locations: Sequence[int] | Array | None = None,
        *,
        rows: int | None = None,
        regions: set[int] | frozenset[int] | None = None,
    ) -> Lanes:
        """Return where the time of *locations* went from *begin* to *end* (ticks), in about *width* bins.

        With *rows* neighbouring locations share a lane until there are no more lanes than that. Of the layer of regions
        only *regions* are told apart, the others become the layer's last code.
        """
        chosen, shape = self.layers[layer], self._window(begin, end, width)
        numbers = self.all_locations(locations)
        lanes = len(numbers)
        places = lanes * shape.count
        found = self._pieces(chosen, shape, numbers)
        if chosen.whole:
            shares = bins.dense(found, places, len(chosen.codes)).astype(np.float32)
            codes = np.broadcast_to(np.arange(len(chosen.codes), dtype=np.int32), shares.shape)
            covered = shares.sum(axis=1)
        else:
            codes, shares, covered = bins.ranked(found, places, len(chosen.codes), chosen.kept)
        grid = (lanes, shape.count, -1)
        codes, shares, covered = codes.reshape(grid), shares.reshape(grid), covered.reshape(grid[:2])
        if regions is not None and layer == "region":
            told = np.isin(np.arange(len(chosen.codes)), list(regions))
            codes = np.where(codes < 0, -1, np.where(told[codes], codes, len(chosen.codes) - 1)).astype(np.int32)
        members = tuple((number,) for number in numbers)
        if rows is not None and 0 < rows < lanes:
            return merged(Lanes(shape.edges(), codes, shares, covered, members), rows, chosen)
        return Lanes(shape.edges(), codes, shares, covered, members)

    def _pieces(self, layer: Layer, shape: Window, numbers: Sequence[int]) -> bins.Raw:
        stream = self._streams.get(layer.source)
        if stream is None:
            return bins.Raw(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
        return bins.raw(stream, layer, shape, numbers)

    def totals(
        self, layer: str, begin: float, end: float, width: int, locations: Sequence[int] | Array | None = None
    ) -> Totals:
        """Return how many locations' worth of time went to each code of *layer*, in about *width* bins."""
        chosen, shape = self.layers[layer], self._window(begin, end, width)
        numbers = self.all_locations(locations)
        found = self._pieces(chosen, shape, numbers)
        found.place %= shape.count
        return Totals(shape.edges(), bins.dense(found, shape.count, len(chosen.codes)).T.astype(np.float32))

    def messages(
        self,
        begin: float,
        end: float,
        locations: Sequence[int] | Array | None = None,
        limit: int = 2000,
        *,
        by: str = "length",
    ) -> Sample:
        """Return messages on their way from *begin* to *end* whose both ends are in *locations*.

        Of more than *limit* those that took longest, or are largest (*by* "size"). An end that is not known is that of
        the other.
        """
        return self._sample("messages", begin, end, locations, limit, by)

    def waits(
        self, begin: float, end: float, locations: Sequence[int] | Array | None = None, limit: int = 2000
    ) -> Sample:
        """Return waits of *locations* from *begin* to *end*; of more than *limit* the longest."""
        return self._sample("waits", begin, end, locations, limit, "length")

    def _sample(
        self, kind: str, begin: float, end: float, locations: Sequence[int] | Array | None, limit: int, by: str
    ) -> Sample:
        columns = self.trace.columns(kind, begin=int(begin), end=int(end))
        start, stop = _span(kind, columns)
        if locations is not None:
            names = ("sender", "receiver") if kind == "messages" else ("location",)
            inside = np.logical_and.reduce([np.isin(columns[name], self.all_locations(locations)) for name in names])
            columns = {name: values[inside] for name, values in columns.items()}
            start, stop = start[inside], stop[inside]
        total = len(start)
        rank = columns["size"] if by == "size" else stop - start
        chosen = np.argpartition(-rank, limit)[:limit] if total > limit else np.arange(total)
        chosen = chosen[np.argsort(start[chosen], kind="stable")]
        return Sample({name: values[chosen] for name, values in columns.items()}, total)

    def counter(self, metric: int, location: int | None, begin: float, end: float, width: int) -> Bins:
        """Return *metric* of *location*, or the sum of it over all (None), in about *width* bins.

        A value of the modes sum and next is spread over the time since the value before, so it is a rate per second.
        """
        shape = self._window(begin, end, width)
        edges = shape.edges()
        mode = self.trace.definitions.metrics[metric].mode
        columns = self.trace.columns("counters")
        mine = columns["metric"] == metric
        series = []
        for who in np.unique(columns["location"][mine]).tolist() if location is None else [location]:
            one = mine & (columns["location"] == who)
            series.append(_steps(columns["time"][one], columns["value"][one], mode, self))
        low, high, mean = _binned(_summed(series), edges)
        return Bins(edges, low, high, mean, mode != "last")


def _span(kind: str, columns: Columns) -> tuple[Array, Array]:
    first, last = ("sent", "received") if kind == "messages" else ("begin", "end")
    start, stop = columns[first], columns[last]
    start = np.where(start == NO_TIME, stop, start)
    return start, np.maximum(np.where(stop == NO_TIME, start, stop), start)


def _steps(time: Array, value: Array, mode: str, line: Timeline) -> tuple[Array, Array]:
    """Return times from which values hold, and the values: NaN where there is none."""
    time = np.maximum.accumulate(np.clip(time, line.begin, line.end))
    if mode == "last":
        keep = np.r_[time[1:] > time[:-1], True][: len(time)]
        return np.r_[time[keep], line.end], np.r_[value[keep], np.nan]
    if mode == "sum":
        value = np.diff(value, prepend=0.0)
    ends, first = np.unique(time, return_index=True)
    value = np.add.reduceat(value, first) if len(first) else value
    begins = np.r_[line.begin, ends[:-1]]
    keep = ends > begins
    rate = value[keep] / (ends[keep] - begins[keep]) * line.trace.meta.ticks_per_second
    return np.r_[begins[keep], ends[-1:]], np.r_[rate, np.full(min(len(ends), 1), np.nan)]


def _summed(series: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    if len(series) == 1:
        return series[0]
    times = np.unique(np.concatenate([time for time, _ in series])) if series else np.empty(0, np.int64)
    total, known = np.zeros(len(times)), np.zeros(len(times), bool)
    for time, value in series:
        at = np.searchsorted(time, times, "right") - 1
        now = np.where(at >= 0, value[np.maximum(at, 0)], np.nan)
        total += np.nan_to_num(now)
        known |= ~np.isnan(now)
    return times, np.where(known, total, np.nan)


def _binned(series: tuple[Array, Array], edges: Array) -> tuple[Array, Array, Array]:
    time, value = series
    count = len(edges) - 1
    low, high, mean = (np.full(count, np.nan) for _ in range(3))
    for at in range(count):
        first = max(int(np.searchsorted(time, edges[at], "right")) - 1, 0)
        last = int(np.searchsorted(time, edges[at + 1]))
        begin = np.maximum(time[first:last], edges[at])
        end = np.minimum(np.r_[time[first + 1 : last], edges[at + 1]], edges[at + 1])[: len(begin)]
        good = (end > begin) & ~np.isnan(value[first:last])
        if good.any():
            inside = value[first:last][good]
            low[at], high[at] = inside.min(), inside.max()
            mean[at] = np.average(inside, weights=(end - begin)[good])
    return low, high, mean
