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
_LINES = 3  # of a long label
_INDENT = 8.0  # pixels of its further lines, which tells it from the label below


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


def wrapped(text: str, metrics: QFontMetricsF, room: float, most: int = _LINES) -> list[str]:
    """Return *text* in at most *most* lines of *room* pixels, the last one elided if there is more."""
    lines: list[str] = []
    words = text.split(" ")
    while words and len(lines) < most - 1:
        count = 1
        while count < len(words) and metrics.horizontalAdvance(" ".join(words[: count + 1])) <= room:
            count += 1
        lines.append(metrics.elidedText(" ".join(words[:count]), Qt.TextElideMode.ElideRight, room))
        words = words[count:]
        room -= _INDENT if len(lines) == 1 else 0.0
    return [*lines, metrics.elidedText(" ".join(words), Qt.TextElideMode.ElideRight, room)] if words else lines


class EndLabels(pg.GraphicsWidget):  # type: ignore[misc]
    """The strip of `EndLabel`s right of a plot; follows its zoom."""

    def __init__(self, box: pg.ViewBox) -> None:
        super().__init__()
        self._box = box
        self._labels: list[EndLabel] = []
        self._most = 0
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

    def show_labels(
        self, labels: Sequence[EndLabel], ink: QColor | None = None, widest: float = _WIDEST, most: int = 0
    ) -> None:
        """Show *labels*, if any, with text in *ink* and at most *widest* pixels wide; long ones wrap into *most* lines.

        With fewer lines than that in all, every label has one.
        """
        self._labels = list(labels)
        self._most = most
        self._ink = ink or self._ink
        self.setFixedWidth(min(self.width_for(labels), max(widest, 80.0)))
        self.update()

    def tip(self) -> str:
        """Return all names, one per line, if any is cut or only counted, otherwise ""."""
        lines = self._in_lines()
        cut = any(label.rest or " ".join(lines[label.text]) != label.text for label in self._labels)
        return "\n".join(name for label in self._labels for name in (label.rest or (label.text,))) if cut else ""

    def _in_lines(self) -> dict[str, list[str]]:
        """Return the lines of every label."""
        metrics, room = QFontMetricsF(self.font()), self.minimumWidth() - _LEADER - 6
        lines = {label.text: wrapped(label.text, metrics, room) for label in self._labels}
        if sum(map(len, lines.values())) > self._most:
            lines = {text: wrapped(text, metrics, room, 1) for text in lines}
        return lines

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
        gap, in_lines = self.gap, self._in_lines()
        lines = [
            (label, y, line) for label, y in shown for line in in_lines[label.text]
        ]  # lines of a label stay together
        places = spread([y for _, y, _ in lines], gap, gap / 2, height - gap / 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        room = self.size().width() - _LEADER - 6
        before: EndLabel | None = None
        for (label, end, text), place in zip(lines, places, strict=True):
            if label is not before:
                middle = place + gap * (len(in_lines[label.text]) - 1) / 2
                painter.setPen(QPen(label.colour, 1.2))
                painter.drawPolyline(
                    [QPointF(1, end), QPointF(5, end), QPointF(_LEADER - 4, middle), QPointF(_LEADER, middle)]
                )
            left = _LEADER + 4 + (_INDENT if label is before else 0.0)
            before = label
            painter.setPen(self._ink)  # not the curve's colour, as yellow on white is illegible; the leader line has it
            painter.drawText(QRectF(left, place - gap / 2, room + 2, gap), int(Qt.AlignmentFlag.AlignVCenter), text)
