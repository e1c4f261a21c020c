"""The request being edited, with undo."""

from __future__ import annotations

from PySide6.QtCore import QObject

from scalegraph.gui.base.edit_model import EditModel
from scalegraph.gui.request.form import RequestForm


class RequestModel(EditModel[RequestForm]):
    """Holds the current form. Widgets show it and send edits; `undo` steps through its history."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(RequestForm(), parent)

    @property
    def form(self) -> RequestForm:
        """The panel's current content."""
        return self.state
