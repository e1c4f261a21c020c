"""All views of studies and traces, built once from data of every origin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final

from scalegraph import views
from scalegraph.figures.figure import Figure
from scalegraph.views.view import Subject
from tests.views import studies, traces
from tests.views.imported import call_paths, times

DATA: Final[Mapping[Subject, Mapping[str, tuple[Callable[[], Any], ...]]]] = {
    "study": {"simulated": (studies.full,), "imported": (times, call_paths)},
    "trace": {"simulated": (traces.halves,), "measured": (traces.threads,)},
}


@cache
def built(name: str, origin: str) -> tuple[Figure, ...]:
    """Return the figures of the view *name* for all data of *origin*."""
    view = views.get(name)
    return tuple(view.build(make()) for make in DATA[view.subject][origin])


def names(subject: Subject) -> list[str]:
    """Return the names of all views of *subject*."""
    return [view.name for view in views.registry(subject).values()]


def every_figure() -> Iterator[tuple[str, Figure]]:
    """Yield every figure that is not empty, with its view's name."""
    for subject, origins in DATA.items():
        for name in names(subject):
            yield from ((name, figure) for origin in origins for figure in built(name, origin) if not figure.empty)
