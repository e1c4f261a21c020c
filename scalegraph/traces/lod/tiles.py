"""The pyramid: tiles of 256 bins with their shares, wherever there are too many segments for a query to read.

A tile of level l covers 256 bins of 2**l ticks; tile i of a level begins at bin 256 i from the begin of the run. There
is one wherever more than `Shape.least` segments of a location begin in that time, so the depth adapts to bursts, and
stretches without events cost nothing. Shares are bytes, in units of 1/255; those of a bin are rounded so that their sum
is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.bins import scales
from scalegraph.traces.lod.clipping import added, cut, largest
from scalegraph.traces.lod.scratch import Growing, Scratch, forget
from scalegraph.traces.lod.shapes import Layer
from scalegraph.traces.lod.streams import PIECE, Step, Stream, code_type

BINS = 256  # of a tile
_BITS = 8
WORTH = 1 << 16  # events: below this, queries read the events themselves and the file holds no pyramid
LEAST, LANES = 256, 1024  # segments per tile; with more locations than this, fewer
Triples = tuple[Array, Array, Array]  # bin, code, ticks


@dataclass(frozen=True)
class Shape:
    """How a run is tiled: its *begin* and *end* (ticks), the *top* level, whose one tile covers it all."""

    begin: int
    end: int
    locations: int
    least: int = LEAST

    @property
    def top(self) -> int:
        """The level at which one tile covers the run."""
        return max((self.end - self.begin - 1).bit_length() - _BITS, 0)

    @property
    def bottom(self) -> int:
        """The lowest level for which location and tile fit in one number."""
        return max(self.top + self.locations.bit_length() - 62, 0)

    @classmethod
    def of(cls, begin: int, end: int, locations: int, events: int) -> Shape:
        """Return the shape for a run; the more locations, the fewer segments may be outside tiles.

        A trace with few events has no tiles: all its queries are exact.
        """
        least = min(max(LEAST * LANES // max(locations, 1), 64), LEAST) if events >= WORTH else events
        return cls(begin, end, locations, least)

    def keys(self, level: int, location: Array | int, tile: Array) -> Array:
        """Return the keys by which tiles of a level are found."""
        return np.asarray((np.asarray(location, np.int64) << (self.top - level)) | tile)


@dataclass
class Tiles:
    """The tiles of one stream: *key*, sorted, those of level l from ``start[l]``; *at*: the positions of the tiles.

    *shares* by layer: [tiles, 256, codes kept], *codes* likewise, shifted by one (0: none), *covered* [tiles, 256];
    layers that keep all codes have only shares.
    """

    start: Array
    key: Array
    at: Array
    shares: dict[str, Array]
    codes: dict[str, Array]
    covered: dict[str, Array]

    def find(self, shape: Shape, level: int, locations: Sequence[int], tiles: Array) -> Array:
        """Return the position of each of *tiles* at *level* for *locations* (-1: none), [locations, tiles]."""
        if level + 1 >= len(self.start):
            return np.full((len(locations), len(tiles)), -1, np.int64)
        low, high = int(self.start[level]), int(self.start[level + 1])
        keys = self.key[low:high]
        wanted = shape.keys(level, np.array(locations, np.int64)[:, None], tiles[None, :])
        if not len(keys):
            return np.full(wanted.shape, -1, np.int64)
        found = np.minimum(np.searchsorted(keys, wanted.ravel()).reshape(wanted.shape), len(keys) - 1)
        return np.where(keys[found] == wanted, self.at[low:high][found], -1).astype(np.int64)


@dataclass
class _Made:
    """Arrays to which tiles are appended."""

    scratch: Scratch
    layers: Sequence[Layer]
    level: list[Array] = field(default_factory=list)
    key: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shares, self.codes, self.covered = {}, {}, {}
        for layer in self.layers:
            self.shares[layer.name] = Growing(self.scratch, np.uint8, (BINS, layer.kept))
            if not layer.whole:
                self.codes[layer.name] = Growing(self.scratch, code_type(len(layer.codes)), (BINS, layer.kept))
                self.covered[layer.name] = Growing(self.scratch, np.uint8, (BINS,))

    def add(self, level: int, keys: Array, shared: Triples) -> None:
        """Add the tiles *keys* of *level*; *shared*: place (256 to a tile), code in the stream, share of the bin."""
        self.level.append(np.full(len(keys), level, np.uint8))
        self.key.append(keys)
        places = len(keys) * BINS
        for layer in self.layers:
            place, code, share = shared
            code = (layer.columns if layer.whole else layer.table)[code]
            if not layer.whole or int(layer.table.min()) < 0:
                there = code >= 0
                place, code, share = place[there], code[there], share[there]
            if layer.whole:
                count = layer.kept
                sums = np.bincount(place * count + code, share, places * count).reshape(places, count)
                self.shares[layer.name].append(rounded(sums).reshape(-1, BINS, count))
                continue
            codes, sums = largest(place, code, share, places, layer.kept)
            bytes_ = rounded(sums)
            self.shares[layer.name].append(bytes_.reshape(-1, BINS, layer.kept))
            self.codes[layer.name].append(np.where(bytes_ > 0, codes + 1, 0).reshape(-1, BINS, layer.kept))
            covered = np.minimum(np.rint(np.bincount(place, share, places) * 255), 255)
            self.covered[layer.name].append(covered.astype(np.uint8).reshape(-1, BINS))

    def finish(self, top: int) -> Tiles:
        """Return the tiles, ordered by level and key."""
        level = np.concatenate([np.empty(0, np.uint8), *self.level])
        key = np.concatenate([np.empty(0, np.int64), *self.key])
        order = np.lexsort((key, level))
        start = np.searchsorted(level[order], np.arange(top + 2))
        done = [{n: g.whole() for n, g in some.items()} for some in (self.shares, self.codes, self.covered)]
        return Tiles(np.asarray(start, np.int64), key[order], order.astype(np.int64), *done)


def rounded(shares: Array) -> Array:
    """Return *shares* [.., codes] as bytes in units of 1/255; partial sums are never off by more than half a unit."""
    sums = np.rint(np.minimum(np.cumsum(shares, axis=-1), 1.0) * 255).astype(np.int16)
    return np.asarray(np.diff(sums, axis=-1, prepend=np.int16(0)).astype(np.uint8))


class Maker:
    """Makes the tiles of one stream."""

    def __init__(self, stream: Stream, layers: Sequence[Layer], shape: Shape, scratch: Scratch, step: Step) -> None:
        self._stream, self._shape, self._step = stream, shape, step
        self._codes = max(len(layer.table) for layer in layers)
        self._made = _Made(scratch, layers)
        self._rows = max(len(stream.begin), 1)

    def make(self) -> Tiles:
        """Make the tiles, location by location. Raises whatever the step raises to stop."""
        for location in range(self._shape.locations):
            low, high = self._stream.bounds(location)
            if high - low > self._shape.least:
                self._node(location, self._shape.top, 0, low, high)
        return self._made.finish(self._shape.top)

    def _node(self, location: int, level: int, index: int, low: int, high: int) -> Triples:
        """Make tile *index* of *level* and all below it, from rows *low* to *high*; return sums of its bins."""
        if high - low <= PIECE or level <= self._shape.bottom:
            self._step(low / self._rows)
            done = self._together(location, level, index, low, high)
            forget(self._stream.begin, self._stream.code, self._stream.end, self._stream.ticks)
            return done
        middle = self._shape.begin + ((2 * index + 1) << (level - 1 + _BITS))
        half = low + int(np.searchsorted(self._stream.begin[low:high], middle))
        left = self._node(location, level - 1, 2 * index, low, half)
        right = self._node(location, level - 1, 2 * index + 1, half, high)
        sums = self._added([(left[0] >> 1, *left[1:]), ((right[0] >> 1) + BINS // 2, *right[1:])])
        self._emit(location, level, np.array([index], np.int64), sums)
        return sums

    def _together(self, location: int, level: int, index: int, low: int, high: int) -> Triples:
        """Do the same as `_node` for rows that fit in memory, all tiles of a level at once."""
        shape, stream = self._shape, self._stream
        first = shape.begin + (index << (level + _BITS))
        last = min(first + (BINS << level), shape.end)
        start, stop = (int(n[0]) for n in stream.touching(np.array([location]), np.array([first]), np.array([last])))
        rows = np.arange(start, stop)
        begin, end = stream.begin[start:stop], stream.ends(rows)
        weight = None if stream.ticks is None else stream.ticks[start:stop] / np.maximum(end - begin, 1)
        begin, end, code = np.maximum(begin, first), np.minimum(end, last), stream.code[start:stop]
        chosen = self._chosen(level, index, stream.begin[low:high])
        begin, end, code, weight, own = _split(begin, end, code, weight, chosen, level, shape.begin)
        order = np.argsort(own, kind="stable")
        bounds = np.searchsorted(own[order], np.arange(level + 2))
        sums: Triples | None = None
        for now in range(min(chosen, default=level), level + 1):
            mine = order[bounds[now] : bounds[now + 1]]
            piece, bins, ticks = cut(begin[mine], end[mine], shape.begin, now)
            if weight is not None:
                ticks = ticks * weight[mine][piece]
            tiles = chosen.get(now, np.array([index], np.int64))
            place = (np.searchsorted(tiles, bins >> _BITS) << _BITS) + (bins & (BINS - 1))
            parts = [(place, code[mine][piece], ticks)]
            if sums is not None:
                parts.append((_up(sums[0], chosen[now - 1], tiles), *sums[1:]))
            sums = self._added(parts)
            if now in chosen:
                self._emit(location, now, tiles, sums)
        if sums is None:
            raise AssertionError("a level is always looked at")
        return sums

    def _added(self, parts: list[Triples]) -> Triples:
        place, code, ticks = (np.concatenate(some) for some in zip(*parts, strict=True))
        return added(place, code, ticks, self._codes)

    def _chosen(self, level: int, index: int, begins: Array) -> dict[int, Array]:
        """Return the tiles to make by level, from tile *index* of *level* downwards."""
        chosen: dict[int, Array] = {}
        tiles = np.array([index], np.int64)
        while len(tiles) and level >= self._shape.bottom:
            edges = self._shape.begin + (np.stack([tiles, tiles + 1]) << (level + _BITS))
            counts = np.searchsorted(begins, edges[1]) - np.searchsorted(begins, edges[0])
            tiles = tiles[counts > self._shape.least]
            if len(tiles):
                chosen[level] = tiles
            tiles = (tiles[:, None] * 2 + np.arange(2)).ravel()
            level -= 1
        return chosen

    def _emit(self, location: int, level: int, tiles: Array, sums: Triples) -> None:
        place, code, ticks = sums
        bins = (tiles[place >> _BITS] << _BITS) + (place & (BINS - 1))
        share = ticks * scales(bins, self._shape.begin, self._shape.end, level)
        self._made.add(level, self._shape.keys(level, location, tiles), (place, code, share))


def _up(place: Array, tiles: Array, above: Array) -> Array:
    """Map places in *tiles* to places in the tiles *above*, one level up."""
    parent = (np.searchsorted(above, tiles >> 1) << _BITS) + (tiles & 1) * (BINS // 2)
    return np.asarray(parent[place >> _BITS] + ((place & (BINS - 1)) >> 1))


def _split(
    begin: Array, end: Array, code: Array, weight: Array | None, chosen: dict[int, Array], level: int, origin: int
) -> tuple[Array, Array, Array, Array | None, Array]:
    """Cut segments where the level at which they are read changes; return that level, too.

    A segment is read at the deepest tile that it begins in. Both *begin* and *end* are non-decreasing.
    """
    keep = end > begin
    if not keep.all():
        begin, end, code = begin[keep], end[keep], code[keep]
        weight = None if weight is None else weight[keep]
    if not chosen:
        return begin, end, code, weight, np.full(len(begin), level, np.uint8)
    halves = [((t[:, None] << 1) + np.arange(3)).ravel() << (now + _BITS - 1) for now, t in chosen.items()]
    points = np.unique(np.concatenate(halves)) + origin
    before = _until(np.searchsorted(begin, points), len(begin))  # points up to each begin
    after = _until(np.searchsorted(end, points, "right"), len(end))  # points before each end
    extra = np.maximum(after - before, 0)
    if extra.any():
        whole = np.repeat(np.arange(len(begin)), extra + 1)
        at = np.arange(len(whole)) - np.repeat(np.cumsum(extra + 1) - (extra + 1), extra + 1)
        cuts = points[np.clip(before[whole] + at - 1, 0, len(points) - 1)]
        nexts = points[np.clip(before[whole] + at, 0, len(points) - 1)]
        begin = np.where(at > 0, cuts, begin[whole])
        end = np.where(at < extra[whole], nexts, end[whole])
        code = code[whole]
        weight = None if weight is None else weight[whole]
        # pieces of segments that share a stretch are not sorted by begin
        order = np.argsort(begin, kind="stable")
        begin, end, code = begin[order], end[order], code[order]
        weight = None if weight is None else weight[order]
    depth = np.zeros(len(begin) + 1, np.int64)
    for now, tiles in chosen.items():
        np.add.at(depth, np.searchsorted(begin, origin + (tiles << (now + _BITS))), 1)
        np.add.at(depth, np.searchsorted(begin, origin + ((tiles + 1) << (now + _BITS))), -1)
    own = level + 1 - np.cumsum(depth[:-1])
    return begin, end, code, weight, np.minimum(own, level).astype(np.uint8)


def _until(rows: Array, count: int) -> Array:
    """Return for each of *count* positions how many of *rows* are at or before it."""
    return np.cumsum(np.bincount(rows, minlength=count + 1))[:count]
