"""The line below a picture that says that its numbers are estimates."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy


class EstimatedLine(QLabel):
    """One line, never folded; in a narrow view its middle is elided, because the interval is at its end."""

    def __init__(self) -> None:
        super().__init__()
        self._whole = ""
        self.setProperty("role", "muted")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def show_text(self, text: str) -> None:
        """Show *text*; the empty text hides the line."""
        self._whole = text
        self.setAccessibleName(text)
        self.setVisible(bool(text))
        self._fit()

    def whole(self) -> str:
        """Return the text without an ellipsis."""
        return self._whole

    def minimumSizeHint(self) -> QSize:
        """Qt: one line, however narrow."""
        return QSize(0, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: elide the text for the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown = self.fontMetrics().elidedText(self._whole, Qt.TextElideMode.ElideMiddle, max(0, self.width() - 2))
        if shown != self.text():
            self.setText(shown)
        self.setToolTip(self._whole if shown != self._whole else "")
