"""Which leave belongs to which enter."""

from __future__ import annotations

import numpy as np

from scalegraph.traces.kinds import Array


def match(owner: Array, enters: Array) -> tuple[Array, Array]:
    """Return the row that belongs to each row (-1: none), and how deep each row is (outermost 1; 0: a lone leave).

    *owner* names the sequence a row is in (shape n); rows of one owner are in the order of events. *enters* says which
    rows enter. A leave belongs to the innermost enter that is still open; regions are not compared.
    """
    rows = len(owner)
    partner = np.full(rows, -1, np.int64)
    level = np.zeros(rows, np.int64)
    if not rows:
        return partner, level
    order = np.argsort(owner, kind="stable")
    sorted_owner = owner[order]
    step = np.where(enters[order], 1, -1).astype(np.int64)
    height = np.cumsum(step)
    starts = np.flatnonzero(np.r_[True, sorted_owner[1:] != sorted_owner[:-1]])
    number = np.cumsum(np.r_[False, sorted_owner[1:] != sorted_owner[:-1]])
    height -= (height[starts] - step[starts])[number]
    # the least height so far, of each owner for itself: owners are put so far below each other that none sees another
    below = number * (2 * rows + 2)
    least = np.minimum(np.minimum.accumulate(np.minimum(height, 0) - below) + below, 0)
    before = np.r_[0, least[:-1]]
    before[starts] = 0
    lone = (step < 0) & (height < before)
    depth = np.where(step > 0, height - least, height - least + 1)
    depth[lone] = 0
    # of one owner and depth, enters and leaves take turns
    candidates = np.flatnonzero(~lone)
    by_depth = candidates[np.lexsort((depth[candidates], number[candidates]))]
    first, second = by_depth[:-1], by_depth[1:]
    pair = (number[first] == number[second]) & (depth[first] == depth[second]) & (step[first] > 0) & (step[second] < 0)
    partner[order[first[pair]]] = order[second[pair]]
    partner[order[second[pair]]] = order[first[pair]]
    level[order] = depth
    return partner, level
