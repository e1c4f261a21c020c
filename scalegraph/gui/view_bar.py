"""The line above the views: ready-made arrangements of what is in view, a message, another view, tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from scalegraph import views
from scalegraph.gui.widgets import ElidedLabel
from scalegraph.views.view import Subject

_GROUPS: Final = (
    "Overview",
    "Scalability",
    "Lost time",
    "Cache and memory",
    "What would change it",
    "Models",
    "Isospeed",
    "Regions",
    "Compare",
)


class ViewBar(QWidget):
    """Offers what fits what is in view, a study or a trace."""

    arrangement_wanted = Signal(str)
    view_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._offered: tuple[str, Sequence[str]] = ("", ())
        bar = QHBoxLayout(self)
        bar.setContentsMargins(8, 3, 8, 3)
        bar.setSpacing(2)
        self._arrangements = QToolBar()  # it hides what has no room behind an arrow
        self._arrangements.setStyleSheet("QToolBar { border: none; padding: 0; }")
        bar.addWidget(self._arrangements)
        self.message = ElidedLabel()
        self.message.setProperty("role", "muted")
        self.message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # the names come first
        bar.addWidget(self.message, 1)
        self.add = QToolButton()
        self.add.setText("Add view ▾")
        self.add.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._menu = QMenu(self.add)
        self._menu.setToolTipsVisible(True)
        self.add.setMenu(self._menu)
        bar.addWidget(self.add)
        self.tile = QToolButton()
        self.tile.setText("Tile")
        self.tile.setToolTip("Tile all views")
        bar.addWidget(self.tile)

    def offer(self, subject: Subject, arrangements: Sequence[str]) -> None:
        """Offer the views of *subject* and *arrangements*, whose numbers are their keys."""
        if self._offered == (subject, arrangements):
            return
        self._offered = (subject, arrangements)
        self._arrangements.clear()
        for number, name in enumerate(arrangements, 1):
            action = QAction(name, self._arrangements)
            action.setToolTip(f"Arrange the views: {name} ({number})")
            action.triggered.connect(lambda _=False, name=name: self.arrangement_wanted.emit(name))
            self._arrangements.addAction(action)
        self.add.setToolTip(f"Open another view of this {subject}")
        self._menu.clear()
        group = ""
        for view in sorted(views.registry(subject).values(), key=_order):
            if view.group != group:
                self._menu.addSection(view.group)
                group = view.group
            action = QAction(view.title, self._menu)
            action.setToolTip(view.description)
            action.triggered.connect(lambda _=False, name=view.name: self.view_wanted.emit(name))
            self._menu.addAction(action)

    def say(self, text: str) -> None:
        """Show *text* beside the arrangements."""
        self.message.setText(text)
        self.message.setToolTip(text)


def _order(view: views.View) -> tuple[int, str, int]:
    known = _GROUPS.index(view.group) if view.group in _GROUPS else len(_GROUPS)
    return known, view.group, view.order
