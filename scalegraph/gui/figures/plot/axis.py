"""A plot axis of a `Scale`: actual values as ticks, one unit in the title."""

from __future__ import annotations

from html import escape
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF

from scalegraph.figures.figure import Axis
from scalegraph.gui.base.tints import ink, tint
from scalegraph.gui.figures.scales import Scale

_FEWEST_LETTERS = 9  # of an axis title that are still useful
_UPRIGHT_LINES = 3  # of a vertical axis's title
_TITLE_GAP = 3  # pixels between title and numbers
_UPRIGHT_SHARE = 0.33  # of the plot's height that vertical names may take
_LONGEST_NAME = 26  # characters of a category's name on an axis; the tooltip has all


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """Ticks and title come from the `Scale` instead of pyqtgraph's own choice."""

    def __init__(self, side: str) -> None:
        self._value_scale = Scale(Axis(""), ())
        self._texts: dict[float, str] = {}
        self._bare = False
        self.largest = -1  # position of the largest bar; its name is always shown
        self._upright = 0.0  # length of vertical names in pixels; 0: they are horizontal
        self._widest = 0.0  # length of the longest name in pixels
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
            self.setHeight(
                2 * QFontMetricsF(self.font()).height() if bare else None
            )  # keep the height for the signs below the axis
        self.setTickPen(pg.mkPen(tint("grid", theme)))
        self.setTextPen(pg.mkPen(ink(theme)))
        self.setLabel(scale.title)
        self.turn_names()
        self.picture = None
        self.update()

    def labelString(self) -> str:
        """Return the axis title, with its words shortened or dropped to fit; the unit stays."""
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
        """Qt: shorten the title to the new length."""
        if self.isVisible() and self._value_scale.title:
            self._updateLabel()
            self.turn_names()
        super().resizeEvent(ev)

    def _updateLabel(self) -> None:
        """pyqtgraph: centre the title's lines and reserve room for them."""
        self.label.setTextWidth(-1)
        self.label.setHtml(self.labelString())
        self.label.setTextWidth(self.label.document().idealWidth())
        self._adjustSize()
        self.picture = None
        self.update()

    def _updateWidth(self) -> None:
        """pyqtgraph: reserve room for all lines of the title; its default fits only one."""
        super()._updateWidth()
        if self.isVisible() and self.fixedWidth is None and self.label.isVisible():
            height = self.label.boundingRect().height()
            more = height - 2 * self.label.document().documentMargin() + _TITLE_GAP - 0.8 * height
            if more > 0:
                self.setMaximumWidth(self.maximumWidth() + more)
                self.setMinimumWidth(self.maximumWidth())

    def turn_names(self) -> None:
        """Turn category names vertical if they do not fit side by side.

        Called again when the plot's height changes, as their length is limited to a share of it.
        """
        axis, width = self._value_scale.axis, self.size().width()
        if self.orientation != "bottom" or width <= 1:
            return
        metrics = QFontMetricsF(self.font())
        names = [_shortened(name) for name in axis.categories] if axis.scale == "category" else []
        widest = max((metrics.horizontalAdvance(name) for name in names), default=0.0)
        turned = not all(name.isdigit() for name in names) and widest + metrics.averageCharWidth() > width / len(names)
        shown = self.getViewWidget()  # not its scene, which grows with its items but does not shrink with the window
        height = float(shown.height()) if shown is not None else 0.0
        upright = min(widest + 4, max(2 * metrics.averageCharWidth(), _UPRIGHT_SHARE * height)) if turned else 0.0
        self._widest = widest
        if upright != self._upright:
            self._upright = upright
            self.setHeight(upright + metrics.height() + 14 if upright else None)
            self.picture = None

    def drawPicture(self, p: Any, axisSpec: Any, tickSpecs: Any, textSpecs: Any) -> None:  # noqa: N803
        """pyqtgraph: draw the axis, with vertical names if turned."""
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
        """pyqtgraph: return the tick positions."""
        ticks = self._value_scale.ticks(low, high, self._room(size), self.largest)
        self._texts = {tick.place: tick.text for tick in ticks}
        return [(1.0, list(self._texts))]

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002
        """pyqtgraph: return the tick texts."""
        texts = [self._texts.get(value, "") for value in values]
        return [_shortened(text) for text in texts]

    def boundingRect(self) -> QRectF:
        """pyqtgraph: include the text of ticks at the very ends, which would be dropped otherwise."""
        half = QFontMetricsF(self.font()).height()
        rect = QRectF(super().boundingRect())
        if self.orientation in ("left", "right"):
            return rect.adjusted(0, -half, 0, half)
        # pyqtgraph measures vertical names as if they were horizontal
        side = max(2 * half, self._widest / 2) if self._upright else 2 * half
        return rect.adjusted(-side, 0, side, 0)

    def _room(self, size: float) -> int:
        metrics = QFontMetricsF(self.font())
        axis = self._value_scale.axis
        if self.orientation in ("left", "right"):
            # vertical names are set as close as lines of text, so that every bar has one; numbers need not be
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
        """Qt: zoom along this axis only."""
        view = self.linkedView()
        if view is not None:
            view.wheelEvent(event, axis=1 if self.orientation in ("left", "right") else 0)
            event.accept()


def _lines(title: str, metrics: QFontMetricsF, length: float, most: int) -> list[str]:
    """Return *title* wrapped into lines of *length* pixels; empty if it needs more than *most*."""
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
    """Return *text* with its middle elided, since long names often differ at the end; the tooltip has all."""
    half = _LONGEST_NAME // 2
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - half - 1]}…{text[-half:]}"
