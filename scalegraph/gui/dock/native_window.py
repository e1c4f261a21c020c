"""A floating view as a native window with title bar and taskbar entry, on any screen."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QDockWidget

from scalegraph.gui.base.lifetime import tied

_FLAGS: Final = (
    Qt.WindowType.Window
    | Qt.WindowType.WindowTitleHint
    | Qt.WindowType.WindowSystemMenuHint
    | Qt.WindowType.WindowMinMaxButtonsHint
    | Qt.WindowType.WindowCloseButtonHint
)
_AGAIN_MS: Final = 80


class NativeWindow(QObject):
    """Turns *dock* into a native window when it is undocked.

    Qt makes a floating dock a frameless tool window, above its main window and on the same screen. While it is being
    dragged it stays one: another window type is a new native window, which would end the drag. The main window's
    shortcuts work in it as well.
    """

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._dock = dock
        self._shared: list[QAction] = []
        self._later = QTimer(self, singleShot=True, interval=_AGAIN_MS)
        self._later.timeout.connect(self._become)
        dock.topLevelChanged.connect(tied(self, self._moved))
        dock.visibilityChanged.connect(tied(self, self._seen))

    def _moved(self, floating: bool) -> None:
        if floating:
            self._later.start(0)
            return
        self._later.stop()
        for action in self._shared:
            self._dock.removeAction(action)
        self._shared = []

    def _seen(self, on: bool) -> None:
        """Check again: Qt restores saved places in several steps."""
        if on and self._dock.isFloating():
            self._later.start(0)

    def _become(self) -> None:
        dock, parent = self._dock, self._dock.parentWidget()
        if not dock.isFloating() or parent is None:
            return
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._later.start(_AGAIN_MS)
            return
        if not self._shared:
            self._shared = [action for action in parent.window().actions() if action not in dock.actions()]
            dock.addActions(self._shared)
        if dock.windowType() is not Qt.WindowType.Window or dock.windowFlags() & Qt.WindowType.FramelessWindowHint:
            place, shown = dock.geometry(), dock.isVisible()
            dock.setWindowFlags(_FLAGS)
            dock.setGeometry(place)
            dock.winId()  # creates its native window as a child of the other
            if (window := dock.windowHandle()) is not None:
                window.setTransientParent(None)  # type: ignore[arg-type]
            dock.setVisible(shown)
