"""A `Timeline` on the screen: pan, zoom, select, measure, by pointer and keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

import numpy as np
from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMenu, QScrollBar, QWidget

from scalegraph.base.units import si
from scalegraph.figures import timelines
from scalegraph.figures.figure import Area, AreaTrack, Arrows, Axis, Key, LaneTrack, Timeline
from scalegraph.figures.palette import Theme
from scalegraph.gui.base.accessible import name_chart
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.silence import Silence, SilenceNote, stretch_at
from scalegraph.gui.base.tints import tint
from scalegraph.gui.figures.legend_strip import LegendEntry, LegendStrip, Shape
from scalegraph.gui.figures.timeline.canvas import TimelineCanvas
from scalegraph.gui.figures.timeline.paint import Picture, prepare
from scalegraph.gui.figures.timeline.targets import Hit
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_marks import TraceMarks

_KEY_FROM: Final = 96  # pixels of height below which the legend is hidden
_KEY_ROWS_FROM: Final = 240  # pixels of height below which the legend has one line
_COMMANDS: Final = {  # key, whether with Shift -> key of `trace_commands.COMMANDS`
    (Qt.Key.Key_Space, False): "play",
    (Qt.Key.Key_Period, False): "step_on",
    (Qt.Key.Key_Comma, False): "step_back",
    (Qt.Key.Key_L, False): "loop",
    (Qt.Key.Key_B, False): "bookmark",
    (Qt.Key.Key_B, True): "bookmarks",
    (Qt.Key.Key_Z, True): "between",
    (Qt.Key.Key_N, False): "next_event",
    (Qt.Key.Key_P, False): "last_event",
    (Qt.Key.Key_N, True): "next_event_there",
    (Qt.Key.Key_P, True): "last_event_there",
}
REPLAYED: Final = frozenset({"play", "step_on", "step_back", "loop"})  # those available with several runs on one axis
_MOVE: Final = 0.25  # of the visible range, per key press
_ZOOM: Final = 0.7
HINT: Final = (
    "Drag to move, wheel to zoom, Shift+drag to select a time, C measures, B bookmarks, Space plays,"
    " right button for more"
)


class TimelinePanel(QWidget):
    """Shows one `Timeline` for the time of *window*; *window* and *marks* may be shared with other panels."""

    interval_chosen = Signal(object)  # (from, to) in seconds, or None
    lane_chosen = Signal(object)  # Hit: a location, perhaps with an interval
    exact_wanted = Signal(object)  # Hit: asks for exact values, which come by `say_exactly`
    escaped = Signal()
    commanded = Signal(str, object)  # a key of `trace_commands.COMMANDS`; the moment (s) under the pointer or None

    def __init__(
        self,
        timeline: Timeline,
        theme: str = "light",
        window: TimeWindow | None = None,
        marks: TraceMarks | None = None,
        parent: QWidget | None = None,
        *,
        apart: bool = False,
    ) -> None:
        """*apart*: the picture has its own axis, shared by several runs."""
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = theme
        begin, end = timeline.limits or (timeline.begin, timeline.end)
        self.window_ = window or TimeWindow(end - begin, parent=self)
        self.marks = marks or TraceMarks(parent=self)
        self._apart = apart
        self._alone = marks is None or apart  # otherwise the bar above the trace's views shows the cursors' interval
        if window is None:
            self.window_.show(timeline.begin, timeline.end)
        self._timeline = timeline
        self._interval: tuple[float, float] | None = None
        self._order: list[str] = []  # of the legend, kept so that it does not jump while moving
        self._legend = LegendStrip(self)
        self.canvas = TimelineCanvas(self.window_, self.marks)
        self._silence: Silence | None = None
        self.note = SilenceNote(self.canvas)
        self.note.wanted.connect(self._show_event)
        self.window_.changed.connect(self._tell_silence)
        self.canvas.scrolled.connect(self._tell_silence)
        self.bar = QScrollBar(Qt.Orientation.Vertical)
        self.bar.valueChanged.connect(self.canvas.scroll_to)
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # aligns times of scrolling views with others
        self.bar.setSizePolicy(policy)
        self.measured = QLabel()
        self.measured.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.measured.setAccessibleName("Cursors")
        self.measured.hide()
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self.canvas, 1)
        row.addWidget(self.bar)
        column = vertical(self, spacing=2)
        column.addWidget(self._legend)
        column.addLayout(row, 1)
        column.addWidget(self.measured)
        self.canvas.interval_dragged.connect(self._dragged)
        self.canvas.replay_dragged.connect(lambda moment: self.commanded.emit("drag_replay", moment))
        self.canvas.replay_dropped.connect(lambda: self.commanded.emit("drop_replay", None))
        self.canvas.clicked.connect(self._clicked)
        self.canvas.dwelt.connect(self.exact_wanted)
        self.canvas.scrolled.connect(self._show_bar)
        self.canvas.menu_wanted.connect(self._menu)
        self.marks.changed.connect(self._show_measured)
        self.set_timeline(timeline)
        self._show_measured()

    # display

    @property
    def timeline(self) -> Timeline:
        """The timeline shown."""
        return self._timeline

    def set_timeline(self, timeline: Timeline, picture: Picture | None = None) -> None:
        """Show *timeline*; *picture* is `prepare`'s result, made in another thread."""
        self._timeline = timeline
        if picture is None or picture.timeline is not timeline or picture.theme != self._theme:
            quiet = self._silence if picture is None else picture.silence
            picture = replace(prepare(timeline, self._theme), silence=quiet)
        self._silence = picture.silence
        self.canvas.show_picture(picture)
        self._show_key()
        lanes = sum(track.height for track in timeline.tracks if isinstance(track, LaneTrack))
        name_chart(self, f"Timeline of {lanes} lanes" if lanes else "Values over time")
        self.setAccessibleDescription(HINT)

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        if theme != self._theme:
            self._theme = theme
            self.set_timeline(self._timeline)

    def select(self, interval: tuple[float, float] | None, locations: frozenset[int] = frozenset()) -> None:
        """Highlight the selected time (s) and locations; a picture with its own axis keeps its own selected time."""
        interval = self._interval if self._apart else interval
        came = locations - self.canvas.locations
        self._interval = self.canvas.interval = interval
        self.canvas.locations = locations
        if came:
            self.canvas.show_location(min(came))
        self.canvas.update()

    def fit(self) -> None:
        """Show the whole run and all lanes."""
        self.window_.fit()
        self.canvas.fit_lanes()

    def say_exactly(self, asked: Hit, text: str) -> None:
        """Show the answer to `exact_wanted`."""
        self.canvas.say_exactly(asked, text)

    def key_texts(self) -> list[str]:
        """Return the texts of the legend."""
        return self._legend.texts()

    # user actions

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: W and S zoom, A and D pan, F fits, Z shows the selected time, C sets a cursor; see `_command`."""
        if not self.act(event.key(), event.modifiers()):
            super().keyPressEvent(event)

    def act(self, key: int, modifiers: Qt.KeyboardModifier) -> bool:
        """Run the action of *key*; return whether it has one."""
        shift = modifiers == Qt.KeyboardModifier.ShiftModifier
        if modifiers & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier):
            return False
        window, at = self.window_, self.canvas.pointer_seconds()
        if key in (Qt.Key.Key_W, Qt.Key.Key_Plus, Qt.Key.Key_S, Qt.Key.Key_Minus):
            closer = key in (Qt.Key.Key_W, Qt.Key.Key_Plus)
            if shift and key in (Qt.Key.Key_W, Qt.Key.Key_S):
                self.canvas.zoom_lanes(1.25 if closer else 0.8)
            else:
                window.zoom(_ZOOM if closer else 1 / _ZOOM, at)
        elif key in (Qt.Key.Key_A, Qt.Key.Key_Left, Qt.Key.Key_D, Qt.Key.Key_Right):
            window.move(-_MOVE if key in (Qt.Key.Key_A, Qt.Key.Key_Left) else _MOVE)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            step = 40 if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) else self.canvas.height() - 60
            down = key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown)
            self.canvas.scroll_to(self.canvas.places.scroll + (step if down else -step))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            width = window.width
            window.show(*((0.0, width) if key == Qt.Key.Key_Home else (window.length - width, window.length)))
        elif key == Qt.Key.Key_F:
            self.fit()
        elif key == Qt.Key.Key_Z and not shift and self._interval is not None:
            window.show(*self._interval)
        elif key == Qt.Key.Key_Escape:
            self._interval = None if self._apart else self._interval
            self.escaped.emit()
            self.select(self._interval, self.canvas.locations)
        else:
            return self._command(key, at, shift=shift)
        return True

    def _command(self, key: int, at: float | None, *, shift: bool) -> bool:
        """Run the command of *key* for cursors, bookmarks or the replay, at the moment *at*."""
        command = _COMMANDS.get((Qt.Key(key), shift))
        if key == Qt.Key.Key_C and shift:
            self.marks.remove_cursors()
        elif key == Qt.Key.Key_C:
            self.marks.place(sum(self.window_.shown) / 2 if at is None else at)
        elif command is not None and not (self._apart and command not in REPLAYED):
            self.commanded.emit(command, at)
        else:
            return False
        return True

    def _tell_silence(self) -> None:
        """Show a note if nothing happens in the visible range."""
        lanes = any(isinstance(track, LaneTrack) for track in self._timeline.tracks)
        places = self.canvas.places
        self.note.tell(self._silence if lanes else None, self.window_.shown, QSize(self.canvas.width(), places.height))
        middle = places.left + (places.width - self.note.width()) // 2
        left = max(0, min(middle, self.canvas.width() - self.note.width()))
        self.note.move(left, max(0, (places.height - self.note.height()) // 2))

    def _show_event(self, moment: float, back: bool) -> None:
        self.window_.show(*stretch_at(moment, self.window_.width, back=back))

    def _dragged(self, begin: float, end: float, last: bool) -> None:
        self.canvas.interval = (begin, end)
        self.canvas.update()
        if last and self._apart:
            self._interval = (begin, end)
        elif last:
            self.interval_chosen.emit((begin, end))

    def _clicked(self, found: Hit | None) -> None:
        if found is None:
            return
        if found.interval is not None and found.location is None:
            self.interval_chosen.emit(found.interval)
        else:
            self.lane_chosen.emit(found)

    def _menu(self, at: QPoint, moment: float) -> None:
        menu = self.menu_at(moment)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(at)

    def menu_at(self, moment: float) -> QMenu:
        """Return the menu of actions at *moment* (s)."""
        menu = QMenu(self)

        def add(text: str, act: Any, on: bool = True) -> None:
            action = QAction(text, menu)
            action.triggered.connect(lambda _checked=False: act())
            action.setEnabled(on)
            menu.addAction(action)

        interval = self._interval
        add("Show the whole run\tF", self.fit)
        add("Show the selected time\tZ", lambda: self.window_.show(*(interval or (0, 1))), interval is not None)
        add("Back", self.window_.back, self.window_.can_go_back)
        add("Forward", self.window_.forward, self.window_.can_go_forward)
        menu.addSeparator()
        add("Set cursor A here\tC", lambda: self.marks.place(moment, "A"))
        add("Set cursor B here\tC", lambda: self.marks.place(moment, "B"))
        add("Clear cursors\tShift+C", self.marks.remove_cursors, bool(self.marks.cursors))
        between = sorted(self.marks.cursors.values())
        select = lambda: self.interval_chosen.emit(tuple(between))  # noqa: E731
        add("Select the time between the cursors\tShift+Z", select, len(between) == 2 and not self._apart)
        menu.addSeparator()
        add("Play from here", lambda: self.commanded.emit("play_from", moment))
        if not self._apart:
            add("Set a bookmark\tB", lambda: self.commanded.emit("bookmark", moment))
        menu.addSeparator()
        for action in self.actions():
            menu.addAction(action)
        return menu

    # furniture

    def _show_bar(self) -> None:
        places = self.canvas.places
        self.bar.blockSignals(True)
        self.bar.setRange(0, places.most_scroll)
        self.bar.setPageStep(places.height)
        self.bar.setValue(places.scroll)
        self.bar.blockSignals(False)
        self.bar.setVisible(places.most_scroll > 0)

    def _show_key(self) -> None:
        """Show the legend; entries keep their order, so that it does not jump while moving."""
        known = {key.name: self._colour(key) for key in timelines.legend(self._timeline)}
        for track in self._timeline.tracks:
            if isinstance(track, AreaTrack) and len(track.series) > 1:
                known |= {area.name: self._colour(area) for area in track.series}
        self._order = [name for name in self._order if name in known]
        self._order += [name for name in known if name not in self._order]
        entries = [LegendEntry(name, known[name], "bar") for name in self._order]
        scales = {track.scale: None for track in self._timeline.tracks if isinstance(track, LaneTrack) and track.scale}
        for scale in scales:
            if scale.limits is not None:
                entries += self._ends(scale.label, scale, *scale.limits, "bar", theme=None)
        for track in self._timeline.tracks:
            for overlay in track.overlays if isinstance(track, LaneTrack) else ():
                if isinstance(overlay, Arrows) and len(overlay.x0):
                    entries += self._arrow_entries(overlay, "dashed" if overlay.kind == "lock" else "line")
        self._legend.allow(20 if self.height() < _KEY_ROWS_FROM else 46)
        if self.height() < _KEY_FROM:
            entries = []
        if self._legend.entries() != entries or self.isHidden():
            self._legend.show_entries(entries)

    def _arrow_entries(self, arrows: Arrows, shape: Shape) -> list[LegendEntry]:
        """Return the colour scale's entries for arrows: one per end."""
        if arrows.value is None:
            return [LegendEntry(arrows.name, tint(arrows.role, self._theme), shape)]
        limits = timelines.arrow_limits(arrows)
        return self._ends(arrows.name, arrows.scale, *limits, shape, theme=cast("Theme", self._theme))

    def _ends(
        self, name: str, scale: Axis, low: float, high: float, shape: Shape, *, theme: Theme | None
    ) -> list[LegendEntry]:
        """Return the values at both ends of a colour scale, or its only value."""
        log = scale.scale.startswith("log")
        ends = timelines.ramp(np.array([low, high]), low, high, log=log, theme=theme)
        words = [f"{name} {si(low, scale.unit)}", si(high, scale.unit)]
        colours = [QColor(*(int(part) for part in one)) for one in ends]
        pairs = list(zip(words, colours, strict=True))
        return [LegendEntry(text, shade, shape) for text, shade in (pairs if high > low else pairs[:1])]

    def _colour(self, key: Key | Area) -> QColor:
        return QColor(key.colour) if key.colour else tint(key.role, self._theme)

    def _show_measured(self) -> None:
        said = self.marks.said()
        self.measured.setText(said)
        self.measured.setVisible(bool(said) and self._alone)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: give the legend the height the picture can spare."""
        super().resizeEvent(event)
        self._show_key()

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: the height is now known."""
        super().showEvent(event)
        self._show_key()
