"""The bar above the views: arrangements, a message, a menu of views, tiling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QWidget

from scalegraph.figures.way import Need
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.menus import grouped
from scalegraph.gui.base.widgets import ElidedLabel, empty
from scalegraph.gui.dock.arrangements import key_of
from scalegraph.views.view import Subject, View

_TOOLS_NEED: Final = 620  # pixels for a trace's tools beside the arrangements
_MESSAGE_NEED: Final = 160  # pixels below which a message is useless


class ViewBar(QWidget):
    """Offers what fits the current study or trace; *data* returns its data, None if not yet loaded."""

    arrangement_wanted = Signal(str)
    view_wanted = Signal(str)

    def __init__(self, data: Callable[[], Any]) -> None:
        super().__init__()
        self._data = data
        self._tools: QWidget | None = None
        self._offered: tuple[str, Sequence[str]] = ("", ())
        self._subject: Subject | None = None
        self._marked = ""
        bar = horizontal(self, (8, 0, 8, 0), spacing=2)
        self._arrangements = QWidget()
        horizontal(self._arrangements, spacing=2)
        bar.addWidget(self._arrangements)
        self.folded = QToolButton()  # replaces the names when they do not fit
        self.folded.setText("Arrangement ▾")
        self.folded.setToolTip("Arrange the views (number keys)")
        self.folded.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.folded.setProperty("arrow", "own")
        self.folded.setMenu(QMenu(self.folded))
        self.folded.hide()
        bar.addWidget(self.folded)
        self.message = ElidedLabel()
        self.message.setProperty("role", "muted")
        self.message.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)  # the names come first
        bar.addWidget(self.message, 1)
        self.add = QToolButton()
        self.add.setText("Add view ▾")
        self.add.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add.setProperty("arrow", "own")
        self._menu = QMenu(self.add)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self._filled_for: Subject | None = None
        self.add.setMenu(self._menu)
        bar.addWidget(self.add)
        self.tile = QToolButton()
        self.tile.setText("Tile")
        self.tile.setToolTip("Tile all views")
        bar.addWidget(self.tile)

    def offer(self, subject: Subject, arrangements: Sequence[str]) -> None:
        """Offer the views of *subject* and *arrangements*."""
        if self._offered == (subject, arrangements):
            return
        self._offered, self._subject = (subject, arrangements), subject
        layout, menu = self._arrangements.layout(), self.folded.menu()
        assert layout is not None
        empty(layout)
        for before in menu.actions():
            menu.removeAction(before)
            before.deleteLater()
        for name in arrangements:
            action = QAction(name, menu)
            key = key_of(name)
            action.setToolTip(f"Arrange the views: {name}" + (f" ({key})" if key else ""))
            action.setCheckable(True)
            action.triggered.connect(lambda _=False, name=name: self._want(name))
            menu.addAction(action)
            shown = QToolButton()
            shown.setDefaultAction(action)
            layout.addWidget(shown)
            shown.show()  # now, because `fit` measures the names
        self.add.setToolTip(f"Open another view of this {subject}")
        self.mark(self._marked)
        self.fit()

    def _want(self, name: str) -> None:
        self.mark(self._marked)  # undo Qt's check mark: the arrangement has not been applied yet, and may not be
        self.arrangement_wanted.emit(name)

    def mark(self, name: str) -> None:
        """Check the arrangement *name*; none if it is not offered."""
        self._marked = name
        menu = self.folded.menu()
        for action in menu.actions() if menu is not None else ():
            action.setChecked(action.text() == name)
        self.folded.setText(f"{name or 'Arrangement'} ▾")

    def _fill(self) -> None:
        """Fill the views' menu when it is opened: it has about forty entries and is seldom used."""
        subject = self._subject
        if subject is None or subject == self._filled_for:
            return
        self._filled_for = subject
        self._menu.clear()
        for old in self._menu.findChildren(QMenu):
            old.deleteLater()
        for group, members in grouped(subject).items():
            of_group = QMenu(group, self._menu)
            self._menu.addMenu(of_group)
            of_group.setToolTipsVisible(True)
            for view in members:
                action = QAction(view.title, of_group)
                action.setToolTip(view.description)
                action.setData(view)
                action.triggered.connect(lambda _=False, view=view: self.view_wanted.emit(self._first(view)[0]))
                of_group.addAction(action)
            of_group.aboutToShow.connect(self._hint)
        self._menu.addSeparator()
        everything = QAction("Give every view a tile", self._menu)
        everything.triggered.connect(lambda _=False: self.tile.click())
        self._menu.addAction(everything)

    def _hint(self) -> None:
        """Mark views in the open menu that lack data; studies to compare with are chosen later."""
        menu = self.sender()
        for action in menu.actions() if isinstance(menu, QMenu) else ():
            view = action.data()
            _, lacking = self._first(view)
            action.setText(view.title if lacking is None else f"{view.title} (empty)")
            action.setToolTip(view.description if lacking is None else f"{view.description}\n{lacking.general}")

    def _first(self, view: View) -> tuple[str, Need | None]:
        """Return the name of the family's first view that has data, or of *view* and what it lacks if none has."""
        data = self._data()
        if data is None or view.several:
            return view.name, None
        lacking = {member.name: member.lacking(data, member.check({})) for member in view.members}
        shown = next((name for name, need in lacking.items() if need is None), view.name)
        return shown, lacking[shown]

    def hold(self, tools: QWidget) -> None:
        """Show *tools* in the middle of the bar; while hidden, the message has that place."""
        bar = self.layout()
        assert isinstance(bar, QHBoxLayout)
        bar.insertWidget(bar.indexOf(self.message), tools, 3)
        self._tools = tools

    def fit(self) -> None:
        """Fold the arrangements into a menu if their names do not fit."""
        held = _TOOLS_NEED if self._offered[0] == "trace" and self._tools is not None else 0
        said = min(_MESSAGE_NEED, self.message.fontMetrics().horizontalAdvance(self.message.text()))
        rest = held + said + self.add.sizeHint().width() + self.tile.sizeHint().width() + 40
        room = self.width() >= self._arrangements.sizeHint().width() + rest
        self._arrangements.setVisible(room)
        self.folded.setVisible(not room)
        small = held + said + self.folded.sizeHint().width() + self.add.sizeHint().width() + 40
        self.tile.setVisible(self.width() >= small + self.tile.sizeHint().width())  # otherwise it is in the menu beside

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: fit the bar to the new width."""
        super().resizeEvent(event)
        self.fit()

    def say(self, text: str) -> None:
        """Show the message *text* beside the arrangements."""
        self.message.setText(text)
        self.message.setToolTip(text)
        self.message.setVisible(bool(text) or self._tools is None or self._tools.isHidden())
        self.fit()
