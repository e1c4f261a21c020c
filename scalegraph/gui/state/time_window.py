"""The stretch of time that all views of a trace show: one for each open trace, with a way back."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

_HISTORY_LIMIT: Final = 200
_REST_MS: Final = 400  # without a move: then where one is counts as a step of the history
_SMALLEST: Final = 1e-12  # of the whole; below that doubles end


class TimeWindow(QObject):
    """Begin and end in seconds from the start of the run, always within it, never empty."""

    changed = Signal(float, float)  # at every move: begin, end
    history_changed = Signal()
    gutter_changed = Signal()

    def __init__(self, length: float = 1.0, tick: float = 1e-9, parent: QObject | None = None) -> None:
        """*length* of the run and length of its *tick* in seconds; no window is shorter than ten ticks."""
        super().__init__(parent)
        self._length, self._least = 1.0, 1e-9
        self._begin, self._end = 0.0, 1.0
        self._past: list[tuple[float, float]] = []
        self._future: list[tuple[float, float]] = []
        self._rest = QTimer(self, singleShot=True, interval=_REST_MS)
        self._rest.timeout.connect(self._settle)
        self._settled = (0.0, 1.0)
        self._gutters: dict[int, int] = {}
        self.set_length(length, tick)

    def set_length(self, length: float, tick: float) -> None:
        """Take another length; all of it is shown and there is no history."""
        self._length = max(length, tick, 1e-15)
        self._least = min(self._length, max(10 * tick, self._length * _SMALLEST))
        self._past.clear()
        self._future.clear()
        self._begin, self._end = 0.0, self._length
        self._settled = self.shown
        self.changed.emit(self._begin, self._end)
        self.history_changed.emit()

    @property
    def gutter(self) -> int:
        """Pixels for names left of the time in all views that are visible, so that their times are in one line."""
        return max(self._gutters.values(), default=0)

    def ask_gutter(self, view: int, pixels: int) -> None:
        """Request so many *pixels* for the names of *view* (any number that is its own); 0 when it is hidden."""
        before = self.gutter
        if pixels:
            self._gutters[view] = pixels
        else:
            self._gutters.pop(view, None)
        if self.gutter != before:
            self.gutter_changed.emit()

    @property
    def length(self) -> float:
        """Length of the run in seconds."""
        return self._length

    @property
    def shown(self) -> tuple[float, float]:
        """What is shown: begin and end in seconds."""
        return self._begin, self._end

    @property
    def width(self) -> float:
        """How much is shown, in seconds."""
        return self._end - self._begin

    @property
    def whole(self) -> bool:
        """Whether all of the run is shown."""
        return self.shown == (0.0, self._length)

    @property
    def can_go_back(self) -> bool:
        """Whether another time was shown before."""
        return bool(self._past) or self.shown != self._settled

    @property
    def can_go_forward(self) -> bool:
        """Whether `back` can be undone."""
        return bool(self._future)

    def show(self, begin: float, end: float, *, step: bool = True) -> None:
        """Show from *begin* to *end*; a jump is a *step* of the history, dragging becomes one when it rests."""
        width = min(max(end - begin, self._least), self._length)
        begin = (begin + end - width) / 2 if width != end - begin else begin
        begin = min(max(begin, 0.0), self._length - width)
        after = (begin, self._length if begin + width >= self._length else begin + width)
        if after == self.shown:
            return
        if step:
            self._settle()
        self._begin, self._end = after
        if step:
            self._settle()
        else:
            self._rest.start()
        self.changed.emit(*after)

    def fit(self) -> None:
        """Show all of the run."""
        self.show(0.0, self._length)

    def zoom(self, factor: float, at: float | None = None) -> None:
        """Show *factor* of what is shown; the moment *at* (seconds; the middle) stays where it is."""
        begin, end = self.shown
        at = (begin + end) / 2 if at is None else min(max(at, begin), end)
        width = min(max(factor * (end - begin), self._least), self._length)
        share = (at - begin) / (end - begin)
        start = at - share * width
        self.show(start, start + width, step=False)

    def move(self, share: float) -> None:
        """Move by *share* of what is shown, to later times if it is positive."""
        begin, end = self.shown
        self.show(begin + share * (end - begin), end + share * (end - begin), step=False)

    def reach(self, begin: float, end: float, *, margin: float = 1.0) -> None:
        """Show the stretch from *begin* to *end* with *margin* of its length on either side."""
        more = margin * max(end - begin, self._least)
        self.show(begin - more, end + more)

    def back(self) -> None:
        """Show what was shown before."""
        self._settle()
        if self._past:
            self._future.append(self.shown)
            self._go(self._past.pop())

    def forward(self) -> None:
        """Take back one `back`."""
        self._settle()
        if self._future:
            self._past.append(self.shown)
            self._go(self._future.pop())

    def _go(self, where: tuple[float, float]) -> None:
        self._begin, self._end = self._settled = where
        self.changed.emit(*where)
        self.history_changed.emit()

    def _settle(self) -> None:
        self._rest.stop()
        if self.shown != self._settled:
            self._past.append(self._settled)
            del self._past[:-_HISTORY_LIMIT]
            self._future.clear()
            self._settled = self.shown
            self.history_changed.emit()
