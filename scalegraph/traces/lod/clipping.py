"""Cuts segments at bin edges, and sums within bins."""

from __future__ import annotations

import numpy as np

from scalegraph.traces.kinds import Array


def ranges(starts: Array, stops: Array) -> tuple[Array, Array]:
    """Return the numbers of all ranges (start to stop, exclusive), concatenated, and the range of each."""
    lengths = stops - starts
    which = np.repeat(np.arange(len(starts)), lengths)
    total = int(lengths.sum())
    return np.arange(total) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths), which


def cut(begin: Array, end: Array, origin: int, level: int) -> tuple[Array, Array, Array]:
    """Cut intervals (ticks, begin < end) at the edges of bins of 2**level ticks from *origin*.

    Returns for each piece the number of its interval, its bin, and its ticks (f8).
    """
    first = (begin - origin) >> level
    last = (end - 1 - origin) >> level
    spans = last - first + 1
    if not len(spans) or int(spans.max()) == 1:
        return np.arange(len(begin)), first, (end - begin).astype(np.float64)
    stops = np.cumsum(spans)
    starts = stops - spans
    whole = np.repeat(np.arange(len(begin)), spans)
    bins = np.arange(len(whole)) + np.repeat(first - starts, spans)
    # the whole bin, minus the parts before the begin and after the end
    ticks = np.full(len(whole), float(1 << level))
    ticks[starts] -= begin - origin - (first << level)
    ticks[stops - 1] -= ((last + 1) << level) - (end - origin)
    return whole, bins, ticks


def added(place: Array, code: Array, ticks: Array, codes: int) -> tuple[Array, Array, Array]:
    """Return place, code and sum of *ticks* for every pair of place and code that occurs, sorted.

    *place* and *code* are not negative, *code* is below *codes*.
    """
    if not len(place):
        return place, code, ticks
    key = place.astype(np.int64) * codes + code
    order, key = _sorted(key)
    starts = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    place = key[starts] // codes
    return place, key[starts] - place * codes, np.add.reduceat(ticks[order], starts)


def _sorted(key: Array) -> tuple[Array, Array]:
    """Return the sorting order of *key*, and the sorted *key*."""
    bits = len(key).bit_length()
    if int(key.max()) < 1 << (63 - bits):
        # sorting combined numbers of key and row is faster than an argsort
        both = np.sort((key << bits) | np.arange(len(key)))
        return both & ((1 << bits) - 1), both >> bits
    order = np.argsort(key, kind="stable")
    return order, key[order]


def largest(place: Array, code: Array, share: Array, places: int, most: int) -> tuple[Array, Array]:
    """Return the *most* codes with the largest shares (0 to 1) in each of *places*: codes (-1: none) and shares.

    *place* is sorted. Shares that differ by less than 1/65535 may swap. Shapes are [places, most].
    """
    codes = np.full((places, most), -1, np.int32)
    shares = np.zeros((places, most), np.float32)
    if not len(place):
        return codes, shares
    small = 65535 - np.clip(np.rint(share * 65535), 0, 65535).astype(np.int64)
    order, _ = _sorted((place.astype(np.int64) << 16) | small)
    starts = np.flatnonzero(np.r_[True, place[1:] != place[:-1]])
    rank = np.arange(len(place)) - np.repeat(starts, np.diff(np.r_[starts, len(place)]))
    kept = rank < most
    order, rank = order[kept], rank[kept]
    codes[place[order], rank] = code[order]
    shares[place[order], rank] = share[order]
    return codes, shares
