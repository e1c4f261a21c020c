"""Waiters and holders: recorded, or derived from messages, collective operations, barriers, locks and tasks.

Waits recorded with their holder come first. Derived waits overlap neither these nor each other. Idle time without a
known reason becomes a wait of unknown cause; it is never left out.

Rules for derived waits (wait states as in Scalasca, https://scalasca.org):

- a receive waits for its sender if the message was sent after the receive was posted (late sender), or could not have
  arrived by then: no message of that size was ever faster (in transit);
- a send that lasts until after the receive was posted waits for the receiver (late receiver);
- in an all-to-all operation everyone waits for the last to arrive; in a one-to-all operation for the root; the root of
  an all-to-one operation waits for the last of the others; members of a scan for those of lower rank;
- the n-th calls of a barrier or of an MPI all-to-all region (by kind or name) form one operation if every location of
  the group (for MPI: of all) that ever calls the region calls it equally often, and nobody leaves before all have
  arrived; otherwise nothing is assumed (this rule and the one for locks apply only to traces that record no waits);
- idle time of the last to arrive at an all-to-all operation is the completion of the operation;
- a location that acquires a lock within a locking region waited for whoever released it last, if that was after the
  region began;
- if a task starts where its location was idle, the location waited for the creation of the task;
- a location that begins, or (except in Chrome traces) continues after being outside every region, while the first
  location of its group is inside one, was started by that location: an assumption, counted by `Waits.assumed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from scalegraph.analyze.trace import idle
from scalegraph.analyze.trace.calls import NEVER
from scalegraph.analyze.trace.candidates import Cause, Rows, beside, common, in_order, remainder
from scalegraph.analyze.trace.collective_waits import call_waits, collective_waits
from scalegraph.analyze.trace.interval import Beyond
from scalegraph.analyze.trace.message_waits import message_waits
from scalegraph.analyze.trace.stacks import Stacks, place
from scalegraph.analyze.trace.thread_waits import lock_waits, start_waits, task_waits
from scalegraph.base.cancel import checkpoint, stage
from scalegraph.base.units import thousands
from scalegraph.traces.kinds import NO_TIME, Array, Wait
from scalegraph.traces.model import Trace

_CAUSES: Final = {
    Wait.OTHER: Cause.OTHER,
    Wait.BARRIER: Cause.BARRIER,
    Wait.LOCK: Cause.LOCK,
    Wait.TASK: Cause.TASK,
    Wait.JOIN: Cause.JOIN,
    Wait.CONDITION: Cause.CONDITION,
    Wait.ORDERED: Cause.ORDERED,
    Wait.RECEIVE: Cause.LATE_SENDER,
    Wait.SEND: Cause.LATE_RECEIVER,
    Wait.COLLECTIVE: Cause.COLLECTIVE,
}


@dataclass(frozen=True, eq=False)
class Waits:
    """All waits of a trace by location and time, without overlaps, with the data to analyse them further.

    ``first[l]`` to ``first[l + 1]`` are the rows of location l. *since* and *until* (ticks, by location) bound its
    activity. *doubts* are sentences about inconsistencies.

    If the run has too many calls for memory (`whole.waits_by_times`), *stacks* is empty; *delayed* is the region in
    which each holder spent most time (-1: unknown), *ways* has the call paths of the longest waits by location and end.
    """

    rows: Rows
    first: Array
    since: Array
    until: Array
    stacks: Stacks
    doubts: tuple[str, ...] = ()
    delayed: Array | None = None
    ways: Mapping[tuple[int, int], tuple[int, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, trace: Trace, beyond: Beyond | None = None) -> Waits:
        """Find all waits of *trace*; for a part of another trace, using what lies *beyond* it (`part_of`).

        Shape: (waits,) of each array. Unit: ticks. Source: wait states of Scalasca (Geimer and others 2010).
        """
        count = len(trace.definitions.locations)
        regions = trace.definitions.regions
        with stage(0.0, 0.4):
            stacks = Stacks.of(trace)
        kinds = idle.recorded(trace) if beyond is None else beyond.kinds
        there = idle.presence(trace, stacks, kinds)
        collective, unusual = collective_waits(trace)
        reported = _of_operations(_named(_told(trace), there.idle, count), collective, count)
        checkpoint(0.6)
        calls = idle.communicating(regions)
        doubts: list[str] = []
        if unusual:
            doubts.append(f"{thousands(unusual)} collective operations contradict themselves and are left out.")
        layers: list[Callable[[], Rows]] = [
            lambda: _while_idle(trace, kinds, there.idle, collective),
            lambda: _while_idle(trace, kinds, there.idle, message_waits(trace, stacks, calls, beyond)),
        ]
        if "waits" not in kinds:
            layers += [
                lambda: _at_calls(trace, stacks, kinds, doubts, beyond),
                lambda: lock_waits(trace, stacks, idle.locking(regions)),
            ]
        # a part that ends before the run does not record what comes after it
        known_until = NEVER if beyond is None or beyond.end >= trace.meta.end else beyond.end
        layers += [lambda: task_waits(trace, there), lambda: start_waits(trace, stacks, there, known_until)]
        known = reported.holder >= 0
        completions: list[Rows] = []
        accepted = in_order(_with_release(reported.take(known), collective, count))
        for number, layer in enumerate(layers):
            checkpoint(0.6 + 0.05 * number)
            found = layer()
            completions.append(found.take(found.cause == Cause.COMPLETION))
            more = in_order(beside(accepted, found.take(found.cause != Cause.COMPLETION), count))
            accepted = _merged(accepted, more)
        # remaining idle time: completion of an operation where all have arrived, otherwise of unknown cause
        done = in_order(Rows.joined(completions))
        over = _ended(there, trace.meta.end if known_until == NEVER else NEVER)
        for rest in (in_order(reported.take(~known)), common(done, there.idle, count), over):
            accepted = _merged(accepted, remainder(accepted, rest, count))
        if len(accepted) and (accepted.region < 0).any():
            accepted = _placed(accepted, stacks)
        checkpoint(1.0)
        return cls(accepted, accepted.starts(count), there.first, there.last, stacks, tuple(doubts))

    def between(self, begin: int, end: int) -> Waits:
        """Return the waits that overlap *begin* to *end* (ticks).

        Shape: (waits,) of each array. Unit: ticks. Source: ScaleGraph.
        """
        chosen = (self.rows.end > begin) & (self.rows.begin < end)
        rows = self.rows.take(chosen)
        delayed = None if self.delayed is None else self.delayed[chosen]
        return replace(self, rows=rows, first=rows.starts(len(self.since)), delayed=delayed)

    def ways_to(self, rows: Rows) -> list[tuple[int, ...]]:
        """Return for each wait the call path of its location, outermost region first, just before the end of the wait.

        Shape: (rows,). Unit: none (numbers of regions). Source: ScaleGraph.
        """
        if self.delayed is None:
            inner = self.stacks.at(rows.location, rows.end, before=True)
            return [self.stacks.path(int(row)) for row in inner]
        places = zip(rows.location.tolist(), rows.end.tolist(), rows.region.tolist(), strict=True)
        return [self.ways.get((location, end), (region,)) for location, end, region in places]

    @property
    def present(self) -> Array:
        """Whether each location does anything or waits; some traces name locations without events.

        Shape: (locations,). Unit: none. Source: ScaleGraph.
        """
        reported: Array = (self.since <= self.until) | (self.first[1:] > self.first[:-1])
        return reported

    @property
    def assumed(self) -> int:
        """Number of waits that assume that the first location of a group starts the others.

        Unit: none (count). Source: ScaleGraph.
        """
        return int(np.count_nonzero((self.rows.cause == Cause.START) & ~self.rows.told))

    @property
    def derived(self) -> int:
        """Number of waits whose holder is derived rather than recorded, except those at the end of the run.

        Unit: none (count). Source: ScaleGraph.
        """
        return int(np.count_nonzero(~self.rows.told & (self.rows.holder >= 0) & (self.rows.cause != Cause.ENDED)))


def _merged(one: Rows, other: Rows) -> Rows:
    """Return both, which do not overlap, sorted."""
    return in_order(Rows.joined((one, other))) if len(other) else one


def _told(trace: Trace) -> Rows:
    found = trace.columns("waits")
    count = len(trace.definitions.locations)
    inside = (found["location"] >= 0) & (found["location"] < count) & (found["end"] > found["begin"])
    found = {name: values[inside] for name, values in found.items()}
    holder = found["holder"]
    holder = np.where((holder < count) & (holder != found["location"]), holder, -1)
    causes = np.full(256, Cause.OTHER, np.uint8)
    for why, cause in _CAUSES.items():
        causes[why] = cause
    region = np.where(found["region"] < len(trace.definitions.regions), found["region"], -1)
    released = np.minimum(found["released"], found["end"])
    # a message in transit when the wait began had been sent before
    way = (found["why"] == Wait.RECEIVE) & (released != NO_TIME) & (released <= found["begin"])
    return Rows.make(
        begin=found["begin"],
        end=found["end"],
        location=found["location"],
        holder=holder,
        released=released,
        cause=np.where(way, Cause.TRANSIT, causes[found["why"]]),
        region=region,
        object=found["object"],
        told=True,
        jump=way | (released == NO_TIME) | (released > found["begin"]),
    )


def _while_idle(trace: Trace, kinds: AbstractSet[str], there: Rows, derived: Rows) -> Rows:
    """Return the *derived* waits where the accounts of a simulated run also say that a location was idle (*there*).

    *kinds*: what the whole run has rows of.

    The processor cost of messages and operations is inside them, too, and nobody waits during it.
    """
    if trace.meta.source != "simulated":
        return derived
    done = derived.take(derived.cause == Cause.COMPLETION)
    derived = derived.take(derived.cause != Cause.COMPLETION)
    if "shares" not in kinds:  # a simulated run records all waits or none
        return done if "waits" in kinds else Rows.joined((done, derived))
    count = len(trace.definitions.locations)
    return Rows.joined((done, common(in_order(derived), there, count)))


def _ended(there: idle.Presence, end: int) -> Rows:
    """Return all idle times; locations with nothing left to do at the *end* wait for the last one still active."""
    rows = there.idle
    ended = (rows.cause == Cause.ENDED) & (rows.end == end)
    until = there.last.copy()  # all may leave their outermost region when the run ends
    until[rows.location[ended]] = rows.begin[ended]
    last = int(np.argmax(until)) if len(until) else -1
    waits = ended & (rows.location != last)
    return replace(
        rows, holder=np.where(waits, last, rows.holder).astype(np.int32), released=np.where(waits, end, rows.released)
    )


def _named(reported: Rows, idle_rows: Rows, count: int) -> Rows:
    """Return *reported* plus the waits recorded by states where the trace names no other cause."""
    other = np.flatnonzero(reported.cause == Cause.OTHER)
    if not len(other) or not len(idle_rows):
        return reported
    row = place(idle_rows.starts(count), idle_rows.begin, reported.location[other], reported.end[other], before=True)
    says = (row >= 0) & (idle_rows.end[row] >= reported.end[other]) & (idle_rows.cause[row] != Cause.UNKNOWN)
    cause = reported.cause.copy()
    cause[other[says]] = idle_rows.cause[row[says]]
    return replace(reported, cause=cause)


def _with_release(reported: Rows, derived: Rows, count: int) -> Rows:
    """Return *reported* with the releases that only collective operations record."""
    lacking = np.flatnonzero(reported.released == NO_TIME)
    if not len(lacking):
        return reported
    released = reported.released.copy()
    derived = in_order(derived)  # waits of zero length are left out
    if len(derived):
        row = place(
            derived.starts(count), derived.begin, reported.location[lacking], reported.end[lacking], before=True
        )
        when = derived.released[row]
        good = (row >= 0) & (derived.holder[row] == reported.holder[lacking])
        good &= (when > reported.begin[lacking]) & (when <= reported.end[lacking])
        released[lacking[good]] = when[good]
    released = np.where(released == NO_TIME, reported.end, released)
    return replace(reported, released=released)


def _of_operations(reported: Rows, derived: Rows, count: int) -> Rows:
    """Return *reported* with waits in a collective operation assigned to the last member to arrive, as in *derived*.

    A trace of messages records whose message ended each wait: a neighbour in the operation's tree, which waited, too.
    """
    derived = in_order(derived.take(derived.holder >= 0))
    if not len(derived) or not len(reported):
        return reported
    row = place(derived.starts(count), derived.begin, reported.location, reported.begin)
    inside = (row >= 0) & (reported.cause == Cause.COLLECTIVE)
    inside &= (reported.begin < derived.released[row]) & (reported.end <= derived.end[row])
    inside &= reported.end >= derived.released[row]
    return replace(
        reported,
        cause=np.where(inside, derived.cause[row], reported.cause).astype(np.uint8),
        holder=np.where(inside, derived.holder[row], reported.holder).astype(np.int32),
        released=np.where(inside, derived.released[row], reported.released),
        jump=reported.jump | inside,
    )


def _at_calls(trace: Trace, stacks: Stacks, kinds: AbstractSet[str], doubts: list[str], beyond: Beyond | None) -> Rows:
    found, unusual = call_waits(trace, stacks, idle.operations(trace, kinds), beyond)
    if unusual:
        doubts.append(
            f"Regions named like barriers whose calls do not match: {thousands(unusual)};"
            " no waits are derived from them."
        )
    return found


def _placed(rows: Rows, stacks: Stacks) -> Rows:
    """Return *rows* with the region in which the location was just before the end of its wait."""
    lacking = np.flatnonzero(rows.region < 0)
    region = rows.region.copy()
    region[lacking] = stacks.region_of(stacks.at(rows.location[lacking], rows.end[lacking], before=True))
    return replace(rows, region=region)
