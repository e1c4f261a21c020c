"""The page of a window without open files: ways to start, examples with pictures, recent files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOption,
    QVBoxLayout,
    QWidget,
)

from scalegraph.gui.base.banner import Banner
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import button, empty, label
from scalegraph.gui.figures.pictures import Picture
from scalegraph.gui.request.sections import Catalog

_COLUMN_WIDTH: Final = 1080
_CARDS_IN_A_ROW: Final = 3
_DEMO_TITLE: Final = "The demonstration"
_DEMO_TEXT: Final = "A finished study: billiard balls on the KSR-1, 1 to 64 processors, with its scalability matrix."


class Card(QAbstractButton):
    """A button that is a card with picture, title and sentence."""

    def __init__(self, title: str, text: str, action: str, picture: QWidget | None = None) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)  # a button's height is fixed
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(f"{title}: {action or text}")
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(5)
        if picture is not None:
            column.addWidget(picture)
        column.addWidget(label(title, "heading", wrap=True))
        if text:
            column.addWidget(label(text, "muted", wrap=True))
        column.addStretch(1)
        if action:
            go = button(action, kind="link")
            go.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            go.clicked.connect(self.click)
            column.addWidget(go, 0, Qt.AlignmentFlag.AlignLeft)

    def add(self, widget: QWidget) -> None:
        """Add another button below the text."""
        self._column.addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - all of it is drawn
        """Qt: background and border as the style sheet has them."""
        option = QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_Widget, option, QPainter(self), self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Return triggers it as Space does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)


class StartPage(QScrollArea):
    """The page shown when the window opens without files."""

    new_request = Signal()
    sources_wanted = Signal()
    command_wanted = Signal()
    open_wanted = Signal()
    measurements_wanted = Signal()
    directory_wanted = Signal()
    traces_wanted = Signal()
    run_example = Signal(str)  # name of a shipped program
    demonstration_wanted = Signal()
    open_file = Signal(object)  # Path

    def __init__(self, theme: Theme, settings: Settings) -> None:
        super().__init__()
        self._theme, self._settings = theme, settings
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        page = QWidget()
        page.setProperty("page", True)
        outer = QHBoxLayout(page)
        middle = QWidget()
        middle.setMaximumWidth(_COLUMN_WIDTH)
        outer.addStretch(1)
        outer.addWidget(middle, 100)
        outer.addStretch(1)
        column = vertical(middle, (24, 22, 24, 24), spacing=10)
        self.banner = Banner()
        column.addWidget(self.banner)
        column.addWidget(label("How far does your program scale?", "title"))
        column.addWidget(label("What stops it, and what would change that?", "muted"))
        column.addSpacing(6)
        column.addLayout(self._ways())
        self._recent_title = label("Recent files", "heading")
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        column.addSpacing(8)
        column.addWidget(self._recent_title)
        column.addLayout(self._recent)
        self._examples_title = label("Examples", "heading")
        self._examples = QGridLayout()
        self._examples.setSpacing(12)
        column.addSpacing(8)
        column.addWidget(self._examples_title)
        column.addLayout(self._examples)
        column.addStretch(1)
        self.setWidget(page)
        self._examples_title.hide()
        self.show_recent()
        settings.recent_changed.connect(self.show_recent)

    def _ways(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        run = Card(
            "Run a program", "A program with OpenMP or threads, unmodified, on a simulated machine of any size.", ""
        )
        run.clicked.connect(self.new_request)
        self.sources = button("Choose source files…", "C, C++ or Fortran; then Run", "primary")
        self.sources.clicked.connect(self.sources_wanted)
        run.add(self.sources)
        measure = Card(
            "Measure a command", "Any program as it is, over the number of processors, on this computer.", ""
        )
        measure.clicked.connect(self.command_wanted)
        command = button("Measure a command…", "A script, mpirun, a container: no build, no change", "link")
        command.clicked.connect(self.command_wanted)
        measure.add(command)
        have = Card(
            "Open measurements", "Times you have: a table (CSV), Extra-P, Cube, Caliper. Or drop them here.", ""
        )
        have.clicked.connect(self.measurements_wanted)
        folder = button("A directory of profiles…", "Cube profiles, one per run", "link")
        folder.clicked.connect(self.directory_wanted)
        have.add(folder)
        trace = Card(
            "Open a trace", "What happened when: OTF2, Paraver, Chrome or Perfetto, PICL, Pipit's CSV, or our own.", ""
        )
        trace.clicked.connect(self.traces_wanted)
        read = Card("Open a study", "A finished study: its runs, pictures and numbers.", "")
        read.clicked.connect(self.open_wanted)
        for card in (run, measure, have, trace, read):
            row.addWidget(card, 1)
        return row

    def show_catalog(self, catalog: Catalog) -> None:
        """Show the shipped programs as examples."""
        empty(self._examples)
        ready = Card(_DEMO_TITLE, _DEMO_TEXT, "Open the demonstration", Picture("billiard", self._theme))
        ready.clicked.connect(self.demonstration_wanted)
        self._examples.addWidget(ready, 0, 0)
        for index, (name, found) in enumerate(catalog.programs.items(), 1):
            card = Card(found.program.title, found.program.summary, "Run this example", Picture(name, self._theme))
            card.clicked.connect(lambda _checked=False, name=name: self.run_example.emit(name))
            self._examples.addWidget(card, index // _CARDS_IN_A_ROW, index % _CARDS_IN_A_ROW)
            self._examples.setColumnStretch(index % _CARDS_IN_A_ROW, 1)
        self._examples_title.setVisible(bool(catalog.programs))

    def show_recent(self) -> None:
        """Show the recent files."""
        empty(self._recent)
        recent: Sequence[Path] = self._settings.recent()
        for path in recent:
            made = button(f"{path.name}    {_short(path.parent)}", str(path), "link")
            made.clicked.connect(lambda _checked=False, path=path: self.open_file.emit(path))
            self._recent.addWidget(made, 0, Qt.AlignmentFlag.AlignLeft)
        self._recent_title.setVisible(bool(recent))


def _short(folder: Path) -> str:
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) and folder != home else str(folder)
