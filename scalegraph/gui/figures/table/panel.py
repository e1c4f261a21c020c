"""A `Table` on the screen: a tree or list that can be sorted, filtered and selected."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from heapq import nlargest

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenu,
    QTreeView,
    QWidget,
)

from scalegraph.figures.figure import Table
from scalegraph.gui.base.key_claim import KeyClaim
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.figures.bar_delegate import BAR, BarDelegate, room_for
from scalegraph.gui.figures.table.model import KEY_ROLE, TableModel

_LOW = 190  # pixels of height below which the search field is folded away until used
_FILTER_FROM = 6  # rows from which a search field is useful
SOURCE = "text"  # name of the column of source lines
FASTER = "What if this were faster…"
_LEAST_SENTENCE = 200  # pixels of a column of wrapped sentences
_FEW, _WORDS, _LONG = 80, 5, 40  # rows up to which sentences wrap; spaces and characters that make a sentence
_FEW_NAMES = 12  # rows up to which names and formulas wrap, too, if the table is too wide
_LEAST_TEXT = 160  # pixels in which a text is legible
_LONGEST = 12  # texts per column that are measured: the longest by characters is not always the widest
_LEAST_WRAPPED = 110  # .. of one that may wrap
_HEADINGS = (0, 15, 11)  # characters per line of a heading, tried until the table fits; 0: no limit
_AROUND_HEADING = 24  # pixels around a heading, including the sort arrow
_SPREAD = 48  # extra pixels for a column of numbers if there is room
_GIVEN = 0.3  # of a column of texts, so that no number at the right edge is cut
_NAME_SHARE = 0.45  # of the width that the first column may take


class TablePanel(QWidget):
    """Shows one `Table`; *row_chosen* has the key of the row clicked or reached by keys."""

    row_chosen = Signal(str)
    faster_wanted = Signal(str)  # key of the row to speed up

    def __init__(
        self, table: Table, theme: str = "light", parent: QWidget | None = None, *, searchable: bool = True
    ) -> None:
        super().__init__(parent)
        self._searchable = searchable
        self._following = False
        self._key = ""
        self._wrapped_at = 0  # width of the sentence columns when last wrapped
        self._letters = 0  # per line of a heading; 0: no limit
        self._natural: list[int] = []  # pixels in which each column is legible
        self._measured: dict[tuple[int, int], list[int]] = {}  # .. by `_letters` and the font's height
        self.can_be_faster: Callable[[str], bool] = lambda _key: False
        self._model = TableModel(table)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText("Filter rows  /")
        self.filter.setClearButtonEnabled(True)
        self.filter.setAccessibleName("Filter rows")
        self.filter.textChanged.connect(self._search)
        self._found = QLabel()
        self._found.setProperty("role", "muted")
        self.tree = _Tree()
        self._model.setParent(self.tree)  # must outlive the tree: Qt still measures its rows
        self.tree.setModel(self._model)
        self._delegate = BarDelegate(self.tree)
        self._delegate.theme = theme
        self.tree.setItemDelegate(self._delegate)
        # not the current row, which changes when the table merely gets the focus
        self.tree.selectionModel().selectionChanged.connect(lambda *_: self._chosen())
        self.tree.resized.connect(self._share_width)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._show_menu)
        self.setFocusProxy(self.tree)
        KeyClaim(self.tree, {"/": self._to_filter, "Ctrl+F": self._to_filter})
        KeyClaim(self.filter, {"Esc": self._leave_filter})
        top = QHBoxLayout()
        top.addWidget(self.filter, 1)
        top.addWidget(self._found)
        layout = vertical(self, spacing=4)
        layout.addLayout(top)
        layout.addWidget(self.tree, 1)
        self._arrange()

    @property
    def table(self) -> Table:
        """The table shown."""
        return self._model.table

    def set_table(
        self, table: Table, below: Sequence[str] = (), faults: Mapping[tuple[int, int], str] | None = None
    ) -> None:
        """Show *table*; sorting, filter and widths stay for the same columns. *below* are lines under the headings.

        *faults* says what is wrong in single cells, by row and column; they are marked, and the first is scrolled to.
        """
        same = not below and [c.name for c in table.columns] == [c.name for c in self.table.columns]
        scroll = self.tree.verticalScrollBar().value()
        self._following = True
        self._model.faults = faults or {}
        self._model.set_table(table, below)
        self._measured.clear()
        self._following = False
        if same:
            self._open_all()
            self.tree.verticalScrollBar().setValue(scroll)
            self._count()
        else:
            self._arrange()
        self.select(self._key)
        if faults:
            self.tree.scrollTo(self._model.index(min(faults)[0], 0))

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        self._delegate.theme = theme
        self.tree.viewport().update()

    def select(self, key: str) -> None:
        """Select and show the row of *key*; an unknown key selects nothing."""
        self._key = key
        self._following = True
        found = self._model.find(key) if key else QModelIndex()
        if found.isValid():
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            self.tree.selectionModel().setCurrentIndex(found, flags)
            self.tree.scrollTo(found)
        else:
            self.tree.selectionModel().clear()
        self._following = False

    def select_first(self, keys: Sequence[str]) -> None:
        """Select the row of the first of *keys* in the table, or none."""
        there = {row.key for row in self.table.rows}
        self.select(next((key for key in keys if key in there), ""))

    def shown_rows(self) -> list[str]:
        """Return the first column of every visible row, top to bottom."""
        texts = []
        index = self._model.index(0, 0)
        while index.isValid():
            texts.append(str(index.data()))
            index = self.tree.indexBelow(index)
        return texts

    def _open_all(self) -> None:
        if self._model.is_tree():  # in a list Qt would ask every row for its children
            self.tree.expandAll()

    def _arrange(self) -> None:
        tree, header = self.tree, self.tree.header()
        tree.setRootIsDecorated(self._model.is_tree())
        self._model.sort_by(-1, Qt.SortOrder.AscendingOrder)
        self._open_all()
        header.setSortIndicator(-1, Qt.SortOrder.DescendingOrder)
        header.setStretchLastSection(False)
        self._place_source()
        for column in range(self._model.columnCount()):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Interactive)
        self._measured.clear()
        self._share_width()
        self._fold()
        self._count()
        self.setAccessibleName("Table of " + ", ".join(column.name for column in self.table.columns))
        self.tree.setAccessibleName(self.accessibleName())  # it has the focus

    def _place_source(self) -> None:
        """Move the column of source lines behind its first number, so that it is read first; details scroll."""
        header, names = self.tree.header(), [column.name for column in self.table.columns]
        for column in range(header.count()):  # undo the previous table's order
            header.moveSection(header.visualIndex(column), column)
        numbers = [column for column in range(len(names)) if self._model.numeric(column)]
        if SOURCE in names and numbers and names.index(SOURCE) > numbers[0] + 1:
            header.moveSection(header.visualIndex(names.index(SOURCE)), numbers[0] + 1)

    def _width_of(self, column: int) -> int:
        """Return the width in pixels at which everything in *column* is legible.

        Computed from the longest texts: Qt would measure every cell, at every resize.
        """
        tree, metrics = self.tree, self.tree.fontMetrics()
        indent = tree.indentation() if column == 0 and self._model.is_tree() else 0
        texts = self._model.texts(column)
        longest = nlargest(_LONGEST, {(len(text), text, depth) for text, depth in texts})
        if indent:
            longest += nlargest(_LONGEST, {(depth, text, depth) for text, depth in texts})
        widest = max((metrics.horizontalAdvance(text) + indent * (depth + 1) for _, text, depth in longest), default=0)
        bar = bool(self.table.columns[column].bar_role)
        return max(room_for(widest, bar=bar), self._heading_width(column))

    def _heading_width(self, column: int) -> int:
        """Return the width of *column*'s heading. Qt adds the heading's height for the sort arrow."""
        header = self.tree.header()
        if self._letters <= 0:
            return header.sectionSizeHint(column)
        bold = QFont(header.font())
        bold.setBold(True)
        metrics, text = QFontMetrics(bold), str(self._model.headerData(column, Qt.Orientation.Horizontal))
        return max(metrics.horizontalAdvance(line) for line in text.split("\n")) + _AROUND_HEADING

    def _share_width(self) -> None:
        """Give one text column the remaining width, but at least a legible one; then the table scrolls sideways.

        In a tree it is the first, in a list the one with the longest texts. A table of numbers only is spread a little.
        """
        header, whole = self.tree.header(), self.tree.viewport().width()
        if not header.count():
            return
        texts = [column for column in range(header.count()) if not self._model.numeric(column)]
        named_first = self._model.is_tree() or texts == [0]
        self._narrow_headings(whole, [0] if named_first else texts)
        for column, width in enumerate(self._natural):
            header.resizeSection(column, width)
        rest = sum(header.sectionSize(column) for column in range(header.count()))
        if named_first:
            rest -= header.sectionSize(0)
            wanted = min(self._natural[0] + 8, max(_LEAST_TEXT, int(_NAME_SHARE * whole)))
            header.resizeSection(0, max(whole - rest, wanted))
            self._cut_no_number([0], whole)
        elif texts:
            self._share_texts(texts, whole - rest)
        else:
            more = min(_SPREAD, max(0, whole - rest) // header.count())
            for column in range(header.count()):
                header.resizeSection(column, header.sectionSize(column) + more)

    def _narrow_headings(self, whole: int, texts: Sequence[int]) -> None:
        """Break headings if they make the table wider than *whole* pixels although its cells do not."""
        for letters in _HEADINGS:
            self._letters, self._natural = letters, self._measure(letters)
            numbers = sum(width for column, width in enumerate(self._natural) if column not in texts)
            if numbers + sum(min(self._natural[column], _LEAST_TEXT) for column in texts) <= whole:
                break
        self._model.narrow_headings(self._letters)

    def _measure(self, letters: int) -> list[int]:
        """Return the width of each column with headings of *letters*; the same table is measured once."""
        key = letters, self.tree.fontMetrics().height()
        if key not in self._measured:
            self._letters = letters
            self._model.narrow_headings(letters)
            self._measured[key] = [self._width_of(column) for column in range(self._model.columnCount())]
        return self._measured[key]

    def _share_texts(self, texts: Sequence[int], free: int) -> None:
        """Give text columns the remaining width, the longest most; *free* pixels are left, or missing if < 0."""
        header = self.tree.header()
        if free > 0 and len(texts) == header.count():  # nothing needs it: the columns stand evenly
            for column in texts:
                header.resizeSection(column, header.sectionSize(column) + free // len(texts))
            free %= len(texts)
        longest = max(texts, key=header.sectionSize)
        whole = self.tree.viewport().width()
        said = {column for column in texts if self._says(column)}
        sentences = frozenset(column for column in said if self._worded(column))
        for column in texts if free < 0 else ():  # names yield to the sentences about them
            most = max(_LEAST_TEXT, int(_NAME_SHARE * whole))
            if column != longest and header.sectionSize(column) > most:
                free += header.sectionSize(column) - most
                header.resizeSection(column, most)
        size = header.sectionSize(longest)
        header.resizeSection(longest, max(free + size, min(size, self._least_of(longest, whole))))
        lacking = sum(header.sectionSize(column) for column in range(header.count())) - whole
        if lacking > 0 and self._wraps:
            said |= {column for column in texts if header.sectionSize(column) > _LEAST_WRAPPED}
            for column in sorted(said, key=header.sectionSize, reverse=True):
                least = _LEAST_TEXT if column == longest else _LEAST_WRAPPED
                given = min(lacking, max(0, header.sectionSize(column) - least))
                header.resizeSection(column, header.sectionSize(column) - given)
                lacking -= given
        self._keep_in_sight(longest, whole)
        self._cut_no_number(texts, whole)
        self._wrap(frozenset(said) if len(self.table.rows) <= _FEW_NAMES else sentences)

    def _keep_in_sight(self, column: int, whole: int) -> None:
        """Narrow a text *column* that the right edge of a table *whole* pixels wide would cut, if it stays legible."""
        header = self.tree.header()
        size = header.sectionSize(column)
        over = header.sectionPosition(column) + size - whole
        if 0 < over <= size - _LEAST_WRAPPED:
            header.resizeSection(column, size - over)

    def _cut_no_number(self, texts: Sequence[int], whole: int) -> None:
        """Narrow *texts* a little so that the right edge of a table *whole* pixels wide cuts no number after them."""
        header = self.tree.header()
        for column in range(header.count()):
            begin = header.sectionPosition(column)
            over = begin + header.sectionSize(column) - whole
            if begin < whole and over > 0 and self._model.numeric(column):
                sizes = {text: header.sectionSize(text) for text in texts if header.sectionPosition(text) < begin}
                if over <= _GIVEN * sum(sizes.values()):
                    for text, size in sizes.items():
                        header.resizeSection(text, size - math.ceil(over * size / sum(sizes.values())))
                return

    @property
    def _wraps(self) -> bool:
        """Whether the table is short enough for wrapped rows and has sentences."""
        return any(self._says(column) for column in range(self._model.columnCount()))

    def _least_of(self, column: int, whole: int) -> int:
        """Return the minimum width of a text *column*: for names a share, for sentences a legible line."""
        return _LEAST_SENTENCE if self._says(column) else min(int(_NAME_SHARE * whole), max(_LEAST_TEXT, whole // 3))

    def _says(self, column: int) -> bool:
        """Return whether *column* of a short list holds sentences."""
        if self._model.is_tree() or len(self.table.rows) > _FEW or self.table.columns[column].name == SOURCE:
            return False
        return any(text.count(" ") >= _WORDS and len(text) > _LONG for text, _ in self._model.texts(column))

    def _worded(self, column: int) -> bool:
        """Return whether *column* holds sentences of words; formulas do not."""
        texts = (text for text, _ in self._model.texts(column))
        return any(sum(word.strip(".,;:()").isalpha() for word in text.split()) > _WORDS for text in texts)

    def _wrap(self, wanted: frozenset[int]) -> None:
        """Wrap texts in the columns *wanted*."""
        width = sum(self.tree.header().sectionSize(column) for column in wanted)
        if wanted == self._delegate.sentences and abs(width - self._wrapped_at) <= BAR:
            return  # a scroll bar caused by wrapping must not cause another wrap
        self._delegate.sentences, self._wrapped_at = wanted, width
        self.tree.setUniformRowHeights(not wanted)
        self.tree.scheduleDelayedItemsLayout()

    def _search(self, text: str) -> None:
        self._following = True
        self._model.search(text)
        self._open_all()
        self._following = False
        self.select(self._key)
        self._count()

    def _count(self) -> None:
        total = len(self.table.rows)
        self._found.setText(f"{self._model.shown} of {total}" if self.filter.text() else f"{total} rows")

    def _fold(self) -> None:
        """Show the search field if there are enough rows; in a low table only while it is used."""
        many = self._searchable and len(self.table.rows) >= _FILTER_FROM
        used = bool(self.filter.text()) or self.filter.hasFocus()
        for widget in (self.filter, self._found):
            widget.setVisible(many and (used or self.height() >= _LOW))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: show or hide the search field."""
        super().resizeEvent(event)
        self._fold()

    def _to_filter(self) -> None:
        if self._searchable and len(self.table.rows) >= _FILTER_FROM:
            self.filter.show()
            self._found.show()
            self.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self.filter.selectAll()

    def _leave_filter(self) -> None:
        self.filter.clear()
        self.tree.setFocus(Qt.FocusReason.OtherFocusReason)
        self._fold()

    def _chosen(self) -> None:
        rows = self.tree.selectionModel().selectedRows()
        if not self._following and rows:
            key = rows[0].data(KEY_ROLE)
            self._key = key or ""
            if key:
                self.row_chosen.emit(key)

    def menu_for(self, key: str) -> QMenu:
        """Return the menu for the row *key*."""
        menu = QMenu(self)
        if self.can_be_faster(key):
            menu.addAction(FASTER, lambda: self.faster_wanted.emit(key))
        menu.addAction("Copy the table", lambda: QGuiApplication.clipboard().setText(self.as_text()))
        return menu

    def _show_menu(self, place: QPoint) -> None:
        key = self.tree.indexAt(place).siblingAtColumn(0).data(KEY_ROLE)
        menu = self.menu_for(str(key or ""))
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.tree.viewport().mapToGlobal(place))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Ctrl+C copies the visible rows; Escape clears the filter."""
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.as_text())
        else:
            super().keyPressEvent(event)

    def as_text(self) -> str:
        """Return the visible rows as tab-separated text."""
        columns = range(self._model.columnCount())
        heads = [str(self._model.headerData(c, Qt.Orientation.Horizontal)) for c in columns]
        lines = ["\t".join(head.replace("\n", " ") for head in heads)]
        index = self._model.index(0, 0)
        while index.isValid():
            lines.append("\t".join(str(index.siblingAtColumn(c).data()) for c in columns))
            index = self.tree.indexBelow(index)
        return "\n".join(lines) + "\n"


class _Tree(QTreeView):
    """A tree that sorts on a click on its header: numbers in descending order first."""

    resized = Signal()
    column_clicked = Signal(int)  # on the heading, if clicks do not sort
    cell_clicked = Signal(int, int)  # row and column, likewise

    def __init__(self) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlternatingRowColors(True)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setIndentation(14)
        header = self.header()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setMinimumSectionSize(56)
        header.sectionClicked.connect(self._sort)
        self._order: tuple[int, Qt.SortOrder] | None = None
        self._sorts = True

    def choose_columns(self) -> None:
        """Let clicks choose a column instead of sorting by it."""
        self._sorts = False
        self.header().setSortIndicatorShown(False)
        self.clicked.connect(lambda index: self.cell_clicked.emit(index.row(), index.column()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()

    def _sort(self, column: int) -> None:
        if not self._sorts:
            self.column_clicked.emit(column)
            return
        model = self.model()
        if not isinstance(model, TableModel):
            return
        numeric = model.numeric(column)
        first = Qt.SortOrder.DescendingOrder if numeric else Qt.SortOrder.AscendingOrder
        second = Qt.SortOrder.AscendingOrder if numeric else Qt.SortOrder.DescendingOrder
        # one direction, the other, then the table's own order
        steps = [(column, first), (column, second), (-1, first)]
        now = steps.index(self._order) if self._order in steps else -1
        where, order = steps[(now + 1) % 3]
        self._order = (where, order) if where >= 0 else None
        self.header().setSortIndicator(where, order)
        model.sort_by(where, order)
