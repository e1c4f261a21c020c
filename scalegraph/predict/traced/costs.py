"""The costs of messages and collective operations from traces: a fixed part plus a part proportional to the bytes.

Waiting is excluded: a message's transit time counts if its receiver was already waiting, a collective operation from
when the last member arrived. Source: events are measured, semi-empirical paper, 2.2.1; the rest is ScaleGraph's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import scipy

from scalegraph.predict.traced.operations import COLLECTIVE, RECEIVE, SEND, Operations, Read
from scalegraph.traces.kinds import Array, Operation

FROM_ROOT: Final = (Operation.BROADCAST, Operation.SCATTER, Operation.SCATTER_VARIED)
TO_ROOT: Final = (Operation.REDUCE, Operation.GATHER, Operation.GATHER_VARIED)
_FEW: Final = 24  # sizes needed to fit a line


@dataclass(frozen=True)
class Line:
    """Seconds as a function of bytes: a *fixed* part plus *each* per byte, both non-negative."""

    fixed: float = 0.0
    each: float = 0.0

    def at(self, size: float) -> float:
        """Return the seconds for *size* bytes."""
        return self.fixed + self.each * size


@dataclass(frozen=True)
class TracedCosts:
    """Costs on one N. *own*: a rank's share of a rooted collective operation, by (operation, communicator)."""

    send: Line = Line()
    receive: Line = Line()
    transit: Line = Line()
    collective: dict[tuple[int, int], Line] = field(default_factory=dict)
    own: dict[tuple[int, int], Line] = field(default_factory=dict)


def traced_costs(reads: Sequence[Read]) -> TracedCosts:
    """Return the costs of operations in the traces *reads*, in s."""
    send, late, under_way = [], [], []
    for read in reads:
        for one, left in zip(read.locations, read.departures, strict=True):
            mine = one.kind == SEND
            send.append(_seconds(read, one.size[mine], (one.end - one.begin)[mine]))
            there = (one.kind == RECEIVE) & (one.ready <= left)
            under_way.append(_seconds(read, one.size[there], (one.end - left)[there]))
            behind = (one.kind == RECEIVE) & (one.ready > left)
            late.append(_seconds(read, one.size[behind], (one.end - one.ready)[behind]))
    receive = _line(late, 0.25)
    whole = _line(under_way)
    transit = Line(max(0.0, whole.fixed - receive.fixed), max(0.0, whole.each - receive.each))
    collective: dict[tuple[int, int], list[Array]] = {}
    own: dict[tuple[int, int], list[Array]] = {}
    for read in reads:
        _add_collectives(read, collective, own)
    return TracedCosts(
        _line(send, 0.25),
        receive,
        transit,
        {key: _line(pairs) for key, pairs in collective.items()},
        {key: _line(pairs) for key, pairs in own.items()},
    )


def _seconds(read: Read, size: Array, ticks: Array) -> Array:
    """Return rows of bytes and seconds."""
    return np.column_stack([size, ticks / read.second]) if len(size) else np.empty((0, 2))


def _add_collectives(
    read: Read, collective: dict[tuple[int, int], list[Array]], own: dict[tuple[int, int], list[Array]]
) -> None:
    """Add bytes and seconds of a trace's collective operations: of the whole operation, and of single ranks."""
    parts = [_part(one) for one in read.locations]
    columns = [np.concatenate([part[i] for part in parts]) for i in range(7)]
    order = np.lexsort((columns[2], columns[0]))
    instance, operation, begin, end, size, root, location = (column[order] for column in columns)
    if not len(instance):
        return
    starts = np.flatnonzero(np.r_[True, instance[1:] != instance[:-1]])
    sizes = np.diff(np.r_[starts, len(instance)])
    group = np.concatenate([one.group[one.kind == COLLECTIVE] for one in read.locations])[order]
    for number in np.unique(operation).tolist():
        for communicator in np.unique(group).tolist():
            which = np.flatnonzero((operation[starts] == number) & (group[starts] == communicator))
            if not len(which):
                continue
            rows = np.concatenate([np.arange(starts[i], starts[i] + sizes[i]) for i in which.tolist()])
            of = np.repeat(np.arange(len(which)), sizes[which])
            is_root = location[rows] == root[rows]
            last = np.maximum.reduceat(end[rows], np.searchsorted(of, np.arange(len(which))))
            come = begin[rows]
            bytes_ = np.maximum.reduceat(size[rows], np.searchsorted(of, np.arange(len(which))))
            key = (int(number), int(communicator))
            if number in FROM_ROOT:
                from_root = np.zeros(len(which))
                from_root[of[is_root]] = come[is_root]
                since = np.maximum(come, from_root[of])[~is_root]
                collective.setdefault(key, []).append(_seconds(read, size[rows][~is_root], end[rows][~is_root] - since))
                own.setdefault(key, []).append(_seconds(read, size[rows][is_root], (end[rows] - come)[is_root]))
                continue
            if number in TO_ROOT:
                own.setdefault(key, []).append(_seconds(read, size[rows][~is_root], (end[rows] - come)[~is_root]))
                last = np.zeros(len(which))
                last[of[is_root]] = end[rows][is_root]
            latest = np.maximum.reduceat(come, np.searchsorted(of, np.arange(len(which))))
            collective.setdefault(key, []).append(_seconds(read, bytes_, np.maximum(last - latest, 0)))


def _part(one: Operations) -> tuple[Array, ...]:
    mine = one.kind == COLLECTIVE
    columns = (one.instance, one.operation, one.begin, one.end, one.size, one.partner)
    return (*(column[mine] for column in columns), np.full(int(mine.sum()), one.location))


def _line(pairs: Iterable[Array], share: float | None = None) -> Line:
    """Return the line through the means (or *share* quantiles) of the seconds by size (rows of bytes and seconds)."""
    rows = np.concatenate([np.empty((0, 2)), *pairs])
    if not len(rows):
        return Line()
    sizes = np.unique(rows[:, 0])
    group = np.searchsorted(sizes, rows[:, 0])
    if len(sizes) > _FEW:
        group = (group * _FEW) // len(sizes)
    known = np.unique(group)
    middle = np.array([np.median(rows[group == one, 0]) for one in known])
    every = [rows[group == one, 1] for one in known]
    times = np.array([np.mean(some) if share is None else np.quantile(some, share) for some in every])
    weights = 1.0 / np.maximum(times, max(1e-12, 0.01 * float(times.max(initial=0.0))))
    matrix = np.column_stack([np.ones(len(known)), middle]) * weights[:, None]
    scale = np.linalg.norm(matrix, axis=0)
    scale[scale == 0] = 1.0
    found, _ = scipy.optimize.nnls(matrix / scale, times * weights)
    fixed, each = found / scale
    return Line(float(fixed), float(each))
