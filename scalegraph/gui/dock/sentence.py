"""The sentence above a picture: shortened to leave the picture room, unfolded by a click."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QLabel, QSizePolicy

from scalegraph.gui.base.widgets import elided

FOLDED: Final = " … ▸"  # ends a folded sentence
UNFOLDED: Final = " ▾"
_AROUND: Final = 24  # pixels beside it


class Sentence(QLabel):
    """Wrapping text that can be copied. *toggled*: a click folded or unfolded it."""

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
        """Show *text* in at most *lines* lines of *width* pixels (``None``: all), unless a click unfolded it."""
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
        """Qt: fold or unfold on a click, but not at the end of a text selection."""
        super().mouseReleaseEvent(event)
        if self.text() != self._whole and event.button() is Qt.MouseButton.LeftButton and not self.hasSelectedText():
            self._unfolded = not self._unfolded
            self.toggled.emit()
