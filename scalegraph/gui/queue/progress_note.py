"""The corner of the status bar: how far the running request is; a click opens the queue."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton

from scalegraph.gui.queue.runner import QueueRunner
from scalegraph.gui.queue.state import QueueEntry


class ProgressNote(QPushButton):
    """Hidden while nothing runs."""

    def __init__(self, runner: QueueRunner, open_queue: Callable[[], None]) -> None:
        super().__init__()
        self.setProperty("flat", True)
        self.setToolTip("Show the queue")
        self.hide()
        self._runner = runner
        self.clicked.connect(open_queue)
        runner.added.connect(self._follow)
        runner.changed.connect(self._follow)
        runner.ended.connect(self._follow)

    def _follow(self, _entry: QueueEntry, _keys: object = None) -> None:
        active = [entry for entry in self._runner.entries if not entry.ended]
        self.setVisible(bool(active))
        if active:
            waiting = f", {len(active) - 1} more waiting" if len(active) > 1 else ""
            self.setText((active[0].said() or active[0].phase) + waiting)
            self.setMinimumWidth(self.sizeHint().width())  # the status bar would not ask again
