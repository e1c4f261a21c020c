"""A `Grid` on the screen: the scalability matrix as numbers, heat map or both."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QItemSelectionModel, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QScrollArea,
    QSizePolicy,
    QTableView,
    QWidget,
)

from scalegraph.figures.figure import Grid
from scalegraph.gui.base.combo import ElidedCombo
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.tints import COLOUR_MAPS, ColourMapName, ink, tint
from scalegraph.gui.figures.colour_bar import ColourBar, TurnedLabel
from scalegraph.gui.figures.grid.delegate import CellPainter, Show
from scalegraph.gui.figures.grid.folding import folded, large
from scalegraph.gui.figures.grid.model import GridModel, as_text, reasons

_LEAST_BOX = 56  # pixels of a combo box
_LEAST_CELL = 7  # pixels of a cell without numbers
_LARGEST = QSize(150, 96)  # of a cell: a matrix with two rows need not fill the screen
_FILLS_FROM = 6  # rows or columns from which it does, however large that is


class GridPanel(QWidget):
    """Shows one `Grid`; *cell_chosen* has (N of the row, N of the column) of a cell clicked or reached by keys."""

    cell_chosen = Signal(object)
    escaped = Signal()

    def __init__(self, grid: Grid, theme: str = "light", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._following = False
        self._heated = True  # whether colours show values
        self._model = GridModel(grid)
        self.table = _Matrix(self)
        self.table.setModel(self._model)
        self._painter = CellPainter(self.table)
        self.table.setItemDelegate(self._painter)
        # not the current cell, which changes when the matrix merely gets the focus
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._chosen())
        self.table.escaped.connect(self.escaped)
        self.setFocusProxy(self.table)
        self._lay_out()
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.customContextMenuRequested.connect(
            lambda at: self.menu().popup(self.table.viewport().mapToGlobal(at))
        )
        self.set_grid(grid)

    def _lay_out(self) -> None:
        self.colour_by = ElidedCombo()
        self.colour_by.setAccessibleName("Value that colours the cells")
        self.colour_by.currentIndexChanged.connect(self._recolour)
        self.show_what = ElidedCombo()
        self.show_what.setAccessibleName("What the cells show")
        for what in Show:
            self.show_what.addItem(what.value, what)
        self.show_what.currentIndexChanged.connect(self._recolour)
        self.colour_map = ElidedCombo()
        self.colour_map.setAccessibleName("Colours")
        for name in COLOUR_MAPS:
            self.colour_map.addItem(name, name)
        self.colour_map.currentIndexChanged.connect(self._recolour)
        self._by = QLabel("Colour by")
        controls = QHBoxLayout()
        controls.setSpacing(6)
        for box in (self.colour_by, self.show_what, self.colour_map):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.setMinimumWidth(_LEAST_BOX)
            box.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        controls.addWidget(self._by)
        controls.addWidget(self.colour_by)
        controls.addWidget(self.show_what)
        controls.addWidget(self.colour_map)
        controls.addStretch(1)
        self._legend = QLabel()
        self._legend.setTextFormat(Qt.TextFormat.RichText)
        self._legend.setWordWrap(True)
        self._columns = QLabel()
        self._columns.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._rows = TurnedLabel()
        self._bar = ColourBar()
        self._matrix_room = QWidget()
        self._matrix_room.setMinimumSize(120, 90)
        for widget in (self._columns, self._rows, self.table, self._bar):
            widget.setParent(self._matrix_room)
        self._matrix_room.installEventFilter(self)
        self._reasons = QLabel()
        self._reasons.setProperty("role", "muted")
        self._reasons.setWordWrap(True)
        self._reasons.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._reasons.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._reason_room = QScrollArea()
        self._reason_room.setWidget(self._reasons)
        self._reason_room.setWidgetResizable(True)
        self._reason_room.setFrameShape(QFrame.Shape.NoFrame)
        self._reason_room.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        layout = vertical(self, spacing=4)
        layout.addLayout(controls)
        layout.addWidget(self._legend)
        layout.addWidget(self._matrix_room, 1)
        layout.addWidget(self._reason_room)

    # display

    @property
    def grid(self) -> Grid:
        """The grid shown."""
        return self._model.grid

    def set_grid(self, grid: Grid) -> None:
        """Show *grid*; the choice of colours and values stays."""
        chosen = self.colour_by.currentText()
        lines = reasons(grid)
        grid, left_out = folded(grid)
        names = list(grid.value_names)
        self._following = True
        self.colour_by.clear()
        self.colour_by.addItems(names)
        self.colour_by.setCurrentIndex(names.index(chosen) if chosen in names else grid.colour_by)
        self.colour_by.setEnabled(len(names) > 1)
        current = self.table.chosen()
        self._model.set_grid(grid)
        if current is not None and self._model.cell(*current) is not None:
            self.table.go(*current)
        self._following = False
        self._columns.setText(grid.column_label)
        self._rows.setText(grid.row_label)
        lines = [*([left_out] if left_out else []), *lines]
        self._reasons.setText("\n".join(lines))
        self._reason_room.setVisible(bool(lines))
        self.setAccessibleName(f"Matrix of {grid.row_label} by {grid.column_label}: {', '.join(names)}")
        self._recolour()

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        self._theme = theme
        self._recolour()

    def select(self, cell: tuple[int, int] | None, processors: int | None = None) -> None:
        """Show *cell* (N of its row and column) as selected and *processors* in the headers."""
        self._following = True
        place = self._model.where(cell)
        if place is None:
            self.table.clearSelection()
            self.table.setCurrentIndex(self._model.index(-1, -1))
        else:
            self.table.go(*place)
        self._following = False
        self.table.mark(self.grid, processors)

    def reason_text(self) -> str:
        """Return the text below the matrix."""
        return self._reasons.text()

    def legend_text(self) -> str:
        """Return the legend: the order of values in a cell."""
        return self._legend.text()

    def _recolour(self) -> None:
        if self._following:
            return
        painter, grid = self._painter, self.grid
        painter.theme = self._theme
        painter.colour_by = max(0, self.colour_by.currentIndex())
        painter.show_what = self.show_what.currentData()
        name: ColourMapName = self.colour_map.currentData()
        painter.colour_map = name
        painter.take(grid)
        self._heated = heated = painter.show_what is not Show.NUMBERS
        self._bar.setVisible(heated)
        self.colour_map.setEnabled(heated)
        label = grid.value_names[painter.colour_by] if grid.value_names else ""
        self._bar.show_scale(label, grid.limits, name)
        self._legend.setText(_legend_of(grid, painter))
        self._legend.setVisible(bool(self._legend.text()) and self.height() > 220)
        self.table.dress(self._theme)
        self._settle()

    # places

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: fit the cells to the new size."""
        super().resizeEvent(event)
        narrow = self.width() < 420
        self._by.setVisible(not narrow)
        self._reason_room.setVisible(bool(self._reasons.text()) and self.height() > 240)
        high = self._reasons.heightForWidth(max(100, self.width() - 14)) + 2
        self._reason_room.setFixedHeight(min(high, 3 * self.fontMetrics().height() + 4))
        self._legend.setVisible(bool(self._legend.text()) and self.height() > 220)
        self._settle()

    def _settle(self) -> None:
        left, top = self._rows.sizeHint().width(), self._columns.sizeHint().height() + 2
        needed = self._needed(self._matrix_room.size() - QSize(left, top))
        bar = self._room_of_bar(self._matrix_room.width() - left - self.table.least_width(needed))
        room = self._matrix_room.size() - QSize(left + bar, top)
        size = self.table.fill(room, needed)
        self.table.setGeometry(left, top, size.width(), size.height())
        head_side, head_top = self.table.heads()
        self._columns.setGeometry(left + head_side, 0, max(20, size.width() - head_side), top)
        self._rows.setGeometry(0, top + head_top, left, max(20, size.height() - head_top))
        self._bar.setGeometry(left + size.width() + 6, top, max(0, bar - 6), min(size.height(), 320))

    def _needed(self, room: QSize) -> QSize:
        """Return the minimum cell size; a large matrix drops its numbers before it scrolls."""
        needed = self._painter.needed(self.font())
        if self._painter.show_what is not Show.BOTH or not large(self.grid):
            return needed
        head_side, head_top = self.table.heads()
        fits = QSize(len(self.grid.columns) * needed.width() + head_side, len(self.grid.rows) * needed.height())
        if fits.width() <= room.width() and fits.height() + head_top <= room.height():
            return needed
        return QSize(_LEAST_CELL, _LEAST_CELL)

    def _room_of_bar(self, rest: int) -> int:
        """Return the width of the colour scale in pixels; *rest*: the room beside the matrix.

        Without room for all, first its title is dropped, which is also above the matrix, then the scale, as the cells
        show the numbers.
        """
        if not self._heated:
            return 0
        whole, bare = (self._bar.width_with(title=title) + 6 for title in (True, False))
        numbered = self._painter.show_what is not Show.HEAT
        room = whole if rest >= whole else bare if rest >= bare or not numbered else 0 if rest >= 0 else bare
        self._bar.show_title(room == whole)
        self._bar.setVisible(room > 0)
        return room

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt: lay out the matrix when its area is resized."""
        if watched is self._matrix_room and event.type() == QEvent.Type.Resize:
            self._settle()
        return super().eventFilter(watched, event)

    # copying

    def menu(self) -> QMenu:
        """Return the context menu."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        text = QAction("Copy as text\tCtrl+C", menu)
        text.triggered.connect(self.copy_text)
        menu.addAction(text)
        for action in self.actions():
            menu.addAction(action)
        return menu

    def copy_text(self) -> None:
        """Copy the matrix to the clipboard as tab-separated text."""
        QGuiApplication.clipboard().setText(as_text(self.grid))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Ctrl+C copies."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_text()
        else:
            super().keyPressEvent(event)

    def _chosen(self) -> None:
        place = self.table.chosen() if self.table.selectionModel().hasSelection() else None
        if not self._following and place is not None and self._model.cell(*place) is not None:
            self.cell_chosen.emit(self._model.processors(*place))


