"""Shares of bins: from tiles where there are some, otherwise from the segments themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.clipping import added, cut, largest, ranges
from scalegraph.traces.lod.shapes import Layer
from scalegraph.traces.lod.streams import Stream


@dataclass(frozen=True)
class Window:
    """Bins *first* to *last* (exclusive) of 2**level ticks from tick *origin*; the run's last bin ends at *end*."""

    origin: int
    end: int
    level: int
    first: int
    last: int

    @property
    def count(self) -> int:
        """Number of bins."""
        return self.last - self.first

    def edges(self) -> Array:
        """Return the edges of the bins (ticks, i8)."""
        numbers: Array = np.arange(self.first, self.last + 1, dtype=np.int64)
        return np.asarray(np.minimum(self.origin + (numbers << self.level), self.end))

    def scales(self, bins: Array) -> Array | float:
        """Return the factor that turns ticks in each of *bins* into a share: one over the bin's length."""
        return scales(bins, self.origin, self.end, self.level)

    def between(self, first: int, last: int) -> Window:
        """Return the bins *first* to *last* (exclusive) of the same width."""
        return replace(self, first=first, last=last)

    @classmethod
    def over(cls, run: tuple[int, int], begin: int, end: int, width: int) -> Window:
        """Return about *width* bins that cover *begin* to *end*: 0.7 to 1.4 times as many."""
        wanted = max((end - begin) / max(width, 1), 1.0)
        level = max(round(float(np.log2(wanted))), 0)
        return cls.at(run, begin, end, level)

    @classmethod
    def at(cls, run: tuple[int, int], begin: int, end: int, level: int) -> Window:
        """Return the bins of *level* that cover *begin* to *end*."""
        first = (begin - run[0]) >> level
        return cls(*run, level, first, max(-((run[0] - end) >> level), first + 1))


def scales(bins: Array, origin: int, end: int, level: int) -> Array | float:
    """Return one over the length (ticks) of *bins* of 2**level ticks from *origin*; the last bin ends at *end*."""
    last = (end - 1 - origin) >> level
    rest = end - origin - (last << level)
    if rest == 1 << level or not len(bins) or int(bins.max()) < last:
        return 1.0 / (1 << level)
    return np.where(bins == last, 1.0 / rest, 1.0 / (1 << level))


@dataclass
class Raw:
    """Segments cut at bin edges: for each piece its bin (lane * bins + bin), code and share.

    *code* is the layer's number for what the segment shows; of a layer kept whole, its column.
    """

    place: Array
    code: Array
    share: Array


def stretches(window: Window, found: Array) -> Array:
    """Return lane, first bin and end bin (exclusive) of all stretches in *window* without tiles.

    *found* [lanes, tiles]: -1 where there is none. Neighbours form one stretch.
    """
    lane, tile = np.nonzero(found < 0)
    first = ((window.first >> 8) + tile) << 8
    where = np.stack([lane, np.maximum(first, window.first), np.minimum(first + 256, window.last)], axis=1)
    if not len(where):
        return where
    new = np.r_[True, (where[1:, 0] != where[:-1, 0]) | (where[1:, 1] != where[:-1, 2])]
    ends = np.flatnonzero(np.r_[new[1:], True])
    return np.stack([*where[new, :2].T, where[ends, 2]], axis=1)


@dataclass
class Rows:
    """Rows of a stream that touch stretches of bins, from *starts* to *stops* for each of *where*."""

    where: Array
    starts: Array
    stops: Array

    @property
    def count(self) -> int:
        """Number of rows."""
        return int((self.stops - self.starts).sum())


def rows_of(stream: Stream, window: Window, locations: Sequence[int], where: Array) -> Rows:
    """Return the rows to read in the stretches *where*, which are ordered by lane."""
    low = window.origin + (where[:, 1] << window.level)
    high = window.origin + (where[:, 2] << window.level)
    starts, stops = stream.touching(np.array(locations, np.int64)[where[:, 0]], low, high)
    return Rows(where, starts, stops)


def raw(stream: Stream, layer: Layer, window: Window, some: Rows) -> Raw:
    """Return the pieces of the segments *some*, in their order."""
    where = some.where
    low = window.origin + (where[:, 1] << window.level)
    high = window.origin + (where[:, 2] << window.level)
    rows, which = ranges(some.starts, some.stops)
    begin = np.maximum(stream.begin[rows], low[which])
    ends = stream.ends(rows)
    end = np.minimum(ends, high[which])
    code = (layer.columns if layer.whole else layer.table)[stream.code[rows]]
    keep = (code >= 0) & (end > begin)
    if not keep.all():
        rows, which, begin, ends, end, code = (values[keep] for values in (rows, which, begin, ends, end, code))
    piece, bins, ticks = cut(begin, end, window.origin, window.level)
    if stream.ticks is not None:
        density = stream.ticks[rows] / np.maximum(ends - stream.begin[rows], 1)
        ticks = ticks * density[piece]
    base = where[which, 0] * window.count - window.first
    place = base[piece] + bins
    return Raw(place, code[piece], ticks * window.scales(bins))


def dense(pieces: Raw, places: int, codes: int) -> Array:
    """Return the share of each of *codes* in each of *places* (f8, [places, codes])."""
    return np.bincount(pieces.place * codes + pieces.code, pieces.share, places * codes).reshape(places, codes)


def ranked(pieces: Raw, places: int, codes: int, most: int) -> tuple[Array, Array, Array]:
    """Return the *most* codes with the largest shares in each of *places*, these shares, and the total coverage."""
    place, code, share = pieces.place, pieces.code, pieces.share
    covered = np.bincount(place, share, places).astype(np.float32)
    # with few segments most bins have a single piece: nothing to add or sort
    lone = np.bincount(place, minlength=places)[place] == 1
    rest = np.flatnonzero(~lone)
    kept, shares = largest(*added(place[rest], code[rest], share[rest], codes), places, most)
    alone = np.flatnonzero(lone)
    kept[place[alone], 0] = code[alone]
    shares[place[alone], 0] = share[alone]
    return kept, shares, covered
