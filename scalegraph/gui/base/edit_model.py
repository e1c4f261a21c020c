"""An immutable state with undo: each edit is one command; typing in one field is merged into one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand

from scalegraph.gui.base.undo import Change, UndoStack

_NO_MERGE: Final = -1
State = TypeVar("State")


class EditModel(QObject, Generic[State]):
    """Holds the current state, a frozen dataclass. Widgets show it and send edits; `undo` steps through its history."""

    changed = Signal(object)  # the new current state

    def __init__(self, state: State, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = state
        self.undo_stack = UndoStack(self)
        self._fields: dict[str, int] = {}

    @property
    def state(self) -> State:
        """The current state."""
        return self._state

    def edit(self, label: str, *, typing: str = "", **changes: Any) -> None:
        """Change fields of the state as one undoable step named *label*.

        *typing* names the field being typed in; later edits with the same name are merged into the step.
        """
        self.set(replace(self._state, **changes), label, typing)  # type: ignore[type-var]

    def set(self, state: State, label: str, typing: str = "") -> None:
        """Replace the whole state as one undoable step."""
        if state != self._state:
            number = self._fields.setdefault(typing, len(self._fields)) if typing else _NO_MERGE
            self.undo_stack.push(_Edit(self, self._state, state, label, number))

    def reset(self, state: State) -> None:
        """Start again from *state* with an empty history."""
        self.undo_stack.clear()
        self.show(state)

    def finish_typing(self) -> None:
        """End the current typing step, so that the next edit is a new one."""
        self._fields = {}

    def show(self, state: State) -> None:
        """Make *state* the current one; called by the commands."""
        self._state = state
        self.changed.emit(state)


class _Edit(Change):
    def __init__(self, model: EditModel[Any], before: Any, after: Any, label: str, number: int) -> None:
        super().__init__(label, model.show, before, after)
        self._number = number
        self._fields = model._fields  # compared by identity: typing may have ended in between

    def id(self) -> int:
        return self._number

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Edit) or other._fields is not self._fields:
            return False
        self.after = other.after
        return True
