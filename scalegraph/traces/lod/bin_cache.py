"""Bins of a filtered trace, computed on demand from the segments in view, and cached.

Tiles (`traces.lod.tiles`) need the whole trace before anything can be shown; bins do not, and the first picture costs
as much as one level of tiles. They are cached in blocks of 256 where there are many segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.bins import Rows, Window, dense, ranked, raw, rows_of
from scalegraph.traces.lod.shapes import Layer
from scalegraph.traces.lod.streams import Stream

BLOCK = 256  # bins
FEW = 1 << 17  # with fewer segments, a query reads them every time
_TOGETHER = 1 << 18  # segments processed at a time
_BYTES = 128 << 20  # of cached blocks


class Seen(NamedTuple):
    """Codes (-1: none) and shares [locations, bins, kept] and coverage [locations, bins]."""

    codes: Array
    shares: Array
    covered: Array


def seen(stream: Stream, layer: Layer, window: Window, some: Rows, lanes: int) -> Seen:
    """Return the content of the bins of *window*: from *some* segments of *lanes* locations, empty elsewhere."""
    grid = (lanes, window.count)
    places = lanes * window.count
    pieces = raw(stream, layer, window, some)
    if layer.whole:
        shares = dense(pieces, places, layer.kept).astype(np.float32).reshape(*grid, -1)
        return Seen(np.broadcast_to(layer.present, shares.shape), shares, covered_by(shares))
    codes, shares, covered = ranked(pieces, places, len(layer.codes), layer.kept)
    return Seen(codes.reshape(*grid, -1), shares.reshape(*grid, -1), covered.reshape(grid))


def covered_by(shares: Array) -> Array:
    """Return the sum over the last axis; much faster than `sum` where this axis is short."""
    return np.asarray(shares @ np.ones(shares.shape[-1], np.float32))


class CachedBins:
    """Cached blocks of bins, usable from any thread."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, int, int, bytes], Seen] = {}
        self._lock = Lock()  # of the cache; bins are computed in parallel

    def seen(self, stream: Stream, layer: Layer, window: Window, locations: Sequence[int]) -> Seen:
        """Return the content of the bins of *window*, for any number of segments. Raises `Cancelled`."""
        where = np.array(locations, np.int64)
        if _rows(stream, window, where).count <= FEW:
            return _made(stream, layer, window, where)
        blocks = range(window.first // BLOCK, (window.last - 1) // BLOCK + 1)
        last = (window.end - 1 - window.origin >> window.level) + 1  # of the run
        who = where.tobytes()
        found = []
        for block in blocks:
            key = (layer.name, window.level, block, who)
            with self._lock:
                one = self._kept.get(key)
            if one is None:
                first = block * BLOCK
                one = _made(stream, layer, window.between(first, min(first + BLOCK, last)), where)
            self._keep(key, one)
            found.append(one)
        skip = slice(window.first % BLOCK, window.first % BLOCK + window.count)
        return Seen(*(np.concatenate(parts, axis=1)[:, skip] for parts in zip(*found, strict=True)))

    def _keep(self, key: tuple[str, int, int, bytes], one: Seen) -> None:
        """Cache *one*, evicting the least recently used entries to make room."""
        with self._lock:
            self._kept.pop(key, None)
            self._kept[key] = one
            held = sum(array.nbytes for each in self._kept.values() for array in each)
            for old in list(self._kept):
                if held <= _BYTES:
                    break
                held -= sum(array.nbytes for array in self._kept.pop(old))


def _rows(stream: Stream, window: Window, locations: Array) -> Rows:
    lanes = np.arange(len(locations))
    whole = np.stack([lanes, np.full(len(lanes), window.first), np.full(len(lanes), window.last)], axis=1)
    return rows_of(stream, window, locations.tolist(), whole)


def _made(stream: Stream, layer: Layer, window: Window, locations: Array) -> Seen:
    """Return the content of *window*; split in halves if there are many segments, to limit memory."""
    checkpoint()
    some = _rows(stream, window, locations)
    count = len(locations)
    if some.count <= _TOGETHER or (count == 1 and window.count == 1):
        return seen(stream, layer, window, some, count)
    if count > 1:
        axis = 0
        halves = [_made(stream, layer, window, half) for half in (locations[: count // 2], locations[count // 2 :])]
    else:
        axis, middle = 1, (window.first + window.last) // 2
        spans = ((window.first, middle), (middle, window.last))
        halves = [_made(stream, layer, window.between(*span), locations) for span in spans]
    return Seen(*(np.concatenate(parts, axis=axis) for parts in zip(*halves, strict=True)))
