"""Waits for messages."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.trace.candidates import Cause, Rows
from scalegraph.analyze.trace.interval import Beyond
from scalegraph.analyze.trace.stacks import Stacks
from scalegraph.traces.kinds import NO_TIME, Array, Columns
from scalegraph.traces.model import Trace


def message_waits(trace: Trace, stacks: Stacks, calls: Array, beyond: Beyond | None = None) -> Rows:
    """Return late senders, messages in transit and late receivers.

    *calls* says for each region whether it communicates: a wait begins when such a call is entered, or later. The
    fastest transfer times also use messages *beyond* a part of a trace.

    Shape: (rows,) of each array. Unit: ticks. Source: late sender and late receiver of Scalasca (Geimer and others
    2010).
    """
    locations = len(trace.definitions.locations)
    found = trace.columns("messages")
    known = (found["sent"] != NO_TIME) & (found["received"] != NO_TIME) & (found["sender"] != found["receiver"])
    known &= (found["received"] >= found["sent"]) & (found["sender"] >= 0) & (found["receiver"] >= 0)
    known &= (found["sender"] < locations) & (found["receiver"] < locations)
    found = found if known.all() else {name: values[known] for name, values in found.items()}
    if not len(found["sent"]):
        return Rows.none()
    asked, waits = _asked(found, stacks, calls)
    held, sends = _sends(found, asked, waits, stacks, calls)
    # a message whose sender waits for the receiver is in transit only from then on
    return Rows.joined((_receives(found, asked, waits, held, beyond), sends))


def _entered(stacks: Stacks, calls: Array, location: Array, time: Array, *, before: bool) -> Array:
    """Return the enter of the communicating call that *location* is in at *time*; -1: none."""
    return stacks.innermost(stacks.at(location, time, before=before), calls)


def _asked(found: Columns, stacks: Stacks, calls: Array) -> tuple[Array, Array]:
    """Return since when each receiver only waited for its message, and for which rows that is known."""
    posted, received = found["posted"], found["received"]
    call = _entered(stacks, calls, found["receiver"], received, before=True)
    tells = (posted != NO_TIME) & (posted < received)
    asked = np.where(tells, posted, NO_TIME)
    if len(stacks.time):
        asked = np.maximum(asked, np.where(call >= 0, stacks.time[call], NO_TIME))
    return asked, (asked != NO_TIME) & ~_elsewhere(stacks, call, found["receiver"], received)


def _elsewhere(stacks: Stacks, call: Array, location: Array, time: Array) -> Array:
    """Return where a location is in regions none of which communicates (*call* is -1): it did something else."""
    return (call < 0) & (stacks.at(location, time, before=True) >= 0)


def _receives(found: Columns, asked: Array, waits: Array, held: Array, beyond: Beyond | None) -> Rows:
    sent, received, size = found["sent"], found["received"], found["size"]
    waits = waits & (received > asked)
    late = sent > asked
    # could not have arrived yet: the fastest message of the same size bounds the transfer time from below
    sizes, kind = np.unique(size, return_inverse=True)
    if beyond is None:
        fastest = np.full(len(sizes), 2**62)
        np.minimum.at(fastest, kind, received - sent)
    else:
        fastest = beyond.fastest[np.searchsorted(beyond.sizes, sizes)]
    transit = ~late & ~held & (sent + fastest[kind] > asked)
    rows = np.flatnonzero(waits & (late | transit))
    return Rows.make(
        begin=asked[rows],
        end=received[rows],
        location=found["receiver"][rows],
        holder=found["sender"][rows],
        released=sent[rows],
        cause=np.where(late, Cause.LATE_SENDER, Cause.TRANSIT)[rows],
        object=found["tag"][rows],
    )


def _sends(found: Columns, asked: Array, waits: Array, stacks: Stacks, calls: Array) -> tuple[Array, Rows]:
    """Return which messages were held up by their receiver, and the waits of their senders."""
    sent, left, who = found["sent"], found["left"], found["sender"]
    call = _entered(stacks, calls, who, sent, before=False)
    there = call
    if len(stacks.time):
        # the source records no end of the send: the send takes as long as its call
        short = (left <= sent) & (call >= 0)
        left = np.where(short, np.maximum(left, stacks.leave(np.where(short, call, -1))), left)
        # a send that ends later, in another call, made the location wait in that call only
        there = _entered(stacks, calls, who, left, before=True)
        sent = np.where(there >= 0, np.maximum(sent, stacks.time[there]), sent)
    held = waits & (asked > sent) & (left > asked) & ~_elsewhere(stacks, there, who, left)
    rows = np.flatnonzero(held)
    return held, Rows.make(
        begin=sent[rows],
        end=left[rows],
        location=who[rows],
        holder=found["receiver"][rows],
        released=asked[rows],
        cause=Cause.LATE_RECEIVER,
        object=found["tag"][rows],
    )
