"""Base class of the request panel's sections: shows the form, sends edits to the model, shows its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from PySide6.QtWidgets import QWidget

from scalegraph.base.asked import Declared
from scalegraph.base.errors import Fault
from scalegraph.gui.base.widgets import Field, Group
from scalegraph.gui.request.form import RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.widgets import Entry, PairsEditor
from scalegraph.request.model.values import request_value

VALUE: Final = "request value"  # property of an editor: key of the value it edits


@dataclass(frozen=True)
class Catalog:
    """What can be chosen: shipped programs by name, and machines."""

    programs: Mapping[str, Any] = field(default_factory=dict)  # request.programs.Described
    machines: Sequence[Any] = ()  # machine.MachineSummary


def dress(editor: QWidget, key: str) -> Declared:
    """Set the tooltip, and if missing the name, of *editor* from the request's value *key*; return its declaration."""
    said = request_value(key)
    editor.setToolTip(said.tip())
    editor.setProperty(VALUE, key)
    if not editor.accessibleName():
        editor.setAccessibleName(said.label)
    return said


class Section(Group):
    """A section of the panel. Errors that belong to no section's field are shown by the panel."""

    def __init__(self, model: RequestModel, heading: str, sentence: str = "") -> None:
        super().__init__(heading, sentence)
        self.model = model
        self.fields: list[Field] = []
        self.tables: dict[str, PairsEditor] = {}  # by key prefix

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        raise NotImplementedError

    def set_catalog(self, catalog: Catalog) -> None:
        """Take what can be chosen."""

    def add(self, name: str, editor: QWidget, keys: tuple[str, ...], tip: str = "", *, beside: bool = True) -> Field:
        """Add a field that shows the errors of *keys*."""
        made = Field(name, editor, keys, tip, beside=beside)
        self.fields.append(made)
        self.column.addWidget(made)
        return made

    def ask(self, key: str, editor: QWidget, *also: str) -> Field:
        """Add the field of the request's value *key* with its declared label and tooltip.

        It also shows the errors of the keys *also*.
        """
        said = dress(editor, key)
        return self.add(said.label, editor, (key, *also), said.tip())

    def ask_text(self, key: str, attribute: str, *also: str) -> Entry:
        """Add a text field for the request's value *key*, stored in the form's *attribute*; return its editor.

        It also shows the errors of the keys *also*.
        """
        made = self.entry(attribute, request_value(key).placeholder())
        self.ask(key, made, *also)
        return made

    def entry(self, attribute: str, placeholder: str = "") -> Entry:
        """Return an editor for the form's text *attribute*."""
        made = Entry(placeholder)
        name = attribute.replace("_", " ")
        made.textEdited.connect(
            lambda text: self.model.edit(f"change of {name}", typing=attribute, **{attribute: text})
        )
        made.editingFinished.connect(self.model.finish_typing)
        return made

    def take_faults(self, faults: Sequence[Fault]) -> list[Fault]:
        """Show the errors of this section's fields; return the others."""
        left: list[Fault] = []
        by_field: dict[int, list[str]] = {}
        by_table: dict[str, dict[str, str]] = {prefix: {} for prefix in self.tables}
        for fault in faults:
            prefix = next((p for p in self.tables if fault.key.startswith(p + ".")), "")
            name = fault.key[len(prefix) + 1 :]
            if prefix and self.tables[prefix].isVisibleTo(self) and name in self.tables[prefix].names():
                by_table[prefix][name] = fault.message
                continue
            index = self._field_of(fault.key)
            if index is None:
                left.append(fault)
            else:
                by_field.setdefault(index, []).append(fault.message)
        for index, item in enumerate(self.fields):
            item.show_fault("\n".join(by_field.get(index, ())))
        for prefix, table in self.tables.items():
            table.show_faults(by_table[prefix])
        return left

    def _field_of(self, key: str) -> int | None:
        best: tuple[int, int] | None = None
        for index, item in enumerate(self.fields):
            for own in item.keys:
                fits = bool(key) and (key == own or key.startswith(own + "."))
                if fits and item.isVisibleTo(self) and (best is None or len(own) > best[0]):
                    best = (len(own), index)
        return None if best is None else best[1]
