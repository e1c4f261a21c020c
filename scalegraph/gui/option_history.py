"""Undo for the options of views: a step for every choice, and one for a whole drag of a line that many views follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from PySide6.QtGui import QUndoCommand, QUndoStack

from scalegraph.views.view import OptionValue

Place: TypeAlias = tuple[str, str]  # name of a view, key of its study
Apply = Callable[[Place, str, OptionValue], None]


@dataclass
class _Drag:
    option: str
    before: dict[Place, OptionValue] = field(default_factory=dict)


class OptionHistory:
    """Keeps the steps of one desk of views. *apply* gives an option of the views at a place a value."""

    def __init__(self, apply: Apply) -> None:
        self.stack = QUndoStack()
        self._apply = apply
        self._drag: _Drag | None = None

    @property
    def dragging(self) -> bool:
        """Whether a drag is under way."""
        return self._drag is not None

    def changed(self, place: Place, title: str, option: str, before: OptionValue, after: OptionValue) -> None:
        """Remember a choice that has been made."""
        self.stack.push(_Change(self._apply, f"{title}: {option}", option, {place: before}, {place: after}))

    def drag(self, option: str, now: Mapping[Place, OptionValue], value: OptionValue, *, last: bool) -> None:
        """Remember that *option* is being dragged; *now* are the values in the views that follow, before this move."""
        if self._drag is None or self._drag.option != option:
            self._drag = _Drag(option, dict(now))
        if last:
            before, self._drag = self._drag.before, None
            if any(old != value for old in before.values()):
                after = dict.fromkeys(before, value)
                self.stack.push(_Change(self._apply, option, option, before, after))


class _Change(QUndoCommand):
    def __init__(
        self,
        apply: Apply,
        text: str,
        option: str,
        before: Mapping[Place, OptionValue],
        after: Mapping[Place, OptionValue],
    ) -> None:
        super().__init__(text)
        self._apply, self._option, self._before, self._after = apply, option, before, after
        self._done = True  # it is pushed when it has happened

    def redo(self) -> None:
        if self._done:
            self._done = False
            return
        self._take(self._after)

    def undo(self) -> None:
        self._take(self._before)

    def _take(self, values: Mapping[Place, OptionValue]) -> None:
        for place, value in values.items():
            self._apply(place, self._option, value)