class _Matrix(QTableView):
    """The table itself: sections of equal size; no scroll bars if everything fits."""

    escaped = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setShowGrid(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("bare", True)
        self.setCornerButtonEnabled(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._heads = (_Head(Qt.Orientation.Horizontal, self), _Head(Qt.Orientation.Vertical, self))
        self.setHorizontalHeader(self._heads[0])
        self.setVerticalHeader(self._heads[1])
        self.setAccessibleName("Matrix")

    def chosen(self) -> tuple[int, int] | None:
        """Return row and column of the current cell."""
        index = self.currentIndex()
        return (index.row(), index.column()) if index.isValid() else None

    def go(self, row: int, column: int) -> None:
        """Make a cell current and scroll to it."""
        index = self.model().index(row, column)
        self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self.scrollTo(index)

    def mark(self, grid: Grid, processors: int | None) -> None:
        """Highlight *processors* in both headers, and the current cell's."""
        place = self.chosen()
        for head, numbers, i in zip(self._heads, (grid.column_processors, grid.row_processors), (1, 0), strict=True):
            marked = {n for n, value in enumerate(numbers) if value == processors}
            head.mark(marked | ({place[i]} if place else set()))

    def dress(self, theme: str) -> None:
        """Use the colours of *theme*."""
        for head in self._heads:
            head.theme = theme
        self.viewport().update()

    def heads(self) -> tuple[int, int]:
        """Return the width of the row header and the height of the column header."""
        return self._heads[1].extent(), self._heads[0].extent()

    def least_width(self, least: QSize) -> int:
        """Return the width in pixels from which cells of size *least* need no horizontal scrolling."""
        bar = self.style().pixelMetric(self.style().PixelMetric.PM_ScrollBarExtent)  # for rows, if needed
        return max(1, self.model().columnCount()) * least.width() + self._heads[1].extent() + 2 + bar

    def fill(self, room: QSize, least: QSize) -> QSize:
        """Make the cells as large as *room* allows, at least *least* (then it scrolls); return their size."""
        model = self.model()
        columns, rows = max(1, model.columnCount()), max(1, model.rowCount())
        side, top = self._heads[1].extent(), self._heads[0].extent()
        bar = self.style().pixelMetric(self.style().PixelMetric.PM_ScrollBarExtent)
        beside = bar if rows * least.height() + top + 2 > room.height() else 0  # the rows scroll
        wide, high = room.width() - side - 2 - beside, room.height() - top - 2
        width = max(least.width(), min(max(_LARGEST.width(), wide // _FILLS_FROM), wide // columns))
        height = max(least.height(), min(max(_LARGEST.height(), high // _FILLS_FROM), high // rows))
        for head, size in zip(self._heads, (width, height), strict=True):
            head.setMinimumSectionSize(4)
            head.setDefaultSectionSize(size)
        self._heads[1].setFixedWidth(side)
        self._heads[0].setFixedHeight(top)
        across, down = columns * width + side + 2, rows * height + top + 2
        if across > room.width():
            down += bar
        if down > room.height():
            across += bar
        return QSize(max(60, min(across, room.width())), max(40, min(down, room.height())))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape clears; Ctrl+C goes to the panel."""
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            event.ignore()
        else:
            super().keyPressEvent(event)


class _Head(QHeaderView):
    """Names of rows or columns, with the selected ones highlighted."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget) -> None:
        super().__init__(orientation, parent)
        self.theme = "light"
        self._marked: set[int] = set()
        self.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)

    def mark(self, sections: set[int]) -> None:
        """Highlight *sections*."""
        self._marked = sections
        self.viewport().update()

    def extent(self) -> int:
        """Return the width of the longest name."""
        metrics = self.fontMetrics()
        if self.orientation() == Qt.Orientation.Horizontal:
            return metrics.height() + 8
        count = self.model().rowCount() if self.model() else 0
        names = [str(self.model().headerData(i, self.orientation())) for i in range(count)]
        return min(160, max((metrics.horizontalAdvance(name) for name in names), default=20) + 16)

    def _widest(self) -> int:
        """Return the width of the longest column name; it may overlap others, which are then omitted."""
        count = self.model().columnCount() if self.model() else 0
        names = [str(self.model().headerData(i, self.orientation())) for i in range(count)]
        return min(80, max((self.fontMetrics().horizontalAdvance(name) for name in names), default=20))

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        """Qt: draw one name."""
        painter.save()
        text = str(self.model().headerData(section, self.orientation()))
        if section in self._marked:
            painter.fillRect(rect, tint("muted", self.theme, 0.28))
            font = painter.font()
            font.setBold(True)
            painter.setFont(font)
        painter.setPen(ink(self.theme))
        fits = painter.fontMetrics().horizontalAdvance(text) <= rect.width()
        upright = self.orientation() == Qt.Orientation.Vertical
        if upright:
            fits = rect.height() >= painter.fontMetrics().height() - 4
        # in narrow columns every second, fourth, .. name, so that they do not touch
        step = 1
        across = rect.height() if upright else rect.width()
        need = painter.fontMetrics().height() - 4 if upright else self._widest() + 4
        while not fits and across * step < need:
            step *= 2
        if fits or section % step == 0:
            room = rect.adjusted(0, -8, 0, 8) if upright and not fits else rect
            wide = (rect.width() if upright else step * rect.width()) - 4
            room = QRect(rect.center().x() - wide // 2, room.y(), wide, room.height())
            if painter.fontMetrics().horizontalAdvance(text) > wide:
                text = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, wide)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), text)
        painter.restore()


def _legend_of(grid: Grid, painter: CellPainter) -> str:
    """Return the order of values in a cell, and the meaning of hatching and marks."""
    names = [name.replace("&", "&amp;").replace("<", "&lt;") for name in grid.value_names]
    parts = []
    if len(names) > 1:
        marked = [f"<b>{name}</b>" if i == painter.colour_by else name for i, name in enumerate(names)]
        parts.append("Each cell: " + " / ".join(marked))
    elif names:
        parts.append(names[0])
    cells = [cell for row in grid.cells for cell in row if cell is not None]
    origins = sorted({cell.origin for cell in cells})
    if painter.mark_origin:
        signs = {"simulated": "○ simulated", "measured": "● measured", "imported": "● imported"}
        signs |= {"predicted": "┄ predicted", "computed": "unmarked: computed from runs"}
        parts.append(", ".join(signs[origin] for origin in sorted(origins, key=list(signs).index)))
    elif origins and origins[0] != "computed":
        parts.append(origins[0])
    if any(cell.reason for cell in cells):
        parts.append("▨ no value")
    return " &nbsp;·&nbsp; ".join(parts)
