"""The centre of the window: the current study's views, arranged by the user."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QKeyEvent, QUndoStack
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QStackedWidget,
    QWidget,
)
from shiboken6 import isValid

from scalegraph import views
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.retire import retire
from scalegraph.gui.dock.arrangements import (
    COMPARE,
    OFFERED,
    SHORT_BELOW,
    TRACE_ARRANGEMENTS,
    TWO_BELOW,
    Layout,
    Placer,
    apart,
    key_of,
    layout_of,
    tiles,
    two_views,
)
from scalegraph.gui.dock.compared import has_runs, side_by_side
from scalegraph.gui.dock.content_holder import placing
from scalegraph.gui.dock.desk import Desk
from scalegraph.gui.dock.empty_page import EmptyPage
from scalegraph.gui.dock.maximised import Maximised
from scalegraph.gui.dock.overviews import OVERVIEW, overview_of
from scalegraph.gui.dock.places import restored, saved
from scalegraph.gui.dock.view_bar import ViewBar
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.trace.bar import TraceBar
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.replay_bar import ReplayBar
from scalegraph.gui.trace.search import TraceSearch
from scalegraph.subjects.option import OptionValue
from scalegraph.views.ways import OPEN_STUDY

_NO_SECOND: Final = "Compare needs a second study."
_LEADING_TO_SOURCE: Final = ("hottest", "lines", "thread-graph")  # views whose rows are source locations


class ViewArea(QWidget):
    """Holds a desk of views for every open study and shows the current study's.

    The settings keep the places per study (key ``places<slot>/<study>``).
    """

    views_changed = Signal()
    undo_changed = Signal()

    def __init__(self, context: Context, *, slot: str = "") -> None:
        super().__init__()
        self._context = context
        self._settings, self._places = context.settings, f"places{slot}"
        context.source_wanted.connect(self._show_place)
        self._desks: dict[str, Desk] = {}
        self._desk: Desk | None = None
        self._maximised = Maximised()
        self._stack = QStackedWidget()
        self._nothing = EmptyPage()
        self._nothing.arrangement_wanted.connect(lambda: self.apply_arrangement(self.arrangements()[0]))
        self._stack.addWidget(self._nothing)
        self._stack.setCurrentWidget(self._nothing)
        column = vertical(self, spacing=0)
        self.bar = self._make_bar()
        column.addWidget(self.bar)
        self.trace_bar = TraceBar()
        self.trace_bar.hide()
        self.search = TraceSearch(context.selection, context.jobs)
        self.trace_bar.tools.addWidget(self.search)
        self.trace_bar.below.addWidget(self.search.answer)
        self.search.answered.connect(self.trace_bar.answered)
        self.bar.hold(self.trace_bar.line)
        column.addWidget(self.trace_bar)
        self.replay_bar = ReplayBar(context.selection, context.theme)
        self.replay_bar.now_wanted.connect(self._show_now)
        self.replay_bar.fold_with(self.trace_bar.replay)
        column.addWidget(self.replay_bar)
        column.addWidget(self._stack, 1)

    def _make_bar(self) -> ViewBar:
        bar = ViewBar(lambda: self._desk.handle.data() if self._desk is not None else None)
        bar.arrangement_wanted.connect(self.apply_arrangement)
        bar.view_wanted.connect(self._show_here)
        bar.tile.clicked.connect(self.tile_all)
        bar.offer("study", self.arrangements())
        return bar

    # called by the rest of the window

    @property
    def docks(self) -> list[ViewDock]:
        """The current study's views, in the order in which they were opened."""
        return list(self._desk.docks) if self._desk else []

    @property
    def undo_stack(self) -> QUndoStack | None:
        """The undo stack of option changes in the current study's views."""
        return self._desk.history.stack if self._desk is not None else None

    @property
    def _window(self) -> QMainWindow:
        assert self._desk is not None
        return self._desk.window

    def arrangements(self) -> list[str]:
        """Return the names of the ready-made arrangements, in menu order."""
        if self._desk is not None and self._desk.handle.subject == "trace":
            return list(TRACE_ARRANGEMENTS)
        return list(OFFERED)

    def has_views_of(self, handle: Handle) -> bool:
        """Return whether the views of *handle* have been placed."""
        return handle.key in self._desks

    def show_study(self, handle: Handle) -> None:
        """Show the views of *handle* as the user left them, else as saved, else the overview."""
        if self._desk is not None and self._desk.handle is handle:
            return
        self._leave_desk()
        desk = self._desk_of(handle)
        self._desk = desk
        self.bar.say("")
        self.bar.offer(handle.subject, self.arrangements())
        self._show_trace(handle)
        if not desk.docks and not desk.arranged:
            desk.arranged = True
            stored = self._settings.bytes(f"{self._places}/{handle.key}") if self._settings else None
            if stored is None or not self.restore_state(stored):
                self.apply_arrangement(self.arrangements()[0])
        self.bar.mark(desk.arrangement)
        self._show_stack()
        self._take_focus()

    def show_view(self, handle: Handle, name: str, *, roomy: bool = False, **options: OptionValue) -> ViewDock:
        """Open the view *name* of *handle*, or raise it; *roomy*: in the largest place.

        Raises `InputError` if there is no view of that name.
        """
        view = views.get(name)
        if self._desk is None:
            self._desk = self._desk_of(handle)
            self.bar.offer(handle.subject, self.arrangements())
            self._show_trace(handle)
            self._desk.arranged = True
        self._restore_all()
        for dock in self._desk.docks:
            if dock.view.name == name and dock.handle is handle:
                if options:
                    dock.set_options(options)
                self._front(dock)
                self._maximised.widen(dock, dock, self.docks, self._window)
                return dock
        beside = self._desk.largest() if roomy else self._desk.current()
        dock = self._make(view, handle, options)
        if beside is None:
            self._window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        else:
            self._window.tabifyDockWidget(beside, dock)
        dock.show()
        self._front(dock)
        self._show_stack()
        self._maximised.widen(dock, beside, self.docks, self._window)
        return dock

    def _take_focus(self) -> None:
        """Give the focus to the views of a newly shown study, unless the user is typing elsewhere."""
        focus = QApplication.focusWidget()
        typing = isinstance(focus, QAbstractSpinBox | QPlainTextEdit) or (isinstance(focus, QLineEdit) and focus.text())
        dock = self.current_dock()
        if dock is not None and not typing:
            dock.take_focus()

    def _show_trace(self, handle: Handle | None) -> None:
        trace = handle if isinstance(handle, TraceHandle) else None
        self.trace_bar.show_trace(trace)
        self.search.show_trace(trace)
        self.replay_bar.show_trace(trace)

    def apply_arrangement(self, name: str) -> str:
        """Apply the arrangement *name*; return an error message or ""."""
        if self._desk is None:
            return "No study is open."
        if name not in self.arrangements():
            return ""
        if name == COMPARE:
            return self._compare()
        self.bar.say("")
        handle = self._desk.handle
        data = handle.study()
        imported = data is not None and data.imported is not None
        overview = overview_of(data) if name == OVERVIEW and data is not None else None
        runs, short = data is not None and not data.table.empty, self.window().height() < SHORT_BELOW
        layout = overview or layout_of(name, imported=imported, runs=runs, short=short)
        if self.window().height() < TWO_BELOW:
            layout = two_views(layout)
        self._desk.arrangement = name
        self.bar.mark(name)
        self._place(layout, {view: (view, handle) for view in views.registry(handle.subject)})
        self._take_focus()
        return ""

    def apply_state(self, state: QByteArray) -> bool:
        """Open the views of `save_state`, of this or another study, and close others; return whether it worked.

        Options are kept for views that this study has.
        """
        if self._desk is None:
            return False
        self._restore_all()
        for dock in list(self._desk.docks):
            self._remove(self._desk, dock)
        done = self.restore_state(state)
        if not done:
            self.apply_arrangement(self.arrangements()[0])
        self.bar.mark(self._desk.arrangement)
        self.views_changed.emit()
        return done

    def tile_all(self) -> None:
        """Give every open view its own tile."""
        if self._desk is None or not self._desk.docks:
            return
        self._restore_all()
        by_name = {dock.objectName(): dock for dock in self._desk.docks}
        window = self._window
        with placing(by_name.values()):
            for dock in by_name.values():
                if dock.isFloating():
                    dock.setFloating(False)
                window.removeDockWidget(dock)
            Placer(window, by_name.get).place(tiles(list(by_name)))
            for dock in by_name.values():
                dock.show()

    def maximise(self, dock: ViewDock) -> None:
        """Maximise *dock*, or show all views again if it is maximised."""
        if self._maximised.dock is not None:
            self._restore_all()
        else:
            with placing(self.docks):
                self._maximised.show(dock, self.docks, self._window)

    def others_changed(self) -> None:
        """Redraw views of several studies after one was opened, closed or extended."""
        for dock in self.docks:
            dock.others_changed()

    def forget(self, key: str) -> None:
        """Remove a closed study with its views, also from the comparisons of other studies."""
        for desk in list(self._desks.values()):
            for dock in [d for d in desk.docks if d.handle.key == key or desk.handle.key == key]:
                self._remove(desk, dock)
        gone = self._desks.pop(key, None)
        if gone is not None and gone is self._desk:
            self._desk = self._maximised.dock = None
            self._show_trace(None)
        if gone is not None:
            self._stack.removeWidget(gone.window)
            retire(gone.window)
        self._show_stack()

    def save_state(self) -> QByteArray:
        """Return the current study's open views with options and places."""
        if self._desk is None:
            return QByteArray()
        self._restore_all()
        return saved(self._desk)

    def restore_state(self, state: QByteArray) -> bool:
        """Open the views of `save_state` in their places; return whether that worked."""
        done = self._desk is not None and restored(self._desk, state, self._make)
        if done:
            self._show_stack()
        return done

    # desks

    def _desk_of(self, handle: Handle) -> Desk:
        if handle.key not in self._desks:
            desk = Desk(handle)
            desk.history.stack.indexChanged.connect(self._walked)
            self._desks[handle.key] = desk
            self._stack.addWidget(desk.window)
            key = handle.key
            # the area may be deleted before the study; then there is nothing to do
            handle.destroyed.connect(tied(self, lambda *_: self.forget(key)))
        return self._desks[handle.key]

    def _walked(self, _index: int) -> None:
        self.undo_changed.emit()

    def _leave_desk(self) -> None:
        if self._desk is None:
            return
        self._restore_all()
        if self._settings is not None and self._desk.docks:
            self._settings.set_bytes(f"{self._places}/{self._desk.handle.key}", self.save_state())
        self._desk = None

    def _make(self, view: views.View, handle: Handle, options: dict[str, OptionValue], name: str = "") -> ViewDock:
        assert self._desk is not None
        desk = self._desk
        dock = ViewDock(view, handle, self._context, options)
        taken = {other.objectName() for other in desk.docks}
        wanted = name or (view.name if handle is desk.handle else f"{view.name}@{handle.key}")
        dock.setObjectName(wanted if wanted not in taken else f"{wanted}#{len(taken)}")
        dock.name_study(handle is not desk.handle)
        dock.maximise_wanted.connect(lambda: self.maximise(dock))
        dock.closed.connect(lambda: self._closed(dock))
        dock.export_wanted.connect(lambda: self._export(dock))
        dock.option_moved.connect(lambda option, value, last: desk.drag(dock, option, value, last=last))
        dock.option_changed.connect(lambda option, old, new: desk.chose(dock, option, old, new))
        desk.docks.append(dock)
        self.views_changed.emit()
        return dock

    def _place(self, layout: Layout, content: dict[str, tuple[str, Handle]]) -> None:
        """Apply *layout*, whose names stand for (view, study) in *content*; close other views."""
        assert self._desk is not None
        desk = self._desk
        self._restore_all()
        old = {(dock.view.name, dock.handle.key): dock for dock in desk.docks}
        for dock in desk.docks:
            self._window.removeDockWidget(dock)
        kept: list[ViewDock] = []

        def take(name: str) -> ViewDock | None:
            if name not in content or content[name][0] not in views.everything():
                return None
            view, handle = content[name]
            dock = old.pop((view, handle.key), None)
            if dock is None:
                dock = self._make(views.get(view), handle, {})  # Qt treats it as floating until it has a place
            elif dock.isFloating():
                dock.setFloating(False)
            kept.append(dock)
            return dock

        self._show_stack(some=True)
        self._window.setUpdatesEnabled(False)  # paint once, after all docks are placed
        try:
            with placing(desk.docks):
                Placer(self._window, take).place(layout)
            for dock in [dock for dock in desk.docks if dock not in kept]:
                self._remove(desk, dock)
        finally:
            self._window.setUpdatesEnabled(True)
        desk.docks = kept
        self._show_stack()
        self.views_changed.emit()

    def _compare(self) -> str:
        assert self._desk is not None
        one = self._desk.handle
        others = [handle for handle in self._context.studies() if handle is not one]
        others = [handle for handle in others if has_runs(handle)] or others
        if not others:
            self._context.remark_wanted.emit(_NO_SECOND, OPEN_STUDY)
            return _NO_SECOND
        layout, content = side_by_side(one, others[-1], self.current_dock())
        self.bar.say(f"{one.title} beside {', '.join(handle.title for handle in others)}")
        self._desk.arrangement = COMPARE
        self.bar.mark(COMPARE)
        self._place(two_views(layout) if self.window().height() < TWO_BELOW else layout, content)
        for dock in self.docks:
            dock.name_study(not dock.view.several)
        return ""

    # helpers

    def _show_here(self, name: str) -> None:
        if self._desk is not None:
            self.show_view(self._desk.handle, name)

    def _show_place(self, dock: ViewDock) -> None:
        """Open the source location chosen in *dock* beside it, unless it is visible; the focus stays."""
        if dock not in self.docks or dock.view.name not in _LEADING_TO_SOURCE or dock.handle.subject != "study":
            return
        there = [other for other in self.docks if other.view.name == "source" and other.handle is dock.handle]
        if there and not there[0].visibleRegion().isEmpty():
            return
        apart(self._window, dock, self.show_view(dock.handle, "source"), self.docks)
        dock.picture.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_now(self) -> None:
        """Show the replay's moment in the largest place that is not a view over time."""
        if self._desk is None:
            return
        shown = [dock for dock in self.docks if not dock.view.window and not dock.visibleRegion().isEmpty()]
        place = max(shown, key=lambda dock: dock.width() * dock.height(), default=None)
        if place is not None:
            self._front(place)
        self.show_view(self._desk.handle, "moment")

    def current_dock(self) -> ViewDock | None:
        """Return the view that has or last had the focus, else the last opened visible one."""
        return self._desk.current() if self._desk is not None else None

    def _front(self, dock: ViewDock) -> None:
        dock.show()
        dock.raise_()
        dock.picture.setFocus(Qt.FocusReason.OtherFocusReason)

    def _restore_all(self) -> None:
        if self._maximised.dock is not None:
            with placing(self.docks):
                self._maximised.end(self.docks)

    def _closed(self, dock: ViewDock) -> None:
        self._maximised.closed(dock, self.docks)
        for desk in self._desks.values():
            if dock in desk.docks:
                self._remove(desk, dock)
        self._show_stack()

    def _remove(self, desk: Desk, dock: ViewDock) -> None:
        if dock in desk.docks:
            desk.docks.remove(dock)
        if not isValid(dock):
            return  # Qt deleted it with its window
        desk.window.removeDockWidget(dock)
        dock.stop()
        retire(dock)
        self.views_changed.emit()

    def _export(self, dock: ViewDock) -> None:
        from scalegraph.gui.figures.export_dialog import ExportDialog

        figure = dock.figure()
        if figure is not None:
            dialog = ExportDialog(
                figure, f"{dock.handle.title}-{dock.view.name}", self._context.jobs, self._settings, self
            )
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.open()

    def _show_stack(self, *, some: bool = False) -> None:
        wanted = self._window if self._desk is not None and (some or self.docks) else self._nothing
        if self._stack.currentWidget() is not wanted:
            self._stack.setCurrentWidget(wanted)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: number keys apply arrangements; Escape ends a maximised view."""
        number = event.key() - Qt.Key.Key_0.value
        named = next((name for name in self.arrangements() if key_of(name) == number), None)
        if not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and named is not None:
            self.apply_arrangement(named)
        elif event.key() == Qt.Key.Key_Escape and self._maximised.dock is not None:
            self._restore_all()
        elif not self.move_in_time(event):
            super().keyPressEvent(event)

    def move_in_time(self, event: QKeyEvent) -> bool:
        """Pass an unhandled key to the first visible timeline; return whether it was used."""
        shown = [dock for dock in self.docks if not dock.visibleRegion().isEmpty()]
        panels = [panel for dock in shown for panel in dock.panels if isinstance(panel, TimelinePanel)]
        return bool(panels) and panels[0].act(event.key(), event.modifiers())
