"""The request panel's second part: what grows with N, and what is held constant."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from scalegraph.gui.base.widgets import Field, button, label
from scalegraph.gui.request.form import BOUND_KINDS, CUSTOM, FIXED, BoundForm, Pairs, RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section
from scalegraph.gui.request.widgets import Choice, Entry, PairsEditor
from scalegraph.request.model.request import SEARCHED

BOUND_WORDS: Final = {
    "problem_size": "Fixed problem size",
    "growth": "Size grown with N",
    "memory": "Memory per processor",
    "time": "Execution time held",
    "efficiency": "Efficiency held",
    "speed": "Unit speed held",
}
_BOUND_TIPS: Final = {
    "problem_size": "Every N runs the base parameters (strong scaling)",
    "growth": "Every N runs the parameters grown for it, once",
    "memory": "The size is chosen so that every processor has this much memory of the problem (M = N B)",
    "time": "For every N the size is searched that takes this long",
    "efficiency": "For every N the size is searched that runs at this efficiency (E = T1 / (N T))",
    "speed": "For every N the size is searched at which a processor does so many operations a second (isospeed)",
}
_HINTS: Final = {"memory": "1 MiB", "time": "10 ms", "efficiency": "0.5", "speed": "10e6"}
_VALUE_NAMES: Final = {
    "memory": "bytes per processor",
    "time": "time",
    "efficiency": "efficiency E",
    "speed": "operations/s",
}


class GrowthSection(Section):
    """A scaling method of the program, or factors written down."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "What grows with N")
        self._catalog = Catalog()
        self.choice = Choice()
        self.choice.chosen.connect(self._chosen)
        self.add("Scaling method", self.choice, ("scaling", "scaling.method"), "Which parameters grow, and how, with N")
        self.editor = PairsEditor("factor", self._typed, name_hint="parameter", value_hint="N, sqrt(N), 2 * N ..")
        self.editor.setAccessibleName("Growth factor")
        self.tables["scaling.grow"] = self.editor
        self._grow = self.add("Factors", self.editor, ("scaling.grow",), "Factor of the base value as a formula in N")
        self.rule = label("", "muted", wrap=True)
        self.column.addWidget(self.rule)

    def set_catalog(self, catalog: Catalog) -> None:
        """Take the programs' methods."""
        self._catalog = catalog
        self.show_form(self.model.form)

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        self.setVisible(form.chosen)
        found = self._catalog.programs.get(form.program)
        methods = found.program.method if found is not None else ()
        items = [(item.name, f"{item.name}: {item.title}" if item.title else item.name) for item in methods]
        if form.method not in (FIXED, CUSTOM, *(value for value, _words in items)):
            items.append((form.method, form.method))
        self.choice.offer([(FIXED, "Nothing grows"), *items, (CUSTOM, "Custom growth…")])
        self.choice.show_value(form.method)
        self.editor.set_names(fixed=False, known=[name for name, _value in form.parameters])
        self.editor.show_pairs(form.grow)
        self._grow.setVisible(form.method == CUSTOM)
        chosen = next((item for item in methods if item.name == form.method), None)
        grow = chosen.grow if chosen is not None else {}
        self.rule.setText("; ".join(f"{name} × {factor}" for name, factor in grow.items()))
        self.rule.setVisible(bool(grow))

    def _chosen(self, method: str) -> None:
        grow = self.model.form.grow
        if method == CUSTOM and not grow:
            first = next((name for name, value in self.model.form.parameters if value[:1].isdigit()), "")
            grow = ((first, "N"),)
        self.model.edit("choice of what grows", method=method, grow=grow)

    def _typed(self, pairs: Pairs, typing: str) -> None:
        self.model.edit("change of the growth", typing=f"grow {typing}" if typing else "", grow=pairs)


