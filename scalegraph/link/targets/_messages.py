"""Messages of measured runs: which receive got which message, and for whom each wait was.

Each process records its own sends and receives; nothing is added to a message, and no extra message is sent. All
processors of a computer share the time stamp, so times of sender and receiver can be compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from scalegraph.runtime.format import EVENT, TRACE_COMMUNICATORS, TRACE_RECORD
from scalegraph.traces.kinds import Wait
from scalegraph.traces.matching import partners

if TYPE_CHECKING:
    from scalegraph.runtime.results import Records
    from scalegraph.traces.kinds import Array

_COMMUNICATOR: Final = {name: number for number, (name, _) in enumerate(TRACE_COMMUNICATORS)}
_NUMBER: Final = (1 << 32) - 1  # of a stream: its communicator, 0 for MPI_COMM_WORLD; the tag is in the higher bits


def matched(records: Records, threads: int) -> Records:
    """Return *records* of all processes with messages in place of sends and receives; waits for them get a holder.

    *threads*: locations of each process. Sends that nobody received, and receives whose send was not recorded, are left
    out.
    """
    is_send, is_receive = records["event"] == EVENT["sent"], records["event"] == EVENT["taken"]
    at = np.flatnonzero(is_send | is_receive)
    if not len(at):
        return records
    rows, sends = records[at], is_send[at]
    here, there = rows["processor"] // threads, rows["region"]
    sender, receiver = np.where(sends, here, there), np.where(sends, there, here)
    partner = partners(sends, rows["first"], rows["second"], sender, receiver)
    sent = np.flatnonzero(sends & (partner >= 0))
    taken = rows[partner[sent]]
    messages = _messages(rows[sent], records[at[sent] + 1], taken)
    _find_senders(records, rows[sent], taken)
    kept = ~(is_send | is_receive)
    kept[at[sends] + 1] = False  # the size of each
    return np.concatenate([records[kept], messages])


def _messages(sent: Records, sizes: Records, taken: Records) -> Records:
    """Return both records of each message, one after the other."""
    made = np.zeros(2 * len(sent), TRACE_RECORD)
    message, parcel = made[::2], made[1::2]
    message["event"], parcel["event"] = EVENT["message"], EVENT["parcel"]
    message["processor"], parcel["processor"] = taken["processor"], taken["processor"]
    message["region"], message["time"] = sent["processor"], taken["time"]
    message["first"] = np.minimum(sent["first"], taken["time"])
    message["second"] = taken["first"]
    parcel["time"] = np.clip(sent["time"], message["first"], taken["time"])
    parcel["first"], parcel["second"] = sizes["first"], sent["second"] >> np.uint64(32)
    world = (sent["second"] & np.uint64(_NUMBER)) == 0
    parcel["what"] = np.where(world, _COMMUNICATOR["world"], _COMMUNICATOR["other"])
    return made


def _find_senders(records: Records, sent: Records, taken: Records) -> None:
    """Set the holder of waits for messages: the sender of the last one, if it was sent after the wait began.

    For a wait for a receiver, it is whoever posts the receive, if that was after the wait began.
    """
    waits = np.flatnonzero(records["event"] == EVENT["wait"])
    for why, own, other in ((Wait.RECEIVE, taken, sent), (Wait.SEND, sent, taken)):
        moment = other["first"]  # when the partner began to send, or posted its receive
        mine = waits[records["what"][waits] == why]
        order = np.argsort(moment, kind="stable")
        found = _last(own[order], records[mine])
        mine, found = mine[found >= 0], order[found[found >= 0]]
        late = moment[found] >= records["first"][mine]
        mine, found = mine[late], found[late]
        records["region"][mine + 1] = other["processor"][found].astype(np.uint32) + 1
        records["time"][mine + 1] = np.minimum(moment[found], records["time"][mine])


def _last(ends: Records, waits: Records) -> Array:
    """Return the last of *ends* with the location and the time of each of *waits*; -1 if there is none."""
    places = np.concatenate([np.stack([rows["processor"], rows["time"]], axis=1) for rows in (ends, waits)])
    number = np.unique(places.astype(np.int64), axis=0, return_inverse=True)[1].reshape(-1)
    last = np.full(len(places), -1)
    last[number[: len(ends)]] = np.arange(len(ends))
    found: Array = last[number[len(ends) :]]
    return found
