"""Undoable changes of an owner's state, safe from Python's garbage collection."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoCommand, QUndoStack
from shiboken6 import isValid

_LOST: Final = 64  # commands merged or dropped by Qt before we drop them, too
_COMMANDS: Final[dict[int, list[QUndoCommand]]] = {}  # of each living stack


class UndoStack(QUndoStack):
    """An undo stack whose commands are never collected before it is.

    Python may break up a cycle of garbage in any order. PySide then returns a command to Python and destroys it while
    Qt's stack still holds it, and the stack's destructor crashes. So a table outside of every cycle keeps the commands
    as long as the stack lives. They must not reference the stack's owner.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        weakref.finalize(self, _COMMANDS.pop, id(self), None).atexit = False
        _COMMANDS[id(self)] = []

    def push(self, cmd: QUndoCommand) -> None:
        """Do *cmd* and push it onto the stack."""
        kept = _COMMANDS[id(self)]
        if len(kept) > 2 * self.count() + _LOST:
            kept[:] = [one for one in kept if isValid(one)]
        kept.append(cmd)
        super().push(cmd)


class Change(QUndoCommand):
    """A step named *text*: calls *take*, a method of an owner, with the state *after*, or *before* to undo it."""

    def __init__(self, text: str, take: Callable[[Any], None], before: object, after: object) -> None:
        super().__init__(text)
        self._take = weakref.WeakMethod(take)
        self.before, self.after = before, after

    def redo(self) -> None:
        """Qt: apply the change; also the first time."""
        self._give(self.after)

    def undo(self) -> None:
        """Qt: undo the change."""
        self._give(self.before)

    def _give(self, state: object) -> None:
        take = self._take()
        if take is not None:
            take(state)
