"""Times one step of drawing a trace as the window does it, for benchmarks: query, figure, colours, drawing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scalegraph.figures.figure import Timeline
from scalegraph.gui.figures.timeline.paint import prepare
from scalegraph.gui.figures.timeline.panel import TimelinePanel
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.views import get

if TYPE_CHECKING:
    from scalegraph.subjects.trace import TraceData


@dataclass(frozen=True)
class Step:
    """Seconds per step: in the worker thread (*figure* with queries, *colours*) and in the window's thread."""

    figure: float
    colours: float
    drawing: float

    @property
    def whole(self) -> float:
        """Seconds from the move to the sharp picture."""
        return self.figure + self.colours + self.drawing


class Stepper:
    """An off-screen timeline (``QT_QPA_PLATFORM=offscreen``) of *size* pixels whose time range can be set.

    Needs a `QApplication` (`scalegraph.gui.app.make_application`).
    """

    def __init__(
        self, data: TraceData, view: str = "spacetime", size: tuple[int, int] = (1280, 720), **options: Any
    ) -> None:
        self._data, self._view, self._options = data, get(view), options
        self._window = TimeWindow(data.length, 1 / data.trace.meta.ticks_per_second)
        figure = self._view.build(data, width=size[0], **options)
        first = next(panel for panel in figure.panels if isinstance(panel, Timeline))
        self.panel = TimelinePanel(first, "light", self._window)
        self.panel.resize(*size)
        self.panel.show()
        self.panel.grab()

    def step(self, begin: float, end: float) -> Step:
        """Draw *begin* to *end* (s from the start of the run) sharply and return the time taken."""
        start = time.perf_counter()
        self._window.show(begin, end, step=False)
        width = self.panel.canvas.places.width
        figure = self._view.build(self._data, begin=begin, end=end, width=width, **self._options)
        timeline = next(panel for panel in figure.panels if isinstance(panel, Timeline))
        built = time.perf_counter()
        picture = prepare(timeline, "light")
        coloured = time.perf_counter()
        self.panel.set_timeline(timeline, picture)
        self.panel.grab()
        return Step(built - start, coloured - built, time.perf_counter() - coloured)

    def close(self) -> None:
        """Delete the panel."""
        self.panel.close()
        self.panel.deleteLater()


def steps(data: TraceData, times: Sequence[tuple[float, float]], **options: Any) -> list[Step]:
    """Return the time of each step to one of *times* (s); *options* as of `Stepper`."""
    stepper = Stepper(data, **options)
    try:
        return [stepper.step(begin, end) for begin, end in times]
    finally:
        stepper.close()
