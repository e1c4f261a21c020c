"""Records of ranks on several computers, converted to one clock: that of rank 0.

The error of the clock comparison may be longer than a message takes. So a message may still be received before it was
sent, and a member may leave a collective operation before it can. In those cases the controlled logical clock moves the
receive, and everything after it on that computer, to the moment of the send. The correction then decays: stretches
after it are shortened by 1/128 until the times agree with the clock again. All ranks of a computer are moved alike, as
they share a clock.

Source: R. Rabenseifner, The controlled logical clock - a global time for trace based software monitoring of parallel
applications in workstation clusters (1997), with control variable 127/128 and no minimum message time; collective
operations as by D. Becker, R. Rabenseifner, F. Wolf, J. C. Linford, Scalable timestamp synchronization for event traces
of message-passing applications (2009). Times before a late receive are left alone (no backward amortization).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from scalegraph.base.errors import WorkError
from scalegraph.base.units import si
from scalegraph.link.accounting import computer
from scalegraph.link.targets._clocks import clocks
from scalegraph.link.targets._collectives import operations, until_when
from scalegraph.runtime.format import EVENT
from scalegraph.traces.matching import partners

if TYPE_CHECKING:
    from scalegraph.link.targets._records import Process
    from scalegraph.runtime.results import Records, Result
    from scalegraph.traces.kinds import Array

_BEGINNING: Final = [EVENT[name] for name in ("share", "wait", "sent", "taken", "collective")]  # `first` is a time, too
_MESSAGES: Final = [EVENT["sent"], EVENT["taken"]]
_OF_HEADER: Final = ("begin", "end", "asked_begin", "asked_end")
_ABSORBED: Final = 128  # ticks after which the correction shrinks by one tick
_ROUNDS: Final = 64  # a correction may require others, each on another computer


def _none() -> Array:
    return np.zeros(0, np.int64)


@dataclass
class _Moved:
    """The correction of one computer's times. *at*: from when on; *most*: the maximum of need * 128 + at so far."""

    at: Array = field(default_factory=_none)
    most: Array = field(default_factory=_none)

    @classmethod
    def by(cls, at: Array, need: Array) -> _Moved:
        """Return the correction that moves each time *at* by at least *need*."""
        order = np.argsort(at, kind="stable")
        at, need = at[order], need[order]
        return cls(at, np.maximum.accumulate(need * _ABSORBED + at))

    @property
    def greatest(self) -> int:
        """The largest correction."""
        return int((self.most - self.at).max(initial=0)) // _ABSORBED

    def applied(self, ticks: Array) -> Array:
        """Return the corrected *ticks*; their order is preserved. Shape: that of *ticks*."""
        if not len(self.at):
            return ticks
        place = np.searchsorted(self.at, ticks, side="right") - 1
        by = -((ticks - self.most[np.maximum(place, 0)]) // _ABSORBED)
        moved: Array = ticks + np.where(place >= 0, np.maximum(by, 0), 0)
        return moved


def convert(parts: Sequence[Process], results: Sequence[Result]) -> tuple[str, ...]:
    """Convert all times of *parts* to those of rank 0, if they are from several computers; return a remark on that.

    *results*: of the same processes. A time is right to the error of the clocks, which the remark states. Raises
    `WorkError` if the clocks were not compared.
    """
    each, compared = clocks(results)
    if not compared:
        return ()
    names = [computer(result) for result in results]
    if any(name != names[0] and not clock.foreign for name, clock in zip(names, each, strict=True)):
        raise WorkError(compared)
    for part, clock in zip(parts, each, strict=True):
        _apply(part, clock.converted)
        part.header["clock_hz"] = parts[0].header["clock_hz"]
    ordered = _in_order(parts, np.unique(names, return_inverse=True)[1].reshape(-1))
    return (f"trace: {compared}; {ordered}",)


def _apply(part: Process, change: Callable[[Array], Array]) -> None:
    """Apply *change* to all times in *part*."""
    event, records = part.records["event"], part.records
    for name, rows in (("time", event != EVENT["carried"]), ("first", np.isin(event, _BEGINNING))):
        records[name][rows] = change(records[name][rows].astype(np.int64))
    shares = event == EVENT["share"]
    records["second"][shares] = records["time"][shares] - records["first"][shares]
    for name in _OF_HEADER:
        if part.header[name]:
            part.header[name] = change(np.array([part.header[name]], np.int64))[0]


def _in_order(parts: Sequence[Process], where: Array) -> str:
    """Correct times of *parts*, on the computers *where*, so that every receive follows its send; return a remark."""
    links = _Links(parts, where)
    messages, members, moved = links.settled()
    said = f"{messages or 'none'} of {links.count} messages between computers"
    if moved is None:
        return f"{said} were received before they were sent, but clocks contradict each other: times are kept"
    for part, place in zip(parts, where, strict=True):
        _apply(part, moved[place].applied)
    if not (most := max(one.greatest for one in moved)):
        return f"{said} was received before it was sent"
    early = f", {members} members left a collective operation before they could" if members else ""
    by = si(most / float(parts[0].header["clock_hz"]), "s")
    return f"{said} were received before they were sent{early}: times after that were moved, by up to {by}"


class _Links:
    """Order constraints between computers: messages, and members of a collective operation that wait."""

    def __init__(self, parts: Sequence[Process], where: Array) -> None:
        self._where, self._threads = where, parts[0].threads
        rows: Records = np.concatenate([part.records[np.isin(part.records["event"], _MESSAGES)] for part in parts])
        sends = rows["event"] == EVENT["sent"]
        here, there = rows["processor"].astype(np.int64) // self._threads, rows["region"].astype(np.int64)
        sender, receiver = np.where(sends, here, there), np.where(sends, there, here)
        partner = partners(sends, rows["first"], rows["second"], sender, receiver)
        sent = np.flatnonzero(sends & (partner >= 0) & (where[sender] != where[receiver]))
        self._begin, self._source = rows["first"][sent].astype(np.int64), where[sender[sent]]
        self._end, self._target = rows["time"][partner[sent]].astype(np.int64), where[receiver[sent]]
        self._members, self._carried = operations(parts)
        self._at = where[self._members["processor"].astype(np.int64) // self._threads]

    @property
    def count(self) -> int:
        """The number of messages."""
        return len(self._end)

    def settled(self) -> tuple[int, int, list[_Moved] | None]:
        """Return how many messages and members violate the order, and the correction of each computer.

        The last is None if the constraints contradict each other.
        """
        moved = [_Moved() for _ in range(int(self._where.max()) + 1)]
        messages = members = 0
        for turn in range(_ROUNDS):
            came, bound = self._last_of_others(moved)
            at = np.concatenate([self._end, self._members["time"][bound].astype(np.int64)])
            on = np.concatenate([self._target, self._at[bound]])
            least = np.concatenate([_by_computer(moved, self._begin, self._source), came])
            late = _by_computer(moved, at, on) < least
            if turn == 0:
                messages, members = int(late[: self.count].sum()), int(late[self.count :].sum())
            if not late.any():
                return messages, members, moved
            need = np.maximum(least - at, 0)
            rows = [np.flatnonzero((on == one) & (need > 0)) for one in range(len(moved))]
            moved = [_Moved.by(at[mine], need[mine]) for mine in rows]
        return messages, members, None

    def _last_of_others(self, moved: Sequence[_Moved]) -> tuple[Array, Array]:
        """Return the arrivals that members of an operation wait for, if on another computer; and which members."""
        if not len(self._members):
            return _none(), _none()
        rows = self._members.copy()
        rows["first"] = _by_computer(moved, rows["first"].astype(np.int64), self._at)
        until, holder, operation = until_when(rows, self._carried)
        bound = np.flatnonzero((operation >= 0) & (holder >= 0))
        bound = bound[self._where[holder[bound] // self._threads] != self._at[bound]]
        return until[bound], bound


def _by_computer(moved: Sequence[_Moved], ticks: Array, where: Array) -> Array:
    """Return *ticks* with the correction in *moved* of each one's computer, *where*. Shape: that of *ticks*."""
    found = ticks.copy()
    for number, one in enumerate(moved):
        mine = where == number
        found[mine] = one.applied(ticks[mine])
    return found
