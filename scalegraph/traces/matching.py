"""Which receive gets which message."""

from __future__ import annotations

import numpy as np

from scalegraph.traces.kinds import Array


def partners(sends: Array, time: Array, *stream: Array) -> Array:
    """Return, for each send and receive, the row of its partner (-1: none).

    *sends*: which rows are sends, the others are receives; *time*: when each began, for a receive when it was posted;
    *stream*: the attributes in which a message and its receive agree, such as communicator, sender, receiver and tag.
    MPI delivers the messages of a stream in the order in which they were sent, to receives in the order in which those
    were posted.

    Shape: (rows,) each. Source: MPI 4.1, 3.5 (messages do not overtake).
    """
    rows = np.arange(len(sends))
    group = _groups(*stream)
    order = np.argsort(time, kind="stable")
    turn = np.empty(len(rows), np.int64)
    for mine in (order[sends[order]], order[~sends[order]]):
        ordered = mine[np.argsort(group[mine], kind="stable")]
        starts = np.flatnonzero(np.r_[True, group[ordered][1:] != group[ordered][:-1]]) if len(ordered) else ordered
        turn[ordered] = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    key = group * (len(rows) + 1) + turn
    sent, taken = rows[sends], rows[~sends]
    _, in_sent, in_taken = np.intersect1d(key[sent], key[taken], assume_unique=True, return_indices=True)
    found = np.full(len(rows), -1, np.int64)
    found[sent[in_sent]], found[taken[in_taken]] = taken[in_taken], sent[in_sent]
    return found


def _groups(*keys: Array) -> Array:
    """Return a number for each row, equal where all *keys* are equal."""
    order = np.lexsort(keys)
    new = np.zeros(len(order), bool)
    for values in keys:
        new[1:] |= values[order[1:]] != values[order[:-1]]
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(new)
    return group
