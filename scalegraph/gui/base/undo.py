"""Steps that can be undone: between two states of an owner, safe from Python's garbage collection."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoCommand, QUndoStack
from shiboken6 import isValid

_LOST: Final = 64  # commands that Qt has merged or forgotten, before we forget them, too
_COMMANDS: Final[dict[int, list[QUndoCommand]]] = {}  # of each stack that there is


class UndoStack(QUndoStack):
    """A stack whose commands are never garbage before it is.

    Python may take apart a cycle of garbage in any order. PySide then gives a command back to Python and destroys it
    while Qt's stack still has it, and the destructor of the stack ends the program. Here something outside of every
    cycle has the commands as long as there is the stack; so they must not reference the owner of the stack.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        weakref.finalize(self, _COMMANDS.pop, id(self), None).atexit = False
        _COMMANDS[id(self)] = []

    def push(self, cmd: QUndoCommand) -> None:
        """Do *cmd* and remember it."""
        kept = _COMMANDS[id(self)]
        if len(kept) > 2 * self.count() + _LOST:
            kept[:] = [one for one in kept if isValid(one)]
        kept.append(cmd)
        super().push(cmd)


class Change(QUndoCommand):
    """A step called *text* that gives *take*, a method of an owner, the state *after*, or *before* to undo it."""

    def __init__(self, text: str, take: Callable[[Any], None], before: object, after: object) -> None:
        super().__init__(text)
        self._take = weakref.WeakMethod(take)
        self.before, self.after = before, after

    def redo(self) -> None:
        """Qt: do it, also for the first time."""
        self._give(self.after)

    def undo(self) -> None:
        """Qt: go back."""
        self._give(self.before)

    def _give(self, state: object) -> None:
        take = self._take()
        if take is not None:
            take(state)
