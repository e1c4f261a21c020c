"""The call paths of a measurement set with their costs: the lower half of the navigator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QTreeView,
    QWidget,
)

from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import label
from scalegraph.gui.figures.region_bar import BarDelegate
from scalegraph.gui.figures.value_column import fit_value_column
from scalegraph.gui.study.call_tree_model import CallTreeModel
from scalegraph.gui.study.call_values import CallValues, call_values

if TYPE_CHECKING:
    from scalegraph.measurements.model import Metric
    from scalegraph.subjects.study import StudyData

_FEW: Final = 60  # call paths up to which all are unfolded
_SHARE, _VALUE = "share", "value"


@dataclass(frozen=True)
class _Set:
    """What is shown of a study; read once, in another thread."""

    data: StudyData
    names: tuple[str, ...]
    parents: NDArray[np.int64]
    paths: tuple[str, ...]
    places: tuple[str, ...]
    metrics: tuple[tuple[str, str], ...]  # name, description
    first: str  # the initial metric


class CallTree(QWidget):
    """Selects a call path and a metric. *jobs* reads and sums in other threads; only the newest request counts."""

    path_chosen = Signal(str)  # full name
    metric_chosen = Signal(str)

    def __init__(self, jobs: Jobs, theme: Theme) -> None:
        super().__init__()
        self._set: _Set | None = None
        self._wanted: tuple[int | None, str | None] = (None, None)  # processors, call path
        self._reads = Latest(jobs, "reading call paths", self)
        self._sums = Latest(jobs, "adding up call paths", self)
        self.model = CallTreeModel()
        self.metric_box = QComboBox()
        self.metric_box.setAccessibleName("Metric of the call tree")
        self.metric_box.setToolTip("The metric that compares call paths; views of one metric follow")
        self.metric_box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.metric_box.setMinimumContentsLength(6)
        self.metric_box.currentIndexChanged.connect(self._metric_changed)
        self.show_as = QComboBox()
        self.show_as.setAccessibleName("Share or value")
        self.show_as.addItem("share", _SHARE)
        self.show_as.addItem("value", _VALUE)
        self.show_as.currentIndexChanged.connect(self._show_as_changed)
        self.note = label("", "muted", wrap=True)
        self.tree = QTreeView()
        self.tree.setModel(self.model)
        self.tree.setAccessibleName("Call paths and what they cost")
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(12)
        self.tree.setItemDelegateForColumn(1, BarDelegate(theme, self.tree, "time"))
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        fit_value_column(self.tree)
        self.tree.selectionModel().currentChanged.connect(self._current_changed)
        row = QHBoxLayout()
        row.addWidget(self.metric_box, 2)
        row.addWidget(self.show_as, 1)
        column = vertical(self, spacing=4)
        column.addLayout(row)
        column.addWidget(self.note)
        column.addWidget(self.tree, 1)

    # display

    def show_study(self, data: StudyData | None, processors: int | None) -> None:
        """Show the call paths of *data* with their costs on *processors*."""
        self._wanted = (processors, self._wanted[1])
        if data is None:
            self._reads.stop()
            self._take(None)
        elif self._set is not None and self._set.data is data:
            self._sum()
        else:
            self._reads.ask(lambda reporter: _read(data, reporter), self._take, self._unreadable)

    def select(self, name: str | None) -> None:
        """Select the call path *name*, ``None`` for none."""
        self._wanted = (self._wanted[0], name)
        path = self.model.find(name) if name is not None else None
        index = self.model.index_of(path) if path is not None else QModelIndex()
        if self.tree.currentIndex() == index:
            return
        with QSignalBlocker(self.tree.selectionModel()):
            self.tree.setCurrentIndex(index)
            if not index.isValid():
                self.tree.clearSelection()
        if index.isValid():
            self.tree.scrollTo(index)
        self.tree.viewport().update()

    def choose_metric(self, name: str | None) -> None:
        """Show metric *name* if the set has it."""
        place = self.metric_box.findData(name)
        if name is not None and place >= 0 and place != self.metric_box.currentIndex():
            with QSignalBlocker(self.metric_box):
                self.metric_box.setCurrentIndex(place)
            self._sum()

    def filter(self, text: str) -> None:
        """Show only call paths whose full name contains *text*, unfolded as far as useful."""
        current = self._wanted[1]
        with QSignalBlocker(self.tree.selectionModel()):
            self.model.filter(text)
        if text.strip():
            for path in self.model.hits[:_FEW]:
                self._unfold(path)
        else:
            self._unfold_first()
        self.select(current)
        self._say()

    def next_hit(self, step: int = 1) -> None:
        """Select the search's next match."""
        hits = self.model.hits
        if not hits:
            return
        now = int(self.tree.currentIndex().internalId()) if self.tree.currentIndex().isValid() else -1
        later = [path for path in hits if path > now] if step > 0 else [path for path in hits[::-1] if path < now]
        path = later[0] if later else (hits[0] if step > 0 else hits[-1])
        self._unfold(path)
        self.tree.setCurrentIndex(self.model.index_of(path))

    @property
    def filled(self) -> bool:
        """Whether there are call paths to show."""
        return self.model.count > 0

    # inside

    def _take(self, found: _Set | None) -> None:
        self._set = found
        with QSignalBlocker(self.metric_box):
            before = self.metric_box.currentData()
            self.metric_box.clear()
            for name, words in found.metrics if found is not None else ():
                self.metric_box.addItem(name, name)
                self.metric_box.setItemData(self.metric_box.count() - 1, words, Qt.ItemDataRole.ToolTipRole)
            wanted = before if self.metric_box.findData(before) >= 0 else found.first if found is not None else ""
            self.metric_box.setCurrentIndex(max(0, self.metric_box.findData(wanted)))
        with QSignalBlocker(self.tree.selectionModel()):
            if found is None:
                self.model.set_paths((), np.empty(0, dtype=np.int64), (), ())
            else:
                self.model.set_paths(found.names, found.parents, found.paths, found.places)
        self.metric_box.setEnabled(self.metric_box.count() > 1)
        self._sum()

    def _unreadable(self, error: Exception) -> None:
        self._take(None)
        self.note.setText(f"The call paths cannot be read: {error}")

    def _sum(self) -> None:
        found, metric, processors = self._set, self.metric_box.currentData(), self._wanted[0]
        if found is None or metric is None:
            self._say()
            return

        def work(reporter: Reporter) -> CallValues | None:
            reporter.token.check()
            assert found.data.measured is not None
            return call_values(found.data.measured, metric, processors, found.data.meaning)

        self._sums.ask(work, self._show_values, self._unreadable)

    def _show_values(self, values: CallValues | None) -> None:
        first = self.model.values is None
        self.model.set_values(values)
        self._say()
        if first:
            self._unfold_first()
            self.select(self._wanted[1])

    def _say(self) -> None:
        values = self.model.values
        if not self.filled:
            self.note.setText("This study has no call paths: it was neither imported with them nor run with regions.")
        elif values is not None:
            repeated = f", median of up to {values.repetitions}" if values.repetitions > 1 else ""
            hidden = f" · {self.model.shown} of {self.model.count} shown" if self.model.hits else ""
            self.note.setText(f"{values.point}{repeated}{hidden}")
        self.note.setVisible(bool(self.note.text()))

    def _unfold_first(self) -> None:
        if self.model.count <= _FEW:
            self.tree.expandAll()
            return
        for path in self.model.heaviest()[:-1]:
            self.tree.expand(self.model.index_of(path))

    def _unfold(self, path: int) -> None:
        index = self.model.index_of(path).parent()
        while index.isValid():
            self.tree.expand(index)
            index = index.parent()

    # user actions

    def _current_changed(self, index: QModelIndex, _before: QModelIndex) -> None:
        if index.isValid():
            self._wanted = (self._wanted[0], self.model.path_name(int(index.internalId())))
            self.path_chosen.emit(self._wanted[1])

    def _metric_changed(self, _index: int) -> None:
        self._sum()
        if self.metric_box.currentData() is not None:
            self.metric_chosen.emit(self.metric_box.currentData())

    def _show_as_changed(self, _index: int) -> None:
        self.model.as_share = self.show_as.currentData() == _SHARE
        self.model.refresh()


def _read(data: StudyData, reporter: Reporter) -> _Set | None:
    measured = data.measured
    reporter.token.check()
    if measured is None or not measured.call_paths:
        return None
    paths = measured.call_paths
    used = set(measured.values["metric"].unique().tolist())
    metrics = tuple(
        (metric.name, f"{metric.description} ({metric.unit})" if metric.unit else metric.description)
        for index, metric in enumerate(measured.metrics)
        if index in used
    )
    return _Set(
        data,
        tuple(path.name for path in paths),
        np.array([-1 if path.parent is None else path.parent for path in paths], dtype=np.int64),
        measured.paths,
        tuple(f"{path.file.rsplit('/', 1)[-1]}:{path.line}" if path.file else "" for path in paths),
        metrics,
        _first(data, [measured.metrics[index] for index in sorted(used)]),
    )


def _first(data: StudyData, metrics: Sequence[Metric]) -> str:
    """Return the most useful metric: the elapsed time, else any time, else the first."""
    reported = data.meaning.time if data.meaning is not None else ""
    names = [metric.name for metric in metrics]
    times = [metric.name for metric in metrics if metric.kind == "time"]
    return reported if reported in names else (times or names or [""])[0]
