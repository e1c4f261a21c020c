"""Text widgets of a figure: labels, and the message in place of a picture."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

_STATE_WIDTH: Final = 520  # pixels of a message in place of a picture


class FigureState(QWidget):
    """A message, and perhaps a button, in place of a picture."""

    def __init__(self) -> None:
        super().__init__()
        self._text = figure_label("state")
        self._text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._text.setMaximumWidth(_STATE_WIDTH)
        self.retry = QPushButton("Try again")
        self.retry.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        middle = QHBoxLayout()
        middle.addStretch(1)
        middle.addWidget(self._text, 1000)  # up to its maximum width, centred
        middle.addStretch(1)
        layout.addLayout(middle)
        layout.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addStretch(1)

    def say(self, text: str, *, fault: bool = False, retry: bool = False) -> None:
        """Show *text*."""
        self._text.setText(text)
        self._text.setProperty("role", "fault" if fault else "muted")
        self._text.style().polish(self._text)
        self.retry.setVisible(retry)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: a narrower text is higher."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        margins = self.contentsMargins()
        room = self.width() - margins.left() - margins.right() - 24
        self._text.setMinimumHeight(max(0, self._text.heightForWidth(max(60, min(_STATE_WIDTH, room)))))

    def text(self) -> str:
        """Return the message."""
        return self._text.text()


def figure_label(role: str) -> QLabel:
    """Return a label whose text wraps and can be copied."""
    label = QLabel()
    label.setProperty("role", role)
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
    label.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return label
