"""The visible time of all views of an open trace, with a history."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal

_HISTORY_LIMIT: Final = 200
_REST_MS: Final = 400  # without a move, after which the range becomes a step of the history
_SMALLEST: Final = 1e-12  # of the whole: limit of double precision


class TimeWindow(QObject):
    """Begin and end in seconds from the start of the run, always within it, never empty."""

    changed = Signal(float, float)  # at every move: begin, end
    history_changed = Signal()
    gutter_changed = Signal()

    def __init__(self, length: float = 1.0, tick: float = 1e-9, parent: QObject | None = None) -> None:
        """*length* of the run and of its *tick* in seconds; the window is at least ten ticks wide."""
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
        """Set a new length of the run, show all of it and clear the history."""
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
        """Pixels for names left of the time axis, the same in all visible views so that their times align."""
        return max(self._gutters.values(), default=0)

    def ask_gutter(self, view: int, pixels: int) -> None:
        """Reserve *pixels* for the names of *view* (a number unique to it); 0 when it is hidden."""
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
        """The visible range: begin and end in seconds."""
        return self._begin, self._end

    @property
    def width(self) -> float:
        """Width of the visible range in seconds."""
        return self._end - self._begin

    @property
    def whole(self) -> bool:
        """Whether the whole run is visible."""
        return self.shown == (0.0, self._length)

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier range."""
        return bool(self._past) or self.shown != self._settled

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a `back` to undo."""
        return bool(self._future)

    def show(self, begin: float, end: float, *, step: bool = True) -> None:
        """Show *begin* to *end*; a jump is a *step* of the history, a drag becomes one when it rests."""
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
        """Show the whole run."""
        self.show(0.0, self._length)

    def zoom(self, factor: float, at: float | None = None) -> None:
        """Scale the visible range by *factor*; the moment *at* (seconds; default: the centre) stays in place."""
        begin, end = self.shown
        at = (begin + end) / 2 if at is None else min(max(at, begin), end)
        width = min(max(factor * (end - begin), self._least), self._length)
        share = (at - begin) / (end - begin)
        start = at - share * width
        self.show(start, start + width, step=False)

    def move(self, share: float) -> None:
        """Move by *share* of the visible range, later if positive."""
        begin, end = self.shown
        self.show(begin + share * (end - begin), end + share * (end - begin), step=False)

    def reach(self, begin: float, end: float, *, margin: float = 1.0) -> None:
        """Show *begin* to *end* with a *margin* on either side, in lengths of the range."""
        more = margin * max(end - begin, self._least)
        self.show(begin - more, end + more)

    def back(self) -> None:
        """Show the previous range."""
        self._settle()
        if self._past:
            self._future.append(self.shown)
            self._go(self._past.pop())

    def forward(self) -> None:
        """Undo one `back`."""
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
