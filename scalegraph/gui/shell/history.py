"""Chooses the history that undo and redo use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoStack
from shiboken6 import isValid

from scalegraph.gui.shell.pages import IMPORT, STUDY
from scalegraph.gui.trace.handle import TraceHandle

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow


class History:
    """Knows the undo stacks of the window's parts, and which was changed last."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._last = ""  # last edited part of the study page: "whatif", "views", "filter" or "arrangements"

    def edited(self, where: str) -> None:
        """Record the part changed last; undo starts with it."""
        self._last = where

    @property
    def stack(self) -> QUndoStack:
        """The stack for undo and redo: of the last edited part of the study page, else of the request."""
        window = self._window
        if window.page == IMPORT:
            return window.imports.page.undo_stack
        if window.page != STUDY:
            return window.late.model.undo_stack
        stacks: dict[str, QUndoStack | None] = {
            "views": window.study.area.undo_stack if window.study.area is not None else None,
            "filter": handle.filter.stack if isinstance(handle := window.study.handle, TraceHandle) else None,
            "arrangements": window.view_commands.saved.undo_stack if self._last == "arrangements" else None,
            "whatif": window.whatif.undo_stack if window.actions_["toggle_whatif"].isChecked() else None,
        }
        order = sorted(stacks, key=lambda where: where != self._last)
        there = [stack for where in order if (stack := stacks[where]) is not None and isValid(stack)]
        moved = [stack for stack in there if stack.canUndo() or stack.canRedo()]
        return (moved or [window.late.model.undo_stack])[0]
