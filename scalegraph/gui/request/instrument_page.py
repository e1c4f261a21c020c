"""A page that shows the instrumented source beside the original."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QTextEdit, QWidget

from scalegraph.base.run import Region
from scalegraph.gui.base.banner import Banner
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.numbered_text import NumberedText
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.figures.c_highlighter import CHighlighter


@dataclass(frozen=True)
class Beside:
    """Two texts with the same number of lines, and the inserted spans (line from 0, first, last + 1) of the second."""

    original: str
    instrumented: str
    numbers: tuple[str, ...]
    spans: tuple[tuple[int, int, int], ...]
    regions: tuple[Region, ...]
    faults: tuple[Any, ...]


def beside(made: Any) -> Beside:
    """Return an `instrument.Instrumented` as two aligned texts."""
    from scalegraph.instrument import side_by_side

    rows = side_by_side(made)
    return Beside(
        "\n".join(row.original for row in rows),
        "\n".join(row.instrumented for row in rows),
        tuple(str(row.line or "") for row in rows),
        tuple((index, mark.start, mark.end) for index, row in enumerate(rows) for mark in row.marks),
        tuple(made.regions),
        tuple(made.faults),
    )


class InstrumentPage(QWidget):
    """Two texts that scroll together."""

    left = Signal()  # the user goes back

    def __init__(self, session: Any, jobs: Jobs, theme: Theme) -> None:
        super().__init__()
        self._session, self._theme = session, theme
        self._reader = Latest(jobs, "instrumenting", self)
        self._spans: tuple[tuple[int, int, int], ...] = ()
        self._highlighters: list[CHighlighter] = []
        self.banner = Banner()
        self.title = label("", "title")
        self.summary = label("", "muted", wrap=True)
        self.original = self._text("Original source")
        self.instrumented = self._text("Instrumented source")
        self.original.verticalScrollBar().valueChanged.connect(self.instrumented.verticalScrollBar().setValue)
        self.instrumented.verticalScrollBar().valueChanged.connect(self.original.verticalScrollBar().setValue)
        self._lay()
        theme.changed.connect(self._dress)

    def _text(self, name: str) -> NumberedText:
        made = NumberedText()
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # keeps the lines aligned
        made.setAccessibleName(name)
        self._highlighters.append(CHighlighter(made.document(), self._theme.name))
        return made

    def _lay(self) -> None:
        column = vertical(self, (16, 12, 16, 12))
        top = QHBoxLayout()
        back = button("Back to the request")
        back.clicked.connect(self.left)
        top.addWidget(self.title, 1)
        top.addWidget(back)
        column.addLayout(top)
        column.addWidget(self.banner)
        column.addWidget(self.summary)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        for heading, text in (("Original", self.original), ("With what is inserted", self.instrumented)):
            side = QWidget()
            lines = vertical(side)
            lines.addWidget(label(heading, "heading"))
            lines.addWidget(text, 1)
            split.addWidget(side)
        column.addWidget(split, 1)

    def show_source(self, path: str) -> None:
        """Instrument the C file at *path* and show both texts; nothing is run."""
        self.title.setText(Path(path).name)
        self.summary.setText("Reading…")
        self.banner.clear()
        self.original.clear()
        self.instrumented.clear()
        session = self._session

        def work(_reporter: Reporter) -> Beside:
            return beside(session.instrument(path))

        self._reader.ask(work, self._show, self._failed)

    def stop(self) -> None:
        """Cancel pending work; for closing the window."""
        self._reader.stop()

    def _show(self, made: Beside) -> None:
        self.original.show_text(made.original, made.numbers)
        self.instrumented.show_text(made.instrumented, made.numbers)
        self._spans = made.spans
        counts = Counter(region.kind for region in made.regions if region.kind != "program")
        words = ", ".join(f"{number} × {kind}" for kind, number in counts.most_common())
        self.summary.setText(f"Regions: {words or 'none'}. Line numbers stay as they are.")
        if made.faults:
            self.banner.show_remark("\n".join(map(str, made.faults)))
        self._mark()
        if made.spans:
            self._go_to(made.spans[0][0])

    def _go_to(self, line: int) -> None:
        """Scroll to the first inserted span."""
        self.instrumented.verticalScrollBar().setValue(max(0, line - 3))

    def _dress(self, name: str) -> None:
        for highlighter in self._highlighters:
            highlighter.set_theme(name)
        self._mark()

    def _failed(self, error: Exception) -> None:
        self.summary.setText("")
        self.banner.show_fault(str(error))

    def _mark(self) -> None:
        style = QTextCharFormat()
        colour = QColor(self._theme.colour("busy"))
        colour.setAlphaF(0.28)
        style.setBackground(colour)
        marks = []
        document = self.instrumented.document()
        for line, first, last in self._spans:
            cursor = QTextCursor(document.findBlockByNumber(line))
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, first)
            cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, last - first)
            mark = QTextEdit.ExtraSelection()
            mark.cursor, mark.format = cursor, style
            marks.append(mark)
        self.instrumented.setExtraSelections(marks)
