"""Pairs of enters and leaves."""

from __future__ import annotations

import numpy as np

from scalegraph.traces.kinds import Array


def match(owner: Array, enters: Array) -> tuple[Array, Array]:
    """Return each row's partner (-1: none) and depth (outermost 1; 0: an unmatched leave).

    *owner* identifies a row's sequence (shape n); rows of one owner are in event order. *enters*: which rows enter. A
    leave belongs to the innermost open enter; regions are not compared.
    """
    rows = len(owner)
    partner = np.full(rows, -1, np.int64)
    if not rows:
        return partner, np.zeros(0, np.int64)
    grouped = bool((owner[1:] >= owner[:-1]).all())
    order = None if grouped else _order(owner.astype(np.int64) - int(owner.min()))
    sorted_owner = owner if order is None else owner[order]
    step = (enters if order is None else enters[order]).astype(np.int8) * np.int8(2) - np.int8(1)
    height = np.cumsum(step, dtype=np.int64)
    first = np.r_[True, sorted_owner[1:] != sorted_owner[:-1]]
    starts = np.flatnonzero(first)
    number = np.cumsum(first) - 1
    height -= (height[starts] - step[starts])[number]
    if int(height.min()) >= 0:  # every leave has its enter
        lone = None
        depth = height + (step < 0)
    else:
        # the running minimum of the height per owner: owners are offset so far that none affects another
        below = number * (2 * rows + 2)
        least = np.minimum(np.minimum.accumulate(np.minimum(height, 0) - below) + below, 0)
        before = np.r_[0, least[:-1]]
        before[starts] = 0
        lone = (step < 0) & (height < before)
        depth = np.where(step > 0, height - least, height - least + 1)
        depth[lone] = 0
    # within one owner and depth, enters and leaves alternate
    key = number * (int(depth.max()) + 1) + depth
    by_depth = _order(key)
    if lone is not None:
        by_depth = by_depth[~lone[by_depth]]
    key, step = key[by_depth], step[by_depth]
    pair = np.flatnonzero((key[:-1] == key[1:]) & (step[:-1] > step[1:]))
    one, two = by_depth[pair], by_depth[pair + 1]
    if order is None:
        partner[one], partner[two] = two, one
        return partner, depth
    partner[order[one]], partner[order[two]] = order[two], order[one]
    level = np.empty(rows, np.int64)
    level[order] = depth
    return partner, level


def _order(key: Array) -> Array:
    """Return the stable order of *key* (numbers from 0); small keys use a radix sort, in linear time."""
    return np.argsort(key.astype(np.uint16) if int(key.max()) < 1 << 16 else key, kind="stable")
