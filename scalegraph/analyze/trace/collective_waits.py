"""Waits in collective operations and barriers, from when each member arrived and left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np

from scalegraph.analyze.trace.candidates import Cause, Rows
from scalegraph.analyze.trace.interval import Beyond
from scalegraph.analyze.trace.stacks import Stacks, ordered
from scalegraph.traces.kinds import NO_TIME, NOBODY, Array, Operation
from scalegraph.traces.model import Trace

# operations with data only from the root, or only to it
_FROM_ROOT: Final = (Operation.BROADCAST, Operation.SCATTER, Operation.SCATTER_VARIED)
_TO_ROOT: Final = (Operation.REDUCE, Operation.GATHER, Operation.GATHER_VARIED)
_BY_RANK: Final = (Operation.SCAN, Operation.EXCLUSIVE_SCAN)
_Causes: TypeAlias = Callable[[Array], Array]
_LAST: Final = np.int64(2**62)


@dataclass(frozen=True, eq=False)
class Visits:
    """Visits of members to operations, grouped by *instance* (number) and sorted by *begin* within it."""

    begin: Array
    end: Array
    location: Array
    operation: Array
    root: Array
    instance: Array

    def take(self, rows: Array) -> Visits:
        """Return some rows.

        Shape: (chosen rows,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        return Visits(*(values[rows] for values in vars(self).values()))


def collective_waits(trace: Trace) -> tuple[Rows, int]:
    """Return the waits in the trace's collective operations, and the number of inconsistent operations.

    The last member to arrive gets a row without holder and with the cause `Cause.COMPLETION`: the rest of its
    operation.

    Operations are left out if members name different ones, or if one leaves an all-to-all operation before another has
    arrived. The n-th operation of a communicator is the n-th of each of its members.

    Shape: (rows,) of each array. Unit: ticks. Source: wait states of Scalasca (Geimer and others 2010).
    """
    found = trace.columns("collectives", ("begin", "end", "location", "operation", "communicator", "root"))
    inside = (found["location"] >= 0) & (found["location"] < len(trace.definitions.locations))
    found = {name: values[inside] for name, values in found.items()}
    if not len(found["begin"]):
        return Rows.none(), 0
    # rows of a location are in the order of its events: count them by communicator
    order = np.lexsort((found["location"], found["communicator"]))
    pair = found["communicator"][order].astype(np.int64) << 32 | found["location"][order]
    turn = turns(pair)
    key = found["communicator"][order].astype(np.int64) * (int(turn.max()) + 1) + turn
    names = ("begin", "end", "location", "operation", "root")
    visits = _grouped(Visits(**{name: found[name][order] for name in names}, instance=key))
    return _waits(visits, _cause)


def _cause(operation: Array) -> Array:
    return np.where(operation == Operation.BARRIER, Cause.BARRIER, Cause.COLLECTIVE)


def turns(key: Array) -> Array:
    """Return for each row how many earlier rows have the same *key*; equal keys must be adjacent.

    Shape: (rows,). Unit: none (count). Source: ScaleGraph.
    """
    first = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
    return np.arange(len(key)) - np.repeat(first, np.diff(np.r_[first, len(key)]))


def _grouped(visits: Visits) -> Visits:
    """Return *visits* sorted by instance and begin, with instances numbered from 0."""
    visits = visits.take(np.lexsort((visits.begin, visits.instance)))
    return replace(visits, instance=np.cumsum(np.r_[True, visits.instance[1:] != visits.instance[:-1]]) - 1)


def _waits(visits: Visits, cause: _Causes) -> tuple[Rows, int]:
    """Return who waited in *visits* (not empty), and the number of instances left out."""
    starts = np.flatnonzero(np.r_[True, visits.instance[1:] != visits.instance[:-1]])
    sizes = np.diff(np.r_[starts, len(visits.begin)])
    operation = visits.operation[starts]
    same = np.minimum.reduceat(visits.operation, starts) == np.maximum.reduceat(visits.operation, starts)
    last = starts + sizes - 1  # the last to arrive, as visits are sorted by begin
    rooted = np.isin(operation, [*_FROM_ROOT, *_TO_ROOT])
    by_rank = np.isin(operation, _BY_RANK)
    together = visits.begin[last] <= np.minimum.reduceat(visits.end, starts)
    good = same & (sizes > 1)
    bad = int(np.count_nonzero(~same | ((sizes > 1) & ~rooted & ~by_rank & ~together)))
    all_with_all = _spread(good & ~rooted & ~by_rank & together, sizes)
    parts = [_for_last(visits, np.repeat(last, sizes), all_with_all, cause)]
    parts.append(_from_root(visits, starts, sizes, good & np.isin(operation, _FROM_ROOT)))
    parts.append(_to_root(visits, starts, sizes, good & np.isin(operation, _TO_ROOT)))
    parts.append(_ranked(visits, _spread(good & by_rank, sizes)))
    return Rows.joined(parts), bad


def _spread(chosen: Array, sizes: Array) -> Array:
    return np.repeat(chosen, sizes)


def _for_last(visits: Visits, last: Array, chosen: Array, cause: _Causes) -> Rows:
    rows = np.flatnonzero(chosen)
    waited = visits.begin[rows] < visits.begin[last[rows]]
    return Rows.make(
        begin=visits.begin[rows],
        end=visits.end[rows],
        location=visits.location[rows],
        holder=np.where(waited, visits.location[last[rows]], NOBODY),
        released=visits.begin[last[rows]],
        cause=np.where(waited, cause(visits.operation[rows]), Cause.COMPLETION),
        jump=waited,
    )


def _root_rows(visits: Visits, starts: Array) -> Array:
    """Return the row of the root in each instance, -1 if it did not take part."""
    rows = np.where(visits.location == visits.root, np.arange(len(visits.begin)), -1)
    return np.maximum.reduceat(rows, starts)


def _from_root(visits: Visits, starts: Array, sizes: Array, chosen: Array) -> Rows:
    root = np.repeat(_root_rows(visits, starts), sizes)
    rows = np.flatnonzero(
        _spread(chosen, sizes) & (root >= 0) & (visits.begin < visits.begin[root]) & (visits.end >= visits.begin[root])
    )
    return Rows.make(
        begin=visits.begin[rows],
        end=visits.end[rows],
        location=visits.location[rows],
        holder=visits.location[root[rows]],
        released=visits.begin[root[rows]],
        cause=Cause.LATE_ROOT,
    )


def _to_root(visits: Visits, starts: Array, sizes: Array, chosen: Array) -> Rows:
    root = _root_rows(visits, starts)
    last = starts + sizes - 1
    last = np.where(last == root, last - 1, last)  # the last of the others
    rows = np.flatnonzero(
        chosen & (root >= 0) & (visits.begin[root] < visits.begin[last]) & (visits.end[root] >= visits.begin[last])
    )
    root, last = root[rows], last[rows]
    return Rows.make(
        begin=visits.begin[root],
        end=visits.end[root],
        location=visits.location[root],
        holder=visits.location[last],
        released=visits.begin[last],
        cause=Cause.EARLY_ROOT,
    )


def _ranked(visits: Visits, chosen: Array) -> Rows:
    """Return who waited for members of lower rank; ranks are assumed to be in the order of location numbers."""
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return Rows.none()
    visits = visits.take(rows)
    visits = visits.take(np.lexsort((visits.location, visits.instance)))
    shift = (np.cumsum(np.r_[0, visits.instance[1:] != visits.instance[:-1]])).astype(np.int64)
    rank = np.empty(len(rows), np.int64)  # begin times replaced by their ranks: small numbers that can be shifted
    rank[np.argsort(visits.begin, kind="stable")] = np.arange(len(rows))
    latest = np.maximum.accumulate(rank + shift * len(rows)) - shift * len(rows)
    by_time = np.argsort(visits.begin, kind="stable")
    holder = by_time[latest]
    keep = np.flatnonzero((visits.begin[holder] > visits.begin) & (visits.end >= visits.begin[holder]))
    holder = holder[keep]
    return Rows.make(
        begin=visits.begin[keep],
        end=visits.end[keep],
        location=visits.location[keep],
        holder=visits.location[holder],
        released=visits.begin[holder],
        cause=Cause.SCAN,
    )


def call_waits(trace: Trace, stacks: Stacks, operations: Array, beyond: Beyond | None = None) -> tuple[Rows, int]:
    """Return the waits in calls of all-to-all operations (by region), and the number of regions that are inconsistent.

    *operations* is the `Operation` of each region, -1 for others. Calls *beyond* a part of a trace count too.

    The n-th calls of all locations of a group that ever call the region form one barrier (for MPI: of all locations).

    Shape: (rows,) of each array. Unit: ticks. Source: wait states of Scalasca (Geimer and others 2010).
    """
    rows = np.flatnonzero(stacks.enters & (stacks.region >= 0))
    rows = rows[operations[stacks.region[rows]] >= 0] if len(operations) else rows[:0]
    if not len(rows):
        return Rows.none(), 0
    count = len(trace.definitions.locations)
    pair = stacks.region[rows] * np.int64(count) + np.searchsorted(stacks.first, rows, side="right") - 1
    if beyond is None:
        pairs, total = np.unique(pair, return_counts=True)
        before = np.zeros_like(total)
    else:
        pairs, before, total = beyond.callers, beyond.before, beyond.total
    team_of_pair, groups = _teams(trace, pairs)
    order = np.lexsort((rows, pair))
    caller = np.searchsorted(pairs, pair[order])
    team, turn = team_of_pair[caller], turns(caller) + before[caller]
    teams, where = np.unique(team_of_pair, return_inverse=True)
    most, least = np.zeros(len(teams), np.int64), np.full(len(teams), _LAST)
    np.maximum.at(most, where, total)
    np.minimum.at(least, where, total)
    unusual = teams[(most != least) & np.isin(teams, team)]
    leave = stacks.leave(rows[order])
    end = np.where(leave == NO_TIME, trace.meta.end, leave)  # never left, or only beyond
    nothing = np.zeros(len(rows), np.int64)
    key = team * (int(turn.max()) + 1) + turn
    visits = Visits(stacks.time[rows[order]], end, pair[order] % count, operations[team // groups], nothing, key)
    fit = ~np.isin(team, unusual)
    if not fit.any():
        return Rows.none(), len(unusual)
    waits, wrong = _of_teams(visits.take(fit), team[fit], teams, np.bincount(where))
    return waits, len(unusual) + wrong


def _teams(trace: Trace, pairs: Array) -> tuple[Array, int]:
    """Return the team of each pair of region and location, and the number of possible teams per region."""
    definitions = trace.definitions
    groups = np.array([place.group for place in definitions.locations], np.int64)
    wide = np.array([region.name.lower().startswith(("mpi_", "shmem")) for region in definitions.regions])
    region, location = np.divmod(pairs, len(groups))
    many = int(groups.max()) + 2
    return region * many + np.where(wide[region], -1, groups[location]) + 1, many


def _of_teams(visits: Visits, team: Array, teams: Array, members: Array) -> tuple[Rows, int]:
    """Return who waited in *visits* by *team*, and the number of teams left out as someone left before all arrived.

    *members* is the size of each of *teams*. If a member arrives beyond the part, the holder is unknown.
    """
    by_key = ordered(visits.instance)
    starts = np.flatnonzero(np.r_[True, visits.instance[by_key][1:] != visits.instance[by_key][:-1]])
    late = np.maximum.reduceat(visits.begin[by_key], starts) > np.minimum.reduceat(visits.end[by_key], starts)
    wrong = np.unique(team[by_key][starts[late]])
    sizes = np.diff(np.r_[starts, len(by_key)])
    whole = np.zeros(len(by_key), bool)
    whole[by_key] = np.repeat(sizes == members[np.searchsorted(teams, team[by_key][starts])], sizes)
    good = ~np.isin(team, wrong)
    rest = visits.take(good & ~whole)
    found = [
        Rows.make(
            begin=rest.begin,
            end=rest.end,
            location=rest.location,
            holder=NOBODY,
            released=NO_TIME,
            cause=_cause(rest.operation),
            jump=False,
        )
    ]
    if (good & whole).any():
        found.append(_waits(_grouped(visits.take(good & whole)), _cause)[0])
    return Rows.joined(found), len(wrong)
