"""A view that temporarily fills the whole area."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow
from shiboken6 import isValid

from scalegraph.gui.dock.view_dock import ViewDock

_WIDE: Final = 900  # pixels that show a six-column table completely


@contextmanager
def at_once(window: QMainWindow | None) -> Iterator[None]:
    """Lay out the docks of *window* once, at the end: Qt would at every dock that is shown, and ask all of them."""
    layout = window.layout() if window is not None and isValid(window) else None
    if layout is None:
        yield
        return
    layout.setEnabled(False)
    try:
        yield
    finally:
        layout.setEnabled(True)
        layout.activate()


class Maximised:
    """Tracks the maximised view of a desk, and the previous sizes."""

    def __init__(self) -> None:
        self.dock: ViewDock | None = None
        self._docks: Sequence[ViewDock] = ()
        self._window: QMainWindow | None = None
        self._before: list[tuple[ViewDock, int, int]] = []  # dock, width, height (pixels)

    def show(self, dock: ViewDock, docks: Sequence[ViewDock], window: QMainWindow) -> None:
        """Maximise *dock*: hide the other *docks* of *window*."""
        if dock.isFloating():
            dock.setFloating(False)
        inside = [other for other in docks if not other.isFloating() and not other.visibleRegion().isEmpty()]
        self._before = [(other, other.width(), other.height()) for other in inside]
        self.dock, self._window = dock, window
        with at_once(window):
            for other in docks:
                if other is not dock:
                    other.hide()
            dock.show()
        dock.title.show_maximised(True)

    def widen(self, dock: ViewDock, place: ViewDock | None, docks: Sequence[ViewDock], window: QMainWindow) -> None:
        """Maximise *dock* if it is a wide view and *place*, where it opened, is narrow."""
        if dock.view.wide and place is not None and place.width() < _WIDE and not dock.isFloating():
            self.show(dock, docks, window)

    def end(self, docks: Sequence[ViewDock]) -> None:
        """Show all *docks* again."""
        dock, self.dock = self.dock, None
        if dock is None:
            return
        dock.title.show_maximised(False)
        with at_once(self._window):
            for other in docks:
                other.show()
        self._resize()

    def closed(self, dock: ViewDock, docks: Sequence[ViewDock]) -> None:
        """Show the other *docks* after *dock* was closed while maximised."""
        if self.dock is not dock:
            return
        self.dock = None
        with at_once(self._window):
            for other in docks:
                other.setVisible(other is not dock)
        self._resize()

    def _resize(self) -> None:
        """Restore the sizes that the views had before, and which are in front.

        Not by `QMainWindow.restoreState`: each call leaves the old tab bars visible below the working ones.
        """
        shown = [entry for entry in self._before if isValid(entry[0]) and not entry[0].isFloating()]
        docks = [dock for dock, _, _ in shown]
        for dock in docks:
            dock.raise_()  # Qt shows any of the tabs in a place whose docks were all hidden
        if self._window is not None and isValid(self._window):
            self._window.resizeDocks(docks, [width for _, width, _ in shown], Qt.Orientation.Horizontal)
            self._window.resizeDocks(docks, [height for _, _, height in shown], Qt.Orientation.Vertical)
