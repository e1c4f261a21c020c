"""The open views of one study, with their places and changed options."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.dock.desk_window import DeskWindow
from scalegraph.gui.dock.remembered import Remembered
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.option_history import OptionHistory, Place
from scalegraph.subjects.option import OptionValue
from scalegraph.views.families import SHOW_AS

if TYPE_CHECKING:
    from scalegraph.gui.dock.view_dock import ViewDock


class Desk:
    """The open views of one study, and the window that holds them."""

    def __init__(self, handle: Handle) -> None:
        self.handle = handle
        self.docks: list[ViewDock] = []
        self.window = DeskWindow()  # one window per desk: docks are placed by name, and two studies have the same views
        self.arranged = False
        self.arrangement = ""  # name of the arrangement last applied
        self.remembered = Remembered()
        self.history = OptionHistory(self._apply)
        self._used: ViewDock | None = None  # the view that last had the focus
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(tied(self.window, lambda _old, new: self._focused(new)))
        self._queue: list[ViewDock] = []  # views that have yet to follow a dragged line
        self._drawing: ViewDock | None = None

    def _focused(self, new: QWidget | None) -> None:
        for dock in self.docks:
            if new is not None and isValid(dock) and (dock is new or dock.isAncestorOf(new)):
                self._used = dock

    def current(self) -> ViewDock | None:
        """Return the view that has or last had the focus, else the last opened visible one."""
        self._focused(QApplication.focusWidget())
        if self._used in self.docks and self._used is not None and not self._used.visibleRegion().isEmpty():
            return self._used
        inside = [dock for dock in self.docks if not dock.isFloating()]
        there = [dock for dock in inside if not dock.visibleRegion().isEmpty()] or inside
        return there[-1] if there else None

    def largest(self) -> ViewDock | None:
        """Return the largest docked, visible view."""
        shown = [dock for dock in self.docks if not dock.isFloating() and not dock.visibleRegion().isEmpty()]
        return max(shown, key=lambda dock: dock.width() * dock.height(), default=self.current())

    def name_of(self, view: str, handle: Handle) -> str:
        """Return the name of the place of a *view* of the study *handle*."""
        return view if handle is self.handle else f"{view}@{handle.key}"

    def free_name(self, wanted: str) -> str:
        """Return *wanted*, with a number if another view has that name already: places and undo go by name."""
        taken = {dock.objectName() for dock in self.docks}
        numbered = (f"{wanted}#{number}" for number in count(1))
        return next(name for name in chain((wanted,), numbered) if name not in taken)

    def chose(self, dock: ViewDock, option: str, before: OptionValue, after: OptionValue) -> None:
        """Record that the user changed an option of *dock*, for undo."""
        arrangement = self.arrangement if option == SHOW_AS else ""  # "show as" belongs to the arrangement
        self.history.changed((*dock.place, arrangement), dock.view.title, option, before, after)

    def leave(self) -> None:
        """Remember what the current arrangement shows: it is about to be left."""
        self.remembered.leave(self.arrangement, [dock for dock in self.docks if dock.handle is self.handle])

    def tell_apart(self) -> None:
        """Give views that show the same a number, so that their tabs differ."""
        seen: dict[tuple[str, str], int] = {}
        for dock in self.docks:
            what = (dock.view.name, dock.handle.key)
            seen[what] = seen.get(what, 0) + 1
            dock.number(seen[what])

    def drag(self, dock: ViewDock, name: str, value: float, *, last: bool) -> None:
        """Make all views of *dock*'s study with the option *name* follow a dragged line."""
        mine = [other for other in self.docks if other.handle is dock.handle and other.has_option(name)]
        now = {(*other.place, ""): other.option(name) for other in mine}
        self.history.drag(name, now, value, last=last)
        # One after another: in parallel they would share one interpreter and all be late.
        order = sorted(mine, key=lambda other: (other is not dock, -other.width() * other.height()))
        for other in order:
            other.follow_drag(name, value, last=last)
        self._queue += [other for other in order if other not in self._queue]
        if self._drawing not in self.docks:
            self._draw_next()

    def _draw_next(self) -> None:
        self._drawing = None
        while self._queue:
            dock = self._queue.pop(0)
            if dock in self.docks and dock.drawing.stale and dock.furnished and dock.isVisible():
                self._drawing = dock
                dock.drawing.drawn.connect(self._drawn, Qt.ConnectionType.SingleShotConnection)
                dock.drawing.refresh()
                return

    def _drawn(self) -> None:
        self._draw_next()

    def _apply(self, place: Place, name: str, value: OptionValue) -> None:
        *at, arrangement = place
        if arrangement and arrangement != self.arrangement:
            self.remembered.choose(arrangement, at[0], value)
            return
        for dock in self.docks:
            if dock.place == tuple(at):
                dock.set_options({name: value})
