"""State of a replay: position, speed and range. Independent of Qt and of clocks, so tests can set the time.

Moments are seconds from the start of the run; clock values are seconds from any origin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

USUAL_SECONDS: Final = 20.0  # in which the visible time plays by default
FASTER: Final = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # than that


@dataclass
class ReplayState:
    """A moment that moves from *begin* to *end*; *speed* is seconds of the run per second."""

    begin: float = 0.0
    end: float = 1.0
    now: float = 0.0
    speed: float = 1.0
    loop: bool = False
    playing: bool = False
    _clock: float = 0.0  # its value when the replay was at `_from`
    _from: float = 0.0

    @property
    def length(self) -> float:
        """Duration of the range."""
        return self.end - self.begin

    def play(self, clock: float) -> None:
        """Play on from the current position, or from the beginning if it is at the end or outside."""
        if not self.begin <= self.now < self.end:
            self.now = self.begin
        self.playing = self.length > 0
        self._anchor(clock)

    def pause(self, clock: float) -> None:
        """Stop at the current position."""
        self.advance(clock)
        self.playing = False

    def advance(self, clock: float) -> float:
        """Return the position at a clock value, however often it is called.

        At the end it stops, or starts again if looping.
        """
        if not self.playing:
            return self.now
        there = self._from + max(0.0, clock - self._clock) * self.speed
        if there < self.end:
            self.now = there
        elif self.loop:
            self.now = self.begin + math.fmod(there - self.begin, self.length)
            self._anchor(clock)
        else:
            self.now, self.playing = self.end, False
        return self.now

    def seek(self, seconds: float, clock: float) -> None:
        """Go to a moment within the range."""
        self.now = min(max(seconds, self.begin), self.end)
        self._anchor(clock)

    def set_speed(self, speed: float, clock: float) -> None:
        """Change the speed from now on."""
        self.advance(clock)
        self.speed = speed
        self._anchor(clock)

    def set_bounds(self, begin: float, end: float, clock: float) -> None:
        """Set the range *begin* to *end*; a position outside of it moves to the beginning."""
        self.advance(clock)
        self.begin, self.end = begin, max(begin, end)
        if not self.begin <= self.now <= self.end:
            self.now = self.begin
        self._anchor(clock)

    def share(self) -> float:
        """Return the position as a fraction of the range, 0 to 1."""
        return (self.now - self.begin) / self.length if self.length > 0 else 0.0

    def at_share(self, share: float) -> float:
        """Return the moment at a fraction of the range, 0 to 1."""
        return self.begin + min(max(share, 0.0), 1.0) * self.length

    def _anchor(self, clock: float) -> None:
        self._clock, self._from = clock, self.now


def usual_speed(width: float) -> float:
    """Return a round speed at which *width* (s of the run) plays in about `USUAL_SECONDS`."""
    wanted = max(width, 1e-15) / USUAL_SECONDS
    power = 10.0 ** math.floor(math.log10(wanted))
    step = min((1.0, 2.0, 5.0, 10.0), key=lambda one: abs(math.log(one * power / wanted)))
    return float(f"{step * power:.1g}")


def speed_words(speed: float) -> str:
    """Return a speed for display: ``500 µs per second``, ``real time``."""
    from scalegraph.base.units import si

    if speed == 1.0:
        return "real time"
    number, _, unit = si(speed, "s", 2).partition(" ")
    return f"{number.removesuffix('.0')} {unit} per second"


def scrolled(begin: float, end: float, now: float) -> tuple[float, float] | None:
    """Return the range to show so that *now* is visible, of the same width; ``None`` if it already is."""
    if begin <= now <= end:
        return None
    width = end - begin
    # turn a page, keeping a little of the previous one
    start = now - 0.1 * width
    return start, start + width
