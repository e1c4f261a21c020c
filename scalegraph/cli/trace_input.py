"""INPUT of a command that is a trace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.base.errors import Fault, InputError
from scalegraph.cli.interrupt import interruptible
from scalegraph.cli.output import echo
from scalegraph.cli.progress import share_bar
from scalegraph.request import Session

if TYPE_CHECKING:
    from scalegraph.subjects.trace import TraceData
    from scalegraph.traces.model import Trace


def are_traces(paths: Sequence[Path]) -> bool:
    """Return whether all of *paths* are traces; raises `InputError` if only some of them are."""
    from scalegraph.request.imports.kinds import is_trace

    found = [is_trace(path) for path in paths]
    if any(found) and not all(found):
        other = paths[found.index(False)]
        why = "no such file" if not other.exists() else "is not a trace, and traces can only be compared with traces"
        raise InputError(Fault(why, file=str(other)))
    return any(found)


class _Waiting:
    """Reports once, on standard error, that another process is converting the trace at *path*."""

    def __init__(self, path: Path) -> None:
        self._path, self._said = path, False

    def __call__(self, _seconds: float) -> None:
        if not self._said:
            self._said = True
            echo(f"waiting for another ScaleGraph to convert {self._path.name}", err=True)


def warn_of_damage(found: Trace) -> None:
    """Report on standard error the parts of a trace that could not be read."""
    for sentence in found.meta.damage:
        echo(f"scalegraph: damaged: {sentence}", err=True)


@contextlib.contextmanager
def open_traces(session: Session, paths: Sequence[Path], *, partial: bool = False) -> Iterator[list[TraceData]]:
    """Yield the traces at *paths*, with progress on a terminal; reports damage. Raises as `Session.open_trace`."""
    with contextlib.ExitStack() as stack:
        made = []
        for path in paths:
            with interruptible() as token, share_bar(f"reading {path.name}") as progress:
                data = session.open_trace(path, token, progress, partial=partial, waiting=_Waiting(path))
            stack.enter_context(data.trace)
            warn_of_damage(data.trace)
            made.append(data)
        yield made
