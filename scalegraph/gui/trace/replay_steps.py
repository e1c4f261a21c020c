"""Steps of a replay from change to change, looked up in another thread and taken in order."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from scalegraph.gui.base.jobs import Job, Jobs, Reporter
from scalegraph.gui.base.lifetime import tied

if TYPE_CHECKING:
    from scalegraph.gui.trace.handle import TraceHandle

log: Final = logging.getLogger(__name__)
_MOST: Final = 50  # pending steps: a key held down must not keep it stepping long after


class ReplaySteps(QObject):
    """Moves the replay of *handle* to the next or previous change of a visible location."""

    ended = Signal(bool)  # no further change; whether backwards

    def __init__(self, handle: TraceHandle, jobs: Jobs) -> None:
        super().__init__(handle)
        self._handle, self._jobs = handle, jobs
        self._waiting: list[bool] = []
        self._job: Job | None = None

    def step(self, back: bool) -> None:
        """Go to the next change, or *back* to the previous one."""
        self._waiting = [*self._waiting, back][-_MOST:]
        if self._handle.replay.playing:
            self._handle.replay.pause()
        if self._job is None:
            self._next()

    def _next(self) -> None:
        data = self._handle.data()
        if data is None or not self._waiting:
            self._waiting = []
            return
        back = self._waiting.pop(0)
        at, locations = self._handle.replay.place, self._handle.filter.current.locations

        def look(reporter: Reporter) -> float | None:
            from scalegraph.views.trace.timeline.moment import change

            reporter.token.check()
            return change(data, at, locations, back=back)

        self._job = job = self._jobs.start("finding the next change", look)
        job.done.connect(tied(self, lambda there: self._found(there, back)))
        job.failed.connect(self._not_found)
        job.ended.connect(self._ended)

    def _found(self, there: float | None, back: bool) -> None:
        replay = self._handle.replay
        first, last = replay.state.begin, replay.state.end
        if there is None or not first <= there <= last:
            self._waiting = []
            replay.seek(first if back else last)
            self.ended.emit(back)
        else:
            replay.seek(there)

    def _not_found(self, error: Exception) -> None:
        log.info("no step can be taken: %s", error)

    def _ended(self) -> None:
        self._job = None
        self._next()
