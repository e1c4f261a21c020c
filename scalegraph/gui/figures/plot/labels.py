"""Labels at the ends of curves and beside the last stack of bars, kept apart from one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from scalegraph.gui.base.lifetime import tied

_LEADER = 16.0  # pixels from the curve's end to its label
_WIDEST = 190.0


@dataclass(frozen=True)
class EndLabel:
    """A *text* in *colour* for the height *place* (drawn coordinate)."""

    text: str
    colour: QColor
    place: float
    rest: tuple[str, ...] = ()  # the labels it counts


def most_important(labels: Sequence[EndLabel], most: int, colour: QColor) -> list[EndLabel]:
    """Return at most *most* labels: the highest of *labels*, and one in *colour* that counts the rest."""
    order = sorted(labels, key=lambda label: label.place, reverse=True)
    kept, rest = order[: most - 1], order[most - 1 :]
    return (
        [*kept, EndLabel(f"… {len(rest)} more", colour, rest[-1].place, tuple(one.text for one in rest))]
        if rest
        else kept
    )


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions near *wanted*, at least *gap* apart, in the same order, within *low*..*high*.

    Colliding neighbours share the displacement (pool adjacent violators), so that no label moves far.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    blocks: list[tuple[float, int]] = []  # centre of the block, number of labels in it

    def clamp(centre: float, count: int) -> float:
        half = gap * (count - 1) / 2
        return max(low + half, min(high - half, centre))

    for index in order:
        centre, count = clamp(wanted[index], 1), 1
        while blocks and blocks[-1][0] + gap * (blocks[-1][1] - 1) / 2 + gap > centre - gap * (count - 1) / 2:
            before, many = blocks.pop()
            centre = clamp((before * many + centre * count) / (many + count), many + count)
            count += many
        blocks.append((centre, count))
    places: list[float] = []
    for centre, count in blocks:
        places.extend(centre + gap * (i - (count - 1) / 2) for i in range(count))
    result = [0.0] * len(wanted)
    for place, index in zip(places, order, strict=True):
        result[index] = place
    return result


class EndLabels(pg.GraphicsWidget):  # type: ignore[misc]
    """The strip of `EndLabel`s right of a plot; follows its zoom."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self._box = box
        self._labels: list[EndLabel] = []
        self._ink = QColor("black")
        box.sigRangeChanged.connect(tied(self, lambda *_: self.update()))
        self.show_labels([])

    @property
    def gap(self) -> float:
        """Height of a label in pixels."""
        return float(QFontMetricsF(self.font()).height()) + 1.0

    def width_for(self, labels: Sequence[EndLabel]) -> float:
        """Return the width of *labels* in pixels."""
        metrics = QFontMetricsF(self.font())
        widest = max((metrics.horizontalAdvance(label.text) for label in labels), default=0.0)
        return min(_WIDEST, widest) + _LEADER + 8 if labels else 8.0

    def show_labels(self, labels: Sequence[EndLabel], ink: QColor | None = None, widest: float = _WIDEST) -> None:
        """Show *labels*, if any, with text in *ink* and at most *widest* pixels wide."""
        self._labels = list(labels)
        self._ink = ink or self._ink
        self.setFixedWidth(min(self.width_for(labels), max(widest, 80.0)))
        self.update()

    def tip(self) -> str:
        """Return all names, one per line, if any is cut or only counted, otherwise ""."""
        metrics, room = QFontMetricsF(self.font()), self.minimumWidth() - _LEADER - 6
        cut = any(label.rest or metrics.horizontalAdvance(label.text) > room for label in self._labels)
        return "\n".join(name for label in self._labels for name in (label.rest or (label.text,))) if cut else ""

    def texts(self) -> list[str]:
        """Return the texts shown, for tests and accessibility."""
        return [label.text for label in self._labels]

    def paint(self, painter: QPainter, *_: Any) -> None:
        """Draw leader lines and labels at the curves' ends."""
        height = self.size().height()
        low, high = self._box.viewRange()[1]
        if not self._labels or high <= low:
            return
        shown = [
            (label, height * (1 - (label.place - low) / (high - low)))
            for label in self._labels
            if low - 0.02 * (high - low) <= label.place <= high + 0.02 * (high - low)
        ]
        gap = self.gap
        places = spread([y for _, y in shown], gap, gap / 2, height - gap / 2)
        metrics = QFontMetricsF(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        for (label, end), place in zip(shown, places, strict=True):
            painter.setPen(QPen(label.colour, 1.2))
            painter.drawPolyline(
                [QPointF(1, end), QPointF(5, end), QPointF(_LEADER - 4, place), QPointF(_LEADER, place)]
            )
            room = self.size().width() - _LEADER - 6
            text = metrics.elidedText(label.text, Qt.TextElideMode.ElideRight, room)
            painter.setPen(self._ink)  # not the curve's colour, as yellow on white is illegible; the leader line has it
            painter.drawText(
                QRectF(_LEADER + 4, place - gap / 2, room + 2, gap), int(Qt.AlignmentFlag.AlignVCenter), text
            )
