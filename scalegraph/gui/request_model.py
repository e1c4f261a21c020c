"""The request being edited, with undo: every edit is a command, typing in one field is one command."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from scalegraph.gui.request_form import RequestForm

_NO_MERGE: Final = -1


class RequestModel(QObject):
    """Holds the form in force; widgets show it and ask for changes, `undo` walks through them."""

    changed = Signal(object)  # the RequestForm now in force

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._form = RequestForm()
        self.undo_stack = QUndoStack(self)
        self._fields: dict[str, int] = {}

    @property
    def form(self) -> RequestForm:
        """What is in the panel now."""
        return self._form

    def edit(self, label: str, *, typing: str = "", **changes: Any) -> None:
        """Change fields of the form as one undoable step called *label*.

        *typing* names the field being typed in: further edits with the same name extend the step.
        """
        self.set(replace(self._form, **changes), label, typing)

    def set(self, form: RequestForm, label: str, typing: str = "") -> None:
        """Replace the whole form as one undoable step."""
        if form != self._form:
            number = self._fields.setdefault(typing, len(self._fields)) if typing else _NO_MERGE
            self.undo_stack.push(_Edit(self, self._form, form, label, number))

    def reset(self, form: RequestForm) -> None:
        """Start from *form* with an empty history."""
        self.undo_stack.clear()
        self.show(form)

    def finish_typing(self) -> None:
        """End the step of the field that was typed in: what follows is a step of its own."""
        self._fields = {}

    def show(self, form: RequestForm) -> None:
        """Put *form* in force; for the commands."""
        self._form = form
        self.changed.emit(form)


class _Edit(QUndoCommand):
    def __init__(self, model: RequestModel, before: RequestForm, after: RequestForm, label: str, number: int) -> None:
        super().__init__(label)
        self._model, self._before, self._after, self._number = model, before, after, number
        self._fields = model._fields  # identity tells whether typing was finished in between

    def id(self) -> int:
        return self._number

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Edit) or other._fields is not self._fields:
            return False
        self._after = other._after
        return True

    def redo(self) -> None:
        self._model.show(self._after)

    def undo(self) -> None:
        self._model.show(self._before)
