"""A `Radar` on the screen: spokes and one polygon per compared item (a Kiviat diagram)."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip, QWidget

from scalegraph.base.units import si
from scalegraph.figures.figure import Radar
from scalegraph.gui.base import tips
from scalegraph.gui.base.accessible import name_chart
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.tints import ink, paper, tint
from scalegraph.gui.figures.legend_strip import LegendEntry, LegendStrip
from scalegraph.gui.figures.plot.targets import rich

_RINGS: Final = 4
_REACH: Final = 12.0  # pixels from a corner within which the pointer hits it
_MOST_NAMES: Final = 48  # spokes with names; of more, only every second, third .. is named


class RadarPanel(QWidget):
    """Shows one `Radar`; *location_chosen* has the clicked location."""

    location_chosen = Signal(int)
    escaped = Signal()

    def __init__(self, radar: Radar, theme: str = "light", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._radar, self._theme = radar, theme
        self._chosen: frozenset[int] = frozenset()
        self._legend = LegendStrip(self)
        self._wheel = _Wheel(self)
        column = vertical(self, spacing=2)
        column.addWidget(self._legend)
        column.addWidget(self._wheel, 1)
        self.set_radar(radar)

    @property
    def radar(self) -> Radar:
        """The diagram shown."""
        return self._radar

    @property
    def theme(self) -> str:
        """The theme in use."""
        return self._theme

    @property
    def chosen(self) -> frozenset[int]:
        """The highlighted locations."""
        return self._chosen

    def set_radar(self, radar: Radar) -> None:
        """Show *radar*."""
        self._radar = radar
        entries = [LegendEntry(one.name, tint(one.role, self._theme), "line") for one in radar.polygons]
        self._legend.allow(46)
        self._legend.show_entries(entries if len(entries) > 1 else [])
        name_chart(self, f"Radar of {radar.value.title} over {len(radar.spokes)} spokes")
        self._wheel.update()

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        self._theme = theme
        self.set_radar(self._radar)

    def select(self, locations: frozenset[int]) -> None:
        """Highlight *locations*."""
        self._chosen = locations
        self._wheel.update()

    def place_of(self, polygon: int, spoke: int) -> QPointF:
        """Return the position of a corner in this widget."""
        return QPointF(self._wheel.mapToParent(self._wheel.corner(polygon, spoke).toPoint()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Qt: Escape clears the selection."""
        if event.key() == Qt.Key.Key_Escape:
            self.escaped.emit()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        """Qt: return a size at which names are legible."""
        return QSize(360, 320)


