"""Messages of measured runs are matched by the order of sends and receives."""

from __future__ import annotations

import numpy as np

from scalegraph.link.targets._messages import matched
from scalegraph.runtime.format import EVENT, TRACE_RECORD, TRACE_WAITS

WHY = {name: number for number, (name, _) in enumerate(TRACE_WAITS)}


def send(sender: int, to: int, begin: int, end: int, size: int, tag: int = 0, communicator: int = 0) -> list[tuple]:
    """Return the two records of a send."""
    return [
        (EVENT["sent"], 0, sender, to, end, begin, communicator | tag << 32),
        (EVENT["parcel"], 0, sender, 0, end, size, 0),
    ]


def receive(receiver: int, of: int, posted: int, end: int, tag: int = 0, communicator: int = 0) -> list[tuple]:
    """Return the record of a receive."""
    return [(EVENT["taken"], 0, receiver, of, end, posted, communicator | tag << 32)]


def wait(why: str, location: int, begin: int, end: int) -> list[tuple]:
    """Return the two records of a wait without a known holder."""
    return [(EVENT["wait"], WHY[why], location, 0, end, begin, 0), (EVENT["waker"], 0, location, 0, end, 0, 0)]


def messages(records: np.ndarray) -> list[tuple[int, ...]]:
    """Return (sender, receiver, sent, left, posted, received, bytes, tag) of each message."""
    at = np.flatnonzero(records["event"] == EVENT["message"])
    pairs = zip(records[at].tolist(), records[at + 1].tolist(), strict=True)
    return sorted((m[3], m[2], m[5], p[4], m[6], m[4], p[5], p[6]) for m, p in pairs)


def test_receives_get_messages_in_the_order_in_which_they_were_posted_not_completed() -> None:
    rows = [
        *send(0, 1, 10, 12, 100),
        *send(0, 1, 20, 22, 200),
        *send(0, 1, 30, 90, 300, tag=5),
        *receive(1, 0, 7, 80),
        *receive(1, 0, 5, 85),
        *receive(1, 0, 6, 70, tag=5),
    ]
    assert messages(matched(np.array(rows, TRACE_RECORD), 1)) == [
        (0, 1, 10, 12, 5, 85, 100, 0),
        (0, 1, 20, 22, 7, 80, 200, 0),
        (0, 1, 30, 70, 6, 70, 300, 5),  # the send returned after its message had arrived
    ]


def test_communicators_and_ranks_keep_messages_apart() -> None:
    rows = [
        *send(0, 2, 1, 2, 8, communicator=9),
        *send(1, 2, 3, 4, 16),
        *receive(2, 1, 0, 10),
        *receive(2, 0, 0, 11, communicator=9),
        *receive(2, 0, 0, 12),
        *send(2, 0, 5, 6, 4),
    ]
    records = matched(np.array(rows, TRACE_RECORD), 1)
    assert messages(records) == [(0, 2, 1, 2, 0, 11, 8, 0), (1, 2, 3, 4, 0, 10, 16, 0)]
    assert len(records) == 4  # sends and receives without a partner are left out


def test_ranks_of_several_threads_are_found_by_their_processes() -> None:
    rows = [*send(1, 1, 1, 2, 8), *receive(3, 0, 0, 9)]  # second threads of ranks 0 and 1
    assert messages(matched(np.array(rows, TRACE_RECORD), 2)) == [(1, 3, 1, 2, 0, 9, 8, 0)]


def test_a_wait_has_the_partner_that_came_late() -> None:
    rows = [
        *send(0, 1, 40, 42, 8),
        *send(2, 1, 50, 52, 8),
        *wait("receive", 1, 10, 60),
        *receive(1, 0, 8, 60),
        *receive(1, 2, 9, 60),  # both complete in one call
        *send(0, 1, 70, 72, 8, tag=1),
        *wait("receive", 1, 80, 85),
        *receive(1, 0, 80, 85, tag=1),  # still under way
        *wait("send", 2, 100, 140),
        *send(2, 0, 100, 140, 8),
        *receive(0, 2, 130, 150),
        *wait("receive", 0, 200, 210),
    ]
    records = matched(np.array(rows, TRACE_RECORD), 1)
    at = np.flatnonzero(records["event"] == EVENT["wait"])
    holders = [(int(one["region"]) - 1, int(one["time"])) for one in records[at + 1]]
    assert holders == [(2, 50), (-1, 85), (0, 130), (-1, 210)]
