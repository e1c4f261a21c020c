"""Progress bars on a terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.markup import escape as escape_markup
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from scalegraph.base import events
from scalegraph.base.text import visible
from scalegraph.base.working_words import left_words
from scalegraph.cli.progress import ending, remarks, summary


def escape(text: str) -> str:
    """Return *text* with rich markup escaped and control characters visible."""
    return escape_markup(visible(text))


@contextlib.contextmanager
def runs_bar() -> Iterator[events.EventSink]:
    """Yield an event sink that shows a progress bar, erased when done."""
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
    """Yield a function that shows the completed share of *what*."""
    columns = (TextColumn("{task.description}"), BarColumn(bar_width=30), TextColumn("{task.percentage:>3.0f} %"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(what), total=1.0)
        yield lambda share: bar.update(task, completed=share)


class _Bar:
    """A bar that is erased when done; failures and remarks stay above it."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task: TaskID = bar.add_task("preparing", total=None, left="")
        self._running: dict[str, str] = {}
        self._files: TaskID | None = None  # of a build with counted files

    def __call__(self, event: events.Event) -> None:
        update = self._bar.update
        match event:
            case events.Planned():
                update(self._task, total=event.total)
            case events.Building():
                self._building(event)
            case events.RunStarted(point):
                self._running[point.key] = point.label()
                self._describe()
            case events.RunFinished() | events.RunFailed() | events.RunSkipped():
                self._running.pop(event.point.key, None)
                left = "" if isinstance(event, events.RunSkipped) else left_words(event.remaining_s)
                update(self._task, completed=event.finished, total=event.total, left=left)
                self._describe()
                for line in remarks(event):
                    self._bar.console.print(escape(line), highlight=False)
                if isinstance(event, events.RunFailed):
                    self._bar.console.print(escape(ending(event)), style="red", highlight=False)
            case events.Note(text):
                self._bar.console.print(escape(text), highlight=False)
            case events.Done(failed=failed, cancelled=cancelled):
                if text := summary(failed, cancelled=cancelled):
                    self._bar.console.print(text, highlight=False)

    def _building(self, event: events.Building) -> None:
        """Show what is being built; a build with counted files gets its own bar."""
        text = f"building {escape(event.program)}"
        if not event.of:
            self._bar.update(self._task, description=text)
            return
        if self._files is None:
            self._files = self._bar.add_task(text, total=event.of, left="")
        self._bar.update(self._files, completed=event.done, left=left_words(event.remaining_s))
        if event.done == event.of:
            self._bar.remove_task(self._files)
            self._files = None

    def _describe(self) -> None:
        names = list(self._running.values())
        text = "; ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
        self._bar.update(self._task, description=escape(text) or "running")
