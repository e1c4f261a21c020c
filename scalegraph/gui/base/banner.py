"""An error or a remark shown inside the page: one sentence and a button, never a modal dialog."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from scalegraph.gui.base.layouts import vertical

_ANY = 16_777_215  # Qt's QWIDGETSIZE_MAX: no limit
_NARROWEST, _SPARE = 80, 4  # pixels of a folded sentence: at least; beyond what its font needs


class Banner(QFrame):
    """One sentence with an optional button; hidden while there is nothing to say.

    With *folds* it is one line of at most the `set_room` width, beside other widgets; *Details* unfolds it.
    """

    width_wanted = Signal(bool)  # whether it now needs a row of its own

    def __init__(self, parent: QWidget | None = None, *, folds: bool = False) -> None:
        super().__init__(parent)
        self._folds = folds
        self._folded = False
        self._room = _ANY
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
        self._row = row = QHBoxLayout()
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

    def show_fault(
        self, text: str, way: str = "", action: Callable[[], None] | None = None, *, folded: bool = True
    ) -> None:
        """Show an error; the button *way* calls *action*; unless *folded* it is shown whole."""
        self._show(text, "fault", way, action)
        if self._folds and not folded:
            self._fold(False)
            self._more.hide()

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
        self._fold(self._folds)
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

    def set_room(self, width: int) -> None:
        """Set how many pixels it may take while it is folded."""
        self._room = width
        if self._folded:
            self._fit()

    def _fit(self) -> None:
        """Show the sentence, elided if the banner is folded."""
        short = self._whole
        self._text.setMinimumWidth(0)
        self._text.setMaximumWidth(_ANY)
        self._text.setWordWrap(not self._folded)
        if self._folded:
            metrics = self._text.fontMetrics()
            needed = metrics.horizontalAdvance(self._whole) + _SPARE
            width = min(needed, max(_NARROWEST, self._room - self._beside(needed)))
            self._text.setFixedWidth(width)
            short = metrics.elidedText(self._whole, Qt.TextElideMode.ElideRight, width)
        if short != self._text.text():
            self._text.setText(short)
        self._text.setToolTip("" if short == self._whole else self._whole)
        self._text.setAccessibleDescription(self._whole)
        if self._folds:  # if unfolded, offer to fold it again
            unfolded = self._more.text() != "Details"
            self._more.setVisible(bool(self._details.text()) or short != self._whole or unfolded)

    def _beside(self, needed: int) -> int:
        """Return the pixels of the buttons beside a folded sentence that needs *needed* pixels."""
        margins = self._column.contentsMargins()
        buttons = [button for button in (self._way, self._away) if not button.isHidden()]
        gap = max(0, self._row.spacing())
        around = margins.left() + margins.right() + sum(button.sizeHint().width() + gap for button in buttons)
        if self._details.text() or around + needed > self._room:
            around += self._more.sizeHint().width() + gap
        return around

    def _show_details(self, on: bool) -> None:
        self._details.setVisible(on)
        self._more.setText("Fewer details" if on else "Details")

    def _go(self) -> None:
        action = self._action
        self.clear()
        if action is not None:
            action()
