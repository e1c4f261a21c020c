"""The section for several machines, splits and schedules at once: lists, with chips that add values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from scalegraph.base.units import counted
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.request import text
from scalegraph.gui.request.form import RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section
from scalegraph.gui.request.widgets import Choice
from scalegraph.request.model.values import request_value

_CHIPS: Final[dict[str, tuple[str, ...]]] = {
    "threads_per_process": ("1", "2", "4", "8", "16"),
    "schedule": ("static", "dynamic", "guided"),
    "affinity": ("close", "spread", "none"),
}
_WORDS: Final = {
    "machine": "machine",
    "threads_per_process": "split",
    "schedule": "schedule",
    "affinity": "affinity",
    "cflags": "set of flags",
}


class ChoicesSection(Section):
    """Lists of machines, splits, schedules, affinities and flags; runs every combination, or a bounded search."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Several at once", "Every combination runs into one study; Choose then compares them.")
        self.machines = Choice()
        self.machines.setAccessibleName("Add a machine")
        self.machines.chosen.connect(self._machine)
        for axis in _WORDS:
            self._list(axis)
        self.ask_value("space.budget")
        self._minimised = self.ask("space.minimise", self.editor_of("space.minimise"))
        self.ask_rest("space")
        self.count = label("", "muted", wrap=True)
        self.ask("space", self.count)

    def set_catalog(self, catalog: Catalog) -> None:
        """Offer the catalog's machines."""
        self.machines.offer([("", "Add a machine…"), *((item.name, item.title) for item in catalog.machines)])
        self.machines.show_value("")

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        super().show_form(form)
        self._minimised.setVisible(bool(form.space_budget.strip()))  # only a search minimises something
        self.count.setText(_counted(form))

    def _list(self, axis: str) -> None:
        """Add a list field, with its chips below."""
        key = f"space.{axis}"
        said = request_value(key)
        entry = self.editor_of(key)
        both = QWidget()
        both.setFocusProxy(entry)
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(entry)
        if axis == "machine":
            column.addWidget(self.machines)
        elif axis in _CHIPS:
            row = QHBoxLayout()
            row.setContentsMargins(0, 0, 0, 0)
            for value in _CHIPS[axis]:
                row.addWidget(_chip(value, tied(self, partial(self.toggle, axis, value))))
            row.addStretch(1)
            column.addLayout(row)
        self.add(said.label, both, (key,), said.tip())

    def toggle(self, axis: str, value: str) -> None:
        """Add *value* to a list, or remove it."""
        before = text.items(getattr(self.model.form, f"space_{axis}"), axis)
        after = [one for one in before if one != value] if value in before else [*before, value]
        words = "; " if any("," in one for one in after) else ", "
        self.model.edit(f"choice of a {_WORDS[axis]}", **{f"space_{axis}": words.join(after)})

    def _machine(self, name: str) -> None:
        self.machines.show_value("")
        if name:
            self.toggle("machine", name)


def _chip(value: str, clicked: Callable[..., Any]) -> QWidget:
    made = button(value, kind="link")
    made.setToolTip(f"Add or remove {value}")
    made.clicked.connect(clicked)
    return made


def _counted(form: RequestForm) -> str:
    """Return the number of combinations as text; empty if there is only one."""
    lists: Mapping[str, Sequence[str]] = {axis: text.items(getattr(form, f"space_{axis}"), axis) for axis in _WORDS}
    several = [counted(len(values), _WORDS[axis]) for axis, values in lists.items() if len(values) > 1]
    if not several:
        return "One choice: as set in the other sections."
    product = 1
    for values in lists.values():
        product *= max(1, len(values))
    return f"{' x '.join(several)}: {counted(product, 'combination')}"
