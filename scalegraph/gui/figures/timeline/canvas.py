"""The canvas of a timeline: lanes that pan, zoom and scroll, with selection, cursors and marks."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from scalegraph.figures.figure import AreaTrack, LaneTrack
from scalegraph.gui.base import tips
from scalegraph.gui.base.tints import ink, paper, tint
from scalegraph.gui.figures.plot.targets import rich
from scalegraph.gui.figures.timeline.layout import LEAST_LANE, MOST_LANE, Layout, axis_height, group_runs, short_name
from scalegraph.gui.figures.timeline.paint import Painter, Picture
from scalegraph.gui.figures.timeline.targets import Hit, hit
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_marks import REPLAY, Moment, TraceMarks

_ZOOM: Final = 0.8  # factor per notch of the wheel
_DRAG_FROM: Final = 4  # pixels of movement that turn a click into a drag
_GRAB: Final = 5  # pixels from a cursor or the replay's line within which it is grabbed
_DWELL_MS: Final = 140  # before exact times are looked up
_LEAST_FLAG: Final = 16  # pixels for a name: one letter
_GUTTER: Final = (44, 190)  # least and most pixels for lane names
_FEW: Final = 2  # lanes in a group too small for a name beside it
_GUTTER_SHARE: Final = 0.24


class Drag(Enum):
    """What a drag does."""

    NOTHING = 0
    PAN = 1
    SELECT = 2
    LINE = 3  # moves a cursor or the replay's line


class TimelineCanvas(QWidget):
    """Paints a `Picture` for the time of *window*; user actions are emitted as signals, in seconds."""

    interval_dragged = Signal(float, float, bool)  # from, to, whether released
    replay_dragged = Signal(float)  # to where
    replay_dropped = Signal()
    clicked = Signal(object)  # Hit or None
    dwelt = Signal(object)  # a Hit in a lane; asks for its exact times
    scrolled = Signal()
    menu_wanted = Signal(object, float)  # QPoint on the screen, the moment there

    def __init__(self, window: TimeWindow, marks: TraceMarks) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.window_, self.marks = window, marks
        self.places = Layout()
        self.picture: Picture | None = None
        self.interval: tuple[float, float] | None = None
        self.locations: frozenset[int] = frozenset()
        self._drag, self._from = Drag.NOTHING, QPointF()
        self._began = (0.0, 1.0)
        self._began_scroll = 0
        self._pressed = False
        self._line = ""  # name of the line being dragged
        self._pointer: QPointF | None = None
        self._hit: Hit | None = None
        self._dwell = QTimer(self, singleShot=True, interval=_DWELL_MS)
        self._dwell.timeout.connect(self._dwelling)
        window.changed.connect(self._moved)
        window.gutter_changed.connect(self._gutter_moved)
        marks.changed.connect(self.update)

    # display

    def show_picture(self, picture: Picture) -> None:
        """Show *picture*; the scroll position stays."""
        self.picture = picture
        self.arrange()
        self.update()

    def arrange(self) -> None:
        """Lay out tracks and lanes in the available room."""
        picture = self.picture
        if picture is None:
            return
        least, most = _GUTTER
        widest = min(self._wanted_gutter(picture), most)
        if self.isVisible():
            self.window_.ask_gutter(id(self), widest)
            widest = self.window_.gutter
        self.places.left = int(max(least, min(widest, _GUTTER_SHARE * self.width())))
        self.places.width = max(20, self.width() - self.places.left - 4)
        self.places.height = max(20, self.height() - axis_height(self.height()))
        self.places.begin, self.places.end = self.window_.shown
        self.places.place(picture.timeline)
        self.scrolled.emit()

    def _wanted_gutter(self, picture: Picture) -> int:
        lanes = [track for track in picture.timeline.tracks if isinstance(track, LaneTrack)]
        names = [short_name(track, lane) for track in lanes for lane in range(min(200, track.height))]
        names += [
            track.names[lane]
            for track in lanes
            for first, after, _name in group_runs(track)
            if after - first <= _FEW
            for lane in range(first, after)
        ]
        names += [track.y.label for track in picture.timeline.tracks if isinstance(track, AreaTrack)]
        metrics = self.fontMetrics()
        beside = metrics.height() + 2 if any(track.groups for track in lanes) else 0
        return max((metrics.horizontalAdvance(name) for name in names), default=60) + 14 + beside

    def _gutter_moved(self) -> None:
        if self.isVisible():
            self.arrange()
            self.update()

    def scroll_to(self, pixels: int) -> None:
        """Scroll to *pixels* below the top of the first lane."""
        pixels = max(0, min(pixels, self.places.most_scroll))
        if pixels != self.places.scroll:
            self.places.scroll = pixels
            self.scrolled.emit()
            self.update()

    def show_location(self, location: int) -> None:
        """Scroll to the lane of *location* unless it is visible."""
        for band in self.places.bands:
            locations = getattr(band.track, "locations", ())
            if location in locations:
                top = band.top + locations.index(location) * band.lane
                if not self.places.scroll <= top <= self.places.scroll + self.places.height - band.lane:
                    self.scroll_to(top - self.places.height // 2)
                return

    def zoom_lanes(self, factor: float, at: float | None = None) -> None:
        """Scale the lanes' height by *factor*; the lane at the pixel *at* stays in place."""
        lanes = [band for band in self.places.bands if band.lane]
        if not lanes:
            return
        at = self.places.height / 2 if at is None else at
        before = lanes[0].lane
        after = max(before + 1, round(before * factor)) if factor > 1 else min(before - 1, round(before * factor))
        after = max(LEAST_LANE, min(MOST_LANE, after))
        ground = at + self.places.scroll
        self.places.zoom = after
        self.arrange()
        self.scroll_to(round(ground * after / before - at))
        self.update()

    def fit_lanes(self) -> None:
        """Let the lanes fill the available height again."""
        self.places.zoom = 0
        self.places.scroll = 0
        self.arrange()
        self.update()

    def pointer_seconds(self) -> float | None:
        """Return the moment under the pointer, ``None`` if it is elsewhere."""
        if self._pointer is None or self._pointer.x() < self.places.left:
            return None
        return self.places.seconds(self._pointer.x())

    def point_of(self, seconds: float, location: int) -> QPointF:
        """Return the position of a location's moment, for tests and tools."""
        for band in self.places.bands:
            locations = getattr(band.track, "locations", ())
            if location in locations:
                return QPointF(self.places.x(seconds), self.places.lane_y(band, locations.index(location)))
        return QPointF(self.places.x(seconds), self.places.height / 2)

    def say_exactly(self, asked: Hit, text: str) -> None:
        """Show *text* about *asked*, if the pointer is still there."""
        if asked is self._hit and self._pointer is not None:
            self._tell(text)

    def _moved(self, begin: float, end: float) -> None:
        self.places.begin, self.places.end = begin, end
        self.update()

    # drawing

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw the picture for the current time range."""
        painter = QPainter(self)
        try:
            self.draw(painter)
        finally:
            painter.end()  # after an error, a painter left to the garbage collector would crash the window

    def draw(self, painter: QPainter) -> None:
        """Draw everything with *painter*, whose device has this widget's size."""
        theme = self.picture.theme if self.picture is not None else "light"
        painter.fillRect(self.rect(), paper(theme))
        if self.picture is None:
            return
        painter.setFont(self.font())
        drawing = Painter(painter, self.picture, self.places, self.locations)
        drawing.tracks()
        drawing.axis(self.height())
        self._draw_interval(painter, theme)
        self._draw_moments(painter, theme)

    def _draw_interval(self, painter: QPainter, theme: str) -> None:
        if self.interval is None:
            return
        left, right = (min(max(self.places.x(x), self.places.left), self.width()) for x in self.interval)
        if right <= self.places.left or left >= self.width():
            return
        room = QRectF(left, 0, max(1.0, right - left), self.places.height)
        shade = ink(theme, 0.10)
        painter.fillRect(QRectF(self.places.left, 0, max(0.0, left - self.places.left), room.height()), shade)
        end = self.places.left + self.places.width
        painter.fillRect(QRectF(right, 0, max(0.0, end - right), room.height()), shade)
        painter.setPen(QPen(tint("mark", theme), 1.4))
        painter.drawLine(room.topLeft(), room.bottomLeft())
        painter.drawLine(room.topRight(), room.bottomRight())
        painter.fillRect(QRectF(left, self.places.height, max(1.0, right - left), 3), tint("mark", theme))

    def _draw_moments(self, painter: QPainter, theme: str) -> None:
        places = self.places
        for moment, room in flags(self.marks.moments(), places, self.width()):
            x = places.x(moment.seconds)
            if moment.until is not None:  # an interval: a bar along the lower edge
                left, right = max(x, places.left), min(places.x(moment.until), self.width())
                if right > left:
                    painter.fillRect(QRectF(left, places.height - 3, right - left, 3), ink(theme))
            if not places.left <= x <= self.width():
                continue
            if moment.kind == REPLAY:
                self._draw_replay(painter, theme, x)
                continue
            style = Qt.PenStyle.DashLine if moment.kind == "bookmark" else Qt.PenStyle.SolidLine
            painter.setPen(QPen(ink(theme), 1.0, style))
            painter.drawLine(QPointF(x, 0), QPointF(x, places.height))
            self._draw_flag(painter, theme, moment, x, room)

    def _draw_flag(self, painter: QPainter, theme: str, moment: Moment, x: float, room: float) -> None:
        """Draw the name of *moment* at its beginning: dark for cursors, light with a frame for bookmarks."""
        metrics = self.fontMetrics()
        text = metrics.elidedText(moment.name, Qt.TextElideMode.ElideRight, max(0, int(room) - 8))
        width = metrics.horizontalAdvance(text) + 8 if text.strip("…") else 6
        bookmark = moment.kind == "bookmark"
        flag = QRectF(min(x, self.width() - width), 0, width, metrics.height())
        painter.setPen(QPen(ink(theme), 1.0))
        painter.setBrush(paper(theme) if bookmark else ink(theme))
        painter.drawRect(flag)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if text.strip("…"):
            painter.setPen(ink(theme) if bookmark else paper(theme))
            painter.drawText(flag, int(Qt.AlignmentFlag.AlignCenter), text)

    def _draw_replay(self, painter: QPainter, theme: str, x: float) -> None:
        """Draw the replay's line, visible on every colour."""
        for colour, width in ((paper(theme), 5.0), (ink(theme), 2.0)):
            painter.setPen(QPen(colour, width))
            painter.drawLine(QPointF(x, 0), QPointF(x, self.places.height))
        painter.setPen(QPen(paper(theme), 1.0))
        painter.setBrush(tint("mark", theme))
        painter.drawPolygon([QPointF(x - 6, 0), QPointF(x + 6, 0), QPointF(x, 9)])
        painter.setBrush(Qt.BrushStyle.NoBrush)

    # pointer

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Qt: zoom around the pointer; over names scroll; Ctrl: lane height; Shift or sideways: pan."""
        turn, sideways = event.angleDelta().y() / 120, event.angleDelta().x() / 120
        at = event.position()
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if control and turn:
            self.zoom_lanes(_ZOOM**-turn, at.y())
        elif sideways or (shift and turn):
            self.window_.move(-0.1 * (sideways or turn))
        elif at.x() < self.places.left:
            self.scroll_to(self.places.scroll - round(48 * turn))
        elif turn:
            self.window_.zoom(_ZOOM**turn, self.places.seconds(at.x()))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Qt: start a drag or a click."""
        panel = self.parentWidget()
        if panel is not None:
            panel.setFocus(Qt.FocusReason.MouseFocusReason)
        if event.button() not in (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton):
            return
        QToolTip.hideText()
        self._pressed, self._from = True, event.position()
        self._began, self._began_scroll = self.window_.shown, self.places.scroll
        self._line = self._line_at(event.position())
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._drag = Drag.LINE if self._line else Drag.NOTHING
        if shift and event.position().x() >= self.places.left:
            self._drag = Drag.SELECT
        elif self._line == REPLAY:
            self._drag_line(self.places.x(self._replay_at() or 0.0))  # stays under the pointer while playing

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: pan, select, move a cursor or the replay; without a button, show what is under the pointer."""
        self._pointer = event.position()
        if not self._pressed:
            self._hover()
            return
        away = event.position() - self._from
        if self._drag is Drag.NOTHING and max(abs(away.x()), abs(away.y())) >= _DRAG_FROM:
            self._drag = Drag.PAN
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        if self._drag is Drag.PAN:
            begin, end = self._began
            shift = away.x() * (end - begin) / self.places.width
            self.scroll_to(self._began_scroll - round(away.y()))
            self.window_.show(begin - shift, end - shift, step=False)
        elif self._drag is Drag.SELECT:
            self._select(event.position(), last=False)
        elif self._drag is Drag.LINE:
            self._drag_line(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: end a drag; without movement it was a click."""
        if not self._pressed:
            return
        drag, self._drag, self._pressed = self._drag, Drag.NOTHING, False
        self.unsetCursor()
        if drag is Drag.SELECT:
            self._select(event.position(), last=True)
        elif drag is Drag.LINE and self._line == REPLAY:
            self.replay_dropped.emit()
        elif drag is Drag.NOTHING and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(hit(self.places, event.position().x(), event.position().y()))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Qt: zoom in threefold around the pointer."""
        if event.position().x() >= self.places.left:
            self.window_.zoom(1 / 3, self.places.seconds(event.position().x()))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Qt: offer the actions at this moment."""
        self.menu_wanted.emit(event.globalPos(), self._clipped(event.pos().x()))

    def leaveEvent(self, _event: object) -> None:
        """Qt: clear the pointer's position."""
        self._pointer = self._hit = None
        self._dwell.stop()

    def _select(self, at: QPointF, *, last: bool) -> None:
        one, two = sorted((self._clipped(self._from.x()), self._clipped(at.x())))
        if abs(at.x() - self._from.x()) >= _DRAG_FROM:
            self.interval_dragged.emit(one, two, last)

    def _clipped(self, x: float) -> float:
        inside = min(max(x, self.places.left), self.places.left + self.places.width)
        return min(max(self.places.seconds(inside), 0.0), self.window_.length)

    def _drag_line(self, x: float) -> None:
        """Move the grabbed line to the pixel *x*."""
        moment = self._clipped(x)
        if self._line == REPLAY:
            self.replay_dragged.emit(moment)
        else:
            self.marks.place(moment, self._line)

    def _replay_at(self) -> float | None:
        return next((moment.seconds for moment in self.marks.moments() if moment.kind == REPLAY), None)

    def _line_at(self, at: QPointF) -> str:
        """Return the name of the line within reach: a cursor, `REPLAY`, or "" for none."""
        lines = self.marks.cursors
        replay = self._replay_at()
        if replay is not None:
            lines[REPLAY] = replay
        begin, end = self.window_.shown
        near = [
            (abs(self.places.x(x) - at.x()), name != REPLAY, name) for name, x in lines.items() if begin <= x <= end
        ]
        away, _below, name = min(near, default=(_GRAB + 1.0, True, ""))  # the replay is drawn on top
        return name if away <= _GRAB else ""

    def _hover(self) -> None:
        assert self._pointer is not None
        at = self._pointer
        if self._line_at(at):
            self.setCursor(Qt.CursorShape.SizeHorCursor)
        else:
            self.unsetCursor()
        self._hit = hit(self.places, at.x(), at.y())
        if self._hit is None:
            self._dwell.stop()
            QToolTip.hideText()
            return
        self._tell(self._hit.tip)
        if self._hit.what == "lane":
            self._dwell.start()
        else:
            self._dwell.stop()

    def _tell(self, text: str) -> None:
        if self._pointer is not None:
            first, _, rest = text.partition("\n")
            tips.show(self.mapToGlobal(self._pointer.toPoint()), rich(first, rest), self)

    def _dwelling(self) -> None:
        if self._hit is not None:
            self.dwelt.emit(self._hit)

    # Qt

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: from now on reserve room for names, in all views of this time."""
        super().showEvent(event)
        self.arrange()

    def hideEvent(self, event: QHideEvent) -> None:
        """Qt: release the room for its names."""
        super().hideEvent(event)
        self.window_.ask_gutter(id(self), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: lay out again."""
        super().resizeEvent(event)
        self.arrange()

    def minimumSizeHint(self) -> QSize:
        """Qt: small enough for four views."""
        return QSize(160, 70)


def flags(moments: Sequence[Moment], places: Layout, width: int) -> list[tuple[Moment, float]]:
    """Return *moments* in drawing order, each with the pixels available for its name.

    A bookmark's name ends where the next one begins; the replay is drawn last.
    """
    order = sorted(moments, key=lambda moment: (moment.kind == REPLAY, moment.seconds))
    made: list[tuple[Moment, float]] = []
    end = float(width)
    for moment in reversed(order):
        x = places.x(moment.seconds)
        made.append((moment, max(_LEAST_FLAG, end - x)))
        end = x if moment.name else end
    return made[::-1]
