"""Small pictures on the start page's cards, painted in the theme's colours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from scalegraph.gui.base.theme import Theme

_N: Final = 7  # rows of the small matrices


class Picture(QWidget):
    """The picture of a program; an unknown one gets a speedup curve."""

    def __init__(self, name: str, theme: Theme) -> None:
        super().__init__()
        self._draw = _PICTURES.get(name, _curve)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self._redraw)

    def sizeHint(self) -> QSize:
        """Qt: wide and low."""
        return QSize(220, 92)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Qt: draw."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._theme.paper.base))
        painter.drawRoundedRect(area, 5, 5)
        self._draw(painter, area.adjusted(14, 10, -14, -10), self._theme)

    def _redraw(self, _name: str) -> None:
        self.update()


def _billiard(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Balls on a line over time: paths that bounce."""
    paths = ((0.05, 0.36), (0.24, 0.10), (0.44, 0.62), (0.66, 0.52), (0.90, 0.78))
    roles = ("series:0", "series:1", "series:2", "series:4", "series:5")
    for (start, end), role in zip(paths, roles, strict=True):
        points = [
            QPointF(area.left() + area.width() * start, area.bottom()),
            QPointF(area.left() + area.width() * (start + end) / 2 + (12 if end > start else -12), area.center().y()),
            QPointF(area.left() + area.width() * end, area.top() + 6),
        ]
        painter.setPen(QPen(theme.colour("muted"), 1, Qt.PenStyle.DotLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(role))
        painter.drawEllipse(points[-1], 6.0, 6.0)


def _matrix(painter: QPainter, area: QRectF, role: Callable[[int, int], str | None], theme: Theme) -> None:
    side = area.height() / _N
    left = area.center().x() - side * _N / 2
    painter.setPen(QPen(QColor(theme.paper.base), 1.5))
    for row in range(_N):
        for column in range(_N):
            name = role(row, column)
            colour = theme.colour(name) if name else QColor(theme.paper.hover)
            painter.setBrush(colour)
            painter.drawRect(QRectF(left + column * side, area.top() + row * side, side, side))


def _moving_rows(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Elimination at step 3: the remaining rows are redistributed at every step."""
    owners = ("series:5", "series:1", "series:2", "series:0")

    def role(row: int, column: int) -> str | None:
        if column < 2 or row < 2:
            return None if column < row else "muted"
        return "series:4" if row == 2 else owners[(row - 3) % 4]

    _matrix(painter, area, role, theme)


def _fixed_rows(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Elimination with rows assigned to processors permanently."""
    owners = ("series:0", "series:2")
    _matrix(painter, area, lambda row, column: owners[row % 2] if column >= min(row, 3) else None, theme)


def _sparse_factor(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Columns of a sparse factor: two independent parts and their separator."""

    def role(row: int, column: int) -> str | None:
        if column > row or (column < 3 <= row < 5 + (column == 2)):
            return None
        return "series:4" if row >= 5 else "series:0" if row < 3 else "series:2"

    _matrix(painter, area, role, theme)


def _colours(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Points of two colours on a grid."""
    _matrix(painter, area, lambda row, column: "series:0" if (row + column) % 2 else "series:2", theme)


def _first_rows(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Draw a system of which only the first rows are filled."""
    _matrix(painter, area, lambda row, column: "series:1" if row < 2 else "muted" if row == column else None, theme)


def _full(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Draw a matrix product with one element, computed from a row and a column."""
    _matrix(painter, area, lambda row, column: "series:4" if row == 2 or column == 4 else "series:0", theme)


def _triangle(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Draw iterations that get shorter."""
    _matrix(painter, area, lambda row, column: "series:5" if column >= row else None, theme)


def _sorted_bars(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Segments of an array: partitioned, but not sorted inside."""
    heights = (0.22, 0.08, 0.30, 0.15, 0.45, 0.38, 0.60, 0.52, 0.98, 0.72, 0.90, 0.80)
    width = area.width() / len(heights)
    for index, height in enumerate(heights):
        painter.setBrush(theme.colour(("series:0", "series:2", "series:1")[index // 4]))
        top = area.bottom() - area.height() * height
        painter.drawRect(QRectF(area.left() + index * width + 1, top, width - 2, area.bottom() - top))


def _graph(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Nodes and edges, with one path highlighted."""
    nodes = [(0.05, 0.5), (0.25, 0.1), (0.3, 0.85), (0.55, 0.45), (0.75, 0.05), (0.78, 0.9), (0.95, 0.5)]
    points = [QPointF(area.left() + area.width() * x, area.top() + area.height() * y) for x, y in nodes]
    path = {(0, 2), (2, 3), (3, 6)}
    for edge in ((0, 1), (1, 3), (1, 4), (3, 5), (4, 6), (5, 6), (2, 5), *sorted(path)):
        painter.setPen(QPen(theme.colour("series:1" if edge in path else "muted"), 2 if edge in path else 1))
        painter.drawLine(points[edge[0]], points[edge[1]])
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.colour("series:0"))
    for point in points:
        painter.drawEllipse(point, 4.5, 4.5)


def _particles(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Molecules in cells."""
    painter.setPen(QPen(theme.colour("ideal"), 1))
    for line in range(1, 6):
        x = area.left() + area.width() * line / 6
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
    painter.drawLine(QPointF(area.left(), area.center().y()), QPointF(area.right(), area.center().y()))
    painter.setPen(Qt.PenStyle.NoPen)
    for index in range(26):
        painter.setBrush(theme.colour(("series:0", "series:2", "series:5")[index % 3]))
        x, y = index * 0.618034 % 1, index * 0.754878 % 1
        painter.drawEllipse(QPointF(area.left() + area.width() * x, area.top() + area.height() * y), 3.0, 3.0)


def _curve(painter: QPainter, area: QRectF, theme: Theme) -> None:
    """Draw a speedup curve that departs from the ideal line."""
    painter.setPen(QPen(theme.colour("ideal"), 1))
    painter.drawLine(area.bottomLeft(), area.topRight())
    points = [
        QPointF(area.left() + area.width() * t, area.bottom() - area.height() * t * (1.25 - 0.65 * t))
        for t in (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
    ]
    painter.setPen(QPen(theme.colour("speedup"), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(QPolygonF(points))


_PICTURES: Final[dict[str, Callable[[QPainter, QRectF, Theme], None]]] = {
    "adjoint": _triangle,
    "apsp1": _graph,
    "apsp2": _graph,
    "billiard": _billiard,
    "billiard-linked": _billiard,
    "cholesky": _sparse_factor,
    "closure": _graph,
    "ge1": _moving_rows,
    "ge1-owner": _moving_rows,
    "ge2": _fixed_rows,
    "ge2-owner": _fixed_rows,
    "jacobi": _first_rows,
    "matmul": _full,
    "qs1": _sorted_bars,
    "qs2": _sorted_bars,
    "rarefied": _particles,
    "sor": _colours,
    "water": _particles,
}
