"""When Python looks for cyclic garbage: between events of the window's thread, and at no other moment."""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_EVERY_MS: Final = 400


class Collector(QObject):
    """Collects at the usual thresholds, from Qt's loop.

    Python would collect wherever an object is made. Widgets in cycles are then destroyed in another thread, or while
    Qt holds a lock of its own: disconnecting a signal calls back into Python with one, and the destructor of a widget
    waits for the same one for ever.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        self._settled = False
        gc.disable()
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> int:
        """Collect the oldest generation that is due; return its number, -1 if none is."""
        due = [
            n for n, (count, most) in enumerate(zip(gc.get_count(), gc.get_threshold(), strict=True)) if count > most
        ]
        if not due:
            return -1
        gc.collect(due[-1])
        return due[-1]

    def settle(self) -> None:
        """Look no more at what there is now: modules and classes, which never go, are most of a full collection.

        Once: what a window leaves behind, and a later window would freeze, could never be collected.
        """
        if not self._settled:
            self._settled = True
            gc.freeze()

    def end(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_on:
            gc.enable()
