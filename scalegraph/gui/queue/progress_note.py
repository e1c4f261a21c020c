"""Progress of the running request in the status bar; a click opens the queue."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton

from scalegraph.base.events import Building, builds_shown
from scalegraph.base.working_words import building_words
from scalegraph.gui.queue.runner import QueueRunner
from scalegraph.gui.queue.state import QueueEntry


class ProgressNote(QPushButton):
    """Hidden while nothing runs. Also shows a build of the simulator that no request started."""

    _built = Signal(object)  # from any thread

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
        self._built.connect(self._building)
        self._shown = contextlib.ExitStack()
        self._shown.enter_context(builds_shown(self._built.emit))
        self.destroyed.connect(self._shown.close)

    def _building(self, event: Any) -> None:
        if isinstance(event, Building) and not any(not entry.ended for entry in self._runner.entries):
            self.setText(building_words(event))
            self.setMinimumWidth(self.sizeHint().width())
            self.setVisible(not event.of or event.done < event.of)

    def _follow(self, _entry: QueueEntry, _keys: object = None) -> None:
        active = [entry for entry in self._runner.entries if not entry.ended]
        self.setVisible(bool(active))
        if active:
            waiting = f", {len(active) - 1} more waiting" if len(active) > 1 else ""
            self.setText((active[0].said() or active[0].phase) + waiting)
            self.setMinimumWidth(self.sizeHint().width())  # the status bar does not ask again by itself
