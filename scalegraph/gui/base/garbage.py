"""Collects cyclic garbage between events of the window's thread, and at no other moment."""

from __future__ import annotations

import gc
from typing import Final

from PySide6.QtCore import QObject, QTimer

_EVERY_MS: Final = 400
_OLDEST: Final = 2  # generation
_PAUSE: Final = 5  # times in a row that nothing young was due, after which a longer stretch disturbs nobody: 2 s
_REST: Final = 50  # the same, after which nobody is at work: 20 s
_OVERDUE: Final = 10  # times its threshold, beyond which the oldest generation no longer waits for a pause


class Collector(QObject):
    """Collects at the usual thresholds, from Qt's loop.

    Python would collect wherever an object is made. Widgets in cycles are then destroyed in another thread, or while
    Qt holds a lock of its own: disconnecting a signal calls back into Python with one, and the destructor of a widget
    waits for the same one for ever.

    A collection of everything takes longer than a user should wait, the longer the more views there are. So the oldest
    generation waits for a pause, what its collection leaves is set aside, and the next examines what is new since then.
    What was set aside is examined when nothing has happened for a while. Only what refers to itself waits for that: all
    else goes at once.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_on = gc.isenabled()
        self._settled = False
        self._aside = False  # whether something was set aside since everything was examined
        self._rested = 0  # times in a row that nothing young was due
        gc.disable()
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> int:
        """Collect the oldest generation that is due; return its number, -1 if none is."""
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
        """Collect also what was set aside."""
        gc.unfreeze()
        gc.collect()
        self._aside, self._rested = False, 0
        gc.freeze()

    def settle(self) -> None:
        """Exclude what exists now: modules and classes, which never go, are most of a full collection.

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
