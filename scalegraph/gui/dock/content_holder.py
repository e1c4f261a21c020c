"""Holds a view's content; when there is much to do, resizes it in a later turn of the event loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QWidget

from scalegraph.gui.base.turn_queue import turn_queue


class ContentHolder(QWidget):
    """The widget of a dock around its *content*.

    Placing docks resizes each of them many times, and every size costs its content (tables, notes, plots) milliseconds.
    Between `hold` and the holder's own turn it keeps the content's old size and is not painted. A single new size is
    taken at once, unless the current turn has spent its time on others.
    """

    _held: ClassVar[int] = 0  # > 0 while docks are being placed

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        content.setParent(self)
        content.show()
        self.setFocusProxy(content)

    def hold(self) -> None:
        """Neither resize nor paint the content until its turn comes."""
        queue = turn_queue()
        if not queue.has(self):
            self.setUpdatesEnabled(False)
            queue.add(self, self._follow, heavy=True)

    def _follow(self) -> None:
        self._content.setGeometry(self.rect())
        self.setUpdatesEnabled(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: resize the content, now or in a later turn."""
        super().resizeEvent(event)
        queue = turn_queue()
        if ContentHolder._held or queue.has(self) or not queue.spend(self._follow):
            self.hold()

    def event(self, event: QEvent) -> bool:
        """Qt: tell the dock's layout when the content wants another size."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().event(event)

    def sizeHint(self) -> QSize:
        """Qt: as the content."""
        return self._content.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Qt: as the content."""
        return self._content.minimumSizeHint()


@contextmanager
def placing(docks: Iterable[QDockWidget]) -> Iterator[None]:
    """Resize only the frames of *docks* in this context; their contents follow afterwards, one per turn."""
    ContentHolder._held += 1
    try:
        for dock in docks:
            holder = dock.widget()
            if isinstance(holder, ContentHolder):
                holder.hold()
        yield
    finally:
        ContentHolder._held -= 1
