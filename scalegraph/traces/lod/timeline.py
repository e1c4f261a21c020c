"""The queries: what is visible of a trace, at any place and zoom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.traces.kinds import NO_TIME, Array, Columns
from scalegraph.traces.lod.bins import Window
from scalegraph.traces.lod.layers import layers_of
from scalegraph.traces.lod.looking import shares_of, summed
from scalegraph.traces.lod.merging import merged
from scalegraph.traces.lod.pyramid import Pyramid, build
from scalegraph.traces.lod.scratch import Scratch
from scalegraph.traces.lod.shapes import Bins, Lanes, Layer, Sample, Totals
from scalegraph.traces.lod.stored import load
from scalegraph.traces.model import Note, Trace

Progress = Callable[[float], None]
_PLACES = 300_000  # bins of all lanes together


class Timeline:
    """A trace at any level of detail. Times are ticks, locations the numbers of the trace's definitions."""

    def __init__(self, trace: Trace, pyramid: Pyramid) -> None:
        self.trace = trace
        self.begin, self.end = pyramid.shape.begin, pyramid.shape.end
        self.layers: Mapping[str, Layer] = layers_of(trace)
        self.notes: tuple[Note, ...] = tuple(pyramid.notes)
        self._pyramid = pyramid

    @classmethod
    def open(
        cls, trace: Trace, *, cancel: CancelToken | None = None, progress: Progress = lambda _share: None
    ) -> Timeline:
        """Return the timeline of *trace*, from the pyramid in its file, or else from one that is made now.

        Raises `Cancelled` if the user stopped it.
        """

        def step(share: float) -> None:
            if cancel is not None:
                cancel.check()
            progress(min(share, 1.0))

        kept, unusable = load(trace, step)
        if kept is not None:
            return cls(trace, kept)
        scratch = Scratch()
        try:
            made = build(trace, scratch, step)
            if unusable:
                made.notes.append(Note("pyramid in the file that is damaged or of another version: made again", 1))
            return cls(trace, made)
        finally:
            scratch.close()

    def all_locations(self, locations: Sequence[int] | Array | None) -> list[int]:
        """Return *locations* as a list; all for None."""
        count = len(self.trace.definitions.locations)
        return list(range(count)) if locations is None else [int(n) for n in locations if 0 <= int(n) < count]

    def _window(self, begin: float, end: float, width: int, lanes: int) -> Window:
        low = min(max(int(begin), self.begin), self.end - 1)
        width = min(width, max(_PLACES // max(lanes, 1), 32))
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
        chosen, numbers = self.layers[layer], self.all_locations(locations)
        window = self._window(begin, end, width, len(numbers))
        window, codes, shares, covered = shares_of(self._pyramid, chosen, window, numbers)
        if regions is not None and layer == "region":
            told = np.isin(np.arange(len(chosen.codes)), list(regions))
            codes = np.where(codes < 0, -1, np.where(told[codes], codes, len(chosen.codes) - 1)).astype(np.int32)
        members = tuple((number,) for number in numbers)
        lanes = Lanes(window.edges(), codes, shares, covered, members)
        return merged(lanes, rows, chosen) if rows is not None and 0 < rows < len(numbers) else lanes

    def totals(
        self, layer: str, begin: float, end: float, width: int, locations: Sequence[int] | Array | None = None
    ) -> Totals:
        """Return how many locations' worth of time went to each code of *layer*, in about *width* bins.

        Of a layer that is not whole the last code is what was not told apart.
        """
        chosen, numbers = self.layers[layer], self.all_locations(locations)
        if len(numbers) == self._pyramid.shape.locations and layer in self._pyramid.totals:
            window = self._window(begin, end, width, 1)
            level, sums = self._pyramid.totals[layer]
            if window.level >= level:
                return Totals(window.edges(), summed(sums, level, window))
        window = self._window(begin, end, width, len(numbers))
        window, codes, shares, covered = shares_of(self._pyramid, chosen, window, numbers)
        if chosen.whole:
            return Totals(window.edges(), shares.sum(axis=0).T)
        count = len(chosen.codes)
        there = codes >= 0
        place = np.broadcast_to(np.arange(window.count)[:, None], codes.shape)[there]
        found = np.bincount(place * count + codes[there], shares[there], window.count * count)
        values = found.astype(np.float64).reshape(window.count, count)
        values[:, -1] += np.maximum(covered.sum(axis=0) - shares.sum(axis=(0, 2)), 0)
        return Totals(window.edges(), values.T.astype(np.float32))

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
        edges = self._window(begin, end, width, 1).edges()
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