class BoundSection(Section):
    """What is held constant while N grows; one or several."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "What is held constant", "Each bound is a scalability question of its own.")
        self._rows: list[_BoundRow] = []
        self._place = QVBoxLayout()
        self._place.setSpacing(6)
        self.column.addLayout(self._place)
        self._add = button("Add bound", kind="link")
        self._add.clicked.connect(self._add_bound)
        self.column.addWidget(self._add, 0, Qt.AlignmentFlag.AlignLeft)

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        self.setVisible(form.chosen)
        if len(form.bounds) != len(self._rows):
            for row in self._rows:
                self._place.removeWidget(row)
                row.hide()
                row.deleteLater()
            self._rows = [_BoundRow(self, index) for index in range(len(form.bounds))]
            for row in self._rows:
                self._place.addWidget(row)
            self.fields = list(self._rows)
        for row, bound in zip(self._rows, form.bounds, strict=True):
            row.show_bound(bound, removable=len(form.bounds) > 1)

    def change(self, index: int, bound: BoundForm, typing: str = "") -> None:
        """Replace the bound at *index*."""
        bounds = self.model.form.bounds
        self.model.edit("change of a bound", typing=typing, bounds=(*bounds[:index], bound, *bounds[index + 1 :]))

    def remove(self, index: int) -> None:
        """Remove the bound at *index*."""
        bounds = self.model.form.bounds
        self.model.edit("removal of a bound", bounds=bounds[:index] + bounds[index + 1 :])

    def _add_bound(self) -> None:
        there = {bound.kind for bound in self.model.form.bounds}
        kind = next((kind for kind in reversed(BOUND_KINDS) if kind not in there), "efficiency")
        self.model.edit("addition of a bound", bounds=(*self.model.form.bounds, BoundForm.of_kind(kind)))


class _BoundRow(Field):
    def __init__(self, section: BoundSection, index: int) -> None:
        self._section, self._index = section, index
        self._bound = BoundForm()
        super().__init__(f"Bound {index + 1}", self._editors(index), (f"bound.{index}",))

    def _editors(self, index: int) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        self.kind = Choice()
        self.kind.setAccessibleName(f"Bound {index + 1}")
        self.kind.offer([(kind, BOUND_WORDS[kind]) for kind in BOUND_KINDS])
        self.kind.chosen.connect(lambda kind: self._section.change(self._index, BoundForm.of_kind(kind)))
        self.value = self._entry("value")
        self.within = label("±")
        self.tolerance = self._entry("tolerance")
        self.tolerance.setToolTip("Tolerance as a fraction of the value: 0.05 is 5 %")
        self.runs_label = label("tries")
        self.max_runs = self._entry("max_runs")
        self.max_runs.setToolTip("Sizes tried for one N before the search gives up")
        for narrow in (self.tolerance, self.max_runs):
            narrow.setFixedWidth(64)
        self.gone = button("Remove", kind="flat")
        self.gone.setAccessibleName(f"Remove bound {index + 1}")
        self.gone.clicked.connect(lambda: self._section.remove(self._index))
        line.addWidget(self.kind, 2)
        line.addWidget(self.value, 1)
        for widget in (self.within, self.tolerance, self.runs_label, self.max_runs, self.gone):
            line.addWidget(widget)
        return row

    def _entry(self, attribute: str) -> Entry:
        made = Entry()
        made.setAccessibleName(f"{attribute.replace('_', ' ')} of bound {self._index + 1}")
        made.textEdited.connect(
            lambda text: self._section.change(
                self._index, replace(self._bound, **{attribute: text}), f"bound.{self._index}.{attribute}"
            )
        )
        made.editingFinished.connect(self._section.model.finish_typing)
        return made

    def show_bound(self, bound: BoundForm, *, removable: bool) -> None:
        self._bound = bound
        self.kind.show_value(bound.kind)
        self.kind.setToolTip(_BOUND_TIPS.get(bound.kind, ""))
        self.value.show_text(bound.value)
        self.value.setPlaceholderText(_HINTS.get(bound.kind, ""))
        self.value.setToolTip(_VALUE_NAMES.get(bound.kind, ""))
        self.value.setVisible(bound.kind in _HINTS)
        self.tolerance.show_text(bound.tolerance)
        self.max_runs.show_text(bound.max_runs)
        searched = bound.kind in SEARCHED
        for widget in (self.within, self.tolerance, self.runs_label, self.max_runs):
            widget.setVisible(searched)
        self.gone.setVisible(removable)
