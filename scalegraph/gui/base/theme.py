"""Light and dark themes: follows the system or the user's choice and colours every widget."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias, cast

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from scalegraph.figures import palette
from scalegraph.gui.base.restyle import Restyler
from scalegraph.gui.base.style import PAPERS, TEXT_SIZE, Paper, stylesheet

ThemeName: TypeAlias = Literal["light", "dark"]
Mode: TypeAlias = Literal["system", "light", "dark"]
MODES: Final[tuple[Mode, ...]] = ("system", "light", "dark")


class Theme(QObject):
    """The current colours. ``mode`` is the user's choice; ``name`` is the theme in use."""

    changed = Signal(str)  # the new name, "light" or "dark"

    def __init__(self, mode: Mode = "system", parent: QObject | None = None, text_size: int = TEXT_SIZE) -> None:
        super().__init__(parent)
        self._mode: Mode = mode
        self._size = text_size
        self._name: ThemeName = self._effective()
        self._restyler = Restyler(self)
        if QGuiApplication.instance() is not None:
            QGuiApplication.styleHints().colorSchemeChanged.connect(self._follow)

    @property
    def name(self) -> ThemeName:
        """``light`` or ``dark``, as the views' palette is named."""
        return self._name

    @property
    def mode(self) -> Mode:
        """``system``, ``light`` or ``dark``: the user's choice."""
        return self._mode

    @property
    def paper(self) -> Paper:
        """Colours of the window's chrome (background, lines, text)."""
        return PAPERS[self._name]

    def set_mode(self, mode: Mode) -> None:
        """Follow the system, or keep light or dark."""
        self._mode = mode
        self._follow()

    def set_text_size(self, points: int) -> None:
        """Set the size of most text; other sizes scale with it."""
        if points != self._size:
            self._size = points
            self.apply()

    def colour(self, role: str) -> QColor:
        """Return the colour of a role of `scalegraph.figures.palette` in this theme."""
        return QColor(palette.colour(role, self._name))

    def apply(self) -> None:
        """Restyle the application: Fusion style, palette and style sheet, the same on every desktop."""
        app = QApplication.instance()
        if app is None:
            return
        application = cast("QApplication", app)
        application.setStyle("Fusion")
        application.setPalette(_qt_palette(self.paper))
        application.setStyleSheet(stylesheet(self._size))

    def _change_clothes(self) -> None:
        """Switch to another theme: first the palette, then the widgets that used the old colours."""
        if isinstance(application := QApplication.instance(), QApplication):
            application.setPalette(_qt_palette(self.paper))
            self._restyler.begin()

    def _effective(self) -> ThemeName:
        if self._mode != "system":
            return self._mode
        if QGuiApplication.instance() is None:
            return "light"
        return "dark" if QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark else "light"

    def _follow(self) -> None:
        name = self._effective()
        if name != self._name:
            self._name = name
            self._change_clothes()
            self.changed.emit(name)


def _qt_palette(paper: Paper) -> QPalette:
    role, group = QPalette.ColorRole, QPalette.ColorGroup
    made = QPalette()
    for which, value in (
        (role.Window, paper.window),
        (role.WindowText, paper.text),
        (role.Base, paper.base),
        (role.AlternateBase, paper.raised),
        (role.Text, paper.text),
        (role.Button, paper.raised),
        (role.ButtonText, paper.text),
        (role.ToolTipBase, paper.raised),
        (role.ToolTipText, paper.text),
        (role.PlaceholderText, paper.muted),
        (role.Highlight, paper.accent),
        (role.HighlightedText, paper.on_accent),
        (role.Link, paper.accent),
        (role.Mid, paper.line),
        (role.Dark, paper.line),
        (role.Midlight, paper.hover),
        (role.LinkVisited, paper.muted),
        (role.BrightText, paper.fault),
        (role.Shadow, paper.fault_paper),
        (role.Light, paper.remark_paper),
    ):
        made.setColor(which, QColor(value))
    for which in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(group.Disabled, which, QColor(paper.muted))
    return made
