"""The centre of the window: the current study's views, arranged by the user."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QKeyEvent, QUndoStack
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
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
    apart,
    key_of,
)
from scalegraph.gui.dock.arranging import Arranging
from scalegraph.gui.dock.content_holder import placing
from scalegraph.gui.dock.desk import Desk
from scalegraph.gui.dock.desk_window import DeskWindow
from scalegraph.gui.dock.empty_page import EmptyPage
from scalegraph.gui.dock.maximised import Maximised
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

_LEADING_TO_SOURCE: Final = ("hottest", "lines", "thread-graph")  # views whose rows are source locations


class ViewArea(QWidget):
    """Holds a desk of views for every open study and shows the current study's.

    The settings keep the places per study (key ``places<slot>/<study>``).
    """

    views_changed = Signal()
    undo_changed = Signal()

    def __init__(self, context: Context, *, slot: str = "") -> None:
        super().__init__()
        self.context = context
        self._settings, self._places = context.settings, f"places{slot}"
        context.source_wanted.connect(self._show_place)
        self._desks: dict[str, Desk] = {}
        self.desk: Desk | None = None
        self._maximised = Maximised()
        self.arranging = Arranging(self)
        self.apply_arrangement, self.tile_all = self.arranging.apply, self.arranging.tile_all
        self._stack = QStackedWidget()
        self._nothing = EmptyPage()
        self._nothing.arrangement_wanted.connect(lambda: self.apply_arrangement(self.arranging.names()[0]))
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
        bar = ViewBar(lambda: self.desk.handle.data() if self.desk is not None else None)
        bar.arrangement_wanted.connect(self.apply_arrangement)
        bar.view_wanted.connect(self._show_here)
        bar.tile.clicked.connect(self.tile_all)
        bar.offer("study", self.arranging.names())
        return bar

    # called by the rest of the window

    @property
    def docks(self) -> list[ViewDock]:
        """The current study's views, in the order in which they were opened."""
        return list(self.desk.docks) if self.desk else []

    @property
    def undo_stack(self) -> QUndoStack | None:
        """The undo stack of option changes in the current study's views."""
        return self.desk.history.stack if self.desk is not None else None

    @property
    def _window(self) -> DeskWindow:
        assert self.desk is not None
        return self.desk.window

    def has_views_of(self, handle: Handle) -> bool:
        """Return whether the views of *handle* have been placed."""
        return handle.key in self._desks

    def show_study(self, handle: Handle) -> None:
        """Show the views of *handle* as the user left them, else as saved, else the overview."""
        if self.desk is not None and self.desk.handle is handle:
            return
        self._leave_desk()
        desk = self._desk_of(handle)
        self.desk = desk
        self.arranging.say_compared()
        self.bar.offer(handle.subject, self.arranging.names())
        self._show_trace(handle)
        if not desk.docks and not desk.arranged:
            desk.arranged = True
            stored = self._settings.bytes(f"{self._places}/{handle.key}") if self._settings else None
            if stored is None or not self.restore_state(stored, whole=True):
                self.apply_arrangement(self.arranging.names()[0])
        self.bar.mark(desk.arrangement)
        self.show_stack()
        self.take_focus()

    def show_view(self, handle: Handle, name: str, *, roomy: bool = False, **options: OptionValue) -> ViewDock:
        """Open the view *name* of *handle*, or raise it; *roomy*: in the largest place.

        Raises `InputError` if there is no view of that name.
        """
        view = views.get(name)
        if self.desk is None:
            self.desk = self._desk_of(handle)
            self.bar.offer(handle.subject, self.arranging.names())
            self._show_trace(handle)
            self.desk.arranged = True
        self.restore_all()
        for dock in self.desk.docks:
            if dock.view.name == name and dock.handle is handle:
                if options:
                    dock.set_options(options)
                self._front(dock)
                self._maximised.widen(dock, dock, self.docks, self._window)
                return dock
        beside = self.desk.largest() if roomy else self.desk.current()
        dock = self.make(view, handle, options)
        if beside is None:
            self._window.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, dock)
        else:
            self._window.tabifyDockWidget(beside, dock)
        dock.show()
        self._front(dock)
        self.show_stack()
        self._maximised.widen(dock, beside, self.docks, self._window)
        return dock

    def take_focus(self) -> None:
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

    def apply_state(self, state: QByteArray) -> bool:
        """Open the views of `save_state`, of this or another study, and close others; return whether it worked.

        Options are kept for views that this study has.
        """
        if self.desk is None:
            return False
        self.restore_all()
        self.desk.leave()
        for dock in list(self.desk.docks):
            self.remove(self.desk, dock)
        done = self.restore_state(state)
        if not done:
            self.apply_arrangement(self.arranging.names()[0])
        self.bar.mark(self.desk.arrangement)
        self.views_changed.emit()
        return done

    def maximise(self, dock: ViewDock) -> None:
        """Maximise *dock*, or show all views again if it is maximised."""
        if self._maximised.dock is not None:
            self.restore_all()
        else:
            with placing(self.docks):
                self._maximised.show(dock, self.docks, self._window)

    def others_changed(self) -> None:
        """Redraw views of several studies after one was opened, closed or extended."""
        for dock in self.docks:
            dock.others_changed()
        self.arranging.say_compared()

    def forget(self, key: str) -> None:
        """Remove a closed study with its views, also from the comparisons of other studies."""
        for desk in list(self._desks.values()):
            for dock in [d for d in desk.docks if d.handle.key == key or desk.handle.key == key]:
                self.remove(desk, dock)
        gone = self._desks.pop(key, None)
        if gone is not None and gone is self.desk:
            self.desk = self._maximised.dock = None
            self._show_trace(None)
        if gone is not None:
            self._stack.removeWidget(gone.window)
            retire(gone.window)
        self.show_stack()

    def save_state(self) -> QByteArray:
        """Return the current study's open views with options and places."""
        if self.desk is None:
            return QByteArray()
        self.restore_all()
        return saved(self.desk)

    def restore_state(self, state: QByteArray, *, whole: bool = False) -> bool:
        """Open the views of `save_state` in their places; return whether that worked.

        *whole*: also take what the arrangements that it was not in showed.
        """
        done = self.desk is not None and restored(self.desk, state, self.make, whole=whole)
        if done:
            self.show_stack()
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
        if self.desk is None:
            return
        self.restore_all()
        if self._settings is not None and self.desk.docks:
            self._settings.set_bytes(f"{self._places}/{self.desk.handle.key}", self.save_state())
        self.desk = None

    def make(self, view: views.View, handle: Handle, options: dict[str, OptionValue], name: str = "") -> ViewDock:
        """Open a dock of *view*, of the study *handle*, that has no place yet."""
        assert self.desk is not None
        desk = self.desk
        dock = ViewDock(view, handle, self.context, options)
        dock.setObjectName(desk.free_name(name or desk.name_of(view.name, handle)))
        dock.name_study(handle is not desk.handle)
        dock.maximise_wanted.connect(lambda: self.maximise(dock))
        dock.closed.connect(lambda: self._closed(dock))
        dock.export_wanted.connect(lambda: self._export(dock))
        dock.option_moved.connect(lambda option, value, last: desk.drag(dock, option, value, last=last))
        dock.option_changed.connect(lambda option, old, new: desk.chose(dock, option, old, new))
        dock.view_changed.connect(desk.tell_apart)
        desk.docks.append(dock)
        desk.tell_apart()
        self.views_changed.emit()
        return dock

    # helpers

    def _show_here(self, name: str) -> None:
        if self.desk is not None:
            self.show_view(self.desk.handle, name)

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
        if self.desk is None:
            return
        shown = [dock for dock in self.docks if not dock.view.window and not dock.visibleRegion().isEmpty()]
        place = max(shown, key=lambda dock: dock.width() * dock.height(), default=None)
        if place is not None:
            self._front(place)
        self.show_view(self.desk.handle, "moment")

    def current_dock(self) -> ViewDock | None:
        """Return the view that has or last had the focus, else the last opened visible one."""
        return self.desk.current() if self.desk is not None else None

    def _front(self, dock: ViewDock) -> None:
        dock.show()
        dock.raise_()
        dock.picture.setFocus(Qt.FocusReason.OtherFocusReason)

    def restore_all(self) -> None:
        """Show all views again if one is maximised."""
        if self._maximised.dock is not None:
            with placing(self.docks):
                self._maximised.end(self.docks)

    def _closed(self, dock: ViewDock) -> None:
        focus = self.window().focusWidget()
        used = focus is not None and dock.isAncestorOf(focus)
        self._maximised.closed(dock, self.docks)
        for desk in self._desks.values():
            if dock in desk.docks:
                self.remove(desk, dock)
        self.show_stack()
        if used:
            self.take_focus()  # otherwise it goes to whatever is next by Tab

    def remove(self, desk: Desk, dock: ViewDock) -> None:
        """Close *dock*."""
        if dock in desk.docks:
            desk.docks.remove(dock)
            desk.tell_apart()
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
                figure, f"{dock.handle.title}-{dock.view.name}", self.context.jobs, self._settings, self
            )
            dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            dialog.open()

    def show_stack(self, *, some: bool = False) -> None:
        """Show the views, or what to do if there are none, unless *some* are coming."""
        wanted = self._window if self.desk is not None and (some or self.docks) else self._nothing
        if self._stack.currentWidget() is not wanted:
            self._stack.setCurrentWidget(wanted)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: number keys apply arrangements; Escape ends a maximised view."""
        number = event.key() - Qt.Key.Key_0.value
        named = next((name for name in self.arranging.names() if key_of(name) == number), None)
        if not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier and named is not None:
            self.apply_arrangement(named)
        elif event.key() == Qt.Key.Key_Escape and self._maximised.dock is not None:
            self.restore_all()
        elif not self.move_in_time(event):
            super().keyPressEvent(event)

    def move_in_time(self, event: QKeyEvent) -> bool:
        """Pass an unhandled key to the first visible timeline; return whether it was used."""
        shown = [dock for dock in self.docks if not dock.visibleRegion().isEmpty()]
        panels = [panel for dock in shown for panel in dock.panels if isinstance(panel, TimelinePanel)]
        return bool(panels) and panels[0].act(event.key(), event.modifiers())
