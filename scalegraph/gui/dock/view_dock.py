"""One view of a study in a dock that can be moved, tabbed, floated, maximised and exported."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QDockWidget

from scalegraph.base.errors import InputError, ScaleGraphError
from scalegraph.base.measures import percent
from scalegraph.figures import render
from scalegraph.figures.figure import Figure, Timeline
from scalegraph.gui.base.jobs import Latest, Reporter
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.silence import silence
from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.dock.chosen import Chosen
from scalegraph.gui.dock.compared import Compared
from scalegraph.gui.dock.figure_widget import FigureWidget, Pictures
from scalegraph.gui.dock.native_window import NativeWindow
from scalegraph.gui.dock.parts import Parts
from scalegraph.gui.dock.rows import row_keys, selected_row
from scalegraph.gui.dock.tab_names import tab_name
from scalegraph.gui.dock.view_options import OptionBar
from scalegraph.gui.dock.view_title import ViewTitle
from scalegraph.gui.figures.kinds import PanelWidget
from scalegraph.gui.figures.timeline.paint import prepare
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.following import Followed, build_following, to_follow
from scalegraph.gui.state.handle import Handle
from scalegraph.gui.state.option_history import Place
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.link import TraceLink
from scalegraph.gui.trace.options import selected_trace_row, trace_options, trace_row_keys
from scalegraph.subjects.option import OptionValue
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import View

log: Final = logging.getLogger(__name__)
_PATIENCE: Final = 20  # times that an analysis lets the first picture go first
_BEAT_MS: Final = 90  # between two pictures of a moving replay
_DEBOUNCE_MS: Final = 120  # runs that land within this time are drawn at once


class ViewDock(QDockWidget):
    """Builds its figure in another thread, keeps the old one until then, and drops outdated results.

    Until first shown it is a frame with a title; its content is built in its own turn of the event loop.
    """

    maximise_wanted = Signal()
    closed = Signal()
    drawn = Signal()  # a figure, an empty state or an error is on the screen
    export_wanted = Signal()
    option_changed = Signal(str, object, object)  # name, old value, chosen value
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
        self._compared = Compared(view, handle, context, self)
        self._compared.changed.connect(self._mark_stale)
        self._builds = Latest(context.jobs, f"drawing {view.name}", self, quick=view.window)
        self._stale = True
        self._stood_back = 0  # times that it let the first picture go first
        self._followed: Followed = {}
        self._named = False
        self._trace = handle if isinstance(handle, TraceHandle) else None
        self.link: TraceLink | None = None
        if self._trace is not None:
            self.link = TraceLink(
                self._trace, context.selection, context.jobs, self, apart=view.window and view.several
            )
        self._builds.every = view.window  # while the time moves, late pictures are better than none
        self._builds.shared.connect(self._tell_share)
        self._parts: Parts | None = None  # built when first shown or needed
        self._later = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._later.timeout.connect(self.refresh)
        self._beat = QTimer(self, singleShot=True, interval=_BEAT_MS)
        self._beat.timeout.connect(self._beaten)
        self._appears = QTimer(self, singleShot=True, interval=0)
        self._appears.timeout.connect(self._appear)
        if self._trace is not None:
            self._follow_time(self._trace)
        handle.changed.connect(self._study_changed)
        handle.failed.connect(self._study_failed)
        context.selection.changed.connect(self._selection_changed)
        self.visibilityChanged.connect(self._seen)
        self.topLevelChanged.connect(self._name_window)
        NativeWindow(self)

    def _follow_time(self, trace: TraceHandle) -> None:
        trace.filter.changed.connect(self._follow_trace)
        if self.view.window and self.link is not None:
            self.link.window.changed.connect(self._moved)
        if self.has_option("at"):
            self._builds.every = True
            trace.replay.moved.connect(self._follow_replay)
            trace.replay.changed.connect(self._follow_trace)

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
        parts.title.float_wanted.connect(tied(self, lambda: self.setFloating(not self.isFloating())))
        parts.title.close_wanted.connect(self.close)
        parts.title.export.clicked.connect(self.export_wanted)
        parts.make_menu(self, self._compared.offer if self.view.several else None)
        parts.export.triggered.connect(self.export_wanted)
        parts.copy_picture.triggered.connect(self._copy_picture)
        parts.copy_text.triggered.connect(tied(self, lambda: self._copy_content("csv")))
        parts.copy_latex.triggered.connect(tied(self, lambda: self._copy_content("tex")))
        picture = parts.picture
        picture.keys_of = lambda selection: row_keys(handle.study(), selection, handle.key)
        picture.selection_of = lambda key: selected_row(handle.study(), key)
        if self._trace is not None:
            picture.keys_of = lambda selection: trace_row_keys(selection, handle.key)
            picture.selection_of = selected_trace_row
        picture.retry_wanted.connect(self.refresh)
        picture.option_moved.connect(self.option_moved)

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

    @property
    def copy_picture(self) -> QAction:
        """The action that copies the picture."""
        return self.furnish().copy_picture

    @property
    def copy_text(self) -> QAction:
        """The action that copies the numbers."""
        return self.furnish().copy_text

    @property
    def copy_latex(self) -> QAction:
        """The action that copies a table or picture for LaTeX."""
        return self.furnish().copy_latex

    @property
    def reset(self) -> QAction:
        """The action that resets the zoom."""
        return self.furnish().reset

    @property
    def export(self) -> QAction:
        """The action that asks for a file to export to."""
        return self.furnish().export

    def take_focus(self) -> None:
        """Give the focus to the picture, as soon as there is one."""
        place = self if self._parts is None else self._parts.picture
        place.setFocus(Qt.FocusReason.OtherFocusReason)

    def name_study(self, on: bool) -> None:
        """Show the study's name in the tab if views of several studies are open."""
        self._named = on
        self._name_window(self.isFloating() and self.parent() is not None)  # for Qt a dock without a place is floating

    def _name_window(self, floating: bool) -> None:
        short = tab_name(self.view)
        tab = f"{short}: {self.handle.title}" if self._named else short
        self.setWindowTitle(f"{self.view.title} — {self.handle.title}" if floating else tab)
        if self._parts is not None:
            self._parts.title.name_study(self._named)

    # what it shows

    @property
    def view(self) -> View:
        """The view shown; "show as" chooses another one of its family."""
        return self._chosen.view

    @property
    def place(self) -> Place:
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
        self._mark_stale()

    def option(self, name: str) -> OptionValue:
        """Return an option's chosen value, ``None`` for the default."""
        return self._chosen.get(name)

    def has_option(self, name: str) -> bool:
        """Return whether the view has the option *name*."""
        return any(option.name == name for option in self.view.options)

    @property
    def stale(self) -> bool:
        """Whether the screen shows an older state than requested."""
        return self._stale

    def follow_drag(self, name: str, value: OptionValue, *, last: bool) -> None:
        """Take *value* from a dragged line without drawing yet; until the *last*, outdated pictures are shown too."""
        self._builds.every = not last
        self._take({name: value})
        self._stale = True

    def _take(self, options: Mapping[str, OptionValue]) -> None:
        changed = self._chosen.update(options)
        if changed:
            self.name_study(self._named)
        if self._parts is not None:
            if changed:
                self._parts.show_view(self.view)
            self._parts.options.show_values(self._chosen.options)

    def refresh(self) -> None:
        """Rebuild the figure soon; the old one stays until then."""
        data = self.handle.data()
        if data is None:
            self._wait_for_study()
            return
        if self._stands_back():
            self.picture.show_loading()
            self._later.start()
            return
        self._stale = False
        if not isinstance(data, TraceData):
            self.options.offer(data)
        options = dict(self.chosen)
        self._followed = followed = self._to_follow(data)
        self.options.show_followed(followed)
        if not self._builds.every or self.picture.figure is None:
            self.picture.show_loading()
            self.title.show_busy(True)
        view = self.view
        beside = [other.data() for other in self.compared()]

        theme = self._context.theme.name

        def build(reporter: Reporter) -> tuple[Figure, Pictures]:
            reporter.token.check()
            asked = data
            if view.several:
                asked = replace(data, others=tuple(other for other in beside if other is not None))
            if not isinstance(data, TraceData):
                return build_following(view, data, asked, options, followed), {}
            figure = view.build(asked, **options, **followed)
            quiet = silence(data, options | followed) if view.window and not view.several else None
            timelines = [panel for panel in figure.panels if isinstance(panel, Timeline)]
            return figure, {id(p): replace(prepare(p, theme), silence=quiet) for p in timelines}

        self._builds.ask(build, self._built, self._failed)

    def _stands_back(self) -> bool:
        """Return whether a trace's analysis waits until the first view over time is drawn."""
        trace = self._trace
        if trace is None or self.view.window or trace.pictured:
            return False
        self._stood_back += 1
        return self._stood_back <= _PATIENCE

    def compared(self) -> list[Handle]:
        """Return the studies compared with this one."""
        return self._compared.handles()

    def others_changed(self) -> None:
        """Redraw after another study was opened, closed or extended."""
        if self.view.several:
            self._study_changed()

    def _to_follow(self, data: StudyData | TraceData) -> Followed:
        """Return the selection's values for options without a choice of their own."""
        selection = self._context.selection.current
        if isinstance(data, TraceData):
            assert self._trace is not None
            shown = self.link.window if self.link is not None else None
            asked = trace_options(self.view, self._trace, selection, self.picture.width(), shown)
            return {name: value for name, value in asked.items() if self._chosen.get(name) is None}
        return to_follow(self.view, data, selection, self.handle.key, self.chosen)

    def _built(self, built: tuple[Figure, Pictures]) -> None:
        if self.link is not None and self.link.apart:
            for panel in built[0].panels:
                if isinstance(panel, Timeline):
                    self.link.set_axis(panel)
        self.picture.show_in_turns(*built, self._shown)

    def _shown(self) -> None:
        self.title.show_busy(False)
        if self._trace is not None and self.view.window:
            self._trace.pictured = True
        self.furnish().enable()
        self.drawn.emit()

    def _tell_share(self, share: float) -> None:
        """Show the progress; nothing for pictures that are quickly done."""
        self.title.show_busy(True, share)
        self.picture.show_loading(f"Drawing … {percent(share, 0)}")

    def _failed(self, error: Exception) -> None:
        self.title.show_busy(False)
        if isinstance(error, InputError) and self.picture.figure is None and self.chosen:
            self.picture.show_failed(f"{error}\nChoose another value under Options.")
        elif isinstance(error, ScaleGraphError):
            self.picture.show_failed(str(error))
        else:
            log.error("view %s failed", self.view.name, exc_info=error)
            self.picture.show_failed(f"This view could not be drawn: {type(error).__name__}: {error}")
        self.furnish().enable()
        self.drawn.emit()

    def _wait_for_study(self) -> None:
        if self.handle.error:
            self.picture.show_failed(self.handle.error)
        else:
            self.picture.show_loading("Reading the study …")
        self.furnish().enable()

    # changes

    def _moved(self, _begin: float, _end: float) -> None:
        """Draw for the new visible time: the current view at once, others when it rests."""
        self._stale = True
        focus = QApplication.focusWidget()
        if self._in_sight() and (self.underMouse() or (focus is not None and self.isAncestorOf(focus))):
            self.refresh()
        elif self._in_sight():
            self._later.start()

    def _follow_replay(self, _now: float) -> None:
        """Show a moment of the replay soon; skip those that pass in the meantime."""
        self._stale = True
        if not self._beat.isActive():
            self._beat.start()

    def _beaten(self) -> None:
        if self._in_sight():
            self.refresh()

    def _follow_trace(self) -> None:
        data = self.handle.data()
        if self.furnished and data is not None and self._to_follow(data) != self._followed:
            self._builds.stop()  # filtering a large trace takes long: do not wait for an outdated result
            self._mark_stale()

    def _option_changed(self, name: str, value: OptionValue) -> None:
        before = self._chosen.get(name)
        if self.link is not None and self.link.apart and name in ("align", "region"):
            self.link.window.fit()  # the old range has no meaning on another axis
        self._take({name: value})
        self._mark_stale()
        if before != value:
            self.option_changed.emit(name, before, value)

    def _study_changed(self) -> None:
        self._stale = True
        if self.furnished and self.isVisible():
            self._later.start()

    def _study_failed(self, sentence: str) -> None:
        if self.furnished and self.handle.data() is None:
            self.picture.show_failed(sentence)
            self.furnish().enable()

    def _selection_changed(self, _selection: Selection) -> None:
        data = self.handle.data()
        if self.furnished and data is not None and self._to_follow(data) != self._followed:
            self._mark_stale()

    def _mark_stale(self) -> None:
        self._stale = True
        if self._in_sight():
            self.refresh()

    def _seen(self, visible: bool) -> None:
        if self._parts is None:
            if visible and not turn_queue().has(self):
                turn_queue().add(self, self._furnish_in_sight, heavy=True)
            return
        if visible:
            self._parts.picture.catch_up()
        if visible and self._stale and self.handle.data() is None:
            self.refresh()
        elif visible and self._stale:
            # docks that appear together would block the window if each drew here
            self._appears.start()

    def _furnish_in_sight(self) -> None:
        """Build the content unless the dock is now behind a tab: Qt leaves such docks left of the window."""
        if self.isVisible() and self.geometry().right() >= 0:
            self.furnish()
            turn_queue().add(self, self._appear, heavy=True)

    def _appear(self) -> None:
        if self._stale and self._in_sight():
            self.refresh()

    def _in_sight(self) -> bool:
        """Return whether it is on the screen; for views of a trace, redrawn at every move, also not behind a tab."""
        return self.furnished and self.isVisible() and (self._trace is None or not self.visibleRegion().isEmpty())

    def closeEvent(self, event: QCloseEvent) -> None:
        """Qt: stop building; the area forgets closed views."""
        super().closeEvent(event)
        self.stop()
        self.closed.emit()

    def stop(self) -> None:
        """Stop building the figure."""
        self._later.stop()
        self._appears.stop()
        self._beat.stop()
        self._builds.stop()
        if self._parts is not None:
            self._parts.picture.stop()
        if self.link is not None:
            self.link.stop()

    def minimumSizeHint(self) -> QSize:
        """Qt: small enough for four views in a small window."""
        return QSize(200, 140)

    # copying

    def _copy_picture(self) -> None:
        QGuiApplication.clipboard().setPixmap(self.picture.grab())

    def _copy_content(self, ending: str) -> None:
        figure = self.picture.figure
        if figure is not None:
            QGuiApplication.clipboard().setText(render.content(figure, ending).decode())
