"""A `Source` on the screen: source code with the cost per line, and the code the preprocessor inserted."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QFontDatabase,
    QKeyEvent,
    QMouseEvent,
    QResizeEvent,
    QShowEvent,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QSplitter,
    QTextEdit,
    QToolButton,
    QWidget,
)

from scalegraph.figures.figure import Source, SourceLine
from scalegraph.gui.base.key_claim import KeyClaim
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.tints import ink, tint
from scalegraph.gui.figures.c_highlighter import CHighlighter
from scalegraph.gui.figures.source.margin import Margin, MarginHead
from scalegraph.gui.figures.table.panel import FASTER

_COST_SHARE = 0.3  # of the width that cost columns may take
_WARM = 0.02  # of the hottest line's cost, from which a line is tinted


class Inserted(Enum):
    """How inserted code is shown."""

    HIDDEN = "Program as written"
    INLINE = "With inserted code"
    BESIDE = "Both side by side"


class SourcePanel(QWidget):
    """Shows one `Source`; *region_chosen* has the clicked region and place (file, line)."""

    region_chosen = Signal(object, object)
    faster_wanted = Signal(str)  # target for a virtual speedup: a line, or the selected lines

    def __init__(self, source: Source, theme: str = "light", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._source = source
        self._region: int | None = None
        self._line: int | None = None
        self._shown = False  # whether this file's hottest line has been scrolled to
        self.inserted = QComboBox()
        self.inserted.setAccessibleName("Inserted code")
        for how in Inserted:
            self.inserted.addItem(how.value, how)
        self.inserted.currentIndexChanged.connect(self._fill)
        self.search_field = QLineEdit()
        self.search_field.setPlaceholderText("Find text or line number  /")
        self.search_field.setClearButtonEnabled(True)
        self.search_field.setAccessibleName("Find text or line number")
        self.search_field.returnPressed.connect(self._search)
        self.hotter = QToolButton()
        self.hotter.setText("Hot \N{DOWNWARDS ARROW}")
        self.hotter.setAccessibleName("Next hot line")
        self.hotter.setToolTip("Go to the next hot line by the first cost column (J; Shift+J goes back)")
        self.hotter.clicked.connect(lambda: self.go_hot(1))
        self._file = QLabel()
        self._file.setProperty("role", "muted")
        self.editor = _Editor()
        self.beside = _Editor()
        self.margin = Margin(self.editor)
        self.editor.carry(self.margin)
        self._head = MarginHead(self.margin)
        self._highlighters = [CHighlighter(e.document(), theme) for e in (self.editor, self.beside)]
        self.editor.line_clicked.connect(self._clicked)
        self.beside.line_clicked.connect(self._clicked)
        for one in (self.editor, self.beside):
            one.menu_wanted.connect(self._show_menu)
        for one, other in ((self.editor, self.beside), (self.beside, self.editor)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
        self.setFocusProxy(self.editor)
        self._lay_out()
        keys: dict[str, Callable[[], object]] = dict.fromkeys(("/", "Ctrl+F", "Ctrl+G"), self._to_find)
        keys |= {"J": lambda: self.go_hot(1), "Shift+J": lambda: self.go_hot(-1)}
        KeyClaim(self.editor, keys)
        KeyClaim(self.beside, keys)
        self.set_source(source)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self._file)
        top.addStretch(1)
        top.addWidget(self.hotter)
        top.addWidget(self.inserted)
        top.addWidget(self.search_field, 1)
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.editor)
        self._split.addWidget(self.beside)
        layout = vertical(self, spacing=2)
        layout.addLayout(top)
        layout.addWidget(self._head)
        layout.addWidget(self._split, 1)

    # display

    @property
    def source(self) -> Source:
        """The source shown."""
        return self._source

    def set_source(self, source: Source) -> None:
        """Show *source*; for the same file the scroll position stays."""
        same = source.file == self._source.file
        scroll = self.editor.verticalScrollBar().value()
        self._source = source
        instrumented = any(line.inserted and line.inserted != line.text for line in source.lines)
        self.inserted.setVisible(instrumented)
        if not instrumented:
            self.inserted.setCurrentIndex(0)
        self._file.setText(source.file)
        self._file.setVisible(bool(source.file))
        self.margin.show_source(source)
        self.hotter.setVisible(len(self.hot_lines()) > 1)
        self._head.setVisible(bool(source.columns))
        self._head.updateGeometry()
        self._fill()
        if same and self._shown:
            self.editor.verticalScrollBar().setValue(scroll)
        self._shown = same and self._shown
        self.setAccessibleName(f"Source of {source.file}")

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        self._theme = theme
        for highlighter in self._highlighters:
            highlighter.set_theme(theme)
        self._mark()

    def select(self, region: int | None, line: tuple[str, int] | None = None) -> None:
        """Highlight the lines of *region* and *line* (file, number); scroll to the first if none is visible."""
        self._region = region
        self._line = line[1] if line is not None and line[0] in ("", self._source.file) else None
        self._mark()
        lines = self._source.lines
        first = next((i for i, row in enumerate(lines) if row.number == self._line), None)
        if first is None and region is not None:
            first = next((i for i, row in enumerate(lines) if row.region == region), None)
        if first is not None:
            self.editor.show_line(first)

    def go_to(self, number: int) -> bool:
        """Scroll to a line; return whether it exists."""
        for i, line in enumerate(self._source.lines):
            if line.number == number:
                self.editor.show_line(i)
                self.editor.setTextCursor(QTextCursor(self.editor.document().findBlockByNumber(i)))
                self._line = number
                self._mark()
                return True
        return False

    def hot_lines(self) -> list[int]:
        """Return the numbers of lines with a cost, most expensive first."""
        there = [(-(line.values[0] or 0.0), line.number) for line in self._source.lines if line.values]
        return [number for cost, number in sorted(there) if cost < 0]

    def go_hot(self, step: int) -> None:
        """Move *step* places in `hot_lines` from the selected line, or go to the most expensive."""
        hot = self.hot_lines()
        if not hot:
            return
        at = hot.index(self._line) + step if self._line in hot else 0
        number = hot[at % len(hot)]
        self.go_to(number)
        region = next(line.region for line in self._source.lines if line.number == number)
        self.region_chosen.emit(region, (self._source.file, number))

    def marked_lines(self) -> list[int]:
        """Return the numbers of lines highlighted as the selected region."""
        return [line.number for line in self._source.lines if line.region == self._region is not None]

    def _show_hottest(self) -> None:
        """Scroll to the most expensive line, unless something is selected."""
        self._shown = True
        if self._region is not None or self._line is not None:
            return
        costs = [line.values[0] if line.values else None for line in self._source.lines]
        there = [(cost, i) for i, cost in enumerate(costs) if cost is not None and cost > 0]
        if there:
            self.editor.show_line(max(there)[1])

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: start at the hottest line."""
        super().showEvent(event)
        if not self._shown:
            # the text has its height only after this event
            QTimer.singleShot(0, self, self._show_hottest)

    def _how(self) -> Inserted:
        how: Inserted = self.inserted.currentData()
        return how

    def _fill(self) -> None:
        how = self._how()
        scroll = self.editor.verticalScrollBar().value()
        lines = self._source.lines
        made = "\n".join(_made(line) for line in lines)
        written = "\n".join(line.text for line in lines)
        self.editor.setPlainText(made if how is Inserted.INLINE else written)
        self.beside.setPlainText(made if how is Inserted.BESIDE else "")
        self.beside.setVisible(how is Inserted.BESIDE)
        self.editor.setAccessibleName(f"{self._source.file}, {how.value}")
        self.beside.setAccessibleName(f"{self._source.file} with inserted code")
        self._mark()
        self.editor.verticalScrollBar().setValue(scroll)

    def _mark(self) -> None:
        self.margin.theme = self._theme
        self.margin.update()
        self._head.update()
        region_back = tint("time", self._theme, 0.13)
        line_back = ink(self._theme, 0.12)
        for editor in (self.editor, self.beside):
            marks: list[QTextEdit.ExtraSelection] = self._heat(editor)
            for i, line in enumerate(self._source.lines):
                if self._region is not None and line.region == self._region:
                    marks.append(editor.whole_line(i, region_back))
                if line.number == self._line:
                    marks.append(editor.whole_line(i, line_back))
            shows = Inserted.INLINE if editor is self.editor else Inserted.BESIDE
            if self._how() is shows:
                marks.extend(self._insertions(editor))
            editor.setExtraSelections(marks)

    def _heat(self, editor: _Editor) -> list[QTextEdit.ExtraSelection]:
        """Return the most expensive lines with a tint: the square root of their share of the maximum."""
        costs = [(line.values[0] or 0.0) if line.values else 0.0 for line in self._source.lines]
        most = max(costs, default=0.0)
        return [
            editor.whole_line(i, tint("primitive", self._theme, 0.28 * math.sqrt(cost / most)))
            for i, cost in enumerate(costs)
            if most > 0 and cost >= _WARM * most
        ]

    def _insertions(self, editor: _Editor) -> list[QTextEdit.ExtraSelection]:
        colour = tint("idle", self._theme, 0.30)
        marks: list[QTextEdit.ExtraSelection] = []
        for i, line in enumerate(self._source.lines):
            if _made(line) != line.text:
                marks.extend(
                    editor.span(i, start, end, colour) for start, end in inserted_spans(line.text, _made(line))
                )
        return marks

    # user actions

    def _clicked(self, block: int) -> None:
        if block < len(self._source.lines):
            line = self._source.lines[block]
            self.region_chosen.emit(line.region, (self._source.file, line.number))

    def target(self, first: int, last: int) -> str:
        """Return the virtual-speedup target of lines *first* to *last* (from 0)."""
        lines = self._source.lines
        if not 0 <= first <= last < len(lines):
            return ""
        one, other = lines[first].number, lines[last].number
        return f"line:{self._source.file}:{one}" + (f"-{other}" if other != one else "")

    def _show_menu(self, menu: QMenu, first: int, last: int) -> None:
        target = self.target(first, last)
        if target and self._source.columns:
            menu.addSeparator()
            menu.addAction(FASTER, lambda: self.faster_wanted.emit(target))

    def _to_find(self) -> None:
        self.search_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search_field.selectAll()

    def _search(self) -> None:
        text = self.search_field.text().strip()
        if text.isdigit() and self.go_to(int(text)):
            return
        if text and not self.editor.find(text):
            self.editor.moveCursor(QTextCursor.MoveOperation.Start)
            found = self.editor.find(text)
            self.search_field.setProperty("fault", not found)
        else:
            self.search_field.setProperty("fault", False)
        self.search_field.style().polish(self.search_field)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: in a small window leave the room to the text."""
        super().resizeEvent(event)
        self._file.setVisible(bool(self._source.file) and self.width() > 520)
        self.margin.make_room(int(_COST_SHARE * self.width()))
        self.editor.settle()
        self._head.update()


def inserted_spans(before: str, after: str) -> list[tuple[int, int]]:
    """Return (start, end) of each stretch of *after* that is not in *before*, by greedy character matching.

    Inserted probes are whole tokens before or after existing code, so common prefixes and suffixes are matched first.
    """
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return [(start, len(after) - end)] if len(after) - end > start else []


def _made(line: SourceLine) -> str:
    return (line.inserted or line.text).replace("\n", " ")


class _Editor(QPlainTextEdit):
    """Read-only text with a margin; a click emits the line's number (from 0)."""

    line_clicked = Signal(int)
    menu_wanted = Signal(object, int, int)  # the menu to extend; first and last line (from 0) it is for

    def __init__(self) -> None:
        super().__init__()
        self._margin: Margin | None = None
        self._kept: int | None = None  # line to keep visible when the height changes, until the user scrolls
        self.verticalScrollBar().actionTriggered.connect(lambda _action: self._let_go())
        self.setReadOnly(True)
        self.setProperty("role", "source")  # a style sheet of its own would be parsed for each editor
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setStyleHint(QFont.StyleHint.Monospace)
        self.setFont(font)
        self.setTabStopDistance(8 * self.fontMetrics().horizontalAdvance(" "))

    def carry(self, margin: Margin) -> None:
        """Reserve room for *margin* on the left."""
        self._margin = margin
        margin.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.updateRequest.connect(lambda *_: self.settle())
        self.blockCountChanged.connect(lambda *_: self.settle())

    def show_line(self, number: int) -> None:
        """Scroll to line *number* (from 0) unless it is visible."""
        self._kept = number
        bar = self.verticalScrollBar()
        if not bar.value() <= number <= bar.value() + bar.pageStep() - 2:
            bar.setValue(max(0, number - bar.pageStep() // 4))

    def _let_go(self) -> None:
        self._kept = None

    def whole_line(self, number: int, colour: QColor) -> QTextEdit.ExtraSelection:
        """Return a highlight of the whole line *number* (from 0)."""
        made = QTextEdit.ExtraSelection()
        made.format.setBackground(colour)
        made.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        made.cursor = QTextCursor(self.document().findBlockByNumber(number))
        return made

    def span(self, number: int, start: int, end: int, colour: QColor) -> QTextEdit.ExtraSelection:
        """Return a highlight of characters *start* to *end* in line *number*."""
        made = QTextEdit.ExtraSelection()
        made.format.setBackground(colour)
        cursor = QTextCursor(self.document().findBlockByNumber(number))
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.MoveAnchor, start)
        cursor.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, end - start)
        made.cursor = cursor
        return made

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._kept is not None:
            self.show_line(self._kept)
        self.settle()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton and not self.textCursor().hasSelection():
            self.line_clicked.emit(self.cursorForPosition(event.position().toPoint()).blockNumber())

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.menu_at(event.pos())
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def menu_at(self, place: QPoint) -> QMenu:
        """Return the menu for the selected lines, or for the line at *place*."""
        menu = self.createStandardContextMenu()
        cursor = self.textCursor()
        if cursor.hasSelection():
            lines = [self.document().findBlock(at) for at in (cursor.selectionStart(), cursor.selectionEnd())]
            first, last = (block.blockNumber() for block in lines)
        else:
            first = last = self.cursorForPosition(place).blockNumber()
        self.menu_wanted.emit(menu, first, last)
        return menu

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.line_clicked.emit(self.textCursor().blockNumber())
        else:
            super().keyPressEvent(event)

    def settle(self) -> None:
        """Place the margin."""
        if self._margin is None:
            return
        width = self._margin.sizeHint().width()
        if self.viewportMargins().left() != width:
            self.setViewportMargins(width, 0, 0, 0)
        room = self.contentsRect()
        self._margin.setGeometry(QRect(room.left(), room.top(), width, room.height()))
        self._margin.update()
