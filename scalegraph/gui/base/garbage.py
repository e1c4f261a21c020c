"""Runs Python's cyclic garbage collection between events of the window's thread, and at no other time."""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_EVERY_MS: Final = 400
_OLDEST: Final = 2  # generation
_PAUSE: Final = 5  # checks in a row without a young generation due; a longer collection then disturbs nobody: 2 s
_REST: Final = 50  # the same, after which the user is taken to be idle: 20 s
_OVERDUE: Final = 10  # times its threshold at which the oldest generation is collected without waiting for a pause


class Collector(QObject):
    """Collects at Python's usual thresholds, from Qt's event loop.

    Python itself collects wherever an object happens to be allocated. Widgets in cycles would then be destroyed in
    another thread, or while Qt holds one of its locks: disconnecting a signal calls into Python with such a lock held,
    and a widget's destructor would wait for it forever.

    A full collection takes longer than a user should wait, and grows with the number of views. So the oldest generation
    waits for a pause, its survivors are frozen, and the next collection covers only newer objects. Frozen objects are
    collected when the window has been idle for a while. This delays only objects in reference cycles.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        self._settled = False
        self._aside = False  # whether anything was frozen since the last full collection
        self._rested = 0  # checks in a row without a young generation due
        gc.disable()
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> int:
        """Collect the oldest generation due and return its number, or -1 if none is due."""
        counts, thresholds = gc.get_count(), gc.get_threshold()
        due = [n for n, (count, most) in enumerate(zip(counts, thresholds, strict=True)) if count > most]
        young = [n for n in due if n != _OLDEST]
        self._rested = 0 if young else self._rested + 1
        overdue = counts[_OLDEST] > _OVERDUE * max(thresholds[_OLDEST], 1)
        if _OLDEST in due and (overdue or self._rested >= _PAUSE):
            gc.collect(_OLDEST)
            self._aside, self._rested = True, 0
            gc.freeze()
            return _OLDEST
        if young:
            gc.collect(young[-1])
            return young[-1]
        if self._aside and self._rested >= _REST:
            self.collect_all()
            return _OLDEST
        return -1

    def collect_all(self) -> None:
        """Collect everything, including frozen objects."""
        gc.unfreeze()
        gc.collect()
        self._aside, self._rested = False, 0
        gc.freeze()

    def settle(self) -> None:
        """Freeze all current objects: modules and classes never die but are most of a full collection.

        Only once: garbage of a closed window, if a later window froze it, would never be collected.
        """
        if not self._settled:
            self._settled = True
            gc.freeze()

    def end(self) -> None:
        """Hand collection back to Python."""
        self._timer.stop()
        gc.unfreeze()
        if self._was_on:
            gc.enable()
