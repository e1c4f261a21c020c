"""A `Diagram` on the screen: canvas, legend, and the text of the selected item."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QWidget

from scalegraph.figures.diagram import Diagram
from scalegraph.gui.base.accessible import name_chart
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.tints import tint
from scalegraph.gui.base.widgets import label
from scalegraph.gui.figures.diagram.canvas import NONE, DiagramCanvas
from scalegraph.gui.figures.legend_strip import LegendEntry, LegendStrip

_KEY_FROM = 190  # pixels of height below which the legend is hidden
_WORDS_FROM = 180  # the same for the selected item's text
_BOTH_FROM = 260  # pixels for both; below that only the text is shown


class DiagramPanel(QWidget):
    """Shows one `Diagram`; *item_chosen* has the key of the item clicked or entered."""

    item_chosen = Signal(str)
    escaped = Signal()

    def __init__(self, diagram: Diagram, theme: str = "light", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = DiagramCanvas(diagram, theme)
        self._keys: tuple[str, ...] = ()
        self._legend = LegendStrip(self)
        self.words = label("", "muted", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setAccessibleName("Chosen item")
        column = vertical(self, spacing=3)
        column.addWidget(self._legend)
        column.addWidget(self.canvas, 1)
        column.addWidget(self.words)
        self.canvas.chosen.connect(self._chosen)
        self.canvas.pointed.connect(self._say)
        self.canvas.escaped.connect(self.escaped)
        self.setFocusProxy(self.canvas)
        self._say(NONE)
        self._dress()

    @property
    def diagram(self) -> Diagram:
        """The diagram shown."""
        return self.canvas.diagram

    def set_diagram(self, diagram: Diagram) -> None:
        """Show *diagram*; zoom and selection stay."""
        self.canvas.show_diagram(diagram)
        self._say(NONE)
        self.select(self._keys)
        self._dress()

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        self.canvas.theme = theme
        self.canvas.update()
        self._dress()

    def fit(self) -> None:
        """Fit the whole diagram."""
        self.canvas.fit()

    def select(self, keys: Sequence[str]) -> None:
        """Highlight the items with one of *keys*."""
        self._keys = tuple(keys)
        items = self.diagram.items
        self.canvas.marked = frozenset(number for number, item in enumerate(items) if item.key and item.key in keys)
        if self.canvas.marked and self.canvas.at not in self.canvas.marked:
            self.canvas.at = min(self.canvas.marked, key=lambda number: -items[number].weight)
            self._say(self.canvas.at)
        self.canvas.update()

    def sizeHint(self) -> QSize:
        """Qt: return a size at which names are legible."""
        return QSize(480, 360)

    def resizeEvent(self, event: object) -> None:
        """Qt: hide what does not fit."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._place()

    def _place(self) -> None:
        high = self.height() if self.isVisible() else _BOTH_FROM
        said = bool(self.words.text()) and high >= _WORDS_FROM
        self.words.setVisible(said)
        self._legend.setVisible(bool(self._legend.entries()) and high >= (_BOTH_FROM if said else _KEY_FROM))

    def _dress(self) -> None:
        diagram, theme = self.diagram, self.canvas.theme
        self._legend.show_entries([LegendEntry(key.name, tint(key.role, theme), "bar") for key in diagram.key])
        name_chart(self.canvas, f"{diagram.title}, {len(diagram.items)} items")
        self._place()

    def _say(self, item: int) -> None:
        one = self.diagram.items[item] if item != NONE else None
        words = "" if one is None else "\n".join(part for part in (one.name, one.tip) if part)
        self.words.setText(words)
        self.canvas.setAccessibleDescription(words)
        self._place()

    def _chosen(self, item: int) -> None:
        key = self.diagram.items[item].key
        if key:
            self.item_chosen.emit(key)
