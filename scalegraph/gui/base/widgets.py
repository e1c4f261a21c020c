"""Small widgets shared by several panels: headings, marked fields, flat buttons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QLayout, QPushButton, QWidget

from scalegraph.gui.base.layouts import vertical

_LINE_HEIGHT: Final = 27  # pixels, of one entry
_TITLE_WIDTHS: Final = 130, 220  # pixels: least width of a title beside an editor; widest one to align to


def label(text: str, role: str = "", *, wrap: bool = False) -> QLabel:
    """Return a label of plain text; *role* is one of the style sheet's (``title``, ``muted``, ..)."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    return made


def button(text: str, tip: str = "", kind: str = "") -> QPushButton:
    """Return a button; *kind* is ``primary``, ``flat``, ``link`` or empty."""
    made = QPushButton(text)
    made.setAutoDefault(False)
    if tip:
        made.setToolTip(tip)
    if kind:
        made.setProperty(kind, True)
    return made


def mark(widget: QWidget, name: str, value: object) -> None:
    """Set a property that the style sheet uses, and redraw the widget."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def empty(layout: QLayout) -> None:
    """Remove every widget from *layout*; hidden at once, though Qt deletes it later."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


def elided(text: str, metrics: QFontMetrics, width: int, lines: int, end: str = " …") -> str:
    """Return *text* cut to *lines* lines of *width* pixels, followed by *end* if it was cut."""

    def fits(part: str) -> bool:
        room = metrics.boundingRect(QRect(0, 0, max(40, width), 10_000), int(Qt.TextFlag.TextWordWrap), part)
        return room.height() < (lines + 0.5) * metrics.lineSpacing()  # heights are rounded

    if fits(text):
        return text
    words = text.split(" ")
    low, high = 1, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(" ".join(words[:middle]) + end) else (low, middle - 1)
    return " ".join(words[:low]).rstrip(",;:") + end


class ElidedLabel(QLabel):
    """One line, elided if it does not fit."""

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw as much as fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), int(Qt.AlignmentFlag.AlignVCenter), text)


class FittedLabel(ElidedLabel):
    """One line with shorter versions: shows the first of its texts that fits."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: tuple[str, ...] = ("",)

    def set_texts(self, texts: tuple[str, ...]) -> None:
        """Show the first of *texts*, longest first, that fits."""
        self._texts = texts
        self._fit()

    def sizeHint(self) -> QSize:
        """Qt: return the size of its longest text."""
        hint = super().sizeHint()
        return QSize(self.fontMetrics().horizontalAdvance(self._texts[0]) + 2, hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: choose the text again."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fits = (text for text in self._texts if self.fontMetrics().horizontalAdvance(text) <= self.width())
        self.setText(next(fits, self._texts[-1]))


class Group(QFrame):
    """A part of a form: a heading, a sentence, and the fields below."""

    def __init__(self, heading: str, sentence: str = "") -> None:
        super().__init__()
        self.setProperty("role", "group")
        self.column = vertical(self, (14, 10, 14, 12), spacing=6)
        self.column.addWidget(label(heading, "heading"))
        if sentence:
            self.column.addWidget(label(sentence, "muted", wrap=True))


def align(fields: Iterable[Field]) -> None:
    """Align the editors beside the titles of *fields*, except those with very long titles."""
    titles = [field.title for field in fields if field.beside and not field.title.isHidden()]
    for title in titles:
        title.ensurePolished()
    low, high = _TITLE_WIDTHS
    widths = [width for title in titles if (width := title.sizeHint().width()) <= high]
    for title in titles:
        title.setMinimumWidth(max((low, *widths)))


class Field(QWidget):
    """A named field with its error message below.

    *keys* are the request's key paths whose errors are shown here.
    """

    def __init__(
        self, name: str, editor: QWidget, keys: tuple[str, ...], tip: str = "", *, beside: bool = True
    ) -> None:
        super().__init__()
        self.keys = keys
        self.editor = editor
        self.fault = label("", "fault", wrap=True)
        self.fault.hide()
        self.fault.setAccessibleName(f"Fault of {name}")
        self.beside = beside
        self.title = title = label(name)
        title.setBuddy(editor)
        title.setMinimumWidth(_TITLE_WIDTHS[0])
        if not name:
            title.hide()
        if not editor.accessibleName():
            editor.setAccessibleName(name)
        if tip:
            editor.setToolTip(tip)
            title.setToolTip(tip)
        self._lay(title, editor, beside)

    def _lay(self, title: QLabel, editor: QWidget, beside: bool) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        if beside:
            title.setMinimumHeight(_LINE_HEIGHT)  # beside the first line of an editor that grows
            grid.addWidget(title, 0, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(editor, 0, 1)
            grid.addWidget(self.fault, 1, 1)
        else:
            grid.addWidget(title, 0, 0, 1, 2)
            grid.addWidget(editor, 1, 0, 1, 2)
            grid.addWidget(self.fault, 2, 0, 1, 2)

    def show_fault(self, text: str) -> None:
        """Show the error *text* below the field and mark the field; an empty text clears both."""
        self.fault.setText(text)
        self.fault.setVisible(bool(text))
        mark(self.editor, "fault", bool(text))
        self.editor.setAccessibleDescription(text)
