"""Where a request's runs execute: a cluster's address, and a test of the connection."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCompleter, QGridLayout, QWidget

from scalegraph.base import events
from scalegraph.base.errors import InputError, ScaleGraphError
from scalegraph.gui.base.jobs import Latest, Reporter
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.widgets import Field, button, label
from scalegraph.gui.request.widgets import Entry
from scalegraph.link.cluster.places import PLACES, Where, check_installed, parse_line

_TIP: Final = "\n".join(
    [
        "The cluster that executes the runs; empty: this computer. Settings follow the address:",
        "slurm: partition=night workers=4",
        *(f"{place.example}: {place.title.lower()}" for place in PLACES.values()),
    ]
)


class WhereField(Field):
    """An address with settings, and the Test button."""

    def __init__(self) -> None:
        self.entry = Entry("this computer")
        self.test = button("Test", "Connect to the cluster and count its workers")
        row = QWidget()
        line = horizontal(row)
        line.addWidget(self.entry, 1)
        line.addWidget(self.test)
        row.setFocusProxy(self.entry)
        super().__init__("Runs on", row, ("on", "set"), _TIP, beside=False)
        self.entry.setAccessibleName("Runs on")
        self.entry.setToolTip(_TIP)
        completer = QCompleter([place.example for place in PLACES.values()], self)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.entry.setCompleter(completer)
        self.found = label("", "muted", wrap=True)
        self.found.setAccessibleName("What answers there")
        self.found.hide()
        grid = self.layout()
        assert isinstance(grid, QGridLayout)
        grid.addWidget(self.found, grid.rowCount(), 0, 1, 2)
        self._latest: Latest | None = None
        self._connect: Callable[..., AbstractContextManager[Any]] | None = None
        self.entry.textChanged.connect(self._typed)
        self.test.clicked.connect(self._ask)
        self._typed("")

    def set_test(self, latest: Latest, connect: Callable[..., AbstractContextManager[Any]]) -> None:
        """Set how the button connects: *connect* is `Session.elsewhere`."""
        self._latest, self._connect = latest, connect

    def show_text(self, text: str) -> None:
        """Show *text* in the field."""
        self.entry.setText(text)

    @property
    def place(self) -> Where | None:
        """The cluster typed, None for this computer; raises `InputError`."""
        return parse_line(self.entry.text())

    def check(self) -> bool:
        """Return whether runs can be sent to the address typed; if not, show why."""
        try:
            where = self.place
            if where is not None:
                check_installed(where)
        except InputError as error:
            self.show_fault("\n".join(fault.message for fault in error.faults))
            return False
        except ScaleGraphError as error:
            self.show_fault(str(error))
            return False
        self.show_fault("")
        return True

    def _typed(self, text: str) -> None:
        self.show_fault("")
        self._say("")
        self.test.setEnabled(bool(text.strip()))

    def _say(self, text: str) -> None:
        self.found.setText(text)
        self.found.setVisible(bool(text))

    def _ask(self) -> None:
        """Connect in another thread and show the result."""
        if self._latest is None or self._connect is None or not self.check():
            return
        where, connect = self.place, self._connect

        def work(reporter: Reporter) -> str:
            said: list[str] = []

            def take(event: events.Event) -> None:
                if isinstance(event, events.Note):
                    said.append(event.text)

            with connect(where, None, take, reporter.token):
                return said[-1]

        self._say(f"connecting to {where.address if where else ''} ..")
        self.test.setEnabled(False)
        self._latest.ask(work, self._answered, lambda error: self._answered("", str(error)))

    def _answered(self, text: str, fault: str = "") -> None:
        self._say(text)
        self.show_fault(fault)
        self.test.setEnabled(True)
