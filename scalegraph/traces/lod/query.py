"""Queries of bins: from tiles where there are some, otherwise from the segments themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalegraph.traces.kinds import Array
from scalegraph.traces.lod.bin_cache import covered_by, seen
from scalegraph.traces.lod.bins import Window, rows_of, stretches
from scalegraph.traces.lod.pyramid import Pyramid
from scalegraph.traces.lod.shapes import Layer
from scalegraph.traces.lod.tiles import Tiles

_ROWS = 600_000  # segments that a query reads before it switches to wider bins
_SHARE = np.float32(1 / 255)


def shares_of(
    pyramid: Pyramid, layer: Layer, window: Window, locations: Sequence[int]
) -> tuple[Window, Array, Array, Array]:
    """Return codes, shares [locations, bins, kept] and coverage [locations, bins].

    If too many segments are outside the tiles, bins are wider than requested; the returned window has their width.
    """
    stream = pyramid.streams.get(layer.source)
    if stream is None or not len(locations):
        return window, *_nothing(layer, len(locations), window.count)
    if layer.source not in pyramid.tiles:
        return window, *pyramid.cached.seen(stream, layer, window, locations)
    tiles = pyramid.tiles[layer.source]
    while True:
        numbers = np.arange(window.first >> 8, ((window.last - 1) >> 8) + 1)
        found = tiles.find(pyramid.shape, window.level, locations, numbers)
        some = rows_of(stream, window, locations, stretches(window, found))
        top = pyramid.shape.top
        if some.count <= _ROWS or window.level == top:
            break
        # above the top there are no tiles; below it, wider bins have more tiles
        low, high = window.edges()[[0, -1]].tolist()
        window = Window.at((window.origin, window.end), low, high, min(window.level + 1, top))
    parts: list[tuple[Array, Array, Array]] = []
    if (found >= 0).any():
        parts.append(_tiled(tiles, layer, window, found))
    if some.count or not parts:
        parts.append(seen(stream, layer, window, some, len(locations)))
    if len(parts) == 1:
        return window, *parts[0]
    (codes, shares, covered), (more, further, beyond) = parts
    # bins with a tile have no pieces, so one of the two is empty
    codes = codes if layer.whole else np.maximum(codes, more)
    return window, codes, shares + further, covered + beyond


def _order(layer: Layer, shares: Array) -> Array:
    return np.broadcast_to(layer.present, shares.shape)


def _nothing(layer: Layer, lanes: int, bins: int) -> tuple[Array, Array, Array]:
    shares = np.zeros((lanes, bins, layer.kept), np.float32)
    codes = _order(layer, shares) if layer.whole else np.full(shares.shape, -1, np.int32)
    return codes, shares, np.zeros((lanes, bins), np.float32)


def _tiled(tiles: Tiles, layer: Layer, window: Window, found: Array) -> tuple[Array, Array, Array]:
    """Return codes, shares and coverage, empty where there is no tile."""
    skip = window.first & 255

    def gathered(stored: Array) -> Array:
        there = found >= 0
        if there.all():
            whole = stored[found.ravel()]
        else:
            whole = np.zeros((found.size, *stored.shape[1:]), stored.dtype)
            whole[there.ravel()] = stored[found[there]]
        bins = whole.reshape(found.shape[0], found.shape[1] * 256, *stored.shape[2:])
        return bins[:, skip : skip + window.count]

    shares = gathered(tiles.shares[layer.name]) * _SHARE
    if layer.whole:
        return _order(layer, shares), shares, covered_by(shares)
    codes = gathered(tiles.codes[layer.name]).astype(np.int32) - 1
    return codes, shares, gathered(tiles.covered[layer.name]) * _SHARE


def summed(totals: Array, level: int, window: Window) -> Array:
    """Return the values [codes, bins] of *window* from *totals*, whose bins have *level*, at most the window's."""
    step = window.level - level
    first, last = window.first << step, min(window.last << step, len(totals))
    starts = np.arange(0, last - first, 1 << step)
    sums = totals[first:last]
    if step:
        sums = np.add.reduceat(sums, starts, axis=0, dtype=np.float32)
    numbers = np.arange(window.first, window.last)
    return np.asarray((sums * np.asarray(window.scales(numbers), np.float32).reshape(-1, 1)).T, np.float32)
