"""The docks around the pages: shown where they have something to say, unless the user has put them away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QDockWidget, QMainWindow, QWidget

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.settings import Settings


@dataclass
class Panel:
    """One dock: the pages it belongs to, and whether the user wants it."""

    dock: QDockWidget
    pages: frozenset[str]
    action: QAction
    wanted: bool
    useful: bool = False  # whether it has something to show


_ROOMY: Final = 1600  # pixels, independent of the scale factor
_CROWDED: Final = 1400  # width below which the left side makes room while there is something on the right
_RIGHT: Final = ("inspector", "whatif")
_LEAST: Final = {"navigator": (200, 200), "inspector": (240, 200), "queue": (320, 110), "whatif": (290, 200)}
_AREAS: Final = {
    "navigator": Qt.DockWidgetArea.LeftDockWidgetArea,
    "inspector": Qt.DockWidgetArea.RightDockWidgetArea,
    "whatif": Qt.DockWidgetArea.RightDockWidgetArea,
    "queue": Qt.DockWidgetArea.BottomDockWidgetArea,
}


class Panels(QObject):
    """Owns the docks of the window and decides which are seen."""

    def __init__(self, window: QMainWindow, settings: Settings) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        self._panels: dict[str, Panel] = {}
        self._page = ""
        self._kept = False  # whether the navigator was requested although there is little room
        window.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        window.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)

    def add(self, name: str, title: str, widget: QWidget, pages: set[str], action: QAction) -> None:
        """Add *widget* as the dock *name*, for *pages*, switched by *action*."""
        dock = QDockWidget(title, self._window)
        dock.setObjectName(name)
        dock.setWidget(widget)
        widget.setMinimumSize(*_LEAST[name])
        dock.hide()
        self._window.addDockWidget(_AREAS[name], dock)
        for other in self._panels.values():  # one place, with tabs if both are wanted
            if _AREAS[other.dock.objectName()] == _AREAS[name]:
                self._window.tabifyDockWidget(other.dock, dock)
        first = name != "whatif" and (name != "inspector" or self._roomy())
        wanted = self._settings.flag(f"panel/{name}", first)
        self._panels[name] = Panel(dock, frozenset(pages), action, wanted)
        action.setChecked(wanted)
        action.triggered.connect(tied(dock, lambda: self._asked(name)))
        dock.visibilityChanged.connect(lambda _on: self._closed_by_user(name))

    def size(self, sizes: Mapping[str, int]) -> None:
        """Give the docks their first widths and heights (pixels)."""
        for name, pixels in sizes.items():
            along = Qt.Orientation.Vertical if name == "queue" else Qt.Orientation.Horizontal
            self._window.resizeDocks([self._panels[name].dock], [pixels], along)

    def want(self, name: str, on: bool) -> None:
        """Show or hidden a dock as the user asks; a dock requested is shown even if it is empty."""
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
        """Hide a dock that is visible; show one that is hidden or behind another."""
        dock = self._panels[name].dock
        self.want(name, dock.isHidden() or dock.visibleRegion().isEmpty())

    def _raise(self, name: str) -> None:
        """Bring a dock in front of those that share its place."""
        dock = self._panels[name].dock
        if dock.isHidden():
            return  # on another page
        layout = self._window.layout()
        if layout is not None:
            layout.activate()  # a dock that was just shown has no tab before
        dock.raise_()

    def use(self, name: str, on: bool) -> None:
        """Show whether a dock has something to show."""
        if self._panels[name].useful != on:
            self._panels[name].useful = on
            self._show()

    def show_page(self, page: str) -> None:
        """Show the docks that belong to *page*."""
        self._page = page
        self._show()

    def again(self) -> None:
        """Show what is to be seen, after Qt has restored another state."""
        self._show()

    def _roomy(self) -> bool:
        """Whether the screen has room for the inspector beside two columns of views."""
        return self._window.screen().availableGeometry().width() >= _ROOMY

    def _crowded(self) -> bool:
        """Whether views would have little room between docks on both sides."""
        there = [self._panels[name] for name in _RIGHT if name in self._panels]
        right = any(panel.wanted and panel.useful and self._page in panel.pages for panel in there)
        return right and self._window.width() < _CROWDED

    def _due(self, panel: Panel) -> bool:
        """Whether a dock should be seen now."""
        due = panel.wanted and panel.useful and self._page in panel.pages
        return due and not (panel.dock.objectName() == "navigator" and not self._kept and self._crowded())

    def _show(self) -> None:
        for panel in self._panels.values():
            shown = self._due(panel)
            panel.action.setChecked(shown)
            panel.action.setEnabled(self._page in panel.pages)
            panel.dock.setVisible(shown)

    def _closed_by_user(self, name: str) -> None:
        panel = self._panels[name]
        # The dock's own cross hides it while it should be seen; tabs and minimising do not hide it.
        if panel.dock.isHidden() and self._due(panel):
            panel.wanted = False
            panel.action.setChecked(False)
            self._settings.set_flag(f"panel/{name}", False)
            self._show()  # the other side may have room again
