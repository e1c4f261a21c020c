"""An error or a remark, where the user is: one sentence in the page, with a way on; never a box in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from scalegraph.gui.base.layouts import vertical


class Banner(QFrame):
    """One sentence with an optional button; hidden while there is nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        self._more.clicked.connect(lambda: self._show_details(self._details.isHidden()))
        self._way = QPushButton()
        self._way.clicked.connect(self._go)
        self._away = QPushButton("Dismiss")
        self._away.setProperty("flat", True)
        self._away.clicked.connect(self.clear)
        self._action: Callable[[], None] | None = None
        column = vertical(self, (10, 6, 6, 6), spacing=4)
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
        return "" if self.isHidden() else self._text.text()

    @property
    def details(self) -> str:
        """What is below the sentence once it is requested."""
        return self._details.text()

    def show_fault(self, text: str, way: str = "", action: Callable[[], None] | None = None) -> None:
        """Show what went wrong; *way* names a button that calls *action*."""
        self._show(text, "fault", way, action)

    def show_remark(
        self, text: str, way: str = "", action: Callable[[], None] | None = None, details: str = ""
    ) -> None:
        """Show a remark; *details* are shown when they are requested."""
        self._show(text, "remark", way, action, details)

    def clear(self) -> None:
        """Show nothing."""
        self.hide()

    def clear_fault(self) -> None:
        """Show nothing more of what went wrong; a remark stays."""
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
        self._text.setText(text)
        self._details.setText(details)
        self._more.setVisible(bool(details))
        self._show_details(False)
        self._action = action
        self._way.setText(way)
        self._way.setVisible(bool(way))
        self.setProperty("banner", kind)
        self.style().unpolish(self)
        self.style().polish(self)
        self.show()

    def _show_details(self, on: bool) -> None:
        self._details.setVisible(on)
        self._more.setText("Fewer details" if on else "Details")

    def _go(self) -> None:
        action = self._action
        self.clear()
        if action is not None:
            action()
