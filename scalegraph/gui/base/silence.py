"""A stretch of a trace without events: a note in its picture, with buttons to the nearest events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QToolButton, QWidget

from scalegraph.gui.base.layouts import vertical

if TYPE_CHECKING:
    from scalegraph.subjects.option import OptionValue
    from scalegraph.subjects.trace import TraceData

_NEAR: Final = 0.25  # fraction of the visible stretch: distance from its edge to the event gone to


@dataclass(frozen=True)
class Silence:
    """No event between *before* and *after* (s from the start of the run); None: no event on that side."""

    before: float | None
    after: float | None
    tick: float

    def holds(self, begin: float, end: float) -> bool:
        """Return whether the stretch lies within the silence."""
        return (self.before is None or self.before < begin) and (self.after is None or end < self.after)


def silence(data: TraceData, options: Mapping[str, OptionValue]) -> Silence | None:
    """Return the silence that a view with *options* shows, None if it shows any event. Not for Qt's thread."""
    from scalegraph.subjects import window as trace_window

    if "begin" not in options or not data.trace.counts():
        return None
    window = trace_window.window(data, *(options.get(name) for name in ("begin", "end", "locations")))
    found = data.timeline.silence(window.begin, window.end, window.locations)
    if found is None:
        return None
    before, after = (None if tick is None else float(data.seconds(tick)) for tick in (found.before, found.after))
    return Silence(before, after, 1 / data.trace.meta.ticks_per_second)


def stretch_at(moment: float, width: float, *, back: bool) -> tuple[float, float]:
    """Return the stretch of *width* that shows *moment*, after a jump *back* or forward to it."""
    begin = moment - (1 - _NEAR if back else _NEAR) * width
    return begin, begin + width


class SilenceNote(QFrame):
    """A note that floats over the picture of a silent stretch."""

    wanted = Signal(float, bool)  # a moment (s) to show; whether it is earlier

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("silence")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self._silence: Silence | None = None
        self.said = QLabel("Nothing begins or ends here.")
        self.before, self.after = self._button(back=True), self._button(back=False)
        column = vertical(self, (8, 4, 8, 4), spacing=2)
        column.addWidget(self.said, 0, Qt.AlignmentFlag.AlignHCenter)
        row = QHBoxLayout()
        for widget in (self.before, self.after):
            row.addWidget(widget)
        column.addLayout(row)
        self.hide()

    def _button(self, *, back: bool) -> QToolButton:
        made = QToolButton()
        made.setToolTip(f"Show {'the last event before' if back else 'the next event'} ({'P' if back else 'N'})")
        made.clicked.connect(lambda: self._go(back=back))
        return made

    def tell(self, silence: Silence | None, shown: tuple[float, float], room: QSize) -> None:
        """Show the note if all of *shown* is silent, shortened to fit *room*."""
        from scalegraph.figures.timelines import time_text

        self._silence = silence
        self.said.show()
        if silence is None or not silence.holds(*shown):
            self.hide()
            return
        finest = max(silence.tick, (shown[1] - shown[0]) / 2000)
        for button, at, words in (
            (self.before, silence.before, "◀ last at {}  (P)"),
            (self.after, silence.after, "next at {}  (N) ▶"),
        ):
            button.setVisible(at is not None)
            button.setText("" if at is None else words.format(time_text(at, finest)))
            button.setAccessibleName(button.text())
        self.said.setVisible(self.sizeHint().height() <= room.height())
        if self.sizeHint().width() > room.width():
            self.before.setText("◀ (P)")
            self.after.setText("(N) ▶")
            self.said.setVisible(self.said.isVisibleTo(self) and self.sizeHint().width() <= room.width())
        self.adjustSize()
        self.show()

    def _go(self, *, back: bool) -> None:
        at = None if self._silence is None else self._silence.before if back else self._silence.after
        if at is not None:
            self.wanted.emit(at, back)
