"""The event stream of a running request, used by terminal progress and the window alike.

Order: ``Planned``, then for every point ``RunStarted`` and one of ``RunFinished`` / ``RunFailed`` /
``RunSkipped`` (already in the study), ``Note`` at any time, and ``Done`` exactly once at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from scalegraph.base.run import RunPoint, RunRecord


@dataclass(frozen=True)
class Planned:
    """The planned points. A search adds points later with another ``Planned``; *points* is the whole list so far.

    *runs* is the number of runs: more than *points* if some are repeated for their traces.
    """

    points: tuple[RunPoint, ...]
    estimate_s: float | None = None
    runs: int = 0

    @property
    def total(self) -> int:
        """Number of runs so far, at least the number of points."""
        return max(self.runs, len(self.points))


@dataclass(frozen=True)
class Building:
    """The user's program, or on first use the simulator, is being compiled.

    *done* files *of* so many are compiled; *remaining_s*: seconds left, None if unknown. Files are counted unless *of*
    is 0.
    """

    program: str
    done: int = 0
    of: int = 0
    remaining_s: float | None = None


@dataclass(frozen=True)
class RunStarted:
    """A run has started; *where*: on which worker, empty for this host. It starts again if that worker is lost."""

    point: RunPoint
    where: str = ""


@dataclass(frozen=True)
class RunFinished:
    """A run succeeded and is in the study."""

    point: RunPoint
    record: RunRecord
    finished: int
    total: int
    remaining_s: float | None = None


@dataclass(frozen=True)
class RunFailed:
    """A run failed; the others continue."""

    point: RunPoint
    message: str
    record: RunRecord | None
    finished: int
    total: int
    remaining_s: float | None = None


@dataclass(frozen=True)
class RunSkipped:
    """The study already has this run."""

    point: RunPoint
    finished: int
    total: int


@dataclass(frozen=True)
class Workers:
    """The cluster *where* now has *workers* with *slots* for concurrent runs; *idle* of them have no run.

    May be sent from any thread.
    """

    where: str
    workers: int
    slots: int
    idle: int = 0


@dataclass(frozen=True)
class Note:
    """A sentence worth showing (a decision of a search, a compiler warning)."""

    text: str


@dataclass(frozen=True)
class Done:
    """The request is over."""

    finished: int
    failed: int
    cancelled: bool = False
    messages: tuple[str, ...] = field(default=())


Event: TypeAlias = Planned | Building | RunStarted | RunFinished | RunFailed | RunSkipped | Workers | Note | Done
EventSink: TypeAlias = Callable[[Event], None]


def ignore(_event: Event) -> None:
    """Ignore events."""


_build_sinks: list[EventSink] = []


@contextmanager
def builds_shown(sink: EventSink) -> Iterator[None]:
    """Send builds without a sink of their own, such as those that queries need, to *sink* inside the block."""
    _build_sinks.append(sink)
    try:
        yield
    finally:
        _build_sinks.remove(sink)


def build_sink() -> EventSink:
    """Return the sink for builds without their own."""
    return _build_sinks[-1] if _build_sinks else ignore
