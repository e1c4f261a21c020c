"""The sentence above a study: two lines of it at most, all of it in its tooltip."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from scalegraph.gui.widgets import elided

LINES: Final = 2
_AROUND: Final = 24  # pixels that the style sheet leaves left and right


class Headline(QLabel):
    """A sentence that ends in dots where it would take more than `LINES` lines; it can be selected and copied."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setProperty("role", "verdict")
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setAccessibleName("Verdict")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def setText(self, text: str) -> None:
        """Show *text*, or as much of it as has room."""
        self._whole = text
        self.setAccessibleDescription(text)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: the room changed."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Qt: the size of text may have changed."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        shown = elided(self._whole, self.fontMetrics(), self.width() - _AROUND, LINES)
        if shown != self.text():
            super().setText(shown)
        self.setToolTip("" if shown == self._whole else self._whole)
