"""Conversion of time stamps between ranks on several computers.

Every rank compares its clock with rank 0's when MPI begins and when it ends (runtime/monitor/sgm_mpi_clock.c). A line
through both points gives rank 0's time for every time stamp, to half of the fastest message exchange. If the two points
are too close together for that, the better one and the measured frequencies are used. Ranks on one computer share its
time stamp counter, so the most exact of their comparisons with rank 0 serves all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from scalegraph.base.units import si
from scalegraph.link.accounting import computer, foreign

if TYPE_CHECKING:
    from scalegraph.runtime.results import Result
    from scalegraph.traces.kinds import Array

_FREQUENCY: Final = 5e-5  # relative error of the frequency that the monitor measures in 2 ms


@dataclass(frozen=True)
class Clock:
    """Converts time stamps of one process to those of rank 0. *error*: of the conversion, in ticks of rank 0."""

    own: float = 0.0
    there: float = 0.0
    rate: float = 1.0
    error: float = 0.0
    foreign: bool = False

    def converted(self, ticks: Array) -> Array:
        """Return *ticks* of the process as ticks of rank 0. Shape: that of *ticks*."""
        if not self.foreign:
            return ticks
        since = ticks.astype(np.int64) - np.int64(self.own)
        made: Array = (np.int64(self.there) + np.rint(since * self.rate).astype(np.int64)).astype(ticks.dtype)
        return made


def clocks(results: Sequence[Result]) -> tuple[list[Clock], str]:
    """Return the clock of each process, and a remark if they are on several computers.

    *results*: of all processes by rank.
    """
    if not results or not foreign(results, results[0]):
        return [Clock() for _ in results], ""
    hertz = float(results[0].meta["frequency_hz"])
    of_computer: dict[str, Clock] = {}
    for result in results:
        clock, name = _clock(result, results[0], hertz), computer(result)
        if clock is not None and (name not in of_computer or clock.error < of_computer[name].error):
            of_computer[name] = clock
    found = [of_computer.get(computer(result)) for result in results]
    number = len({computer(result) for result in results})
    if any(clock is None for clock in found):
        return [clock or Clock() for clock in found], f"ranks on {number} computers, whose clocks were not compared"
    made = [clock for clock in found if clock is not None]
    error = max(clock.error for clock in made) / hertz
    return made, f"ranks on {number} computers; their clocks were compared by messages, to {si(error, 's')}"


def _clock(result: Result, first: Result, hertz: float) -> Clock | None:
    """Return the conversion from the clock of *result* to that of *first*; None if they were not compared."""
    if computer(result) == computer(first):
        return Clock()
    compared = [tuple(map(int, result.meta[name].split())) for name in ("clock.0", "clock.1") if name in result.meta]
    if not compared:
        return None
    (own, there, error), (later, then, less) = compared[0], compared[-1]
    rate = hertz / float(result.meta["frequency_hz"])
    if error + less <= _FREQUENCY * (later - own):
        return Clock(own, there, (then - there) / (later - own), max(error, less) * rate, foreign=True)
    if less < error:
        own, there, error, later = later, then, less, own
    return Clock(own, there, rate, (error + _FREQUENCY * abs(later - own)) * rate, foreign=True)
