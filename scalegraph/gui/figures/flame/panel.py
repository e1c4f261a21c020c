"""A `Flame` on the screen: clickable frames, search, back, and the colours' meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QScrollArea, QWidget

from scalegraph.base.measures import percent
from scalegraph.base.units import counted
from scalegraph.figures.flame_geometry import WHOLE, change_text
from scalegraph.figures.flames import Flame
from scalegraph.figures.palette import Theme, diverging
from scalegraph.gui.base import tips
from scalegraph.gui.base.accessible import name_chart
from scalegraph.gui.base.key_claim import KeyClaim
from scalegraph.gui.base.layouts import vertical
from scalegraph.gui.base.tints import tint
from scalegraph.gui.base.widgets import button, elided, label
from scalegraph.gui.figures.flame.canvas import FlameCanvas
from scalegraph.gui.figures.flame.zoom import path_of
from scalegraph.gui.figures.legend_strip import LegendEntry, LegendStrip
from scalegraph.gui.figures.plot.targets import rich

_KEY_FROM: Final = 150  # pixels of height at which the colour legend fits
HINT: Final = "Click a frame to zoom in; Escape or Backspace goes back; arrow keys walk, Enter zooms, / finds"


class FlamePanel(QWidget):
    """Shows one `Flame`; *frame_chosen* has the key of the frame clicked or entered."""

    frame_chosen = Signal(str)
    escaped = Signal()

    def __init__(self, flame: Flame, theme: str = "light", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.canvas = FlameCanvas(flame, cast("Theme", theme))
        self.canvas.setToolTipDuration(20_000)
        self._scroll = QScrollArea()
        self._scroll.setWidget(self.canvas)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._legend = LegendStrip(self)
        self.back = button("Back", "Show what was shown before (Backspace)")
        self.back.clicked.connect(self.canvas.back)
        self.path = label("", "muted")
        self.path.setMinimumWidth(20)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find frames  /")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find frames by name")
        self.search.setMaximumWidth(200)
        self.search.textChanged.connect(self._find)
        self.search.returnPressed.connect(self._next_found)
        self.answer = label("", "muted")
        self._keys: tuple[str, ...] = ()
        self._place_at_root = QTimer(self, singleShot=True, interval=0)
        self._place_at_root.timeout.connect(self._to_root)
        self._lay_out()
        self.canvas.chosen.connect(self._chosen)
        self.canvas.zoomed.connect(self._say_path)
        self.canvas.pointed.connect(self._tell)
        self.canvas.escaped.connect(self.escaped)
        self.setFocusProxy(self.canvas)
        claims = {"/": self._to_search, "Ctrl+F": self._to_search, "Backspace": self.canvas.back}
        KeyClaim(self.canvas, claims)
        KeyClaim(self.search, {"Esc": self._leave_search})
        self._dress()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addWidget(self.back)
        top.addWidget(self.path, 1)
        top.addWidget(self.answer)
        top.addWidget(self.search)
        column = vertical(self, spacing=3)
        column.addLayout(top)
        column.addWidget(self._legend)
        column.addWidget(self._scroll, 1)

    @property
    def flame(self) -> Flame:
        """The flame graph shown."""
        return self.canvas.flame

    def set_flame(self, flame: Flame) -> None:
        """Show *flame*; zoom and search stay."""
        self.canvas.show_flame(flame, self.canvas.theme)
        self._find(self.search.text())
        self.select(self._keys)
        self._dress()

    def set_theme(self, theme: str) -> None:
        """Use the colours of *theme*."""
        self.canvas.show_theme(cast("Theme", theme))
        self._dress()

    def fit(self) -> None:
        """Show the whole graph."""
        self.canvas.fit()

    def select(self, keys: Sequence[str]) -> None:
        """Highlight the frames with one of *keys*."""
        self._keys = tuple(keys)
        self.canvas.marked = frozenset(self.canvas.geometry_of.of_key(self._keys).tolist())
        self.canvas.update()

    def sizeHint(self) -> QSize:
        """Qt: return a size at which names are legible."""
        return QSize(480, 300)

    # texts

    def _dress(self) -> None:
        flame, theme = self.flame, self.canvas.theme
        entries = [LegendEntry(key.name, tint(key.role, theme), "bar") for key in flame.legend]
        if flame.change is not None:
            entries = _change_entries(flame, theme)
        self._legend.show_entries(entries)
        self._legend.setVisible(bool(entries) and (self.height() >= _KEY_FROM or not self.isVisible()))
        kind = "Difference of flame graphs" if flame.change is not None else "Flame graph"
        name_chart(self.canvas, f"{kind} of {flame.value.title}, {len(flame.frames)} frames")
        self._say_path()
        self._place_at_root.start()

    def _to_root(self) -> None:
        """Scroll to the roots at the bottom: a deep flame graph extends above the view."""
        bar = self._scroll.verticalScrollBar()
        bar.setValue(bar.minimum() if self.flame.icicle else bar.maximum())

    def _say_path(self) -> None:
        zoomed = self.canvas.zoom.frame
        names = path_of(self.flame, zoomed)
        self.back.setVisible(self.canvas.zoom.can_go_back)
        text = " › ".join(names) if names else HINT
        self.path.setToolTip(text)
        self.path.setText(elided(text, self.path.fontMetrics(), max(60, self.path.width() - 4), 1))

    def resizeEvent(self, event: object) -> None:
        """Qt: shorten the line above to the new width."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._legend.setVisible(bool(self._legend.entries()) and self.height() >= _KEY_FROM)
        self._say_path()

    def _chosen(self, frame: int) -> None:
        key = self.flame.frames[frame].key
        if key:
            self.frame_chosen.emit(key)

    def _tell(self, frame: int) -> None:
        """Show the frame at the keyboard cursor in a tooltip, and to screen readers."""
        if frame == WHOLE:
            return
        one, box = self.flame.frames[frame], self.canvas.box(frame)
        self.canvas.setAccessibleDescription(f"{one.name}: {one.tip}")
        self._scroll.ensureVisible(int(box.center().x()), int(box.center().y()), 0, int(box.height()))
        if self.canvas.hasFocus() and self.isVisible():
            place = QPoint(int(min(max(box.left(), 0.0) + 12, self.canvas.width() - 40)), int(box.bottom()) + 4)
            tips.show(self.canvas.mapToGlobal(place), rich(one.name, one.tip), self.canvas)

    # search

    def _to_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _leave_search(self) -> None:
        self.search.clear()
        self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)

    def _find(self, text: str) -> None:
        geometry = self.canvas.geometry_of
        self.canvas.found = geometry.found(text)
        count = int(self.canvas.found.sum())
        words = ""
        if text.strip():
            whole = self.flame.whole
            share = f", {percent(geometry.found_value(self.canvas.found) / whole, 1)}" if whole > 0 and count else ""
            words = f"{counted(count, 'frame')}{share}"
        self.answer.setText(words)
        self.answer.setToolTip(f"Share of {self.flame.base}; nested matches count once.")
        self.canvas.update()

    def _next_found(self) -> None:
        """Go to the next match after the keyboard cursor; zoom out if it is not visible."""
        rows = self.canvas.found.nonzero()[0]
        if not len(rows):
            return
        later = rows[rows > self.canvas.at]
        frame = int(later[0] if len(later) else rows[0])
        if self.canvas.box(frame).isEmpty():
            self.canvas.fit()
        self.canvas.at = frame
        self._tell(frame)
        self.canvas.update()


def _change_entries(flame: Flame, theme: Theme) -> list[LegendEntry]:
    """Return legend entries for the ends and the middle of the diverging colours."""
    assert flame.change is not None
    low, high = flame.change.limits or (-1.0, 1.0)
    unit = flame.change.unit
    made = []
    for share, value, words in ((-1.0, low, "less"), (0.0, 0.0, "unchanged"), (1.0, high, "more")):
        text = f" ({change_text(value, unit)})" if value else ""
        made.append(LegendEntry(f"{words}{text}", QColor(diverging(share, theme)), "bar"))
    return made
