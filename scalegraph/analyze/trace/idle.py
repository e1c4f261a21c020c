"""Idle time of locations, from states, shares or the absence of calls, and the lifetime of each location."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalegraph.analyze.trace.calls import NEVER
from scalegraph.analyze.trace.candidates import Cause, Rows, in_order
from scalegraph.analyze.trace.stacks import Stacks
from scalegraph.base.cancel import checkpoint
from scalegraph.traces import activities
from scalegraph.traces.kinds import KINDS, NO_TIME, NOBODY, Array, Operation
from scalegraph.traces.model import Region, Trace

_COMMUNICATION: Final = re.compile(r"^(p?mpi_|i?send\b|i?recv\b|receive\b|shmem|nccl|gasnet|barrier\b)", re.I)
_BARRIER: Final = re.compile(r"barrier", re.I)
_MPI: Final = re.compile(r"^p?mpi_", re.I)
_ALL_WITH_ALL: Final = re.compile(r"^p?mpi_(allreduce|alltoall[vw]?|allgatherv?|reduce_scatter(_block)?)_?$", re.I)
_LOCK: Final = re.compile(r"(lock|mutex|critical)", re.I)
_UNLOCK: Final = re.compile(r"(unlock|release|unset|destroy|init)", re.I)
_CATEGORY_CAUSES: Final = {
    "idle_not_started": Cause.START,
    "idle_serial": Cause.START,
    "idle_finished": Cause.ENDED,
    "idle_barrier": Cause.BARRIER,
    "idle_lock": Cause.LOCK,
    "idle_order": Cause.ORDERED,
    "idle_task": Cause.TASK,
    "idle_message": Cause.LATE_SENDER,
    "idle_late_sender": Cause.LATE_SENDER,
    "idle_late_receiver": Cause.LATE_RECEIVER,
    "idle_transfer": Cause.TRANSIT,
    "idle_network": Cause.TRANSIT,
    "idle_collective": Cause.COLLECTIVE,
    "idle_masked": Cause.OTHER,
    "idle_wait": Cause.CONDITION,
    "idle_preempted": Cause.OTHER,
    "unattributed": Cause.OTHER,
}


def idle_states(trace: Trace) -> Array:
    """Return for each state whether a location in it is idle.

    Shape: (states,). Unit: none. Source: ScaleGraph.
    """
    idle: Array = activities.of_states(trace.definitions.states, trace.meta) == activities.IDLE
    return idle


def idle_causes(trace: Trace) -> Array:
    """Return for each state what a location in it waits for, as far as categories of simulated runs tell.

    Shape: (states,). Unit: none (numbers of `Cause`). Source: ScaleGraph.
    """
    causes = [_CATEGORY_CAUSES.get(state.key, Cause.UNKNOWN) for state in trace.definitions.states]
    return np.array([*causes, Cause.UNKNOWN], np.uint8)  # the last is for -1


def _named(regions: list[Region], pattern: re.Pattern[str], *, but: re.Pattern[str] | None = None) -> Array:
    return np.array(
        [
            bool(pattern.search(one.name) or pattern.search(one.kind)) and not (but and but.search(one.name))
            for one in regions
        ],
        bool,
    )


def communicating(regions: list[Region]) -> Array:
    """Return for each region whether it is a call that sends, receives or synchronises.

    Shape: (regions,). Unit: none. Source: ScaleGraph.
    """
    named: Array = activities.of_regions(regions) == activities.COMMUNICATION
    return named | _named(regions, _COMMUNICATION)


def barriers(regions: list[Region]) -> Array:
    """Return for each region whether it is a barrier, by kind or name.

    Shape: (regions,). Unit: none. Source: ScaleGraph.
    """
    return _named(regions, _BARRIER, but=re.compile(r"(init|destroy|create|attr)", re.I))


def recorded(trace: Trace) -> frozenset[str]:
    """Return the kinds that *trace* has rows of.

    Shape: (kinds,). Unit: none. Source: ScaleGraph.
    """
    return frozenset(kind for kind, rows in trace.counts().items() if rows)


def operations(trace: Trace, kinds: AbstractSet[str]) -> Array:
    """Return for each region the `Operation` of its calls, by kind or name, if it is all-to-all; otherwise -1.

    MPI regions are left out if the run records collective operations itself; *kinds* are the recorded kinds.

    Shape: (regions,). Unit: none (numbers of `Operation`). Source: ScaleGraph.
    """
    regions = trace.definitions.regions
    found = np.where(barriers(regions), Operation.BARRIER, -1).astype(np.int64)
    found[(found < 0) & _named(regions, _ALL_WITH_ALL)] = Operation.ALL_REDUCE
    if "collectives" in kinds:
        found[_named(regions, _MPI)] = -1
    return found


def locking(regions: list[Region]) -> Array:
    """Return for each region whether it acquires a lock, by kind or name.

    Shape: (regions,). Unit: none. Source: ScaleGraph.
    """
    return _named(regions, _LOCK, but=_UNLOCK)


@dataclass(frozen=True, eq=False)
class Presence:
    """The lifetime of each location: *first* and *last* tick of an event in which it did something.

    *idle* holds its idle stretches, sorted by location and time.
    """

    first: Array
    last: Array
    idle: Rows


def presence(trace: Trace, stacks: Stacks, kinds: AbstractSet[str]) -> Presence:
    """Return when every location of *trace* existed, and when it was idle.

    States and shares show it if the run has any (*kinds*); otherwise a location is idle outside of every region.

    Shape: (stretches,) of each array. Unit: ticks. Source: ScaleGraph.
    """
    count = len(trace.definitions.locations)
    first, last = np.full(count, NEVER), np.full(count, NO_TIME)
    for kind in ("messages", "collectives", "tasks", "locks", "waits"):
        _bounds(trace, kind, first, last)
    some = np.flatnonzero(stacks.first[1:] > stacks.first[:-1])
    if len(some):
        first[some] = np.minimum(first[some], stacks.time[stacks.first[some]])
        last[some] = np.maximum(last[some], stacks.time[stacks.first[some + 1] - 1])
    rows = [_of_states(trace, first, last), _of_shares(trace, first, last)]
    if kinds.isdisjoint({"states", "shares"}):
        rows.append(_outside(stacks))
    return Presence(first, last, in_order(Rows.joined(rows)))


def _bounds(trace: Trace, kind: str, first: Array, last: Array) -> None:
    """Extend *first* and *last* by the times of a kind; of waits only the begins count, as nothing is done in them."""
    spec = KINDS[kind]
    pairs = {
        "messages": (("sent", "sender"), ("left", "sender"), ("posted", "receiver"), ("received", "receiver")),
        "waits": (("begin", "location"),),
    }.get(kind, tuple((time, "location") for time in spec.times))
    for columns in trace.chunks(kind, tuple({name for pair in pairs for name in pair})):
        checkpoint()
        for time, whose in pairs:
            known = (columns[time] != NO_TIME) & (columns[whose] >= 0) & (columns[whose] < len(first))
            np.minimum.at(first, columns[whose][known], columns[time][known])
            np.maximum.at(last, columns[whose][known], columns[time][known])


def _widen(first: Array, last: Array, location: Array, begin: Array, end: Array) -> None:
    np.minimum.at(first, location, begin)
    np.maximum.at(last, location, end)


def _of_states(trace: Trace, first: Array, last: Array) -> Rows:
    idle = np.r_[idle_states(trace), False]  # the last is for -1
    found = trace.columns("states")
    inside = (found["location"] >= 0) & (found["location"] < len(first)) & (found["state"] < len(idle) - 1)
    none = inside & idle[np.where(inside, found["state"], -1)]
    busy = inside & ~none
    _widen(first, last, found["location"][busy], found["begin"][busy], found["end"][busy])
    causes = idle_causes(trace)[found["state"][none]]
    return _idle(found["begin"][none], found["end"][none], found["location"][none], causes)


def _of_shares(trace: Trace, first: Array, last: Array) -> Rows:
    idle = np.r_[idle_states(trace), False]
    found = trace.columns("shares")
    inside = (found["location"] >= 0) & (found["location"] < len(first)) & (found["state"] < len(idle) - 1)
    found = found if inside.all() else {name: values[inside] for name, values in found.items()}
    if not len(found["begin"]):
        return Rows.none()
    stretch = stretches(found["location"], found["begin"])
    doing = np.add.reduceat(np.where(idle[found["state"]], 0, found["ticks"]), stretch)
    begin, end, location, state = (found[name][stretch] for name in ("begin", "end", "location", "state"))
    busy = doing > 0
    _widen(first, last, location[busy], begin[busy], end[busy])
    return _idle(begin[~busy], end[~busy], location[~busy], idle_causes(trace)[state[~busy]])


def stretches(location: Array, begin: Array) -> Array:
    """Return the first row of every stretch of shares; the rows of a stretch are adjacent.

    Shape: (stretches,). Unit: none (positions). Source: ScaleGraph.
    """
    return np.flatnonzero(np.r_[True, (begin[1:] != begin[:-1]) | (location[1:] != location[:-1])])


def _outside(stacks: Stacks) -> Rows:
    """Return where locations are outside of every region, between their calls."""
    rows = np.flatnonzero((stacks.inner[:-1] < 0) & stacks.enters[1:] & (stacks.time[1:] > stacks.time[:-1]))
    location = np.searchsorted(stacks.first, rows, side="right") - 1
    same = rows + 1 < stacks.first[location + 1]
    rows, location = rows[same], location[same]
    return _idle(stacks.time[rows], stacks.time[rows + 1], location)


def _idle(begin: Array, end: Array, location: Array, cause: Array | Cause = Cause.UNKNOWN) -> Rows:
    return Rows.make(begin=begin, end=end, location=location, holder=NOBODY, released=NO_TIME, cause=cause, jump=False)
