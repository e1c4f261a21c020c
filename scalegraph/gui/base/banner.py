"""An error or a remark shown inside the page: one sentence and a button, never a modal dialog."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.widgets import elided

_ANY = 16_777_215  # Qt's QWIDGETSIZE_MAX: no limit
_LINES = 2  # lines of a folded remark
_WIDEST, _SPARE = 260, 20  # pixels: width of a folded remark; slack per line so that it wraps into two


class Banner(QFrame):
    """One sentence with an optional button; hidden while there is nothing to say.

    With *folds* a remark takes at most two lines, so it fits beside other widgets; *Details* unfolds it.
    """

    width_wanted = Signal(bool)  # whether it now needs a row of its own

    def __init__(self, parent: QWidget | None = None, *, folds: bool = False) -> None:
        super().__init__(parent)
        self._folds = folds
        self._folded = False
        self._whole = ""
        self._text = QLabel()
        self._text.setWordWrap(True)
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setAccessibleName("Message")
        self._details = QLabel()
        self._details.setTextFormat(Qt.TextFormat.PlainText)
        self._details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._details.setProperty("role", "muted")
        self._details.setWordWrap(True)
        self._details.setAccessibleName("Details")
        self._details.hide()
        self._more = QPushButton("Details")
        self._more.setProperty("flat", True)
        self._more.clicked.connect(self._unfold)
        self._way = QPushButton()
        self._way.clicked.connect(self._go)
        self._away = QPushButton("Dismiss")
        self._away.setProperty("flat", True)
        self._away.setAccessibleName("Dismiss")
        self._away.clicked.connect(self.clear)
        self._action: Callable[[], None] | None = None
        self._column = column = vertical(self, (10, 6, 6, 6), spacing=4)
        row = QHBoxLayout()
        column.addLayout(row)
        column.addWidget(self._details)
        row.addWidget(self._text, 1)
        row.addWidget(self._more)
        row.addWidget(self._way)
        row.addWidget(self._away)
        self.hide()

    @property
    def text(self) -> str:
        """The sentence shown, or an empty string."""
        return "" if self.isHidden() else self._whole

    @property
    def details(self) -> str:
        """The text below the sentence, shown on request."""
        return self._details.text()

    def show_fault(self, text: str, way: str = "", action: Callable[[], None] | None = None) -> None:
        """Show an error; the button *way* calls *action*."""
        self._show(text, "fault", way, action)

    def show_remark(
        self, text: str, way: str = "", action: Callable[[], None] | None = None, details: str = ""
    ) -> None:
        """Show a remark; a button shows its *details*."""
        self._show(text, "remark", way, action, details)

    def clear(self) -> None:
        """Show nothing."""
        self.hide()

    def clear_fault(self) -> None:
        """Clear an error; a remark stays."""
        if self.property("banner") == "fault":
            self.clear()

    def _show(
        self,
        text: str,
        kind: Literal["fault", "remark"],
        way: str,
        action: Callable[[], None] | None,
        details: str = "",
    ) -> None:
        self._whole = text
        self._details.setText(details)
        self._more.setVisible(bool(details))
        self._show_details(False)
        self._action = action
        self._way.setText(way)
        self._way.setVisible(bool(way))
        self.setProperty("banner", kind)
        self._fold(self._folds and kind == "remark")
        self.show()

    def _unfold(self) -> None:
        """Show or hide the details and the rest of the sentence."""
        on = self._details.isHidden() if self._details.text() else self._folded
        self._show_details(on and bool(self._details.text()))
        self._more.setText("Fewer details" if on else "Details")
        if self._folds:
            self._fold(not on)

    def _fold(self, on: bool) -> None:
        self._folded = on
        self.setProperty("beside", on)
        self.style().unpolish(self)
        self.style().polish(self)
        self._away.setText("✕" if on else "Dismiss")
        self._column.setContentsMargins(*((8, 1, 2, 1) if on else (10, 6, 6, 6)))
        self._fit()
        self.width_wanted.emit(not on)

    def _fit(self) -> None:
        """Show the sentence, shortened if the banner is folded."""
        short = self._whole
        self._text.setMinimumWidth(0)
        self._text.setMaximumWidth(_ANY)
        if self._folded:
            metrics = self._text.fontMetrics()
            word = max(metrics.horizontalAdvance(word) for word in (self._whole or " ").split(" "))
            width = min(_WIDEST, max(word, metrics.horizontalAdvance(self._whole) // _LINES) + _SPARE)
            self._text.setFixedWidth(width)
            short = elided(self._whole, metrics, width - 4, _LINES)
        if short != self._text.text():
            self._text.setText(short)
        self._text.setToolTip("" if short == self._whole else self._whole)
        self._text.setAccessibleDescription(self._whole)
        if self._folds:  # if unfolded, offer to fold it again
            unfolded = self._more.text() != "Details"
            self._more.setVisible(bool(self._details.text()) or short != self._whole or unfolded)

    def _show_details(self, on: bool) -> None:
        self._details.setVisible(on)
        self._more.setText("Fewer details" if on else "Details")

    def _go(self) -> None:
        action = self._action
        self.clear()
        if action is not None:
            action()
