"""The docks around the pages: shown if they have content and the user has not closed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.dock.desk_window import tend_tabs


@dataclass
class Panel:
    """One dock: its pages, and whether the user wants it."""

    dock: QDockWidget
    pages: frozenset[str]
    action: QAction
    wanted: bool
    useful: bool = False  # whether it has content


_ROOMY: Final = 1600  # pixels, independent of the scale factor
_CROWDED: Final = 1400  # narrower windows hide the navigator while a right dock is shown
_RIGHT: Final = ("inspector", "whatif")
_LEAST: Final = {"navigator": (200, 200), "inspector": (240, 200), "queue": (320, 110), "whatif": (290, 200)}
_AREAS: Final = {
    "navigator": Qt.DockWidgetArea.LeftDockWidgetArea,
    "inspector": Qt.DockWidgetArea.RightDockWidgetArea,
    "whatif": Qt.DockWidgetArea.RightDockWidgetArea,
    "queue": Qt.DockWidgetArea.BottomDockWidgetArea,
}


class Panels(QObject):
    """Owns the window's docks and decides which are visible."""

    def __init__(self, window: QMainWindow, settings: Settings) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        self._panels: dict[str, Panel] = {}
        self._page = ""
        self._kept = False  # whether the user opened the navigator in a narrow window
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)

    def add(self, name: str, title: str, widget: QWidget, pages: set[str], action: QAction) -> None:
        """Add *widget* as the dock *name*, shown on *pages* and switched by *action*."""
        dock = QDockWidget(title, self._window)
        dock.setObjectName(name)
        dock.setWidget(widget)
        widget.setMinimumSize(*_LEAST[name])
        dock.hide()
        self._window.addDockWidget(_AREAS[name], dock)
        for other in self._panels.values():  # one place, with tabs if both are shown
            if _AREAS[other.dock.objectName()] == _AREAS[name]:
                self._window.tabifyDockWidget(other.dock, dock)
        first = name != "whatif" and (name != "inspector" or self._roomy())
        wanted = self._settings.flag(f"panel/{name}", first)
        self._panels[name] = Panel(dock, frozenset(pages), action, wanted)
        action.setChecked(wanted)
        action.triggered.connect(tied(dock, lambda: self._asked(name)))
        dock.visibilityChanged.connect(lambda _on: self._closed_by_user(name))

    def size(self, sizes: Mapping[str, int]) -> None:
        """Set the docks' initial widths or heights (pixels)."""
        for name, pixels in sizes.items():
            along = Qt.Orientation.Vertical if name == "queue" else Qt.Orientation.Horizontal
            self._window.resizeDocks([self._panels[name].dock], [pixels], along)

    def want(self, name: str, on: bool) -> None:
        """Show or hide a dock at the user's request; shown even if it is empty."""
        panel = self._panels[name]
        panel.wanted = on
        panel.useful = panel.useful or on
        if name == "navigator":
            self._kept = on and self._crowded()
        elif name in _RIGHT and on:
            self._kept = False
        self._settings.set_flag(f"panel/{name}", on)
        self._show()
        if on:
            self._raise(name)

    def _asked(self, name: str) -> None:
        """Hide a visible dock; show one that is hidden or behind a tab."""
        dock = self._panels[name].dock
        self.want(name, dock.isHidden() or dock.visibleRegion().isEmpty())
        if not dock.isHidden() and dock.widget().focusProxy() is not None:  # a panel that is worked with
            dock.widget().setFocus()

    def _raise(self, name: str) -> None:
        """Raise a dock above those in the same place."""
        dock = self._panels[name].dock
        if dock.isHidden():
            return  # on another page
        layout = self._window.layout()
        if layout is not None:
            layout.activate()  # creates the tab of a dock just shown
        dock.raise_()

    def use(self, name: str, on: bool) -> None:
        """Set whether a dock has content."""
        if self._panels[name].useful != on:
            self._panels[name].useful = on
            self._show()

    def show_page(self, page: str) -> None:
        """Show the docks of *page*."""
        self._page = page
        self._show()

    def again(self) -> None:
        """Restore the docks' visibility after Qt restored a saved state."""
        self._show()

    def _roomy(self) -> bool:
        """Return whether the screen has room for the inspector beside two columns of views."""
        return self._window.screen().availableGeometry().width() >= _ROOMY

    def _crowded(self) -> bool:
        """Return whether docks on both sides would leave the views little room."""
        there = [self._panels[name] for name in _RIGHT if name in self._panels]
        right = any(panel.wanted and panel.useful and self._page in panel.pages for panel in there)
        return right and self._window.width() < _CROWDED

    def _due(self, panel: Panel) -> bool:
        """Return whether a dock should be visible now."""
        due = panel.wanted and panel.useful and self._page in panel.pages
        return due and not (panel.dock.objectName() == "navigator" and not self._kept and self._crowded())

    def _show(self) -> None:
        for panel in self._panels.values():
            shown = self._due(panel)
            panel.action.setChecked(shown)
            panel.action.setEnabled(self._page in panel.pages)
            panel.dock.setVisible(shown)
        tend_tabs(self._window, "Panels in this place")

    def _closed_by_user(self, name: str) -> None:
        panel = self._panels[name]
        # Closed by its own button: tabs and minimising do not hide a dock.
        if panel.dock.isHidden() and self._due(panel):
            panel.wanted = False
            panel.action.setChecked(False)
            self._settings.set_flag(f"panel/{name}", False)
            self._show()  # the other side may fit again
