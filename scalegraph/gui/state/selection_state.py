"""The selection and its history; independent of Qt, so it can be tested and reused without a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

_HISTORY_LIMIT = 200  # steps back; nobody goes further


@dataclass(frozen=True)
class Selection:
    """The selection shared by all views. ``None``: nothing of that kind is selected.

    *study* is the key of an open study (`StudyHandle.key`), *processors* an N, *region* a region id of that study,
    *cell* a matrix cell as (N of the row, N of the column), *line* a source line as (file, number from 1). *call_path*
    is a full name (``main->solve``) and *metric* a name; these mean the same in every open set.

    If *study* is the key of an open trace, *interval* is (first, last) in its ticks, and *location* and *region* are
    numbers of its locations and regions.
    """

    study: str | None = None
    processors: int | None = None
    region: int | None = None
    cell: tuple[int, int] | None = None
    line: tuple[str, int] | None = None
    call_path: str | None = None
    metric: str | None = None
    interval: tuple[int, int] | None = None
    location: int | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing but the study is selected."""
        return all(getattr(self, item.name) is None for item in fields(self) if item.name != "study")


class SelectionState:
    """The current selection and its history; back and forward work as in a browser."""

    def __init__(self) -> None:
        self._past: list[Selection] = []
        self._future: list[Selection] = []
        self._current = Selection()
        self._listeners: list[Callable[[Selection], None]] = []

    @property
    def current(self) -> Selection:
        """The current selection."""
        return self._current

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier selection."""
        return bool(self._past)

    @property
    def can_go_forward(self) -> bool:
        """Whether there is a `back` to undo."""
        return bool(self._future)

    def subscribe(self, listener: Callable[[Selection], None]) -> Callable[[], None]:
        """Call *listener* after every change; return a function that ends this."""
        self._listeners.append(listener)

        def end() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return end

    def select(self, **changes: Any) -> None:
        """Change the given parts (``select(processors=8)``); a new study clears parts specific to the old one.

        Raises `TypeError` for an unknown part.
        """
        base = self._current
        if "study" in changes and changes["study"] != base.study:
            # An N or a name means the same in two studies, so it is kept for comparison; a region or a cell is not.
            base = Selection(processors=base.processors, call_path=base.call_path, metric=base.metric)
        # A cell stands for two N: selecting a cell clears the single N, and vice versa.
        if changes.get("processors") is not None and "cell" not in changes:
            base = replace(base, cell=None)
        if changes.get("cell") is not None and "processors" not in changes:
            base = replace(base, processors=None)
        # A region and a call path both name a place: selecting one clears the other.
        if changes.get("region") is not None and "call_path" not in changes:
            base = replace(base, call_path=None)
        if changes.get("call_path") is not None and "region" not in changes:
            base = replace(base, region=None)
        self._move_to(replace(base, **changes))

    def clear(self) -> None:
        """Clear everything but the current study."""
        self._move_to(Selection(study=self._current.study))

    def back(self) -> None:
        """Return to the previous selection, if there is one."""
        if self._past:
            self._future.append(self._current)
            self._set(self._past.pop())

    def forward(self) -> None:
        """Undo one `back`."""
        if self._future:
            self._past.append(self._current)
            self._set(self._future.pop())

    def forget(self, study: str) -> None:
        """Remove a closed study from the history."""
        self._past = [item for item in self._past if item.study != study]
        self._future = [item for item in self._future if item.study != study]
        if self._current.study == study:
            self._set(Selection())

    def _move_to(self, selection: Selection) -> None:
        if selection == self._current:
            return
        if self._current != Selection():
            self._past.append(self._current)
            del self._past[:-_HISTORY_LIMIT]
        self._future.clear()
        self._set(selection)

    def _set(self, selection: Selection) -> None:
        self._current = selection
        for listener in list(self._listeners):
            listener(selection)
