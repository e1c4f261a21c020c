"""Waits for locks, tasks and thread starts, derived from acquire, release, create and run events."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.trace.calls import NEVER
from scalegraph.analyze.trace.candidates import Cause, Rows
from scalegraph.analyze.trace.idle import Presence
from scalegraph.analyze.trace.stacks import Stacks, place
from scalegraph.traces.kinds import NOBODY, Array, LockStep, TaskStep
from scalegraph.traces.model import Trace


def lock_waits(trace: Trace, stacks: Stacks, calls: Array) -> Rows:
    """Return who waited for a lock in the call of a locking region (*calls*, by region) that acquired it.

    Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    found = trace.columns("locks")
    if not len(found["time"]) or not calls.any():
        return Rows.none()
    acquired = found["what"] == LockStep.ACQUIRED
    # by lock and time; at the same tick a release comes before an acquire
    order = np.lexsort((acquired, found["time"], found["lock"]))
    lock, acquired = found["lock"][order], acquired[order]
    pair = np.flatnonzero((lock[1:] == lock[:-1]) & acquired[1:] & ~acquired[:-1])
    before, row = order[pair], order[pair + 1]
    who, when = found["location"][row], found["time"][row]
    call = stacks.innermost(stacks.at(who, when, before=True), calls)
    good = (call >= 0) & (found["location"][before] != who)
    before, row, call, who, when = (values[good] for values in (before, row, call, who, when))
    asked = stacks.time[call] if len(call) else when
    late = found["time"][before] > asked
    return Rows.make(
        begin=asked[late],
        end=when[late],
        location=who[late],
        holder=found["location"][before][late],
        released=found["time"][before][late],
        cause=Cause.LOCK,
        object=found["lock"][row][late],
    )


def task_waits(trace: Trace, there: Presence) -> Rows:
    """Return who was idle until a task was created that it then ran.

    Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    found = trace.columns("tasks")
    made = np.flatnonzero((found["what"] == TaskStep.CREATED) & (found["task"] > 0))
    runs = np.flatnonzero((found["what"] == TaskStep.SWITCHED_TO) & (found["task"] > 0))
    if not len(made) or not len(runs) or not len(there.idle):
        return Rows.none()
    made = made[np.argsort(found["task"][made], kind="stable")]
    at = np.minimum(np.searchsorted(found["task"][made], found["task"][runs]), len(made) - 1)
    creation = made[at]
    # the idle stretch that ends where the task begins
    idle, first = there.idle, there.idle.starts(len(there.first))
    stretch = place(first, idle.begin, found["location"][runs], found["time"][runs], before=True)
    good = (stretch >= 0) & (found["task"][creation] == found["task"][runs])
    good &= (idle.end[stretch] == found["time"][runs]) & (found["location"][creation] != found["location"][runs])
    good &= (found["time"][creation] > idle.begin[stretch]) & (found["time"][creation] <= found["time"][runs])
    runs, creation, stretch = runs[good], creation[good], stretch[good]
    region = found["region"][runs]
    return Rows.make(
        begin=idle.begin[stretch],
        end=idle.end[stretch],
        location=found["location"][runs],
        holder=found["location"][creation],
        released=found["time"][creation],
        cause=Cause.TASK,
        object=found["task"][runs],
        region=np.where(region < len(trace.definitions.regions), region, NOBODY),
    )


def start_waits(trace: Trace, stacks: Stacks, there: Presence, last: int = NEVER) -> Rows:
    """Return the waits of locations until the first of their group started them: an assumption, see `waiting`.

    Made only up to the tick *last*, to which the activity of that first location is known.

    Shape: (rows,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    group = np.array([one.group for one in trace.definitions.locations], np.int64)
    if not len(group) or not len(stacks.time):
        return Rows.none()
    _, leader, where = np.unique(group, return_index=True, return_inverse=True)
    leader = leader[where]
    there_at_all = (there.first < there.last) | (stacks.at(np.arange(len(group)), there.first) >= 0)
    members = np.flatnonzero((leader != np.arange(len(group))) & (group >= 0) & there_at_all)
    began = members[there.first[members] > trace.meta.begin]
    idle = np.flatnonzero(np.isin(there.idle.location, members) & (there.idle.cause == Cause.UNKNOWN))
    if trace.meta.format == "chrome":  # threads of events and requests: any thread may start them
        idle = idle[:0]
    location = np.r_[began, there.idle.location[idle]].astype(np.int64)
    begin = np.r_[np.full(len(began), trace.meta.begin), there.idle.begin[idle]]
    end = np.r_[there.first[began], there.idle.end[idle]]
    active = (stacks.at(leader[location], end, before=True) >= 0) & (end <= last)
    return Rows.make(
        begin=begin[active],
        end=end[active],
        location=location[active],
        holder=leader[location[active]],
        released=end[active],
        cause=Cause.START,
        region=NOBODY,
    )
