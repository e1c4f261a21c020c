"""The queue as a tree model for Qt: requests, each with its runs."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from scalegraph.base.units import seconds, si
from scalegraph.gui.queue.runner import QueueRunner
from scalegraph.gui.queue.state import QueueEntry, RunItem

COLUMNS: Final = ("Run", "State", "Progress", "Where", "Simulated time", "Host time")
STATE, PROGRESS, WHERE = 1, 2, 3
ShareRole: Final = Qt.ItemDataRole.UserRole + 1  # 0 to 1 for the progress bar, or None
PhaseRole: Final = Qt.ItemDataRole.UserRole + 2
_WORDS: Final = {
    "waiting": "waiting",
    "building": "compiling",
    "running": "running",
    "stopping": "stopping",
    "done": "done",
    "kept": "from an earlier run",
    "failed": "failed",
    "cancelled": "cancelled",
}
_TOP: Final = 0
_HERE: Final = "this computer"
_Index = QModelIndex | QPersistentModelIndex
_DISPLAY: Final = Qt.ItemDataRole.DisplayRole


class QueueModel(QAbstractItemModel):
    """The rows are `QueueEntry`; their children are `RunItem` in planned order."""

    def __init__(self, runner: QueueRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runner = runner
        self._entries: list[QueueEntry] = []
        self._runs: dict[int, list[RunItem]] = {}
        self._rows: dict[int, dict[str, int]] = {}
        runner.added.connect(self._added)
        runner.changed.connect(self._changed)
        runner.removed.connect(self._removed)

    def entry(self, index: _Index) -> QueueEntry | None:
        """Return the request at *index*, or the request of the run there."""
        if not index.isValid():
            return None
        serial = index.internalId()
        return self._entries[index.row()] if serial == _TOP else self._entries[self._row_of(serial)]

    def run(self, index: _Index) -> RunItem | None:
        """Return the run at *index*, or ``None`` for a request."""
        if not index.isValid() or index.internalId() == _TOP:
            return None
        return self._runs[index.internalId()][index.row()]

    def index_of(self, entry: QueueEntry) -> QModelIndex:
        """Return the index of *entry*."""
        return self.index(self._entries.index(entry), 0)

    def tick(self) -> None:
        """Refresh remaining and elapsed times."""
        for row, entry in enumerate(self._entries):
            if not entry.ended:
                self._touch(row, 0, -1)

    # Qt's interface. A run's internal id is its request's serial number, a request's is 0: no pointers are kept.

    def index(self, row: int, column: int, parent: _Index | None = None) -> QModelIndex:
        """Return the index of a request, or of a run below *parent*."""
        parent = parent or QModelIndex()
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        return self.createIndex(row, column, self._entries[parent.row()].serial if parent.isValid() else _TOP)

    def parent(self, child: _Index | None = None) -> Any:
        """Return the request that a run belongs to."""
        if child is None:
            return super().parent()
        if not child.isValid() or child.internalId() == _TOP:
            return QModelIndex()
        return self.createIndex(self._row_of(child.internalId()), 0, _TOP)

    def rowCount(self, parent: _Index | None = None) -> int:
        """Return the number of requests, or of one request's runs."""
        if parent is None or not parent.isValid():
            return len(self._entries)
        if parent.column() > 0 or parent.parent().isValid():
            return 0
        return len(self._runs[self._entries[parent.row()].serial])

    def columnCount(self, _parent: _Index | None = None) -> int:
        """Return the number of columns, the same on both levels."""
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = _DISPLAY) -> Any:
        """Return a column's heading."""
        if orientation is Qt.Orientation.Horizontal and role == _DISPLAY:
            return COLUMNS[section]
        return None

    def data(self, index: _Index, role: int = _DISPLAY) -> Any:
        """Return a cell's text, progress or state."""
        if not index.isValid():
            return None
        run = self.run(index)
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > WHERE:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if run is not None:
            return _run_data(run, index.column(), role)
        entry = self.entry(index)
        return None if entry is None else _entry_data(entry, index.column(), role)

    def _row_of(self, serial: int) -> int:
        return next(row for row, entry in enumerate(self._entries) if entry.serial == serial)

    # the runner's signals

    def _added(self, entry: QueueEntry) -> None:
        row = len(self._entries)
        self.beginInsertRows(QModelIndex(), row, row)
        self._entries.append(entry)
        self._runs[entry.serial] = []
        self._rows[entry.serial] = {}
        self.endInsertRows()

    def _removed(self, entry: QueueEntry) -> None:
        row = self._entries.index(entry)
        self.beginRemoveRows(QModelIndex(), row, row)
        del self._entries[row]
        del self._runs[entry.serial], self._rows[entry.serial]
        self.endRemoveRows()

    def _changed(self, entry: QueueEntry, keys: list[str]) -> None:
        row = self._entries.index(entry)
        rows = self._rows[entry.serial]
        new = [key for key in keys if key not in rows]
        if new:
            shown = self._runs[entry.serial]
            self.beginInsertRows(self.index(row, 0), len(shown), len(shown) + len(new) - 1)
            for key in new:
                rows[key] = len(shown)
                shown.append(entry.runs[key])
            self.endInsertRows()
        touched = [rows[key] for key in keys]
        self._touch(row, min(touched, default=0), max(touched, default=-1))

    def _touch(self, row: int, first: int, last: int) -> None:
        right = len(COLUMNS) - 1
        self.dataChanged.emit(self.index(row, 0), self.index(row, right))
        if last >= first:
            parent = self.index(row, 0)
            self.dataChanged.emit(self.index(first, 0, parent), self.index(last, right, parent))


def _entry_data(entry: QueueEntry, column: int, role: int) -> Any:
    if role == PhaseRole:
        return "failed" if entry.ended and entry.failed else entry.phase
    if role == ShareRole and column == PROGRESS:
        return entry.finished / entry.total if entry.total else None
    if role == Qt.ItemDataRole.ToolTipRole:
        return "\n".join(filter(None, (str(entry.path), entry.message, *entry.notes[-3:], *entry.worker_lines())))
    if role == _DISPLAY:
        some = entry.phase == "done" and entry.failed
        state = f"{entry.failed} failed" if some else _WORDS[entry.phase]
        return (entry.title, state, entry.said(), entry.place() or _HERE, "", "")[column]
    return None


def _run_data(run: RunItem, column: int, role: int) -> Any:
    if role == PhaseRole:
        return run.phase
    if role == Qt.ItemDataRole.ToolTipRole:
        return run.message or run.point.label()
    if role != _DISPLAY:
        return None
    record = run.record
    return (
        run.point.label(),
        _WORDS[run.phase],
        run.message,
        run.where,
        si(record.time_s, "s", 4) if record is not None and record.time_s is not None else "",
        seconds(record.host_s) if record is not None and record.host_s is not None else "",
    )[column]
