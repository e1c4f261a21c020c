"""Jumps to the next event outside the visible part of a trace; it is searched for in another thread."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject

from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.silence import stretch_at

if TYPE_CHECKING:
    from scalegraph.gui.trace.handle import TraceHandle

log: Final = logging.getLogger(__name__)


class EventSteps(QObject):
    """Moves the visible time of *handle*, without changing its width, to the next beginning or end of something."""

    def __init__(self, handle: TraceHandle, jobs: Jobs) -> None:
        super().__init__(handle)
        self._handle = handle
        self._looks = Latest(jobs, "finding the next event", self, quick=True)

    def go(self, *, back: bool, location: int | None = None) -> None:
        """Show the next event after the visible time, or the last before it; of *location* only, else of all shown."""
        from scalegraph.subjects import window as trace_window

        data, window = self._handle.data(), self._handle.window
        if data is None:
            return
        (begin, end), chosen = window.shown, self._handle.filter.current.locations

        def look(reporter: Reporter) -> float | None:

            reporter.token.check()
            seen = trace_window.window(data, begin, end, chosen)
            found = data.timeline.nearest(seen.begin, seen.end, seen.locations if location is None else (location,))
            tick = found.before if back else found.after
            return None if tick is None else float(data.seconds(tick))

        def arrive(there: float | None) -> None:
            edge = 0.0 if back else window.length
            window.show(*stretch_at(edge if there is None else there, end - begin, back=back))

        self._looks.ask(look, arrive, lambda error: log.info("cannot search for the next event: %s", error))
