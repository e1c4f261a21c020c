"""The second section of the request panel: what grows with N and what is held constant."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.widgets import Field, button, label
from scalegraph.gui.request.form import BOUND_KINDS, CUSTOM, FIXED, BoundForm, Pairs, RequestForm, bound_words
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section, dress
from scalegraph.gui.request.widgets import Choice, Entry, PairsEditor
from scalegraph.request.model.request import SEARCHED
from scalegraph.request.model.values import request_value


class GrowthSection(Section):
    """A scaling method of the program, or growth factors written out."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, request_value("scaling").label)
        self._catalog = Catalog()
        self.choice = Choice()
        self.choice.chosen.connect(self._chosen)
        self.ask("scaling.method", self.choice, "scaling")
        self.editor = PairsEditor("factor", self._typed, name_hint="parameter", value_hint="N, sqrt(N), 2 * N ..")
        self.editor.setAccessibleName("Growth factor")
        self.tables["scaling.grow"] = self.editor
        self._grow = self.ask("scaling.grow", self.editor)
        self.ask_rest("scaling", elsewhere=("scaling.method", "scaling.grow"))
        self.rule = label("", "muted", wrap=True)
        self.column.addWidget(self.rule)

    def set_catalog(self, catalog: Catalog) -> None:
        """Take the programs' methods."""
        self._catalog = catalog
        self.show_form(self.model.form)

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        super().show_form(form)
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
    """One or more quantities held constant while N grows."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, request_value("bound").label, f"{request_value('bound').help}.")
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
        line = horizontal(row)
        self.kind = Choice()
        self.kind.setAccessibleName(f"Bound {index + 1}")
        dress(self.kind, "bound.kind")
        self.kind.offer(list(request_value("bound.kind").choices.items()))
        self.kind.chosen.connect(lambda kind: self._section.change(self._index, BoundForm.of_kind(kind)))
        self.value = self._entry("value")
        self.tolerance = self._entry("tolerance")
        self.within = label(request_value("bound.tolerance").short)
        self.max_runs = self._entry("max_runs")
        self.runs_label = label(request_value("bound.max_runs").short)
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
        dress(made, f"bound.{attribute}")
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
        words = bound_words(bound.kind)
        self.kind.setToolTip(words.help)
        self.value.show_text(bound.value)
        self.value.setPlaceholderText(words.start)
        self.value.setToolTip(words.value)
        self.value.setVisible(bool(words.value))
        self.tolerance.show_text(bound.tolerance)
        self.max_runs.show_text(bound.max_runs)
        searched = bound.kind in SEARCHED
        for widget in (self.within, self.tolerance, self.runs_label, self.max_runs):
            widget.setVisible(searched)
        self.gone.setVisible(removable)
