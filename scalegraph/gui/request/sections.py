"""Base class of the request panel's sections: shows the form, sends edits to the model, shows its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from scalegraph.base.asked import Declared
from scalegraph.base.errors import Fault
from scalegraph.gui.base.widgets import Field, Group
from scalegraph.gui.request.form import Pairs, RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.typed import BY_KEY
from scalegraph.gui.request.widgets import Choice, Entry, PairsEditor
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
        self.editors: dict[str, Any] = {}  # by key: those that follow from the declaration of their value

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        self.setVisible(form.chosen)
        self.show_values(form)

    def set_catalog(self, catalog: Catalog) -> None:
        """Take what can be chosen."""

    def add(self, name: str, editor: QWidget, keys: tuple[str, ...], tip: str = "", *, beside: bool = True) -> Field:
        """Add a field that shows the errors of *keys*."""
        made = self.field(name, editor, keys, tip, beside=beside)
        self.column.addWidget(made)
        return made

    def field(self, name: str, editor: QWidget, keys: tuple[str, ...], tip: str = "", *, beside: bool = True) -> Field:
        """Return a field that shows the errors of *keys*, to be placed by the caller."""
        made = Field(name, editor, keys, tip, beside=beside)
        self.fields.append(made)
        return made

    def ask(self, key: str, editor: QWidget, *also: str) -> Field:
        """Add the field of the request's value *key* with its declared label and tooltip.

        It also shows the errors of the keys *also*.
        """
        made = self.field_of(key, editor, *also)
        self.column.addWidget(made)
        return made

    def field_of(self, key: str, editor: QWidget, *also: str) -> Field:
        """Return the field of the request's value *key*, to be placed by the caller; see `ask`."""
        said = dress(editor, key)
        return self.field(said.label, editor, (key, *also), said.tip())

    def ask_value(self, key: str, *also: str, parts: QVBoxLayout | None = None) -> QWidget:
        """Add the editor that the request's value *key* needs, with its label; return the editor.

        It also shows the errors of the keys *also*. *parts*: a layout for it instead of the section's own.
        """
        made = self.editor_of(key)
        added = made if isinstance(made, QCheckBox) else self.field_of(key, made, *also)
        (parts or self.column).addWidget(added)
        return made

    def ask_rest(self, *groups: str, parts: QVBoxLayout | None = None, elsewhere: Sequence[str] = ()) -> None:
        """Add the values of *groups* of the request that have no editor here yet, but those edited *elsewhere*."""
        for key in BY_KEY:
            group = key.rpartition(".")[0]
            if group in groups and key not in (*elsewhere, *self.editors):
                self.ask_value(key, parts=parts)

    def editor_of(self, key: str) -> QWidget:
        """Return the editor that the request's value *key* needs: a check box, a choice, pairs or a line of text."""
        one = BY_KEY[key]
        said, change = one.said, f"change of {one.attribute.replace('_', ' ')}"
        made: QWidget
        if isinstance(said.default, bool):
            made = check = QCheckBox(said.label)
            check.clicked.connect(lambda on: self.model.edit(change, **{one.attribute: on}))
        elif isinstance(said.default, str) and said.choices:
            made = choice = Choice()
            choice.offer(list(said.choices.items()))
            choice.chosen.connect(lambda value: self.model.edit(change, **{one.attribute: value}))
        elif isinstance(said.default, dict):

            def typed(pairs: Pairs, typing: str) -> None:
                self.model.edit(change, typing=f"{key} {typing}" if typing else "", **{one.attribute: pairs})

            made = self.tables[key] = PairsEditor(said.label.lower(), typed)
        else:
            made = self.entry(one.attribute, said.placeholder())
        dress(made, key)
        self.editors[key] = made
        return made

    def show_values(self, form: RequestForm) -> None:
        """Show the values of *form* in the editors made by `editor_of`."""
        for key, editor in self.editors.items():
            value = getattr(form, BY_KEY[key].attribute)
            match editor:
                case QCheckBox():
                    editor.setChecked(value)
                case Choice():
                    editor.show_value(value)
                case PairsEditor():
                    editor.show_pairs(value)
                case Entry():
                    editor.show_text(value)

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

    def reach(self, key: str) -> int:
        """Return how many letters of *key* match a field or table here that can show its error; 0: none does."""
        tables = [len(prefix) + 1 for prefix in self.tables if key.startswith(f"{prefix}.")]
        index = self._field_of(key)
        fields = [len(own) for own in self.fields[index].keys if _fits(key, own)] if index is not None else []
        return max((*tables, *fields), default=0)

    def _field_of(self, key: str) -> int | None:
        best: tuple[int, int] | None = None
        for index, item in enumerate(self.fields):
            for own in item.keys:
                if _fits(key, own) and item.isVisibleTo(self) and (best is None or len(own) > best[0]):
                    best = (len(own), index)
        return None if best is None else best[1]


def _fits(key: str, own: str) -> bool:
    return bool(key) and (key == own or key.startswith(f"{own}."))
