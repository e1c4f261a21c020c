"""Connects a trace's views to the window: selection, visible time, jumps, exact values under the pointer."""

from __future__ import annotations

import logging
from typing import Any, Final

from PySide6.QtCore import QObject

from scalegraph.figures.figure import Timeline
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.figures.timeline.targets import Hit
from scalegraph.gui.state.replay_state import scrolled
from scalegraph.gui.state.selection import Selection, SelectionModel
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_marks import REPLAY, Moment, TraceMarks
from scalegraph.gui.trace.commands import perform
from scalegraph.gui.trace.handle import TraceHandle
from scalegraph.gui.trace.pointing import Pointed, point
from scalegraph.views.trace.places import Place, place_of

log: Final = logging.getLogger(__name__)
_AROUND: Final = 1.5  # margin on either side of a place jumped to, in lengths of the place
_SEEN: Final = 1 / 40  # of the visible time: a shorter place is zoomed in on


class TraceLink(QObject):
    """Serves the panels of one view of a trace."""

    def __init__(
        self, handle: TraceHandle, selection: SelectionModel, jobs: Jobs, parent: QObject, *, apart: bool = False
    ) -> None:
        """*apart*: the view has its own axis, shared by several traces, and its own visible stretch."""
        super().__init__(parent)
        self._apart = TimeWindow(parent=self) if apart else None
        self._handle, self._selection = handle, selection
        self._marks = TraceMarks(unit="", parent=self) if apart else handle.marks
        self._clock = (0.0, 1.0)  # second of the run at 0 of the axis, axis units per second
        if apart:
            handle.replay.moved.connect(self._follow_replay)
            handle.replay.changed.connect(self._show_replay)
        self._clicks = Latest(jobs, "finding what was clicked", self, quick=True)
        self._tips = Latest(jobs, "finding what is there", self, quick=True)

    @property
    def window(self) -> TimeWindow:
        """The time that all views of the trace show, or the visible stretch of the view's own axis."""
        return self._handle.window if self._apart is None else self._apart

    @property
    def apart(self) -> bool:
        """Whether the view has an axis of its own, on which a moment does not belong to one trace."""
        return self._apart is not None

    def set_axis(self, timeline: Timeline) -> None:
        """Take over the axis of *timeline* in a view with its own axis; show all of it if it is a different one."""
        if self._apart is None:
            return
        _begin, length = timeline.limits or (timeline.begin, timeline.end)
        if abs(length - self._apart.length) > 1e-9 * length:
            self._apart.set_length(length, length * 1e-9)
        if timeline.x.unit != self._marks.measure:
            self._marks.measure = timeline.x.unit
            self._marks.remove_cursors()  # they marked moments of another axis
        self._clock = timeline.clock
        self._show_replay()

    @property
    def marks(self) -> TraceMarks:
        """Cursors, bookmarks and replay of the trace; on a view's own axis only cursors and replay."""
        return self._marks

    def _show_replay(self) -> None:
        """Show the replay's line on the view's own axis, at the same place for all its runs."""
        there = Moment(self._place(self._handle.replay.now), "", REPLAY)
        self._marks.show(REPLAY, (there,) if self._handle.replay.shown else ())

    def _follow_replay(self, now: float) -> None:
        self._show_replay()
        page = scrolled(*self.window.shown, self._place(now))
        if page is not None:
            self.window.show(*page, step=False)

    def _place(self, moment: float) -> float:
        """Return the axis position of a *moment* of the run (s)."""
        shift, factor = self._clock
        return (moment - shift) * factor

    def _moment(self, place: float) -> float:
        """Return the moment of the run at the axis position *place*, clipped to the run."""
        shift, factor = self._clock
        return min(max(place / factor + shift, 0.0), self._handle.window.length)

    def interval(self, selection: Selection) -> tuple[float, float] | None:
        """Return the selected interval in seconds, ``None`` if none of this trace is selected."""
        data = self._handle.data()
        if data is None or selection.interval is None or selection.study != self._handle.key or self.apart:
            return None
        begin, end = selection.interval
        return self._handle.seconds(begin), self._handle.seconds(end)

    def serve(self, panel: TimelinePanel) -> None:
        """Answer the queries of *panel*, and act on its signals."""
        panel.commanded.connect(self._perform)
        if self.apart:
            return
        panel.interval_chosen.connect(self.choose_interval)
        panel.lane_chosen.connect(self.choose)
        panel.exact_wanted.connect(tied(panel, lambda found: self._tell(panel, found)))

    def _perform(self, command: str, at: float | None) -> None:
        perform(self._handle, self._selection, command, None if at is None else self._moment(at))

    def stop(self) -> None:
        """Cancel pending queries."""
        self._clicks.stop()
        self._tips.stop()

    # selecting

    def choose_interval(self, interval: tuple[float, float] | None) -> None:
        """Select an interval (s), or none."""
        if self._handle.data() is None:
            return
        ticks = None if interval is None else (self._handle.tick(interval[0]), self._handle.tick(interval[1]))
        self._selection.select(study=self._handle.key, interval=ticks)

    def choose(self, found: Hit) -> None:
        """Select the clicked location and the region it was in."""
        data = self._handle.data()
        if data is None or found.location is None:
            return
        location = found.location
        if found.what == "name":
            self._selection.select(study=self._handle.key, location=location)
            return
        if found.interval is not None:
            self.choose_interval(found.interval)
        begin, end = self._handle.tick(found.begin), self._handle.tick(found.end)

        def look(reporter: Reporter) -> Pointed:
            reporter.token.check()
            return point(data, location, begin, end)

        def chosen(told: Pointed) -> None:
            self._selection.select(study=self._handle.key, location=location, **self.region_changes(told.region))

        self._clicks.ask(look, chosen, self._not_found)

    def region_changes(self, region: int) -> dict[str, Any]:
        """Return the changes that select a region and the line where it begins; -1: no region."""
        trace = self._handle.trace()
        if trace is None or not 0 <= region < len(trace.definitions.regions):
            return {"region": None, "line": None}
        known = trace.definitions.regions[region]
        return {"region": region, "line": (known.file, known.line) if known.file and known.line else None}

    def go_to(self, key: str) -> bool:
        """Select the place named by a row's *key* and show its time; return whether the key names one."""
        place = place_of(key)
        if place is None or self._handle.data() is None:
            return place is not None
        self.show_place(place)
        return True

    def show_place(self, place: Place, *, keep_zoom: bool = False) -> None:
        """Select *place* and show it with a margin; *keep_zoom*: zoom only if it would not be visible."""
        changes: dict[str, Any] = {"interval": (place.begin, place.end)} | self.region_changes(place.region)
        if place.location >= 0:
            changes["location"] = place.location
        self._selection.select(study=self._handle.key, **changes)
        window = self.window
        begin, end = self._handle.seconds(place.begin), self._handle.seconds(place.end)
        low, high = window.shown
        seen = place.end == place.begin or _SEEN * window.width <= end - begin <= window.width
        if not (keep_zoom and seen):
            window.reach(begin, end, margin=_AROUND)
        elif begin < low or end > high:
            middle = (begin + end) / 2
            window.show(middle - window.width / 2, middle + window.width / 2)

    # queries

    def _tell(self, panel: TimelinePanel, found: Hit) -> None:
        data = self._handle.data()
        if data is None or found.location is None:
            return
        location = found.location
        begin, end = self._handle.tick(found.begin), self._handle.tick(found.end)

        def look(reporter: Reporter) -> str:
            reporter.token.check()
            return point(data, location, begin, end).words(data, begin, end)

        self._tips.ask(look, tied(panel, lambda text: panel.say_exactly(found, text)), self._not_found)

    def _not_found(self, error: Exception) -> None:
        """Keep the old tooltip; the view itself reports what is wrong with the file."""
        log.info("nothing can be said about this place: %s", error)
