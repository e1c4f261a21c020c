"""The history that undo and redo walk through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QUndoStack
from shiboken6 import isValid

from scalegraph.gui.shell.pages import IMPORT, STUDY
from scalegraph.gui.trace.handle import TraceHandle

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow


class History:
    """Knows the undo stacks of a window's parts, and which of them was changed last."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._last = ""  # edited of what is on the study page: "whatif", "views", "filter" or "arrangements"

    def edited(self, where: str) -> None:
        """Remember what was changed last: that is what undo begins with."""
        self._last = where

    @property
    def stack(self) -> QUndoStack:
        """What undo and redo walk through: edits of views or what-if settings, else those of the request."""
        window = self._window
        if window.page == IMPORT:
            return window.imports.page.undo_stack
        if window.page != STUDY:
            return window.request.model.undo_stack
        stacks: dict[str, QUndoStack | None] = {
            "views": window.study.area.undo_stack if window.study.area is not None else None,
            "filter": handle.filter.stack if isinstance(handle := window.study.handle, TraceHandle) else None,
            "arrangements": window.view_commands.saved.undo_stack if self._last == "arrangements" else None,
            "whatif": window.whatif.undo_stack if window.actions_["toggle_whatif"].isChecked() else None,
        }
        order = sorted(stacks, key=lambda where: where != self._last)
        there = [stack for where in order if (stack := stacks[where]) is not None and isValid(stack)]
        moved = [stack for stack in there if stack.canUndo() or stack.canRedo()]
        return (moved or [window.request.model.undo_stack])[0]
