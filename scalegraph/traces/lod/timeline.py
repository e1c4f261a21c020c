"""The queries: what is visible of a trace, at any place and zoom."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.bins import Window
from scalegraph.traces.lod.counters import ALL
from scalegraph.traces.lod.layers import layers_of
from scalegraph.traces.lod.merging import merged
from scalegraph.traces.lod.nearest_event import MOST, NearestEvents, Times, nearest_sorted, together
from scalegraph.traces.lod.pyramid import Pyramid, build, lasting
from scalegraph.traces.lod.query import shares_of, summed
from scalegraph.traces.lod.rows import SAMPLED, Sorted
from scalegraph.traces.lod.scratch import Scratch
from scalegraph.traces.lod.shapes import Bins, Lanes, Layer, Sample, Totals
from scalegraph.traces.lod.stored import load
from scalegraph.traces.model import Note, Trace

Progress = Callable[[float], None]
_HELD = 128 << 20  # bytes of an array of filtered rows kept in memory; larger ones go to a file
_TOTALS = 1 << 22  # numbers in the totals: with very many regions there are fewer bins
_PLACES = 300_000  # bins of all lanes together


class Timeline:
    """A trace at any level of detail. Times are ticks, locations the numbers of the trace's definitions."""

    def __init__(self, trace: Trace, pyramid: Pyramid) -> None:
        self.trace = trace
        self.begin, self.end = pyramid.shape.begin, pyramid.shape.end
        self.layers: Mapping[str, Layer] = layers_of(trace)
        self.notes: tuple[Note, ...] = tuple(pyramid.notes)
        self._pyramid = pyramid
        self._rest: Times | None = None  # of events that no stream holds, once requested

    @classmethod
    def open(
        cls, trace: Trace, *, cancel: CancelToken | None = None, progress: Progress = lambda _share: None
    ) -> Timeline:
        """Return the timeline of *trace*, from the pyramid in its file, or from a new one.

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

    def lasting(self, trace: Trace, least: int, *, progress: Progress = lambda _share: None) -> Timeline:
        """Return the timeline of *trace*, which is this one's trace limited to events of *least* ticks (1 or more).

        *progress* may raise to stop it.
        """
        scratch = Scratch(_HELD)
        try:
            return Timeline(trace, lasting(self._pyramid, trace, least, scratch, progress))
        finally:
            scratch.close()

    def all_locations(self, locations: Sequence[int] | Array | None) -> list[int]:
        """Return *locations* as a list; None means all."""
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

        With *rows*, neighbouring locations share lanes so that there are at most that many. In the layer of regions
        only *regions* are distinguished, the others become the layer's last code.
        """
        chosen, numbers = self.layers[layer], self.all_locations(locations)
        window = self._window(begin, end, width, len(numbers))
        window, codes, shares, covered = shares_of(self._pyramid, chosen, window, numbers)
        if regions is not None and layer == "region":
            reported = np.isin(np.arange(len(chosen.codes)), list(regions))
            codes = np.where(codes < 0, -1, np.where(reported[codes], codes, len(chosen.codes) - 1)).astype(np.int32)
        members = tuple((number,) for number in numbers)
        lanes = Lanes(window.edges(), codes, shares, covered, members)
        return merged(lanes, rows, chosen) if rows is not None and 0 < rows < len(numbers) else lanes

    def totals(
        self, layer: str, begin: float, end: float, width: int, locations: Sequence[int] | Array | None = None
    ) -> Totals:
        """Return how many locations' worth of time went to each code of *layer*, in about *width* bins.

        The last code of a layer that is not whole stands for the remaining ones.
        """
        chosen, numbers = self.layers[layer], self.all_locations(locations)
        width = min(width, max(_TOTALS // len(chosen.codes), 1))
        if len(numbers) == self._pyramid.shape.locations and layer in self._pyramid.totals:
            window = self._window(begin, end, width, 1)
            level, sums = self._pyramid.totals[layer]
            if window.level >= level:
                return _all_codes(window, chosen, summed(sums, level, window))
        window = self._window(begin, end, width, len(numbers))
        window, codes, shares, covered = shares_of(self._pyramid, chosen, window, numbers)
        if chosen.whole:
            return _all_codes(window, chosen, shares.sum(axis=0).T)
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
        """Return messages under way between *begin* and *end* with both ends in *locations*.

        Of more than *limit*, those that took longest, or are largest (*by* "size"). An unknown end is replaced by the
        other.
        """
        return self._sample("messages", begin, end, locations, limit, by)

    def _rows(self, kind: str, locations: Array) -> Sorted:
        """Return the rows of *kind* whose ends are all among *locations*."""
        rows = self._pyramid.rows[kind]
        return rows if len(locations) == self._pyramid.shape.locations else rows.of(kind, locations)

    def waits(
        self, begin: float, end: float, locations: Sequence[int] | Array | None = None, limit: int = 2000
    ) -> Sample:
        """Return waits of *locations* from *begin* to *end*; of more than *limit*, the longest."""
        return self._sample("waits", begin, end, locations, limit, "length")

    def _sample(
        self, kind: str, begin: float, end: float, locations: Sequence[int] | Array | None, limit: int, by: str
    ) -> Sample:
        found = self._rows(kind, np.unique(np.array(self.all_locations(locations), np.int64)))
        rows = found.sample(int(begin), int(end), limit, by)
        columns = {name: np.asarray(values[rows]) for name, values in found.columns.items()}
        return Sample(columns, found.total(int(begin), int(end)))

    def nearest(self, begin: int, end: int, locations: Sequence[int] | Array | None = None) -> NearestEvents:
        """Return whether *locations* have events from *begin* to *end*, and the nearest events before and after.

        Counter values do not count as events, unless the trace has nothing else.
        """
        return together(list(self._nearest(begin, end, locations)))

    def silence(self, begin: int, end: int, locations: Sequence[int] | Array | None = None) -> NearestEvents | None:
        """Return the nearest events if nothing happens from *begin* to *end*; otherwise None, at once."""
        found = []
        for one in self._nearest(begin, end, locations):
            if one.inside:
                return None
            found.append(one)
        return together(found)

    def _nearest(self, begin: int, end: int, locations: Sequence[int] | Array | None) -> Iterator[NearestEvents]:
        """Yield the nearest events of one kind after the other, sorted kinds first."""
        streams = {kind: stream for kind, stream in self._pyramid.streams.items() if kind != "shares"}
        numbers = np.unique(np.array(self.all_locations(locations), np.int64))
        for stream in streams.values():
            yield Times.of_stream(stream, self.begin).nearest(begin, end, numbers)
        for kind in (kind for kind in SAMPLED if self.trace.count(kind) > MOST):
            rows = self._rows(kind, numbers)
            yield from (nearest_sorted(times, begin, end) for times in (rows.start, rows.ends))
        if self._rest is None:
            self._rest = Times.of_rest(self.trace, streams)
        yield self._rest.nearest(begin, end, numbers)

    def counter(self, metric: int, location: int | None, begin: float, end: float, width: int) -> Bins:
        """Return *metric* of *location*, or its sum over all (None), in about *width* bins.

        A value of the modes sum and next is spread over the time since the previous value, as a rate per second.
        """
        edges = self._window(begin, end, width, 1).edges()
        series = self._pyramid.counters
        if series is None:
            raise ValueError("the pyramid has no counters")
        rows = series.rows(metric, ALL if location is None else location)
        rate = self.trace.definitions.metrics[metric].mode != "last"
        return Bins(edges, *series.binned(rows, edges), rate)


def _all_codes(window: Window, layer: Layer, values: Array) -> Totals:
    """Return *values* of a whole layer, extended by rows for codes that do not occur."""
    if not layer.whole:
        return Totals(window.edges(), values)
    full = np.zeros((len(layer.codes), window.count), np.float32)
    full[layer.present] = values
    return Totals(window.edges(), full)
