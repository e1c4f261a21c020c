"""Sliders for the machine's parameters, by section, with a filter."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from scalegraph.gui.base.turn_queue import turn_queue
from scalegraph.gui.base.widgets import Group, button, empty, label
from scalegraph.gui.request.widgets import Entry
from scalegraph.gui.whatif.widgets import KnobRow
from scalegraph.machine import Machine
from scalegraph.machine.knobs import Knob, knobs
from scalegraph.request.model.values import request_value


class MachineKnobs(Group):
    """Sliders for all performance parameters of a machine."""

    moved = Signal(str, object, bool)  # key, value as text or None for the file's, whether still dragging

    def __init__(self) -> None:
        super().__init__(request_value("what_if.machine").short)
        self._rows: dict[str, KnobRow] = {}
        self._coming: list[Knob] = []  # parameters whose sliders are not yet created
        self._changed: dict[str, str] = {}
        self._heads: dict[str, QLabel] = {}
        self._of: Mapping[str, Any] = {}
        line = QHBoxLayout()
        self.filter = Entry("Find a parameter: latency, cache, lock ..")
        self.filter.setClearButtonEnabled(True)
        self.filter.setAccessibleName("Find a machine parameter")
        self.filter.textChanged.connect(self._search)
        self.reset = button("Reset", "Reset every parameter to the machine's file")
        self.reset.clicked.connect(self._reset_all)
        line.addWidget(self.filter, 1)
        line.addWidget(self.reset)
        self.column.addLayout(line)
        self._none = label("", "muted", wrap=True)
        self.column.addWidget(self._none)
        self._list = QVBoxLayout()
        self._list.setSpacing(4)
        body = QWidget()
        body.setLayout(self._list)
        self._list.setContentsMargins(0, 0, 0, 0)
        self.column.addWidget(body)

    def offer(self, values: Mapping[str, Any]) -> None:
        """Offer the parameters of the machine with these *values*, as stored in a study."""
        if values == self._of:
            return
        self._of = values
        empty(self._list)
        self._rows, self._heads, self._coming = {}, {}, []
        try:
            machine = Machine.model_validate_json(json.dumps(dict(values)))
        except (ValidationError, ValueError):
            self._none.setText("The machine of this study cannot be changed.")
            self._none.show()
            return
        self._none.hide()
        self._coming.extend(knobs(machine))
        self._make_some_soon()

    @property
    def rows(self) -> dict[str, KnobRow]:
        """The sliders by key; creates those still missing."""
        while self._coming:
            self._make_rows()
        return self._rows

    def showEvent(self, event: QShowEvent) -> None:
        """Qt: create the sliders that were not needed while nobody saw them."""
        super().showEvent(event)
        self._make_some_soon()

    def _make_some_soon(self) -> None:
        turn_queue().drop(self)
        if self._coming and self.isVisible():
            turn_queue().add(self, self._make_some, heavy=True)

    def _make_some(self) -> None:
        if self._coming:
            self._make_rows()
        self._make_some_soon()

    def _make_rows(self) -> None:
        """Create the sliders of one section."""
        section = self._coming[0].section
        head = label(section, "muted")
        self._heads[section] = head
        self._list.addWidget(head)
        for knob in [knob for knob in self._coming if knob.section == section]:
            self._coming.remove(knob)
            row = KnobRow(knob)
            row.moved.connect(self.moved)
            row.show_value(self._changed.get(knob.key))
            self._rows[knob.key] = row
            self._list.addWidget(row)
        self._search(self.filter.text())

    def show_values(self, changed: Mapping[str, str]) -> None:
        """Show the machine with the *changed* values."""
        self._changed = dict(changed)
        for key, row in self._rows.items():
            row.show_value(changed.get(key))
        self.reset.setEnabled(bool(changed))

    def _search(self, text: str) -> None:
        words = text.lower().split()
        sections = set()
        for row in self._rows.values():
            found = all(word in row.words for word in words)
            row.setVisible(found)
            if found:
                sections.add(row.knob.section)
        for section, head in self._heads.items():
            head.setVisible(section in sections)
        if self._rows:
            self._none.setText("No machine parameter matches.")
            self._none.setVisible(not sections)

    def _reset_all(self) -> None:
        for key, row in self.rows.items():
            if row.reset.isEnabled():
                self.moved.emit(key, None, False)
