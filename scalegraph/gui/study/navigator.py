"""The panel on the left: open studies, and the current study's regions or call paths with their costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from PySide6.QtCore import QModelIndex, QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QAbstractItemView,
    QLineEdit,
    QMenu,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from scalegraph.base.measures import percent
from scalegraph.gui.base.fitted_names import NameDelegate
from scalegraph.gui.base.jobs import Jobs
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.base.widgets import label
from scalegraph.gui.figures.region_bar import BarDelegate, ShareRole
from scalegraph.gui.figures.value_column import fit_value_column
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.loss import RegionLoss, by_share, region_losses, region_path
from scalegraph.gui.state.selection import Selection, SelectionModel
from scalegraph.gui.study.studies import Studies, StudyHandle, lacking_traces
from scalegraph.gui.trace.handle import STOPPED, TraceHandle
from scalegraph.gui.trace.words import trace_facts, trace_regions

if TYPE_CHECKING:
    from scalegraph.gui.study.call_tree import CallTree
    from scalegraph.subjects.study import StudyData

Losses: TypeAlias = tuple[int | None, tuple[RegionLoss, ...]]  # the N shown, its regions
_KEY: Final = Qt.ItemDataRole.UserRole
_TRACE: Final = _KEY + 1
_LACKING: Final = _KEY + 2  # path of a study with missing traces


class Navigator(QWidget):
    """Selects the current study, the region or call path, and the metric that compares call paths."""

    close_wanted = Signal(str)  # key of a study
    trace_wanted = Signal(object)  # Path of a trace of one of the studies
    tracing_wanted = Signal(object)  # Path of a study: run what lacks its trace
    visited = Signal()  # a click that the study page should show
    mapping_wanted = Signal(str)  # key of a study made from a measurement set

    def __init__(self, studies: Studies, selection: SelectionModel, theme: Theme, jobs: Jobs) -> None:
        super().__init__()
        self._studies, self._selection = studies, selection
        self._losses: tuple[RegionLoss, ...] = ()
        self._imported = False
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search studies, call paths  /")
        self.search.setAccessibleName("Search studies, regions and call paths")
        self.search.setToolTip("Part of a name, or of a call path: solve->MPI. Return goes to the next one found.")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._filter)
        self.search.returnPressed.connect(self._next_hit)
        self.studies_tree = _tree("Open studies and traces", ("Study or trace", "Runs"))
        self.studies_tree.currentItemChanged.connect(self._study_chosen)
        self.studies_tree.itemActivated.connect(self._open_trace)
        self.studies_tree.itemClicked.connect(self._open_trace)
        self.studies_tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.studies_tree.customContextMenuRequested.connect(self._study_menu)
        self.regions_tree = _tree("Regions and their share of the loss", ("Region", "Loss"))
        self.regions_tree.setItemDelegateForColumn(0, NameDelegate(self.regions_tree))
        self.regions_tree.setItemDelegateForColumn(1, BarDelegate(theme, self.regions_tree))
        self.regions_tree.currentItemChanged.connect(self._region_chosen)
        self.regions_tree.itemClicked.connect(self.visited)
        self.regions_note = label("", "muted", wrap=True)
        self._theme, self._jobs = theme, jobs
        self._calls: CallTree | None = None
        self._lay()
        studies.opened.connect(self._opened)
        studies.closed.connect(self._closed)
        selection.changed.connect(self._follow)

    def _lay(self) -> None:
        column = vertical(self, (8, 4, 4, 8))
        column.addWidget(self.search)
        split = QSplitter(Qt.Orientation.Vertical)
        split.setChildrenCollapsible(False)
        split.addWidget(self.studies_tree)
        regions = QWidget()
        lower = vertical(regions)
        lower.addWidget(self.regions_note)
        lower.addWidget(self.regions_tree, 1)
        self._which = QStackedWidget()
        self._which.addWidget(regions)
        self.tabs = QTabBar()
        self.tabs.setAccessibleName("Regions or call paths")
        self.tabs.setExpanding(False)
        self.tabs.addTab("Regions")
        self.tabs.addTab("Call paths")
        self.tabs.currentChanged.connect(self._turn)
        below = QWidget()
        halves = vertical(below)
        halves.addWidget(self.tabs)
        halves.addWidget(self._which, 1)
        split.addWidget(below)
        split.setStretchFactor(0, 1)
        split.setStretchFactor(1, 3)
        column.addWidget(split, 1)

    # studies

    def _opened(self, handle: Handle) -> None:
        item = QTreeWidgetItem([handle.title, "…"])
        item.setData(0, _KEY, handle.key)
        item.setToolTip(0, str(handle.path))
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.studies_tree.addTopLevelItem(item)
        if isinstance(handle, TraceHandle):
            handle.progressed.connect(tied(self, lambda share: self._progressed(handle, share)))
        handle.changed.connect(tied(self, lambda: self._described(handle)))
        handle.failed.connect(tied(self, lambda sentence: self._unreadable(handle, sentence)))

    def _progressed(self, handle: Handle, share: float) -> None:
        item = self._item_of(handle.key)
        if item is not None:
            item.setText(1, percent(share, 0))

    def _closed(self, key: str) -> None:
        item = self._item_of(key)
        if item is not None:
            self.studies_tree.takeTopLevelItem(self.studies_tree.indexOfTopLevelItem(item))

    def _described(self, handle: Handle) -> None:
        item, data = self._item_of(handle.key), handle.data()
        if item is None or data is None:
            return
        trace = isinstance(handle, TraceHandle)
        item.setText(0, handle.title)
        item.setText(1, "trace" if trace else str(runs_of(data)))
        lines = [str(handle.path)]
        item.takeChildren()
        for name, words in trace_facts(data.trace) if trace else study_facts(data):
            child = QTreeWidgetItem([f"{name}: {words}"])
            child.setFlags(Qt.ItemFlag.ItemIsEnabled)
            child.setToolTip(0, words)
            item.addChild(child)
            child.setFirstColumnSpanned(True)
            lines.append(f"{name}: {words}")
        for run in handle.traces if isinstance(handle, StudyHandle) else ():
            words = f"trace of {run.processors} processors"
            child = QTreeWidgetItem([words, "open"])
            child.setData(0, _TRACE, str(run.path))
            child.setToolTip(0, f"Open {run.path}")
            child.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.addChild(child)
        self._offer_tracing(item, handle)
        item.setToolTip(0, "\n".join(lines))
        if handle.key == self._selection.current.study:
            item.setExpanded(True)
            if not turn_queue().has(self):  # region losses are computed in a turn of their own
                turn_queue().add(self, self._show_below, heavy=True)

    def _show_below(self) -> None:
        handle = self._studies.get(self._selection.current.study)
        self._show_regions(handle)
        self._show_region(self._selection.current.region)
        self._show_calls(handle)

    def _offer_tracing(self, item: QTreeWidgetItem, handle: Handle) -> None:
        """Offer to run the points whose requested traces are missing."""
        counts = lacking_traces(handle) if isinstance(handle, StudyHandle) else ()
        if not counts:
            return
        child = QTreeWidgetItem([f"traces of {', '.join(map(str, counts))} processors", "run"])
        child.setData(0, _LACKING, str(handle.path))
        child.setToolTip(0, "The request asks for these traces, but they are missing; click to run them")
        child.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        item.addChild(child)

    def _unreadable(self, handle: Handle, sentence: str) -> None:
        item = self._item_of(handle.key)
        if item is not None:
            item.setText(1, "stopped" if sentence == STOPPED else "unreadable")
            item.setToolTip(0, sentence)

    def _item_of(self, key: str | None) -> QTreeWidgetItem | None:
        for index in range(self.studies_tree.topLevelItemCount()):
            item = self.studies_tree.topLevelItem(index)
            if item is not None and item.data(0, _KEY) == key:
                return item
        return None

    def _study_chosen(self, item: QTreeWidgetItem | None, _before: object) -> None:
        if item is not None and item.data(0, _KEY):
            self._selection.select(study=item.data(0, _KEY))

    def _open_trace(self, item: QTreeWidgetItem, _column: int) -> None:
        path = item.data(0, _TRACE)
        if item.data(0, _KEY):
            self.visited.emit()
        if path:
            self.trace_wanted.emit(Path(path))
        elif lacking := item.data(0, _LACKING):
            self.tracing_wanted.emit(Path(lacking))

    def _study_menu(self, place: QPoint) -> None:
        item = self.studies_tree.itemAt(place)
        handle = self._studies.get(item.data(0, _KEY)) if item is not None else None
        if handle is None:
            return
        menu = QMenu(self)
        data = handle.study()
        mapping = menu.addAction("Edit import mapping…")
        mapping.setVisible(data is not None and data.imported is not None)
        close = menu.addAction("Close")
        reveal = menu.addAction("Show in the file manager")
        chosen = menu.exec(self.studies_tree.viewport().mapToGlobal(place))
        if chosen is close:
            self.close_wanted.emit(handle.key)
        elif chosen is reveal:
            reveal_path(handle)
        elif chosen is mapping:
            self.mapping_wanted.emit(handle.key)
        menu.deleteLater()

    # regions

    def _follow(self, selection: Selection) -> None:
        item = self._item_of(selection.study)
        if item is not None and self.studies_tree.currentItem() is not item:
            blocked = self.studies_tree.blockSignals(True)
            self.studies_tree.setCurrentItem(item)
            self.studies_tree.collapseAll()
            item.setExpanded(True)
            self.studies_tree.blockSignals(blocked)
        handle = self._studies.get(selection.study)
        data = handle.study() if handle is not None else None
        if data is None or _losses_key(selection.processors) in data.memo:
            self._show_below()
        elif not turn_queue().has(self):
            turn_queue().add(self, self._show_below, heavy=True)  # what each region loses takes a while

    @property
    def calls(self) -> CallTree:
        """The tree of call paths, created with the first study: it needs numpy, which must not delay the window."""
        if self._calls is None:
            from scalegraph.gui.study.call_tree import CallTree

            self._calls = CallTree(self._jobs, self._theme)
            self._calls.tree.clicked.connect(self.visited)
            self._calls.path_chosen.connect(lambda name: self._selection.select(call_path=name))
            self._calls.metric_chosen.connect(lambda name: self._selection.select(metric=name))
            self._which.addWidget(self._calls)
        return self._calls

    def _show_calls(self, handle: Handle | None) -> None:
        if handle is None and self._calls is None:
            return
        calls = self.calls
        data = handle.study() if handle is not None else None
        imported = data is not None and data.imported is not None
        regions = bool(self._losses)
        self.tabs.setVisible(regions and data is not None)
        if imported != self._imported and data is not None:  # imported: call paths first, else regions
            self._imported = imported
            self.tabs.setCurrentIndex(int(imported))
        if not regions and data is not None:
            self._which.setCurrentIndex(1)
        else:
            self._turn(self.tabs.currentIndex())
        selection = self._selection.current
        if self._which.currentIndex() == 1:
            calls.show_study(data, selection.processors)
            calls.choose_metric(selection.metric)
            path = selection.call_path
            if path is None and selection.region is not None and data is not None:
                path = region_path(data.regions, selection.region)
            calls.select(path)

    def _turn(self, index: int) -> None:
        if self._which.currentIndex() != index:
            self._which.setCurrentIndex(index)
            self._show_calls(self._studies.get(self._selection.current.study))
            self._filter(self.search.text())

    def _next_hit(self) -> None:
        if self._which.currentIndex() == 1:
            self.calls.next_hit()
        else:
            _next_item(self.regions_tree, self.search.text().strip().lower())

    def _show_regions(self, handle: Handle | None) -> None:
        data = handle.study() if handle is not None else None
        traced = handle.data() if isinstance(handle, TraceHandle) else None
        n, losses = self._region_losses(data, self._selection.current.processors) if data is not None else (None, ())
        if traced is not None:
            losses = trace_regions(traced)
        if losses == self._losses and self.regions_tree.topLevelItemCount():
            return
        self._losses = losses
        missing = "Regions appear once the same problem has run on one and on more processors." if data else ""
        said = "Share of the time of all locations" if traced is not None else f"Share of what N = {n} loses"
        self.regions_note.setText(said if losses else missing)
        self.regions_tree.setHeaderLabels(["Region", "% of time" if traced is not None else "% of loss"])
        self.regions_note.setVisible(bool(self.regions_note.text()))
        blocked = self.regions_tree.blockSignals(True)
        self.regions_tree.clear()
        made: dict[int, QTreeWidgetItem] = {}
        for loss in by_share(losses):
            item = QTreeWidgetItem([loss.name, percent(loss.share, 1)])
            item.setData(0, _KEY, loss.region)
            item.setData(1, ShareRole, loss.share)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            item.setToolTip(0, loss.tip)
            item.setToolTip(1, loss.tip)
            parent = made.get(loss.parent) if loss.parent is not None else None
            if parent is not None:
                parent.addChild(item)
            else:
                self.regions_tree.addTopLevelItem(item)
            made[loss.region] = item
        self.regions_tree.expandAll()
        self.regions_tree.blockSignals(blocked)
        self._filter(self.search.text())

    def _region_losses(self, data: StudyData, processors: int | None) -> Losses:
        """Return `region_losses`, cached with the study."""
        return data.once(_losses_key(processors), lambda: region_losses(data, processors))

    def _show_region(self, region: int | None) -> None:
        blocked = self.regions_tree.blockSignals(True)
        found = next((item for item in _all_items(self.regions_tree) if item.data(0, _KEY) == region), None)
        if region is None or found is None:
            self.regions_tree.clearSelection()
            self.regions_tree.setCurrentIndex(QModelIndex())
        else:
            self.regions_tree.setCurrentItem(found)
        self.regions_tree.blockSignals(blocked)

    def _region_chosen(self, item: QTreeWidgetItem | None, _before: object) -> None:
        if item is not None:
            self._selection.select(region=item.data(0, _KEY))

    def _filter(self, text: str) -> None:
        word = text.strip().lower()
        for tree in (self.studies_tree, self.regions_tree):
            for index in range(tree.topLevelItemCount()):
                item = tree.topLevelItem(index)
                if item is not None:
                    _hide_unlike(item, word)
        if self._calls is not None:
            self._calls.filter(text)


def _hide_unlike(item: QTreeWidgetItem, word: str) -> bool:
    """Hide items without *word* in themselves or a descendant; return whether the item stays.

    A match shows its subtree.
    """
    hit = word in item.text(0).lower()
    below = [_hide_unlike(child, "" if hit else word) for child in _children(item)]
    item.setHidden(not (hit or any(below)))
    return not item.isHidden()


def _next_item(tree: QTreeWidget, word: str) -> None:
    """Select the next region whose own name contains *word*."""
    items = [item for item in _in_order(tree) if word and word in item.text(0).lower()]
    if items:
        current = tree.currentItem()
        place = next((number for number, item in enumerate(items) if item is current), -1)
        tree.setCurrentItem(items[(place + 1) % len(items)])


def _in_order(tree: QTreeWidget) -> list[QTreeWidgetItem]:
    found: list[QTreeWidgetItem] = []
    waiting = [tree.topLevelItem(index) for index in reversed(range(tree.topLevelItemCount()))]
    while waiting:
        item = waiting.pop()
        if item is not None:
            found.append(item)
            waiting += reversed(_children(item))
    return found


def _children(item: QTreeWidgetItem) -> list[QTreeWidgetItem]:
    return [child for child in map(item.child, range(item.childCount())) if child is not None]


def _all_items(tree: QTreeWidget) -> list[QTreeWidgetItem]:
    found: list[QTreeWidgetItem] = []
    waiting = [tree.topLevelItem(index) for index in range(tree.topLevelItemCount())]
    while waiting:
        item = waiting.pop()
        if item is not None:
            found.append(item)
            waiting += _children(item)
    return found


def _tree(name: str, columns: tuple[str, str]) -> QTreeWidget:
    tree = QTreeWidget()
    tree.setAccessibleName(name)
    tree.setColumnCount(2)
    tree.setHeaderLabels(list(columns))
    fit_value_column(tree)
    tree.setIndentation(10)
    tree.setUniformRowHeights(True)
    tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
    tree.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    return tree


def runs_of(data: Any) -> int:
    """Return the number of runs in all choices of a study."""
    return sum(len(part.table) for part in data.choices or (data,))


def study_facts(data: Any) -> list[tuple[str, str]]:
    """Return a study's facts as (name, value)."""
    table, manifest = data.table, data.manifest
    facts: list[tuple[str, str]] = []
    program = str(manifest.get("program_title") or manifest.get("program") or "")
    if not program and len(table):
        program = str(table["program"].iloc[0])
    machine = str(manifest.get("machine_title") or "")
    if not machine and len(table):
        machine = str(table["machine"].iloc[0])
    if program:
        facts.append(("program", program))
    if len(data.choices) > 1:
        facts.append(("choices", f"{len(data.choices)}; in view:"))
    if machine and machine != "unknown":
        facts.append(("machine", machine))
    if len(table):
        counts = sorted({int(n) for n in table["processors"]})
        span = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else str(counts[0])
        facts.append(("processors", span))
        failed = int((table["status"] != "ok").sum())
        if failed:
            facts.append(("failed runs", str(failed)))
    return facts


def reveal_path(handle: Handle) -> None:
    """Show the file in the desktop's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(handle.path.parent)))


def _losses_key(processors: int | None) -> str:
    return f"losses {processors}"