class _Wheel(QWidget):
    """The spokes and polygons."""

    def __init__(self, panel: RadarPanel) -> None:
        super().__init__(panel)
        self._panel = panel
        self.setMouseTracking(True)

    def corner(self, polygon: int, spoke: int) -> QPointF:
        """Return the position of a polygon's value on a spoke."""
        radar = self._panel.radar
        low, high = self._limits()
        value = radar.polygons[polygon].values[spoke]
        share = 0.0 if math.isnan(value) else min(max((value - low) / (high - low), 0.0), 1.0)
        return self._at(spoke, share)

    def _limits(self) -> tuple[float, float]:
        radar = self._panel.radar
        values = [value for one in radar.polygons for value in one.values if math.isfinite(value)]
        low, high = radar.value.limits or (0.0, max(values, default=1.0))
        return (low, high) if high > low else (low, low + 1.0)

    def _radius(self) -> float:
        names = max((self.fontMetrics().horizontalAdvance(name) for name in self._panel.radar.spokes), default=0)
        aside = min(names, max(110, round(0.3 * self.width()))) + 14
        return max(20.0, min(self.width() / 2 - aside, self.height() / 2 - self.fontMetrics().height() - 6))

    def _at(self, spoke: int, share: float) -> QPointF:
        angle = 2 * math.pi * spoke / max(1, len(self._panel.radar.spokes)) - math.pi / 2
        radius = self._radius() * share
        return QPointF(self.width() / 2 + radius * math.cos(angle), self.height() / 2 + radius * math.sin(angle))

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw rings, spokes, polygons, names."""
        painter = QPainter(self)
        radar, theme = self._panel.radar, self._panel.theme
        painter.fillRect(self.rect(), paper(theme))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        count = len(radar.spokes)
        if not count:
            return
        low, high = self._limits()
        painter.setPen(QPen(tint("grid", theme, 0.45), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for ring in range(1, _RINGS + 1):
            radius = self._radius() * ring / _RINGS
            painter.drawEllipse(QPointF(self.width() / 2, self.height() / 2), radius, radius)
        for spoke in range(count):
            painter.drawLine(self._at(spoke, 0.0), self._at(spoke, 1.0))
        for number, polygon in enumerate(radar.polygons):
            colour = tint(polygon.role, theme)
            painter.setPen(QPen(colour, 2.6 if polygon.location in self._panel.chosen else 1.6))
            filling = tint(polygon.role, theme, 0.16)
            painter.setBrush(filling if polygon.filled else Qt.BrushStyle.NoBrush)
            painter.drawPolygon(QPolygonF([self.corner(number, spoke) for spoke in range(count)]))
        painter.setPen(ink(theme, 0.6))
        middle = QPointF(self.width() / 2 + 3, self.height() / 2)
        for ring in (_RINGS // 2, _RINGS):
            text = si(low + (high - low) * ring / _RINGS, radar.value.unit)
            painter.drawText(middle - QPointF(0, self._radius() * ring / _RINGS - 12), text)
        self._names(painter, theme)

    def _room(self, x: float, side: float) -> int:
        """Return the pixels for a name at *x*, on the given *side*, up to the panel's edge."""
        free = self.width() - x - 12 if side > 8 else x - 12 if side < -8 else self.width() - 8
        return max(40, min(220, int(free)))

    def _names(self, painter: QPainter, theme: str) -> None:
        radar, metrics = self._panel.radar, self.fontMetrics()
        step = max(1, math.ceil(len(radar.spokes) / _MOST_NAMES))
        for spoke, name in enumerate(radar.spokes):
            chosen = spoke < len(radar.locations) and radar.locations[spoke] in self._panel.chosen
            if spoke % step and not chosen:
                continue
            at = self._at(spoke, 1.0)
            side = at.x() - self.width() / 2
            text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, self._room(at.x(), side))
            width = metrics.horizontalAdvance(text) + 2
            left = at.x() + 6 if side > 8 else at.x() - width - 6 if side < -8 else at.x() - width / 2
            top = at.y() - metrics.height() / 2
            if abs(side) <= 8:
                top += (-0.8 if at.y() < self.height() / 2 else 0.8) * metrics.height()
            painter.setPen(tint("mark", theme) if chosen else ink(theme, 0.85))
            painter.drawText(QRectF(left, top, width, metrics.height()), int(Qt.AlignmentFlag.AlignCenter), text)

    def _nearest(self, at: QPointF) -> tuple[int, int] | None:
        radar = self._panel.radar
        corners = [
            (math.hypot(*((self.corner(number, spoke) - at).toTuple())), number, spoke)
            for number in range(len(radar.polygons))
            for spoke in range(len(radar.spokes))
        ]
        away, number, spoke = min(corners, default=(_REACH + 1, 0, 0))
        return (number, spoke) if away <= _REACH else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Qt: show the exact value under the pointer."""
        found = self._nearest(event.position())
        if found is None:
            QToolTip.hideText()
            return
        polygon, radar = self._panel.radar.polygons[found[0]], self._panel.radar
        value = si(polygon.values[found[1]], radar.value.unit, 4)
        tip = polygon.tips[found[1]] if found[1] < len(polygon.tips) else f"{polygon.name} {value}"
        tips.show(event.globalPosition().toPoint(), rich(radar.spokes[found[1]], tip), self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Qt: a click on a corner selects its location."""
        self._panel.setFocus(Qt.FocusReason.MouseFocusReason)
        found = self._nearest(event.position())
        if found is None:
            return
        radar = self._panel.radar
        location = radar.polygons[found[0]].location
        if location < 0 and found[1] < len(radar.locations):
            location = radar.locations[found[1]]
        if location >= 0:
            self._panel.location_chosen.emit(location)
