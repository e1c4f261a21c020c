"""Progress on standard error: a bar with count and remaining time on a terminal, otherwise plain lines."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from scalegraph.base.events import (
    Building,
    Done,
    Event,
    EventSink,
    Note,
    Planned,
    RunFailed,
    RunFinished,
    RunSkipped,
    builds_shown,
)
from scalegraph.base.units import counted, seconds, si
from scalegraph.base.working_words import building_words, left_words
from scalegraph.cli.output import echo, on_terminal

_BUILD_LINES_S = 2.0  # between two lines on the progress of a build


@contextlib.contextmanager
def progress(*, quiet: bool = False) -> Iterator[EventSink]:
    """Yield an event sink that shows progress on standard error; *quiet* keeps only failures and remarks."""
    with contextlib.ExitStack() as stack:
        if quiet or not on_terminal(err=True):
            sink: EventSink = _Lines(quiet=quiet)
        else:
            from scalegraph.cli.bars import runs_bar  # rich is for terminals only

            sink = stack.enter_context(runs_bar())
        stack.enter_context(builds_shown(sink))
        yield sink


class Unrecorded:
    """An event sink that forwards to *sink* and counts (*count*) failed runs that left no record."""

    def __init__(self, sink: EventSink) -> None:
        self._sink, self.count = sink, 0

    def __call__(self, event: Event) -> None:
        """Process an event."""
        self.count += isinstance(event, RunFailed) and event.record is None
        self._sink(event)


@contextlib.contextmanager
def share_bar(what: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows the completed share of *what* on a terminal; elsewhere it does nothing."""
    if not on_terminal(err=True):
        yield lambda _share: None
        return
    from scalegraph.cli.bars import share_bar as drawn

    with drawn(what) as show:
        yield show


def ending(event: RunFinished | RunFailed | RunSkipped) -> str:
    """Return the outcome of a run in words."""
    name = event.point.label()
    if isinstance(event, RunSkipped):
        return f"{name}: already in the study"
    if isinstance(event, RunFailed):
        return f"{name}: failed: {event.message}"
    record = event.record
    return f"{name}: {si(record.time_s, 's')} {record.source}, {seconds(record.host_s)} here"


def remarks(event: RunFinished | RunFailed | RunSkipped) -> list[str]:
    """Return the warnings in the run's record, one line each."""
    record = None if isinstance(event, RunSkipped) else event.record
    return [f"{event.point.label()}: {warning}" for warning in record.warnings] if record else []


class _Lines:
    """One line per event."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._total = 0
        self._next_line = 0.0

    def __call__(self, event: Event) -> None:
        text = self._text(event)
        if text and (not self._quiet or isinstance(event, RunFailed | Note)):
            echo(text, err=True)

    def _text(self, event: Event) -> str:
        match event:
            case Planned(estimate_s=estimate_s):
                return self._planned(event.total, f", about {seconds(estimate_s)}" if estimate_s else "")
            case Building():
                return self._building(event)
            case RunFinished() | RunFailed() | RunSkipped():
                left = left_words(None if isinstance(event, RunSkipped) else event.remaining_s)
                count = f"[{event.finished}/{event.total}]"
                return "\n".join([f"{count} {ending(event)}" + (f" ({left})" if left else ""), *remarks(event)])
            case Note(text):
                return text
            case Done(failed=failed, cancelled=cancelled):
                return summary(failed, cancelled=cancelled)
        return ""

    def _building(self, event: Building) -> str:
        """Return the progress of a build; empty if a line was printed less than two seconds ago."""
        now = time.monotonic()
        if event.of and 0 < event.done < event.of and now < self._next_line:
            return ""
        self._next_line = now + _BUILD_LINES_S
        return building_words(event)

    def _planned(self, total: int, about: str) -> str:
        """Return what is planned; from the second time on, what was added."""
        more, self._total = total - self._total, max(total, self._total)
        if more == total:
            return f"{counted(total, 'run')} planned{about}"
        return f"{counted(more, 'more run')}, {total} in all{about}" if more > 0 else ""


def summary(failed: int, *, cancelled: bool) -> str:
    """Return how a request ended, in words; empty if it is complete."""
    if cancelled:
        return "interrupted; finished runs are kept"
    return f"{counted(failed, 'run')} failed" if failed else ""
