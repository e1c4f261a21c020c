"""Keeps the figure of a view's dock up to date."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication

from scalegraph.base.errors import InputError, ScaleGraphError
from scalegraph.base.measures import percent
from scalegraph.figures.figure import Figure, Timeline
from scalegraph.gui.base.jobs import Latest, Reporter
from scalegraph.gui.base.silence import silence
from scalegraph.gui.dock.figure_widget import Pictures
from scalegraph.gui.figures.timeline.paint import prepare
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.following import Followed, build_following, to_follow
from scalegraph.gui.state.selection import Selection
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.options import trace_options
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData

if TYPE_CHECKING:
    from scalegraph.gui.dock.view_dock import ViewDock

log: Final = logging.getLogger(__name__)
_PATIENCE: Final = 20  # how many times an analysis lets the first picture go first
_BEAT_MS: Final = 90  # least time between two pictures of a moving replay
_DEBOUNCE_MS: Final = 120  # runs that land within this time are drawn at once


class Drawing(QObject):
    """Builds the figure of *dock* in another thread, keeps the old one until then, and drops outdated results."""

    drawn = Signal()  # a figure, an empty state or an error is on the screen

    def __init__(self, dock: ViewDock, context: Context) -> None:
        super().__init__(dock)
        view, handle = dock.view, dock.handle
        self._dock, self._context = dock, context
        self._builds = Latest(context.jobs, f"drawing {view.name}", self, quick=view.window)
        self.stale = True  # whether the screen shows an older state than requested
        self._stood_back = 0  # how many times this analysis has let the first picture go first
        self._followed: Followed = {}
        self._trace = handle if isinstance(handle, TraceHandle) else None
        self._builds.every = view.window  # while the time moves, late pictures are better than none
        self._builds.shared.connect(self._tell_share)
        self._later = QTimer(self, singleShot=True, interval=_DEBOUNCE_MS)
        self._later.timeout.connect(self.refresh)
        self._beat = QTimer(self, singleShot=True, interval=_BEAT_MS)
        self._beat.timeout.connect(self._beaten)
        self._appears = QTimer(self, singleShot=True, interval=0)
        self._appears.timeout.connect(self.appear)
        if self._trace is not None:
            self._follow_time(self._trace)
        handle.changed.connect(self.study_changed)
        handle.failed.connect(self._study_failed)
        context.selection.changed.connect(self._selection_changed)

    def _follow_time(self, trace: TraceHandle) -> None:
        trace.filter.changed.connect(self._follow_trace)
        if self._dock.view.window and self._dock.link is not None:
            self._dock.link.window.changed.connect(self._moved)
        if self._dock.has_option("at"):
            self._builds.every = True
            trace.replay.moved.connect(self._follow_replay)
            trace.replay.changed.connect(self._follow_trace)

    def refresh(self) -> None:
        """Rebuild the figure soon; the old one stays until then."""
        data = self._dock.handle.data()
        if data is None:
            self._wait_for_study()
            return
        if self._stands_back():
            self._dock.picture.show_loading()
            self._later.start()
            return
        self.stale = False
        if not isinstance(data, TraceData):
            self._dock.options.offer(data)
        options = dict(self._dock.chosen)
        self._followed = followed = self._to_follow(data)
        self._dock.options.show_followed(followed)
        if not self._builds.every or self._dock.picture.figure is None:
            self._dock.picture.show_loading()
            self._dock.title.show_busy(True)
        view = self._dock.view
        beside = [other.data() for other in self._dock.compared.handles()]

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
        if trace is None or self._dock.view.window or trace.pictured:
            return False
        self._stood_back += 1
        return self._stood_back <= _PATIENCE

    def _to_follow(self, data: StudyData | TraceData) -> Followed:
        """Return the selection's values for the options that the user has not set."""
        selection = self._context.selection.current
        if isinstance(data, TraceData):
            assert self._trace is not None
            shown = self._dock.link.window if self._dock.link is not None else None
            asked = trace_options(self._dock.view, self._trace, selection, self._dock.picture.width(), shown)
            return {name: value for name, value in asked.items() if self._dock.option(name) is None}
        return to_follow(self._dock.view, data, selection, self._dock.handle.key, self._dock.chosen)

    def _built(self, built: tuple[Figure, Pictures]) -> None:
        if self._dock.link is not None and self._dock.link.apart:
            for panel in built[0].panels:
                if isinstance(panel, Timeline):
                    self._dock.link.set_axis(panel)
        self._dock.picture.show_in_turns(*built, self._shown)

    def _shown(self) -> None:
        self._dock.title.show_busy(False)
        if self._trace is not None and self._dock.view.window:
            self._trace.pictured = True
        self._dock.furnish().enable()
        self.drawn.emit()

    def _tell_share(self, share: float) -> None:
        """Show the progress, unless the picture is done quickly."""
        self._dock.title.show_busy(True, share)
        self._dock.picture.show_loading(f"Drawing … {percent(share, 0)}")

    def _failed(self, error: Exception) -> None:
        self._dock.title.show_busy(False)
        if isinstance(error, InputError) and self._dock.picture.figure is None and self._dock.chosen:
            self._dock.picture.show_failed(f"{error}\nChoose another value under Options.")
        elif isinstance(error, ScaleGraphError):
            self._dock.picture.show_failed(str(error))
        else:
            log.error("view %s failed", self._dock.view.name, exc_info=error)
            self._dock.picture.show_failed(f"This view could not be drawn: {type(error).__name__}: {error}")
        self._dock.furnish().enable()
        self.drawn.emit()

    def _wait_for_study(self) -> None:
        if self._dock.handle.error:
            self._dock.picture.show_failed(self._dock.handle.error)
        else:
            self._dock.picture.show_loading("Reading the study …")
        self._dock.furnish().enable()

    # changes

    def follow_drag(self, *, last: bool) -> None:
        """Wait to be drawn while a line is dragged; until the *last* move, outdated pictures are shown too."""
        self._builds.every = not last
        self.stale = True

    def _moved(self, _begin: float, _end: float) -> None:
        """Draw for the new visible time: the current view at once, others when it rests."""
        self.stale = True
        focus = QApplication.focusWidget()
        if self._in_sight() and (self._dock.underMouse() or (focus is not None and self._dock.isAncestorOf(focus))):
            self.refresh()
        elif self._in_sight():
            self._later.start()

    def _follow_replay(self, _now: float) -> None:
        """Show a moment of the replay soon; skip those that pass in the meantime."""
        self.stale = True
        if not self._beat.isActive():
            self._beat.start()

    def _beaten(self) -> None:
        if self._in_sight():
            self.refresh()

    def _follow_trace(self) -> None:
        if self._outdated():
            self._builds.stop()  # filtering a large trace takes long: do not wait for an outdated result
            self.mark_stale()

    def study_changed(self) -> None:
        """Draw again soon: the study, or one compared with it, has changed."""
        self.stale = True
        if self._dock.furnished and self._dock.isVisible():
            self._later.start()

    def _study_failed(self, sentence: str) -> None:
        if self._dock.furnished and self._dock.handle.data() is None:
            self._dock.picture.show_failed(sentence)
            self._dock.furnish().enable()

    def _selection_changed(self, _selection: Selection) -> None:
        if self._outdated():
            self.mark_stale()

    def _outdated(self) -> bool:
        """Return whether the selection or the trace's filter now asks for another figure."""
        data = self._dock.handle.data()
        return self._dock.furnished and data is not None and self._to_follow(data) != self._followed

    def mark_stale(self) -> None:
        """Draw again now if the dock is visible, otherwise once it is."""
        self.stale = True
        if self._in_sight():
            self.refresh()

    def seen(self) -> None:
        """Draw what changed while the dock was hidden."""
        if self.stale and self._dock.handle.data() is None:
            self.refresh()
        elif self.stale:
            # docks that appear together would block the window if each drew here
            self._appears.start()

    def appear(self) -> None:
        """Draw an outdated picture again if the dock is visible."""
        if self.stale and self._in_sight():
            self.refresh()

    def _in_sight(self) -> bool:
        """Return whether the dock is visible; a view of a trace, redrawn at every move, is not while behind a tab."""
        dock = self._dock
        return dock.furnished and dock.isVisible() and (self._trace is None or not dock.visibleRegion().isEmpty())

    def stop(self) -> None:
        """Stop building the figure."""
        self._later.stop()
        self._appears.stop()
        self._beat.stop()
        self._builds.stop()
