"""The queue: requests and their runs with progress and time left; a failed run shows its error and output."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QItemSelection, QModelIndex, QPersistentModelIndex, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPlainTextEdit,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.queue.model import PROGRESS, STATE, WHERE, PhaseRole, QueueModel, ShareRole
from scalegraph.gui.queue.runner import QueueRunner
from scalegraph.gui.queue.state import QueueEntry, RunItem

_INCOMPLETE: Final = ("failed", "cancelled")
_NARROW: Final = ((0, 190), (STATE, 80), (4, 104), (5, 76))  # widths (pixels) that leave room for the workers
_TICK_MS: Final = 1000  # the time left is counted down once a second


class QueuePanel(QWidget):
    """Shows the queue; all actions go to the runner."""

    study_wanted = Signal(object)  # Path of a study

    def __init__(self, runner: QueueRunner, theme: Theme) -> None:
        super().__init__()
        self._runner = runner
        self.model = QueueModel(runner, self)
        self.tree = self._tree(theme)
        self.cancel_button = button("Cancel request", "Stop this request; finished runs are kept")
        self.cancel_all_button = button("Cancel all", "Stop every request")
        self.retry_button = button("Run again", "Run what failed or was cancelled; finished runs are kept")
        self.open_button = button("Open study", "Show the study of this request")
        self.clear_button = button(
            "Clear finished", "Remove finished requests from this list; studies are kept", "flat"
        )
        self.output = QPlainTextEdit()
        self.output.setReadOnly(True)
        self.output.setProperty("role", "mono")
        self.output.setAccessibleName("Message and output")
        self.empty = label("Nothing has been started yet. Runs appear here with their progress.", "muted")
        self._lay()
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self.model.tick)
        self.cancel_button.clicked.connect(lambda: self._with(runner.cancel))
        self.cancel_all_button.clicked.connect(runner.cancel_all)
        self.retry_button.clicked.connect(lambda: self._with(runner.retry))
        self.open_button.clicked.connect(lambda: self._with(lambda entry: self.study_wanted.emit(entry.path)))
        self.clear_button.clicked.connect(runner.clear_ended)
        runner.added.connect(self._added)
        runner.changed.connect(self._changed)
        runner.ended.connect(self._ended)
        runner.removed.connect(tied(self, lambda _entry: QTimer.singleShot(0, self, self._update)))
        self.tree.selectionModel().selectionChanged.connect(self._selected)
        self._update()

    def _tree(self, theme: Theme) -> QTreeView:
        tree = QTreeView()
        tree.setModel(self.model)
        tree.setAccessibleName("Requests and their runs")
        tree.setUniformRowHeights(True)
        tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        tree.setItemDelegate(_PhaseDelegate(theme, tree))
        tree.header().setStretchLastSection(False)
        tree.header().setSectionResizeMode(PROGRESS, QHeaderView.ResizeMode.Stretch)
        tree.header().setMinimumSectionSize(80)
        for column, width in ((0, 250), (STATE, 96), (WHERE, 150), (4, 124), (5, 92)):
            tree.header().resizeSection(column, width)
        tree.setColumnHidden(WHERE, True)  # until a request runs elsewhere
        return tree

    def _lay(self) -> None:
        column = vertical(self, (8, 4, 8, 8))
        buttons = QHBoxLayout()
        for made in (self.open_button, self.retry_button, self.cancel_button, self.cancel_all_button):
            buttons.addWidget(made)
        buttons.addStretch(1)
        buttons.addWidget(self.clear_button)
        column.addLayout(buttons)
        column.addWidget(self.empty)
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self.tree)
        self._split.addWidget(self.output)
        self._split.setStretchFactor(0, 3)
        self._split.setStretchFactor(1, 2)
        column.addWidget(self._split, 1)

    def selected(self) -> QueueEntry | None:
        """Return the selected request, or that of the selected run; without a selection, the only one."""
        entry = self.model.entry(self.tree.currentIndex())
        return self._runner.entries[0] if entry is None and len(self._runner.entries) == 1 else entry

    def _with(self, action: object) -> None:
        entry = self.selected()
        if entry is not None and callable(action):
            action(entry)

    def _added(self, entry: QueueEntry) -> None:
        index = self.model.index_of(entry)
        self.tree.setCurrentIndex(index)
        self.tree.expand(index)
        if entry.where is not None and self.tree.isColumnHidden(WHERE):
            self.tree.setColumnHidden(WHERE, False)
            for column, width in _NARROW:
                self.tree.header().resizeSection(column, width)
        self._timer.start()
        self._update()

    def _changed(self, _entry: QueueEntry, _keys: list[str]) -> None:
        self._update()

    def _ended(self, entry: QueueEntry) -> None:
        if not self._runner.busy:
            self._timer.stop()
        first = next((i for i, run in enumerate(entry.runs.values()) if run.phase == "failed"), None)
        if first is not None and self.model.run(self.tree.currentIndex()) is None:
            self.tree.setCurrentIndex(self.model.index(first, 0, self.model.index_of(entry)))
        self._update()

    def _selected(self, _new: QItemSelection, _old: QItemSelection) -> None:
        self._update()

    def _update(self) -> None:
        entry = self.selected()
        some = bool(self._runner.entries)
        self.empty.setVisible(not some)
        self._split.setVisible(some)
        self.open_button.setEnabled(entry is not None and entry.path.exists())
        self.cancel_button.setEnabled(entry is not None and not entry.ended and entry.phase != "stopping")
        self.cancel_all_button.setEnabled(self._runner.busy)
        incomplete = entry is not None and (
            entry.phase in _INCOMPLETE or any(run.phase in _INCOMPLETE for run in entry.runs.values())
        )
        self.retry_button.setEnabled(entry is not None and self._runner.over(entry) and incomplete)
        self.clear_button.setEnabled(any(map(self._runner.over, self._runner.entries)))
        run = self.model.run(self.tree.currentIndex())
        text = _run_text(run) if run is not None else _entry_text(entry)
        if self.output.toPlainText() != text:
            self.output.setPlainText(text)
        self.output.setVisible(bool(text))


def _run_text(run: RunItem) -> str:
    parts = [run.message]
    record = run.record
    if record is not None:
        parts += [warning for warning in record.warnings if warning != run.message]
        parts += [
            f"{' '.join(map(str, wait.who))}: {wait.doing}{f' at {wait.place}' if wait.place else ''}"
            + (f", held by thread {wait.holder}" if wait.holder is not None else "")
            for wait in record.waits
        ]
        for name, text in (("standard output", record.stdout), ("standard error", record.stderr)):
            if text.strip():
                parts.append(f"── {name} ──\n{text.rstrip()}")
        ranks = [(rank, text) for rank, text in enumerate(record.rank_output or ()) if text.strip()]
        if (record.processes or 1) > 1:
            parts += [f"── rank {rank} ──\n{text.rstrip()}" for rank, text in ranks]
    return "\n".join(part for part in parts if part)


def _entry_text(entry: QueueEntry | None) -> str:
    if entry is None:
        return ""
    parts = [entry.message, *entry.notes, *entry.worker_lines()]
    if entry.output.strip():
        parts.append(f"── compiler ──\n{entry.output.rstrip()}")
    return "\n".join(part for part in parts if part)


class _PhaseDelegate(QStyledItemDelegate):
    """Colours a state, and draws the progress bar below a request's text."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def initStyleOption(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        super().initStyleOption(option, index)
        phase = index.data(PhaseRole)
        paper = self._theme.paper
        colours = {"failed": paper.fault, "done": paper.good, "running": paper.accent, "building": paper.accent}
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if index.column() == STATE and phase in colours and not chosen:
            option.palette.setColor(option.palette.ColorRole.Text, QColor(colours[phase]))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        share = index.data(ShareRole)
        if share is None:
            return
        area = QRectF(option.rect)
        bar = QRectF(area.left() + 4, area.bottom() - 4, area.width() - 8, 3)
        paper, phase = self._theme.paper, index.data(PhaseRole)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        full = paper.on_accent if chosen else {"failed": paper.fault, "done": paper.good}.get(phase, paper.accent)
        empty = QColor(full)
        empty.setAlphaF(0.25)
        painter.fillRect(bar, empty)
        bar.setWidth(bar.width() * float(share))
        painter.fillRect(bar, QColor(full))
