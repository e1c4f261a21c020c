"""Progress on standard error: a bar with count and time left on a terminal, plain lines otherwise."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

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
    RunStarted,
)
from scalegraph.base.units import seconds, si


@contextlib.contextmanager
def progress(*, quiet: bool = False) -> Iterator[EventSink]:
    """Yield a sink of events that shows them on standard error; *quiet* leaves only failures and remarks."""
    if quiet or not sys.stderr.isatty():
        yield _Lines(quiet=quiet)
        return
    console = Console(stderr=True)
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", style="dim"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar)


@contextlib.contextmanager
def share_bar(what: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that shows which share of *what* is done, on a terminal; elsewhere it shows nothing."""
    if not sys.stderr.isatty():
        yield lambda _share: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(what), total=1.0)
        yield lambda share: bar.update(task, completed=share)


def ending(event: RunFinished | RunFailed | RunSkipped) -> str:
    """Return what became of a run, in words."""
    name = event.point.label()
    if isinstance(event, RunSkipped):
        return f"{name}: already in the study"
    if isinstance(event, RunFailed):
        return f"{name}: failed: {event.message}"
    record = event.record
    return f"{name}: {si(record.time_s, 's')} simulated, {seconds(record.host_s)} here"


def remarks(event: RunFinished | RunFailed | RunSkipped) -> list[str]:
    """Return what the run's record warns of, one line each."""
    record = None if isinstance(event, RunSkipped) else event.record
    return [f"{event.point.label()}: {warning}" for warning in record.warnings] if record else []


def _left(remaining_s: float | None) -> str:
    return f"{seconds(remaining_s)} left" if remaining_s and remaining_s >= 1 else ""


class _Lines:
    """One line for everything that happens."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._total = 0

    def __call__(self, event: Event) -> None:
        text = self._text(event)
        if text and (not self._quiet or isinstance(event, RunFailed | Note)):
            click.echo(text, err=True)

    def _text(self, event: Event) -> str:
        match event:
            case Planned(estimate_s=estimate_s):
                return self._planned(event.total, f", about {seconds(estimate_s)}" if estimate_s else "")
            case Building(program):
                return f"building {program}"
            case RunFinished() | RunFailed() | RunSkipped():
                left = _left(None if isinstance(event, RunSkipped) else event.remaining_s)
                count = f"[{event.finished}/{event.total}]"
                return "\n".join([f"{count} {ending(event)}" + (f" ({left})" if left else ""), *remarks(event)])
            case Note(text):
                return text
            case Done(failed=failed, cancelled=cancelled):
                return _summary(failed, cancelled=cancelled)
        return ""

    def _planned(self, total: int, about: str) -> str:
        """Return what is planned; after the first time, what was added."""
        more, self._total = total - self._total, max(total, self._total)
        if more == total:
            return f"{total} run{'s' if total != 1 else ''} planned{about}"
        return f"{more} more run{'s' if more != 1 else ''}, {total} in all{about}" if more > 0 else ""


class _Bar:
    """A bar that is wiped when done; failures and remarks stay above it."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID = bar.add_task("preparing", total=None, left="")
        self._running: dict[str, str] = {}

    def __call__(self, event: Event) -> None:
        update = self._bar.update
        match event:
            case Planned():
                update(self._task, total=event.total)
            case Building(program):
                update(self._task, description=f"building {escape(program)}")
            case RunStarted(point):
                self._running[point.key] = point.label()
                self._describe()
            case RunFinished() | RunFailed() | RunSkipped():
                self._running.pop(event.point.key, None)
                left = "" if isinstance(event, RunSkipped) else _left(event.remaining_s)
                update(self._task, completed=event.finished, total=event.total, left=left)
                self._describe()
                for line in remarks(event):
                    self._bar.console.print(escape(line), highlight=False)
                if isinstance(event, RunFailed):
                    self._bar.console.print(escape(ending(event)), style="red", highlight=False)
            case Note(text):
                self._bar.console.print(escape(text), highlight=False)
            case Done(failed=failed, cancelled=cancelled):
                if text := _summary(failed, cancelled=cancelled):
                    self._bar.console.print(text, highlight=False)

    def _describe(self) -> None:
        names = list(self._running.values())
        text = "; ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
        self._bar.update(self._task, description=escape(text) or "running")


def _summary(failed: int, *, cancelled: bool) -> str:
    if cancelled:
        return "interrupted; what was finished is kept"
    return f"{failed} run{'s' if failed != 1 else ''} failed" if failed else ""
