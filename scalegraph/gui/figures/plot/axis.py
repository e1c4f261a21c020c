"""An axis of a plot that shows a `Scale`: real values as ticks, one unit in its title."""

from __future__ import annotations

from html import escape
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from scalegraph.figures.figure import Axis
from scalegraph.gui.base.tints import ink, tint
from scalegraph.gui.figures.scales import Scale

_FEWEST_LETTERS = 9  # of an axis title that still say something
_UPRIGHT_LINES = 3  # of the title of an axis that stands upright
_TITLE_GAP = 3  # pixels between a title and the numbers beside it
_UPRIGHT_SHARE = 0.33  # of the plot's height that names which stand upright may take
_LONGEST_NAME = 26  # characters of a category that are on an axis; the tooltip has all


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """Ticks and title come from the `Scale`; pyqtgraph's own choice of ticks and prefixes is not used."""

    def __init__(self, side: str) -> None:
        self._value_scale = Scale(Axis(""), ())
        self._texts: dict[float, str] = {}
        self._bare = False
        self.largest = -1  # position of the largest bar, whose name is never left out
        self._upright = 0.0  # pixels of length of names that stand upright; 0: they lie
        self._widest = 0.0  # pixels of the longest of these names
        super().__init__(side)
        self.enableAutoSIPrefix(False)
        self.setStyle(tickLength=-4, autoExpandTextSpace=True, hideOverlappingLabels=False)

    def show_scale(self, scale: Scale, theme: str) -> None:
        """Take ticks from *scale* and colours from *theme*."""
        self._value_scale = scale
        bare = scale.axis.bare
        self.setPen(pg.mkPen(None) if bare else pg.mkPen(tint("grid", theme)))
        if self.orientation == "bottom" and bare != self._bare:
            self._bare = bare
            self.setHeight(2 * QFontMetricsF(self.font()).height() if bare else None)  # signs below keep their room
        self.setTickPen(pg.mkPen(tint("grid", theme)))
        self.setTextPen(pg.mkPen(ink(theme)))
        self.setLabel(scale.title)
        self.turn_names()
        self.picture = None
        self.update()

    def labelString(self) -> str:
        """Return the axis title as it fits: the words are shortened or left out; the unit stays."""
        axis, title = self._value_scale.axis, self._value_scale.title
        length = self.size().height() if self.orientation in ("left", "right") else self.size().width()
        metrics = QFontMetricsF(self.label.font())
        upright = self.orientation in ("left", "right")
        lines = _lines(title, metrics, length, _UPRIGHT_LINES if upright else 1) if length > 1 else [title]
        if not lines:
            unit = title.removeprefix(axis.label)
            room = max(0.0, length - metrics.horizontalAdvance(unit))
            few = room < _FEWEST_LETTERS * metrics.averageCharWidth()
            words = "" if few and unit else metrics.elidedText(axis.label, Qt.TextElideMode.ElideRight, room)
            lines = [metrics.elidedText((words + unit).strip(), Qt.TextElideMode.ElideRight, length)]
        self.setToolTip("" if " ".join(lines) == title else title)
        style = ";".join(f"{key}: {value}" for key, value in self.labelStyle.items())
        text = "<br>".join(map(escape, lines))
        return f"<div align='center'><span style='{style}'>{text}</span></div>"

    def resizeEvent(self, ev: Any = None) -> None:
        """Shorten the title to the new length."""
        if self.isVisible() and self._value_scale.title:
            self._updateLabel()
            self.turn_names()
        super().resizeEvent(ev)

    def _updateLabel(self) -> None:
        """Centre lines of the title above one another, for pyqtgraph, which then gives the axis the room for them."""
        self.label.setTextWidth(-1)
        self.label.setHtml(self.labelString())
        self.label.setTextWidth(self.label.document().idealWidth())
        self._adjustSize()
        self.picture = None
        self.update()

    def _updateWidth(self) -> None:
        """Leave room for every line of the title, for pyqtgraph, whose share of its height fits one line only."""
        super()._updateWidth()
        if self.isVisible() and self.fixedWidth is None and self.label.isVisible():
            height = self.label.boundingRect().height()
            more = height - 2 * self.label.document().documentMargin() + _TITLE_GAP - 0.8 * height
            if more > 0:
                self.setMaximumWidth(self.maximumWidth() + more)
                self.setMinimumWidth(self.maximumWidth())

    def turn_names(self) -> None:
        """Let names of categories stand upright where they have no room beside one another.

        Called again when the height of the plot changes, of which they take a share.
        """
        axis, width = self._value_scale.axis, self.size().width()
        if self.orientation != "bottom" or width <= 1:
            return
        metrics = QFontMetricsF(self.font())
        names = [_shortened(name) for name in axis.categories] if axis.scale == "category" else []
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        turned = not all(name.isdigit() for name in names) and widest + metrics.averageCharWidth() > width / len(names)
        shown = self.getViewWidget()  # its scene grows with what it holds and does not shrink with the window
        height = float(shown.height()) if shown is not None else 0.0
        upright = min(widest + 4, max(2 * metrics.averageCharWidth(), _UPRIGHT_SHARE * height)) if turned else 0.0
        self._widest = widest
        if upright != self._upright:
            self._upright = upright
            self.setHeight(upright + metrics.height() + 14 if upright else None)
            self.picture = None

    def drawPicture(self, p: Any, axisSpec: Any, tickSpecs: Any, textSpecs: Any) -> None:  # noqa: N803
        """Draw the axis, for pyqtgraph; names upright where they are turned."""
        super().drawPicture(p, axisSpec, tickSpecs, [] if self._upright else textSpecs)
        if not self._upright:
            return
        metrics = QFontMetricsF(self.font())
        p.setFont(self.font())
        p.setPen(self.textPen())
        flags = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for rect, _flags, text in textSpecs:
            p.save()
            p.translate(rect.center().x(), rect.top() + 2)
            p.rotate(-90)
            room = QRectF(-self._upright, -metrics.height() / 2, self._upright, metrics.height())
            p.drawText(room, flags, metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, self._upright))
            p.restore()

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """Return the places of the ticks, for pyqtgraph."""
        ticks = self._value_scale.ticks(low, high, self._room(size), self.largest)
        self._texts = {tick.place: tick.text for tick in ticks}
        return [(1.0, list(self._texts))]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002
        """Return what the ticks say, for pyqtgraph."""
        texts = [self._texts.get(value, "") for value in values]
        return [_shortened(text) for text in texts]

    def boundingRect(self) -> QRectF:
        """Leave room for the text of ticks that are at the very ends, which pyqtgraph would drop."""
        half = QFontMetricsF(self.font()).height()
        rect = QRectF(super().boundingRect())
        if self.orientation in ("left", "right"):
            return rect.adjusted(0, -half, 0, half)
        # pyqtgraph measures names that stand upright as if they lay
        side = max(2 * half, self._widest / 2) if self._upright else 2 * half
        return rect.adjusted(-side, 0, side, 0)

    def _room(self, size: float) -> int:
        metrics = QFontMetricsF(self.font())
        axis = self._value_scale.axis
        if self.orientation in ("left", "right"):
            # names stand as close as lines of text, so that every bar has its own; numbers need not
            return int(size / ((1.0 if axis.scale == "category" else 2.4) * metrics.height()))
        if self._upright:
            return int(size / metrics.height())
        if axis.scale == "category":
            texts = [_shortened(name) for name in axis.categories]
        else:
            low, high = self.range
            texts = [tick.text for tick in self._value_scale.ticks(low, high, 12)]
        widest = max((metrics.horizontalAdvance(text) for text in texts), default=40.0)
        return int(size / (widest + 1.6 * metrics.averageCharWidth()))

    def wheelEvent(self, event: Any) -> None:
        """Zoom along this axis only."""
        view = self.linkedView()
        if view is not None:
            view.wheelEvent(event, axis=1 if self.orientation in ("left", "right") else 0)
            event.accept()


def _lines(title: str, metrics: QFontMetricsF, length: float, most: int) -> list[str]:
    """Return *title* in lines of *length* pixels, broken between words; empty where *most* lines do not hold it."""
    lines: list[str] = []
    for word in title.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and metrics.horizontalAdvance(longer) <= length:
            lines[-1] = longer
        elif metrics.horizontalAdvance(word) <= length and len(lines) < most:
            lines.append(word)
        else:
            return []
    return lines


def _shortened(text: str) -> str:
    """Long names are cut in the middle, since many differ at their end; the tooltip of what they name has all."""
    half = _LONGEST_NAME // 2
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - half - 1]}…{text[-half:]}"
