"""The call paths of a set as a lazy Qt model: asks only for unfolded ones; searching keeps matches and ancestors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt

from scalegraph.gui.figures.region_bar import ShareRole
from scalegraph.gui.study.call_values import CallValues

Index = QModelIndex | QPersistentModelIndex
_NOWHERE: Final = QModelIndex()
_ARROW: Final = "->"


class CallTreeModel(QAbstractItemModel):
    """Names in the first column, value or share in the second. Rows are in the set's order."""

    def __init__(self) -> None:
        super().__init__()
        self._names: Sequence[str] = ()
        self._paths: Sequence[str] = ()
        self._places: Sequence[str] = ()
        self._lower: list[str] = []
        self._parents: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._kept: NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._children: dict[int, NDArray[np.int64]] = {}
        self._rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self._hits: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.values: CallValues | None = None
        self.as_share = True

    # content

    def set_paths(
        self, names: Sequence[str], parents: NDArray[np.int64], paths: Sequence[str], places: Sequence[str]
    ) -> None:
        """Show other call paths: *parents* are positions, -1 for none; parents come before children."""
        self.beginResetModel()
        self._names, self._parents, self._paths, self._places = names, parents, paths, places
        self._lower = [path.lower() for path in paths]
        self.values = None
        self._keep("")
        self.endResetModel()

    def set_values(self, values: CallValues | None) -> None:
        """Show *values* beside the names."""
        self.values = values if values is not None and len(values.values) == len(self._names) else None
        self.refresh()

    def refresh(self) -> None:
        """Redraw everything visible."""
        self.layoutChanged.emit()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 1, 1)

    def filter(self, text: str) -> None:
        """Keep call paths whose full name contains *text* (ignoring case), and their ancestors."""
        self.beginResetModel()
        self._keep(text.strip().lower())
        self.endResetModel()

    def _keep(self, word: str) -> None:
        count = len(self._names)
        if word:
            hit = np.array([word in path for path in self._lower], dtype=bool)
            # everything below a match contains the text as well; match ends of names first
            found = [int(path) for path in np.flatnonzero(hit)]
            self._hits = np.array([path for path in found if self._ends_match(path, word)], dtype=np.int64)
            for path in reversed(found):
                parent = self._parents[path]
                while parent >= 0 and not hit[parent]:
                    hit[parent] = True
                    parent = self._parents[parent]
            self._kept = hit
        else:
            self._kept = np.ones(count, dtype=bool)
            self._hits = np.empty(0, dtype=np.int64)
        kept = np.flatnonzero(self._kept)
        order = kept[np.argsort(self._parents[kept], kind="stable")]
        owners, starts = np.unique(self._parents[order], return_index=True)
        parts = np.split(order, starts[1:]) if len(order) else []
        self._children = {int(owner): part for owner, part in zip(owners, parts, strict=True)}
        self._rows = np.zeros(count, dtype=np.int64)
        for part in self._children.values():
            self._rows[part] = np.arange(len(part))

    def _ends_match(self, path: int, word: str) -> bool:
        parent = self._parents[path]
        return parent < 0 or word not in self._lower[parent]

    # questions

    @property
    def count(self) -> int:
        """Number of call paths, shown or not."""
        return len(self._names)

    @property
    def shown(self) -> int:
        """Number of call paths that match the search."""
        return int(self._kept.sum())

    @property
    def hits(self) -> list[int]:
        """The matches, in the set's order."""
        return [int(path) for path in self._hits]

    def path_name(self, path: int) -> str:
        """Return the full name of a call path."""
        return self._paths[path]

    def find(self, name: str) -> int | None:
        """Return the call path with the given full name."""
        try:
            return self._paths.index(name)
        except ValueError:
            return None

    def heaviest(self) -> list[int]:
        """Return the path from a root that follows the most expensive child."""
        way: list[int] = []
        here = -1
        while here in self._children:
            below = self._children[here]
            shares = self.values.shares[below] if self.values is not None else np.full(len(below), np.nan)
            here = int(below[int(np.nanargmax(shares))] if np.isfinite(shares).any() else below[0])
            way.append(here)
        return way

    def index_of(self, path: int) -> QModelIndex:
        """Return a call path's index; invalid if the search hides it."""
        if not 0 <= path < len(self._names) or not self._kept[path]:
            return QModelIndex()
        return self.createIndex(int(self._rows[path]), 0, path)

    # Qt

    def index(self, row: int, column: int, parent: Index = _NOWHERE) -> QModelIndex:
        """Qt."""
        below = self._children.get(self._id(parent))
        if below is None or not 0 <= row < len(below) or not 0 <= column < 2:
            return QModelIndex()
        return self.createIndex(row, column, int(below[row]))

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        """Qt."""
        path = self._id(index)
        above = int(self._parents[path]) if path >= 0 else -1
        return self.createIndex(int(self._rows[above]), 0, above) if above >= 0 else QModelIndex()

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Qt."""
        if parent.isValid() and parent.column() > 0:
            return 0
        return len(self._children.get(self._id(parent), ()))

    def hasChildren(self, parent: Index = _NOWHERE) -> bool:
        """Qt."""
        return self.rowCount(parent) > 0

    def columnCount(self, _parent: Index = _NOWHERE) -> int:
        """Qt."""
        return 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt."""
        if orientation != Qt.Orientation.Horizontal or role != Qt.ItemDataRole.DisplayRole:
            return None
        return "Call path" if section == 0 else ("% of whole" if self.as_share else "Value")

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Qt."""
        path = self._id(index)
        if path < 0:
            return None
        values = self.values
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(path)
        if index.column() == 0:
            return self._names[path] if role == Qt.ItemDataRole.DisplayRole else None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if values is None:
            return None
        if role == ShareRole:
            share = float(values.shares[path])
            return share if np.isfinite(share) else None
        if role == Qt.ItemDataRole.DisplayRole:
            return values.share_text(path) if self.as_share else values.text(path)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{values.text(path)}, {values.share_text(path)}"
        return None

    def _tip(self, path: int) -> str:
        lines = [self._paths[path].replace(_ARROW, f"\n{_ARROW} "), self._places[path]]
        values = self.values
        if values is not None:
            inner = " with all below" if values.summed else ""
            lines.append(f"{values.metric}: {values.text(path)}")
            lines.append(f"{values.share_text(path)} of the whole{inner}; {values.point}")
        return "\n".join(line for line in lines if line)

    def _id(self, index: Index) -> int:
        return int(index.internalId()) if index.isValid() else -1
