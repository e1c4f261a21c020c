"""Undo for view options: one step per choice, and one per drag of a line that many views follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from scalegraph.gui.base.undo import Change, UndoStack
from scalegraph.subjects.option import OptionValue

Place: TypeAlias = tuple[str, str, str]  # name of a dock, study key, arrangement if the option belongs to one
Apply = Callable[[Place, str, OptionValue], None]


@dataclass
class _Drag:
    option: str
    before: dict[Place, OptionValue] = field(default_factory=dict)


class OptionHistory:
    """The undo steps of one desk. *apply* sets an option of the views at a place."""

    def __init__(self, apply: Apply) -> None:
        self.stack = UndoStack()
        self._apply = apply
        self._drag: _Drag | None = None

    def changed(self, place: Place, title: str, option: str, before: OptionValue, after: OptionValue) -> None:
        """Record a choice that has been made."""
        self._push(f"{title}: {option}", option, {place: before}, {place: after})

    def drag(self, option: str, now: Mapping[Place, OptionValue], value: OptionValue, *, last: bool) -> None:
        """Record that *option* is being dragged; *now* has the following views' values before this move."""
        if self._drag is None or self._drag.option != option:
            self._drag = _Drag(option, dict(now))
        if last:
            before, self._drag = self._drag.before, None
            if any(old != value for old in before.values()):
                after = dict.fromkeys(before, value)
                self._push(option, option, before, after)

    def _push(
        self, text: str, option: str, before: Mapping[Place, OptionValue], after: Mapping[Place, OptionValue]
    ) -> None:
        self.stack.push(_Choice(text, self._take, (option, before), (option, after)))

    def _take(self, choice: tuple[str, Mapping[Place, OptionValue]]) -> None:
        option, values = choice
        for place, value in values.items():
            self._apply(place, option, value)


class _Choice(Change):
    """A choice that was already made when it is pushed."""

    _made = True

    def redo(self) -> None:
        """Qt: apply the choice again."""
        if self._made:
            self._made = False
        else:
            super().redo()
