"""The sentence above a picture: shortened where the picture needs the room, unfolded by a click."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from scalegraph.gui.base.widgets import elided

FOLDED: Final = " … ▸"  # at the end of a sentence that a click unfolds
UNFOLDED: Final = " ▾"
_AROUND: Final = 24  # pixels beside it


class Sentence(QLabel):
    """A text that wraps and can be copied. *toggled*: a click folded or unfolded it."""

    toggled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._whole = ""
        self._unfolded = False
        self.setProperty("role", "sentence")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_text(self, text: str, width: int, lines: int | None) -> None:
        """Show *text* in at most so many *lines* of *width* pixels (``None``: all of it) unless a click unfolded it."""
        if text != self._whole:
            self._whole, self._unfolded = text, False
        short = text if lines is None else elided(text, self.fontMetrics(), width - _AROUND, lines, FOLDED)
        folds = short != text
        shown = text + UNFOLDED if folds and self._unfolded else short
        if shown != self.text():
            self.setText(shown)
        self.setCursor(Qt.CursorShape.PointingHandCursor if folds else Qt.CursorShape.ArrowCursor)
        self.setToolTip(text if folds and not self._unfolded else "")
        self.setAccessibleName(text)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click, not the end of a selection, unfolds or folds it."""
        super().mouseReleaseEvent(event)
        if self.text() != self._whole and event.button() is Qt.MouseButton.LeftButton and not self.hasSelectedText():
            self._unfolded = not self._unfolded
            self.toggled.emit()
