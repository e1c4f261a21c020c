"""Draws a timeline: a picture moves with the visible time at once, before a sharper one is ready."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPen, QPolygonF

from scalegraph.base.units import si
from scalegraph.figures import timelines
from scalegraph.figures.figure import Area, AreaTrack, Arrows, LaneTrack, Overlay, PathLine, Ticks, Timeline
from scalegraph.figures.palette import Theme, colour
from scalegraph.gui.base.tints import ink, paper, tint
from scalegraph.gui.figures.timeline.layout import AXIS, TITLE, Band, Layout, group_runs, short_name, tails, title_of

if TYPE_CHECKING:
    from scalegraph.gui.base.silence import Silence

MOST_ARROWS: Final = 1500  # most arrows drawn; a note in the figure gives the total
_HEADS: Final = 250  # with fewer arrows, they have heads
_HALOS: Final = 80  # with fewer arrows, they have an outline against the background
_SMOOTH: Final = 300  # with fewer lines, they are antialiased
_NAME_HEIGHT: Final = 1.05  # of the font's height, needed for a lane's name
_STEADY: Final = 1e-3  # of a bin: tolerance for edges off the regular grid
_GROUP_FROM: Final = 6.0  # of the font's height, needed for a group's name beside its lanes
_PATH_WIDTH: Final = 3.0
_HALO_FROM: Final = 3.0  # pixels below which a piece of a path has no outline
_FAINT: Final = 0.3
_ROOM: Final = (1.5, 4.0)  # average pixels per connector that separate the three opacities
_DARKNESS: Final = (_FAINT, 0.5, 0.8)


@dataclass(frozen=True)
class Strip:
    """An image with columns of equal width, from *begin* to *end* (s)."""

    image: QImage
    begin: float
    end: float


@dataclass(frozen=True)
class Picture:
    """A timeline ready to draw, with an image for each track drawn as one. Made in any thread."""

    timeline: Timeline
    theme: str
    images: dict[int, Strip]  # by track index
    arrows: dict[int, tuple[Any, Any]]  # by id: which are drawn, and their colours as numbers
    silence: Silence | None = None  # if nothing happens in the whole range


def prepare(timeline: Timeline, theme: str) -> Picture:
    """Return *timeline* with the colours of its bins computed."""
    images: dict[int, Strip] = {}
    arrows: dict[int, tuple[Any, Any]] = {}
    for number, track in enumerate(timeline.tracks):
        if isinstance(track, LaneTrack) and track.height and len(track.edges) > 1:
            rgb = timelines.mixed(track, cast("Theme", theme))
            columns, begin, end = _even(rgb, np.asarray(track.edges, np.float64))
            images[number] = Strip(_image(columns), begin, end)
        for overlay in track.overlays if isinstance(track, LaneTrack) else ():
            if isinstance(overlay, Arrows) and len(overlay.x0):
                keep = np.flatnonzero(timelines.drawn(overlay, MOST_ARROWS))
                colours = timelines.arrow_colours(overlay, cast("Theme", theme))[keep]
                arrows[id(overlay)] = keep, colours.astype(np.int64) @ np.array([65536, 256, 1])
    return Picture(timeline, theme, images, arrows)


def _image(rgb: Any) -> QImage:
    lanes, bins = rgb.shape[:2]
    pixels = np.empty((lanes, bins, 4), np.uint8)
    pixels[..., 0], pixels[..., 1], pixels[..., 2], pixels[..., 3] = rgb[..., 2], rgb[..., 1], rgb[..., 0], 255
    return QImage(pixels.data, bins, lanes, 4 * bins, QImage.Format.Format_RGB32).copy()


def _even(rgb: Any, edges: Any) -> tuple[Any, float, float]:
    """Return columns of equal width, and the first and last time (s) they cover.

    The first and last bin may be cut off at the requested range; they are treated as wide as the others. If bins differ
    in width, a column takes the bin at its centre.
    """
    widths = np.diff(edges)
    inner = widths[1:-1]
    if len(inner) and np.ptp(inner) <= _STEADY * inner[0] and max(widths[0], widths[-1]) <= 1.01 * inner[0]:
        return rgb, float(edges[1] - inner[0]), float(edges[-2] + inner[0])
    if np.ptp(widths) <= _STEADY * widths[0] or not edges[-1] > edges[0]:
        return rgb, float(edges[0]), float(edges[-1])
    columns = min(8000, 2 * len(widths))
    middles = edges[0] + (np.arange(columns) + 0.5) / columns * (edges[-1] - edges[0])
    chosen = np.clip(np.searchsorted(edges, middles, side="right") - 1, 0, len(widths) - 1)
    return rgb[:, chosen], float(edges[0]), float(edges[-1])


class Painter:
    """Draws a picture by a layout. *lane* is the selected location, which is highlighted."""

    def __init__(self, painter: QPainter, picture: Picture, layout: Layout, locations: frozenset[int]) -> None:
        self._p, self._picture, self._layout, self._chosen = painter, picture, layout, locations
        self._theme = picture.theme
        self._metrics = QFontMetricsF(painter.font())

    def tracks(self) -> None:
        """Draw every visible track."""
        layout = self._layout
        for number, band in enumerate(layout.bands):
            top = band.top - layout.scroll
            if top + band.height < 0 or top - TITLE > layout.height:
                continue
            if title_of(band.track):
                self._title(title_of(band.track), top)
            if isinstance(band.track, LaneTrack):
                self._lanes(number, band, band.track)
            else:
                self._areas(band, band.track)

    def _faint(self, share: float) -> QColor:
        """Return the grid's colour blended with the background: drawing translucent lines is slower."""
        one, other = tint("grid", self._theme), paper(self._theme)
        pairs = ((one.red(), other.red()), (one.green(), other.green()), (one.blue(), other.blue()))
        red, green, blue = (round(a * share + b * (1 - share)) for a, b in pairs)
        return QColor(red, green, blue)

    def _title(self, text: str, top: int) -> None:
        self._p.setPen(ink(self._theme, 0.75))
        room = QRectF(self._layout.left, top - TITLE, self._layout.width, TITLE)
        self._p.drawText(room, int(Qt.AlignmentFlag.AlignVCenter), text)

    # lanes

    def _lanes(self, number: int, band: Band, track: LaneTrack) -> None:
        strip = self._picture.images.get(number)
        layout, painter = self._layout, self._p
        lanes = layout.visible_lanes(band)
        top = band.top - layout.scroll
        painter.save()
        painter.setClipRect(QRectF(layout.left, 0, layout.width, layout.height))
        painter.fillRect(QRectF(layout.left, top, layout.width, band.height), self._faint(0.10))
        if strip is not None and len(lanes):
            image, left, right = strip.image, layout.x(strip.begin), layout.x(strip.end)
            cut = (layout.x(float(track.edges[0])), layout.x(float(track.edges[-1])))
            painter.setClipRect(QRectF(cut[0], 0, cut[1] - cut[0], layout.height), Qt.ClipOperation.IntersectClip)
            painter.drawImage(
                QRectF(left, top + lanes.start * band.lane, right - left, len(lanes) * band.lane),
                image,
                QRectF(0, lanes.start, image.width(), len(lanes)),
            )
            if band.lane >= 5:  # a background-coloured line between lanes
                painter.setPen(QPen(paper(self._theme), 1 if band.lane < 12 else 2))
                ys = [top + lane * band.lane for lane in lanes]
                painter.drawLines([QLineF(layout.left, y, layout.left + layout.width, y) for y in ys])
            painter.setClipRect(QRectF(layout.left, 0, layout.width, layout.height))
        for overlay in track.overlays:
            self._overlay(overlay, band)
        painter.restore()
        self._names(band, track, lanes)

    def _names(self, band: Band, track: LaneTrack, lanes: range) -> None:
        layout, painter = self._layout, self._p
        painter.save()
        painter.setClipRect(QRectF(0, 0, layout.left, layout.height))
        shown = set(
            timelines.lane_labels(track.height, track.height * band.lane, _NAME_HEIGHT * self._metrics.height())
        )
        named = self._groups(band, track)
        free = -self._metrics.height()  # below the last name drawn
        names = track.names
        if any(self._metrics.horizontalAdvance(names[lane]) > layout.left - 10 for lane in lanes):
            names = tails(names)
        for lane in lanes:
            aside = self._metrics.height() if lane in named else 0
            room = layout.left - 8 - aside
            chosen = track.locations[lane] in self._chosen
            if lane not in shown and not chosen:
                continue
            y = layout.lane_y(band, lane)
            height = max(float(band.lane), self._metrics.height())
            rect = QRectF(2 + aside, max(0.0, y - height / 2), room, height)
            if not chosen and y - self._metrics.height() / 2 < free - 1:
                continue
            free = max(self._metrics.height(), y + self._metrics.height() / 2)
            if chosen:
                painter.fillRect(rect, tint("mark", self._theme, 0.22))
            painter.setPen(ink(self._theme, 1.0 if chosen else 0.85))
            name = short_name(track, lane) if lane in named else names[lane]
            text = self._metrics.elidedText(name, Qt.TextElideMode.ElideRight, room - 2)
            painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), text)
        painter.restore()
        for lane in lanes:
            if track.locations[lane] in self._chosen:
                y = band.top - layout.scroll + lane * band.lane
                painter.setPen(QPen(tint("mark", self._theme), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(layout.left, y, layout.width - 1, band.lane))

    def _groups(self, band: Band, track: LaneTrack) -> set[int]:
        """Draw group names vertically beside their lanes if they fit; return the lanes of groups so named."""
        named: set[int] = set()
        top = band.top - self._layout.scroll
        wide = self._metrics.height()
        for first, after, name in group_runs(track):
            low, high = top + first * band.lane, top + after * band.lane
            if high < 0 or low > self._layout.height:
                continue
            seen = min(high, self._layout.height) - max(low, 0)
            reported = name and (seen - 4 >= self._metrics.horizontalAdvance(name) or high - low >= _GROUP_FROM * wide)
            if first:
                self._p.setPen(QPen(tint("grid", self._theme), 1))
                left = 2 if reported else self._layout.left - 6
                self._p.drawLine(QPointF(left, low), QPointF(self._layout.left, low))
            if not reported:
                continue
            named |= set(range(first, after))
            self._p.save()
            self._p.setPen(ink(self._theme, 0.6))
            self._p.translate(2, min(high, self._layout.height))
            self._p.rotate(-90)
            text = self._metrics.elidedText(name, Qt.TextElideMode.ElideRight, seen - 4)
            self._p.drawText(QRectF(2, 0, seen - 4, wide), int(Qt.AlignmentFlag.AlignCenter), text)
            self._p.restore()
        return named

    # over the lanes

    def _overlay(self, overlay: Overlay, band: Band) -> None:
        if isinstance(overlay, Arrows):
            self._arrows(overlay, band)
        elif isinstance(overlay, PathLine):
            self._path(overlay, band)
        else:
            self._ticks(overlay, band)

    def _ys(self, lanes: Any, band: Band) -> Any:
        """Return the pixels of *lanes*; a hidden one is at the edge of the track."""
        ys = band.top - self._layout.scroll + (np.asarray(lanes, np.float64) + 0.5) * band.lane
        return np.where(np.asarray(lanes) < 0, band.top - self._layout.scroll + band.height, ys)

    def _xs(self, seconds: Any) -> Any:
        layout = self._layout
        scale = layout.width / (layout.end - layout.begin)
        # clip: farther outside makes no difference, but would overflow the rasteriser
        xs = layout.left + (np.asarray(seconds, np.float64) - layout.begin) * scale
        return np.clip(xs, -20.0 * layout.width, 21.0 * layout.width)

    def _arrows(self, arrows: Arrows, band: Band) -> None:
        keep, packed = self._picture.arrows.get(id(arrows), ((), ()))
        if not len(keep):
            return
        x0, x1 = self._xs(arrows.x0[keep]), self._xs(arrows.x1[keep])
        y0, y1 = self._ys(arrows.lane0[keep], band), self._ys(arrows.lane1[keep], band)
        painter = self._p
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, len(x0) <= _SMOOTH)
        if len(x0) <= _HALOS:  # the background may have the arrow's colour
            painter.setPen(QPen(paper(self._theme, 0.75), 3.6))
            halo = zip(x0.tolist(), y0.tolist(), x1.tolist(), y1.tolist(), strict=True)
            painter.drawLines([QLineF(*line) for line in halo])
        for one in np.unique(packed):
            chosen = np.flatnonzero(packed == one)
            pen = QPen(QColor.fromRgb(int(one)), 1.4 if len(x0) <= _SMOOTH else 1.0)
            if arrows.kind == "lock":
                pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            lines = zip(x0[chosen].tolist(), y0[chosen].tolist(), x1[chosen].tolist(), y1[chosen].tolist(), strict=True)
            painter.drawLines([QLineF(*line) for line in lines])
            if len(x0) <= _HEADS:
                painter.setBrush(QColor.fromRgb(int(one)))
                for at in chosen:
                    self._head(float(x0[at]), float(y0[at]), float(x1[at]), float(y1[at]))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _head(self, x0: float, y0: float, x1: float, y1: float) -> None:
        length = max(1e-6, ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5)
        if length < 12:
            return
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        tip, back = QPointF(x1, y1), QPointF(x1 - 7 * ux, y1 - 7 * uy)
        side = QPointF(-2.6 * uy, 2.6 * ux)
        self._p.drawPolygon(QPolygonF([tip, back + side, back - side]))

    def _path(self, path: PathLine, band: Band) -> None:
        painter = self._p
        x0, x1, ys = self._xs(path.x0), self._xs(path.x1), self._ys(path.lane, band)
        width = min(_PATH_WIDTH, max(1.5, band.lane / 4))
        roles = path.roles or (path.role,) * len(x0)
        halo = QPen(paper(self._theme, 0.75), width + 2)
        halo.setCapStyle(Qt.PenCapStyle.FlatCap)
        left, right = self._layout.left, self._layout.left + self._layout.width
        seen = np.flatnonzero((x1 >= left - 1) & (x0 <= right + 1) & (np.asarray(path.lane) >= 0))
        lines = [QLineF(x0[i], ys[i], max(x1[i], x0[i] + 1), ys[i]) for i in seen]
        painter.setPen(halo)
        painter.drawLines([line for line in lines if line.length() >= _HALO_FROM])
        if path.connectors and len(x0) > 1:
            joined = seen[(seen + 1 < len(x0))]
            for faint, some in _by_room(x1[joined]):
                painter.setPen(QPen(ink(self._theme, faint), 1.2 if faint > _FAINT else 1.0))
                chosen = joined[some]
                painter.drawLines([QLineF(x1[i], ys[i], x0[i + 1], ys[i + 1]) for i in chosen])
        for role in sorted(set(roles)):
            pen = QPen(QColor(colour(role, cast("Theme", self._theme))), width)
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            painter.drawLines([line for line, i in zip(lines, seen, strict=True) if roles[i] == role])

    def _ticks(self, ticks: Ticks, band: Band) -> None:
        painter, layout = self._p, self._layout
        xs = self._xs(ticks.x)
        top = band.top - layout.scroll
        painter.setPen(QPen(tint(ticks.role, self._theme), 1 if ticks.kind != "bookmark" else 2))
        lanes = np.asarray(ticks.lane)
        tops = np.where(lanes < 0, top, top + lanes * band.lane)
        ends = np.where(lanes < 0, top + band.height, top + (lanes + 1) * band.lane)
        lines = zip(xs.tolist(), tops.tolist(), ends.tolist(), strict=True)
        painter.drawLines([QLineF(x, a, x, b) for x, a, b in lines])

    # values over time

    def _areas(self, band: Band, track: AreaTrack) -> None:
        layout, painter = self._layout, self._p
        top = float(band.top - layout.scroll)
        low, high = area_limits(track)
        painter.save()
        painter.setClipRect(QRectF(layout.left, max(0.0, top), layout.width, band.height))
        painter.fillRect(QRectF(layout.left, top, layout.width, band.height), self._faint(0.07))
        if len(track.edges) > 1 and high > low:
            if track.kind == "stack":
                self._stack(track, top, band.height, low, high)
            else:
                for area in track.series:
                    self._curve(track, area, top, band.height, low, high)
        painter.setPen(QPen(ink(self._theme, 0.45), 1, Qt.PenStyle.DashLine))
        for mark in track.marks:
            if mark.y is not None and high > low:
                y = top + band.height * (1 - (mark.y - low) / (high - low))
                painter.drawLine(QPointF(layout.left, y), QPointF(layout.left + layout.width, y))
        painter.restore()
        self._scale(track, top, band.height, low, high)

    def _stack(self, track: AreaTrack, top: float, height: int, low: float, high: float) -> None:
        """Draw stacked areas as an image: each column shows exactly its bin's values."""
        values = np.nan_to_num(np.array([area.values for area in track.series], np.float64))
        rows = np.rint(np.cumsum(values, axis=0) / (high - low) * height).astype(np.int32)
        pixels = np.zeros((height, rows.shape[1]), np.uint32)
        above = np.arange(height, 0, -1, dtype=np.int32)[:, None]  # height of each row's upper edge above the base
        for number in range(len(track.series) - 1, -1, -1):
            area = track.series[number]
            reported = QColor(area.colour) if area.colour else tint(area.role, self._theme)
            pixels = np.where(above <= rows[number], np.uint32(reported.rgb()), pixels)
        even, begin, end = _even(pixels, np.asarray(track.edges, np.float64))
        even = np.ascontiguousarray(even)
        form = QImage.Format.Format_ARGB32
        image = QImage(even.data, even.shape[1], height, 4 * even.shape[1], form)
        left, right = self._layout.x(begin), self._layout.x(end)
        self._p.drawImage(QRectF(left, top, right - left, height), image)

    def _curve(self, track: AreaTrack, area: Area, top: float, height: int, low: float, high: float) -> None:
        xs = self._xs(track.edges)

        def ys(values: Any) -> Any:
            return top + height * (1 - (np.asarray(values, np.float64) - low) / (high - low))

        reported = QColor(area.colour) if area.colour else tint(area.role, self._theme)
        known = np.isfinite(np.asarray(area.values, np.float64))
        if area.low is not None and area.high is not None:
            faint = QColor(reported)
            faint.setAlphaF(0.3)
            bottom, upper = ys(area.low), ys(area.high)
            for first, last in _runs(known):
                steps = _steps(xs, upper, first, last) + _steps(xs, bottom, first, last)[::-1]
                self._p.setPen(Qt.PenStyle.NoPen)
                self._p.setBrush(faint)
                self._p.drawPolygon(QPolygonF(steps))
        self._p.setPen(QPen(reported, 1.4))
        for first, last in _runs(known):
            self._p.drawPolyline(QPolygonF(_steps(xs, ys(area.values), first, last)))

    def _scale(self, track: AreaTrack, top: float, height: int, low: float, high: float) -> None:
        painter, layout = self._p, self._layout
        painter.save()
        painter.setClipRect(QRectF(0, 0, layout.left, layout.height))
        painter.setPen(ink(self._theme, 0.85))
        line = self._metrics.height()
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        ends = ((high, top), (low, top + height - line))
        for value, y in ends if height >= 2 * line else ends[:1]:
            painter.drawText(QRectF(2, y, layout.left - 8, line), right, value_text(value, track.y.unit))
        if height > 3 * line and track.y.label:
            text = self._metrics.elidedText(track.y.label, Qt.TextElideMode.ElideRight, layout.left - 10)
            painter.setPen(ink(self._theme, 0.6))
            painter.drawText(QRectF(2, top + height / 2 - line / 2, layout.left - 8, line), right, text)
        painter.restore()

    # the time axis

    def axis(self, whole: int) -> None:
        """Draw the time axis below the tracks, in a picture *whole* pixels high."""
        layout, painter = self._layout, self._p
        y = float(layout.height)
        painter.fillRect(QRectF(0, y, layout.left + layout.width, 60), paper(self._theme))
        painter.setPen(QPen(tint("grid", self._theme), 1))
        painter.drawLine(QPointF(layout.left, y), QPointF(layout.left + layout.width, y))
        most = max(2, int(layout.width / (11 * self._metrics.averageCharWidth())))
        ticks = timelines.time_ticks(layout.begin, layout.end, most)
        for place, text in zip(ticks.places, ticks.texts, strict=True):
            x = layout.x(place)
            painter.setPen(QPen(tint("grid", self._theme), 1))
            painter.drawLine(QPointF(x, y), QPointF(x, y + 4))
            painter.setPen(ink(self._theme, 0.85))
            width = self._metrics.horizontalAdvance(text) + 4
            at = min(max(x - width / 2, layout.left - 2.0), layout.left + layout.width - width)
            painter.drawText(QRectF(at, y + 4, width, self._metrics.height()), int(Qt.AlignmentFlag.AlignCenter), text)
        painter.setPen(ink(self._theme, 0.7))
        if whole - y >= AXIS:
            room = QRectF(layout.left, y + 6 + self._metrics.height(), layout.width, self._metrics.height())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignCenter), ticks.title)
        else:
            room = QRectF(2, y + 4, layout.left - 14, self._metrics.height())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignRight), ticks.unit)


