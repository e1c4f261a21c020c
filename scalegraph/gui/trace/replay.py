"""The replay of one open trace: a line that moves through all views over time, and the moment they show."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.state.replay_state import ReplayState, scrolled, usual_speed
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_marks import REPLAY, Moment, TraceMarks

_TICK_MS: Final = 33


class TraceReplay(QObject):
    """Plays the run, or an interval of it.

    The position depends on *clock* alone, so a tick delayed by slow drawing shows a later moment.
    """

    moved = Signal(float)  # seconds from the start of the run
    changed = Signal()  # playing, speed, interval or visibility

    def __init__(
        self,
        window: TimeWindow,
        marks: TraceMarks,
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._window, self._marks, self._clock = window, marks, clock
        self.state = ReplayState(end=window.length)
        self.shown = False  # whether the line is shown; not before its first use
        self._held = False  # the pointer holds the line, which then must not move
        self._chosen: float | None = None  # speed; None: the visible time plays in the usual time
        self._interval: tuple[float, float] | None = None
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self.tick)
        window.changed.connect(tied(self, lambda _begin, _end: self._resized()))
        self._resized()

    # what it is

    @property
    def now(self) -> float:
        """The current position in seconds."""
        return self.state.now

    @property
    def place(self) -> float:
        """Where a step starts: the current position, or the beginning of the visible time before first use."""
        if self.shown or self._interval is not None:
            return self.state.now
        return self._window.shown[0]

    @property
    def playing(self) -> bool:
        """Whether it is playing."""
        return self.state.playing

    @property
    def speed(self) -> float:
        """Seconds of the run per second."""
        return self.state.speed

    @property
    def chosen_speed(self) -> float | None:
        """The chosen speed, ``None`` for the usual one."""
        return self._chosen

    # user actions

    def toggle(self) -> None:
        """Play or pause."""
        if self.playing:
            self.pause()
        else:
            self.play()

    def play(self) -> None:
        """Play on from the current position; the first time from the beginning of the visible time."""
        if not self.shown and self._interval is None:
            self.state.seek(self._window.shown[0], self._clock())
        self._held = False
        self.state.play(self._clock())
        if self.playing:
            self._timer.start()
        self._tell(follow=True)
        self.changed.emit()

    def pause(self) -> None:
        """Stop at the current position."""
        self.state.pause(self._clock())
        self._timer.stop()
        self._tell(follow=True)
        self.changed.emit()

    def seek(self, seconds: float) -> None:
        """Go to a moment and show it."""
        self.state.seek(seconds, self._clock())
        self._tell(follow=True)

    def drag(self, seconds: float) -> None:
        """Go to a moment and stay there until `let_go`, even while playing."""
        self._held = True
        self.seek(seconds)

    def let_go(self) -> None:
        """End a `drag`; playing continues from there."""
        self._held = False
        self.state.seek(self.now, self._clock())

    def hide(self) -> None:
        """Stop and hide the line."""
        if self.playing:
            self.pause()
        if self.shown:
            self.shown = False
            self._marks.show(REPLAY, ())
            self.changed.emit()

    def set_speed(self, speed: float | None) -> None:
        """Set the *speed* (s of the run per s); ``None`` plays the visible time in the usual time."""
        self._chosen = speed
        self.state.set_speed(speed or usual_speed(self._window.width), self._clock())
        self.changed.emit()

    def set_loop(self, on: bool) -> None:
        """Start again at the end, or stop there."""
        self.state.loop = on
        self.changed.emit()

    def set_interval(self, interval: tuple[float, float] | None) -> None:
        """Play only *interval* (s), or the whole run."""
        if interval is not None and interval[1] <= interval[0]:
            interval = None
        self._interval = interval
        begin, end = interval or (0.0, self._window.length)
        if (begin, end) != (self.state.begin, self.state.end):
            self.state.set_bounds(begin, end, self._clock())
            if self.shown:
                self._tell(follow=False)
            self.changed.emit()

    # time

    def tick(self) -> None:
        """Show the current position."""
        if self._held:
            return
        self.state.advance(self._clock())
        ended = not self.playing
        self._tell(follow=True)
        if ended:
            self._timer.stop()
            self.changed.emit()

    def _tell(self, *, follow: bool) -> None:
        now = self.state.now
        began, self.shown = not self.shown, True
        self._marks.show(REPLAY, (Moment(now, "", REPLAY),))
        page = scrolled(*self._window.shown, now) if follow else None
        if page is not None:
            self._window.show(*page, step=False)
        self.moved.emit(now)
        if began:
            self.changed.emit()

    def _resized(self) -> None:
        """Adapt to a new length of the run or width of the visible time."""
        if self._interval is None and self.state.end != self._window.length:
            self.state.set_bounds(0.0, self._window.length, self._clock())
        usual = usual_speed(self._window.width)
        if self._chosen is None and usual != self.state.speed:
            self.state.set_speed(usual, self._clock())
            self.changed.emit()
