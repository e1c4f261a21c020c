"""What every part of the request panel is: it shows the form, asks the model for changes and takes its faults."""

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

VALUE: Final = "request value"  # property of an editor: the key of what it edits


@dataclass(frozen=True)
class Catalog:
    """What can be chosen: shipped programs by name, machines as (name, title, most processors)."""

    programs: Mapping[str, Any] = field(default_factory=dict)  # request.programs.Described
    machines: Sequence[Any] = ()  # machine.MachineSummary


def dress(editor: QWidget, key: str) -> Declared:
    """Give *editor* the tooltip of the request's value *key*, and a name where it has none; return what is declared."""
    said = request_value(key)
    editor.setToolTip(said.tip())
    editor.setProperty(VALUE, key)
    if not editor.accessibleName():
        editor.setAccessibleName(said.label)
    return said


class Section(Group):
    """A part of the panel. Faults that belong to no field of any section are shown by the panel."""

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
        """Add a field whose faults come under *keys*."""
        made = Field(name, editor, keys, tip, beside=beside)
        self.fields.append(made)
        self.column.addWidget(made)
        return made

    def ask(self, key: str, editor: QWidget, *also: str) -> Field:
        """Add the field of the request's value *key*, labelled and explained as it is declared.

        Faults of the keys *also* come there, too.
        """
        said = dress(editor, key)
        return self.add(said.label, editor, (key, *also), said.tip())

    def ask_text(self, key: str, attribute: str, *also: str) -> Entry:
        """Add the field of the request's value *key*, which the form keeps as the text *attribute*; return its editor.

        Faults of the keys *also* come there, too.
        """
        made = self.entry(attribute, request_value(key).placeholder())
        self.ask(key, made, *also)
        return made

    def entry(self, attribute: str, placeholder: str = "") -> Entry:
        """Return an editor of the form's text *attribute*."""
        made = Entry(placeholder)
        name = attribute.replace("_", " ")
        made.textEdited.connect(
            lambda text: self.model.edit(f"change of {name}", typing=attribute, **{attribute: text})
        )
        made.editingFinished.connect(self.model.finish_typing)
        return made

    def take_faults(self, faults: Sequence[Fault]) -> list[Fault]:
        """Show the faults that belong here; return the others."""
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
