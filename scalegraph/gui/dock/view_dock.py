"""One view of a study in a dock that can be moved, tabbed, floated, maximised and exported."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDockWidget

from scalegraph.figures.figure import Figure
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.dock.chosen import Chosen
from scalegraph.gui.dock.compared import Compared, study_tab
from scalegraph.gui.dock.drawing import Drawing
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.dock.native_window import NativeWindow
from scalegraph.gui.dock.parts import Parts
from scalegraph.gui.dock.rows import row_keys, selected_row
from scalegraph.gui.dock.tab_names import numbered, tab_name
from scalegraph.gui.dock.view_options import OptionBar
from scalegraph.gui.dock.view_title import ViewTitle
from scalegraph.gui.figures.kinds import PanelWidget
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.link import TraceLink
from scalegraph.gui.trace.options import selected_trace_row, trace_row_keys
from scalegraph.subjects.option import OptionValue
from scalegraph.views import View


class ViewDock(QDockWidget):
    """A frame with a title, options and a picture, which `drawing` keeps up to date.

    Until first shown it is a frame with a title; its content is built in its own turn of the event loop.
    """

    maximise_wanted = Signal()
    closed = Signal()
    export_wanted = Signal()
    option_changed = Signal(str, object, object)  # name, old value, chosen value
    view_changed = Signal()  # "show as" shows another view
    option_moved = Signal(str, float, bool)  # a line is dragged: option, value, whether it was released

    def __init__(
        self,
        view: View,
        handle: Handle,
        context: Context,
        options: Mapping[str, OptionValue] | None = None,
    ) -> None:
        super().__init__(view.title)
        self.handle = handle
        self._context = context
        self._chosen = Chosen(view, options or {})
        self._named = False
        self._number = 1
        self._trace = handle if isinstance(handle, TraceHandle) else None
        self.link: TraceLink | None = None
        if self._trace is not None:
            self.link = TraceLink(
                self._trace, context.selection, context.jobs, self, apart=view.window and view.several
            )
        self._parts: Parts | None = None  # built when first shown or needed
        self.compared = Compared(view, handle, context, self)
        self.drawing = Drawing(self, context)
        self.compared.changed.connect(self.drawing.mark_stale)
        self.visibilityChanged.connect(self._seen)
        self.topLevelChanged.connect(self._name_window)
        NativeWindow(self)

    # its content

    @property
    def furnished(self) -> bool:
        """Whether its content has been built."""
        return self._parts is not None

    def furnish(self) -> Parts:
        """Build the content if necessary and return it."""
        if self._parts is None:
            self._parts = parts = Parts(self, self.view, self.handle, self._context, self.link)
            self._wire(parts)
            self.setTitleBarWidget(parts.title)
            parts.show_title(self.view, self._number)
            parts.title.name_study(self._named)
            self.setWidget(parts.holder)
            parts.enable()
            if self.window().focusWidget() is self:  # true for each window, not only the active one
                parts.picture.setFocus(Qt.FocusReason.OtherFocusReason)
        return self._parts

    def _wire(self, parts: Parts) -> None:
        handle = self.handle
        parts.options.show_values(self._chosen.options)
        parts.options.changed.connect(self._option_changed)
        parts.title.maximise_wanted.connect(self.maximise_wanted)
        parts.title.float_wanted.connect(tied(self, self.float_or_dock))
        parts.title.close_wanted.connect(self.close)
        parts.title.export.clicked.connect(self.export_wanted)
        parts.make_menu(self, self.compared.offer if self.view.several else None)
        parts.export.triggered.connect(self.export_wanted)
        picture = parts.picture
        picture.links.keys_of = lambda selection: row_keys(handle.study(), selection, handle.key)
        picture.links.selection_of = lambda key: selected_row(handle.study(), key)
        if self._trace is not None:
            picture.links.keys_of = lambda selection: trace_row_keys(selection, handle.key)
            picture.links.selection_of = selected_trace_row
        picture.retry_wanted.connect(self.drawing.refresh)
        picture.links.option_moved.connect(self.option_moved)

    def float_or_dock(self) -> None:
        """Make it a window of its own, or put it back: in front of the tabs there, under the keys."""
        self.setFloating(not self.isFloating())
        if not self.isFloating():
            self.raise_()
            self.furnish().picture.setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def options(self) -> OptionBar:
        """The options' editors."""
        return self.furnish().options

    @property
    def title(self) -> ViewTitle:
        """The line above the picture."""
        return self.furnish().title

    @property
    def picture(self) -> FigureWidget:
        """The widget that shows the figure."""
        return self.furnish().picture

    @property
    def panels(self) -> list[PanelWidget]:
        """The widgets of the figure's panels; empty before the content is built."""
        return self._parts.picture.panels if self._parts is not None else []

    def take_focus(self) -> None:
        """Give the focus to the picture, as soon as there is one."""
        place = self if self._parts is None else self._parts.picture
        place.setFocus(Qt.FocusReason.OtherFocusReason)

    def name_study(self, on: bool) -> None:
        """Show the study's name in the tab if views of several studies are open."""
        self._named = on
        self._name_window(self.isFloating() and self.parent() is not None)  # for Qt a dock without a place is floating

    def number(self, number: int) -> None:
        """Name it the *number*-th of the views that show the same."""
        if number != self._number:
            self._number = number
            if self._parts is not None:
                self._parts.show_title(self.view, number)
            self.name_study(self._named)

    def _name_window(self, floating: bool) -> None:
        title = numbered(self.view.title, self._number)
        named = study_tab(self.view, self.handle, self._number)
        tab = named if self._named else tab_name(self.view, self._number)
        self.setWindowTitle(f"{title} — {self.handle.title}" if floating else tab)
        if self._parts is not None:
            self._parts.title.name_study(self._named)

    # what it shows

    @property
    def view(self) -> View:
        """The view shown; "show as" chooses another one of its family."""
        return self._chosen.view

    @property
    def place(self) -> tuple[str, str]:
        """What identifies the dock, whatever it shows: its name and its study's key."""
        return self.objectName(), self.handle.key

    @property
    def chosen(self) -> dict[str, OptionValue]:
        """The options that differ from their defaults."""
        return self._chosen.set

    def figure(self) -> Figure | None:
        """Return the current figure."""
        return self._parts.picture.figure if self._parts is not None else None

    def set_options(self, options: Mapping[str, OptionValue]) -> None:
        """Change options and redraw."""
        self._take(options)
        self.drawing.mark_stale()

    def option(self, name: str) -> OptionValue:
        """Return an option's chosen value, ``None`` for the default."""
        return self._chosen.get(name)

    def has_option(self, name: str) -> bool:
        """Return whether the view has the option *name*."""
        return any(option.name == name for option in self.view.options)

    def follow_drag(self, name: str, value: OptionValue, *, last: bool) -> None:
        """Take *value* from a dragged line without drawing yet; until the *last*, outdated pictures are shown too."""
        self._take({name: value})
        self.drawing.follow_drag(last=last)

    def _take(self, options: Mapping[str, OptionValue]) -> None:
        changed = self._chosen.update(options)
        if changed:
            self.name_study(self._named)
        if self._parts is not None:
            if changed:
                self._parts.options.show_view(self.view)
                self._parts.show_title(self.view, self._number)
            self._parts.options.show_values(self._chosen.options)
        if changed:
            self.view_changed.emit()

    def others_changed(self) -> None:
        """Redraw after another study was opened, closed or extended."""
        if self.view.several:
            self.drawing.study_changed()

    # changes

    def _option_changed(self, name: str, value: OptionValue) -> None:
        before = self._chosen.get(name)
        if self.link is not None and self.link.apart and name in ("align", "region"):
            self.link.window.fit()  # the old range has no meaning on another axis
        self._take({name: value})
        self.drawing.mark_stale()
        if before != value:
            self.option_changed.emit(name, before, value)

    def _seen(self, visible: bool) -> None:
        if self._parts is None:
            if visible and not turn_queue().has(self):
                turn_queue().add(self, self._furnish_in_sight, heavy=True)
            return
        if visible:
            self._parts.picture.catch_up()
            self.drawing.seen()

    def _furnish_in_sight(self) -> None:
        """Build the content unless the dock is now behind a tab: Qt leaves such docks left of the window."""
        if self.isVisible() and self.geometry().right() >= 0:
            self.furnish()
            turn_queue().add(self, self.drawing.appear, heavy=True)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: stop building; the area forgets closed views."""
        super().closeEvent(event)
        self.stop()
        self.closed.emit()

    def stop(self) -> None:
        """Stop building the figure."""
        self.drawing.stop()
        if self._parts is not None:
            self._parts.picture.stop()
        if self.link is not None:
            self.link.stop()

    def minimumSizeHint(self) -> QSize:
        """Qt: small enough for four views in a small window."""
        return QSize(200, 140)