def _by_room(xs: Any) -> list[tuple[float, Any]]:
    """Return (opacity, indices) for connectors at *xs*: the denser they are, the more transparent.

    Density is the average distance to the five nearest on either side, in pixels.
    """
    if not len(xs):
        return []
    order = np.argsort(xs, kind="stable")
    padded = np.r_[np.full(5, -np.inf), xs[order], np.full(5, np.inf)]
    near = (padded[10:] - padded[:-10]) / 10
    room = np.empty(len(xs))
    room[order] = near
    which = np.digitize(room, _ROOM)
    return [(dark, np.flatnonzero(which == number)) for number, dark in enumerate(_DARKNESS)]


def value_text(value: float, unit: str) -> str:
    """Return a value at the end of an axis, without a second prefix if *unit* has one (``M/s``)."""
    return f"{value:.3g} {unit}" if 0 < abs(value) < 1 and unit not in ("", "s", "B") else si(value, unit)


def area_limits(track: AreaTrack) -> tuple[float, float]:
    """Return the value range of a track of values."""
    if track.y.limits is not None:
        return track.y.limits
    if not track.series:
        return 0.0, 1.0
    if track.kind == "stack":
        whole = np.nansum(np.array([area.values for area in track.series], np.float64), axis=0)
        return 0.0, float(whole.max(initial=0.0)) or 1.0
    parts = [part for area in track.series for part in (area.values, area.low, area.high) if part is not None]
    values = np.concatenate([np.asarray(part, np.float64) for part in parts])
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = min(0.0, float(values.min())), float(values.max())
    return (low, high) if high > low else (low, low + 1.0)


def _runs(known: Any) -> list[tuple[int, int]]:
    """Return first and last index of every run of known values."""
    edges = np.flatnonzero(np.diff(np.r_[False, known, False].astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def _steps(xs: Any, ys: Any, first: int, last: int) -> list[QPointF]:
    across = np.repeat(xs[first : last + 2], 2)[1:-1]
    up = np.repeat(ys[first : last + 1], 2)
    return [QPointF(x, y) for x, y in zip(across.tolist(), up.tolist(), strict=True)]
