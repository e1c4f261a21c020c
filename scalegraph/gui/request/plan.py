"""The live plan: runs as dots over N and size, their number and estimated time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from scalegraph.base.run import RunPoint
from scalegraph.base.units import plain, si
from scalegraph.gui.base import tips
from scalegraph.gui.base.theme import Theme

_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 16.0, 14.0, 40.0
_DOT: Final = 4.5
_RING: Final = 7.5  # radius of a predicted point's ring; a run's dot fits inside
_TICK_APART, _LINE_APART = 24.0, 16.0  # pixels between labels
_REACH: Final = 16.0  # pixels: length of a search's line, up and down
_WRITTEN_OUT: Final = 1e5  # smaller sizes are written with all their digits


@dataclass(frozen=True)
class Dots:
    """The points of a plan: *x* is N, *y* the value of the parameter *size_name* (1 without one).

    Points from *fixed* on are starts of searches and will move. Points from *searched* on are predicted, not run.
    """

    x: tuple[int, ...] = ()
    y: tuple[float, ...] = ()
    size_name: str = ""
    labels: tuple[str, ...] = ()
    fixed: int = 0
    searched: int = 0


def dots(points: Sequence[RunPoint], searches: Sequence[Any] = (), predicted: Sequence[RunPoint] = ()) -> Dots:
    """Return *points*, starts of *searches* and *predicted* points as dots over N and the most varied size."""
    places = [(point.processors, dict(point.parameters), point.label()) for point in points]
    places += [
        (search.processors, dict(search.start), f"N = {search.processors}: size to search for, {search.bound.said()}")
        for search in searches
    ]
    run = {point.key for point in points}
    for point in predicted:
        how = "predicted, and run to compare" if point.key in run else "predicted, not run"
        places.append((point.processors, dict(point.parameters), f"{point.label()}: {how}"))
    ends = (len(points), len(points) + len(searches))
    values: dict[str, list[float]] = {}
    for _count, parameters, _label in places:
        for name, value in parameters.items():
            if isinstance(value, int | float):
                values.setdefault(name, []).append(float(value))
    complete = {name: found for name, found in values.items() if len(found) == len(places)}
    size = max(complete, key=lambda name: len(set(complete[name])), default="")
    seen: dict[tuple[int, float, int], str] = {}
    for index, (count, _parameters, label) in enumerate(places):
        kind = sum(index >= end for end in ends)
        seen.setdefault((count, complete[size][index] if size else 1.0, kind), label)
    return Dots(
        tuple(place[0] for place in seen),
        tuple(place[1] for place in seen),
        size,
        tuple(seen.values()),
        sum(1 for place in seen if place[2] == 0),
        sum(1 for place in seen if place[2] <= 1),
    )


class PlanView(QWidget):
    """Draws `Dots` on logarithmic axes, with the actual values of N as ticks."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._dots = Dots()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(170)
        self.setAccessibleName("Planned runs over processors and problem size")
        self.setToolTip("")
        theme.changed.connect(self._redraw)

    def sizeHint(self) -> QSize:
        """Qt: return a size that fits a plan of usual length."""
        return QSize(320, 230)

    def show_plan(
        self, points: Sequence[RunPoint], searches: Sequence[Any] = (), predicted: Sequence[RunPoint] = ()
    ) -> None:
        """Draw *points*, starts of *searches* (`request.plan.PlannedSearch`) and *predicted* points."""
        self._dots = dots(points, searches, predicted)
        said = ", ".join(map(str, sorted(set(self._dots.x))))
        self.setAccessibleDescription(f"Processors {said}" if said else "No runs")
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paper = self._theme.paper
        painter.fillRect(self.rect(), QColor(paper.base))
        painter.setPen(QPen(QColor(paper.line), 1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        if not self._dots.x:
            painter.setPen(QColor(paper.muted))
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, "The planned runs appear here")
            return
        self._axes(painter)
        colour = self._theme.colour("time")
        painter.setPen(QPen(colour, 1.6))
        painter.setBrush(QColor(paper.base))  # hollow: still to be simulated
        places = self._places()
        for place in places[: self._dots.fixed]:
            painter.drawEllipse(place, _DOT, _DOT)
        painter.setPen(QPen(colour, 1.4, Qt.PenStyle.DashLine))
        for place in places[self._dots.searched :]:
            painter.drawEllipse(place, _RING, _RING)
        painter.setPen(QPen(self._theme.colour("mark"), 1.4, Qt.PenStyle.DotLine))
        for place in places[self._dots.fixed : self._dots.searched]:
            reach = QPointF(0, _REACH)
            painter.drawLine(place - reach, place + reach)
            painter.drawPolygon(
                [
                    place + QPointF(0, -_DOT),
                    place + QPointF(_DOT, 0),
                    place + QPointF(0, _DOT),
                    place - QPointF(_DOT, 0),
                ]
            )

    def event(self, event: QEvent) -> bool:
        """Qt: show which run is under the pointer."""
        if isinstance(event, QHelpEvent):
            for place, text in reversed(list(zip(self._places(), self._dots.labels, strict=True))):
                if (place - QPointF(event.pos())).manhattanLength() < 3 * _DOT:
                    tips.show(event.globalPos(), text, self)
                    return True
            QToolTip.hideText()
            return True
        return super().event(event)

    def _redraw(self, _name: str) -> None:
        self.update()

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _TOP, -_RIGHT, -_BOTTOM)

    def _inner(self) -> QRectF:
        """Return the area of the dots; searches need room above and below."""
        return self._area().adjusted(_DOT, _REACH, -_DOT, -_REACH)

    def _places(self) -> list[QPointF]:
        area = self._inner()
        return [
            QPointF(
                area.left() + area.width() * _share(x, self._dots.x),
                area.bottom() - area.height() * _share(y, self._dots.y),
            )
            for x, y in zip(self._dots.x, self._dots.y, strict=True)
        ]

    def _axes(self, painter: QPainter) -> None:
        area, inner, paper = self._area(), self._inner(), self._theme.paper
        font = painter.font()
        font.setPointSizeF(8.5)
        painter.setFont(font)
        counts = sorted(set(self._dots.x))
        places = [inner.left() + inner.width() * _share(n, self._dots.x) for n in counts]
        shown = _apart(places, _TICK_APART)
        for n, x, labelled in zip(counts, places, shown, strict=True):
            painter.setPen(QPen(QColor(paper.line), 1))
            painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom() + 3))
            painter.setPen(QColor(paper.muted))
            if labelled:
                painter.drawText(QRectF(x - 30, area.bottom() + 4, 60, 14), Qt.AlignmentFlag.AlignHCenter, str(n))
        if self._dots.size_name:
            sizes = sorted(set(self._dots.y))
            heights = [inner.bottom() - inner.height() * _share(value, self._dots.y) for value in sizes]
            for value, y, labelled in zip(sizes, heights, _apart(heights, _LINE_APART), strict=True):
                if not labelled:
                    continue
                right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                painter.setPen(QPen(QColor(paper.line), 1))
                painter.drawLine(QPointF(area.left() - 3, y), QPointF(area.right(), y))
                painter.setPen(QColor(paper.muted))
                painter.drawText(QRectF(20, y - 8, _LEFT - 28, 16), right, _size(value))
        painter.setPen(QColor(paper.muted))
        under = QRectF(area.left(), self.height() - 19, area.width(), 16)
        painter.drawText(under, Qt.AlignmentFlag.AlignHCenter, "processors N")
        painter.save()
        painter.translate(12, area.center().y())
        painter.rotate(-90)
        painter.drawText(QRectF(-80, -8, 160, 16), Qt.AlignmentFlag.AlignCenter, self._dots.size_name)
        painter.restore()


def _size(value: float) -> str:
    return plain(value) if abs(value) < _WRITTEN_OUT else si(value)


def _share(value: float, among: Sequence[float]) -> float:
    """Return the logarithmic position of *value* between the least (0) and the largest (1) of *among*."""
    low, high = min(among), max(among)
    if high == low:
        return 0.5
    if low <= 0:
        return (value - low) / (high - low)
    return math.log(value / low) / math.log(high / low)


def _apart(places: Sequence[float], least: float) -> list[bool]:
    """Return which of the sorted *places* get a label so that labels are *least* pixels apart; both ends always do."""
    if not places:
        return []
    shown, last = [False] * len(places), places[-1]
    before: float | None = None
    for index, place in enumerate(places[:-1]):
        if (before is None or abs(place - before) >= least) and (index == 0 or abs(last - place) >= least):
            shown[index], before = True, place
    shown[-1] = len(places) == 1 or abs(last - places[0]) >= least or not any(shown)
    return shown
