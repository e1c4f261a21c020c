"""The third section of the request panel: machine, processors, what to collect, repetitions and limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PySide6.QtWidgets import QFileDialog, QGridLayout, QVBoxLayout, QWidget

from scalegraph.base.run import SIMULATED
from scalegraph.gui.base.widgets import label
from scalegraph.gui.request import text
from scalegraph.gui.request.form import Pairs, RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section
from scalegraph.gui.request.typed import BY_KEY
from scalegraph.gui.request.widgets import Choice, PairsEditor
from scalegraph.machine import FieldRow
from scalegraph.request.model import processes
from scalegraph.request.model.values import request_value

_FILE: Final = "\0file"
OF_RANKS: Final = ("program.threads_per_process", "program.ranks_per_node")  # shown beside the processors


class MachineSection(Section):
    """The machine with changed values, and the processor counts."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Machine")
        self._catalog = Catalog()
        self.choice = Choice()
        self.choice.chosen.connect(self._chosen)
        self.ask("machine.name", self.choice, "machine", "machine.path")
        self.summary = label("", "muted", wrap=True)
        self.column.addWidget(self.summary)
        for key in ("processors", *OF_RANKS):
            self.ask_value(key)
        self.processes = label("", "muted", wrap=True)
        self.column.addWidget(self.processes)
        self.overrides = PairsEditor("override", self._typed, name_hint="key", add="Change a value of the machine")
        self.overrides.setAccessibleName("Override")
        self.tables["machine.overrides"] = self.overrides
        self.ask("machine.overrides", self.overrides)
        self.ask_rest("machine", elsewhere=("machine.name", "machine.path", "machine.overrides"))

    def set_catalog(self, catalog: Catalog) -> None:
        """Offer the machines."""
        self._catalog = catalog
        self.show_form(self.model.form)

    def set_values(self, rows: Sequence[FieldRow]) -> None:
        """Take the chosen machine's values, for completion and display."""
        self.overrides.set_names(fixed=False, known=[row.key for row in rows])
        self.overrides.set_hints({row.key: (f"{row.value} {row.unit}".strip(), _about(row)) for row in rows})

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        super().show_form(form)
        items = [(item.name, item.title) for item in self._catalog.machines]
        current = form.machine_path or form.machine
        if current not in (value for value, _words in items):
            items.append((current, current))
        self.choice.offer([*items, (_FILE, "Machine file…")])
        self.choice.show_value(current)
        found: Any = next((item for item in self._catalog.machines if item.name == current), None)
        self.summary.setText(_room(found) if found is not None else "")
        self.summary.setVisible(found is not None)
        self._show_processes(form)
        self.overrides.show_pairs(form.overrides)

    def _show_processes(self, form: RequestForm) -> None:
        """Show the number of processes per processor count, if a process has more than one thread."""
        try:
            threads = int(getattr(form, BY_KEY[OF_RANKS[0]].attribute))
            said = processes.words(text.processors(form.processors), threads) if threads > 1 else ""
        except ValueError:
            said = ""
        self.processes.setText(f"MPI processes x threads: {said}" if said else "")
        self.processes.setVisible(bool(said))

    def choose_file(self, path: Path) -> None:
        """Load the machine described by the file at *path*."""
        self.model.edit("choice of a machine file", machine_path=str(path.resolve()), overrides=())

    def _chosen(self, value: str) -> None:
        if value == _FILE:
            path, _kind = QFileDialog.getOpenFileName(self, "Machine file", "", "Machine (*.toml);;All files (*)")
            if path:
                self.choose_file(Path(path))
            else:
                self.show_form(self.model.form)
        elif any(item.name == value for item in self._catalog.machines):
            self.model.edit("choice of the machine", machine=value, machine_path="")

    def _typed(self, pairs: Pairs, typing: str) -> None:
        self.model.edit("change of the machine", typing=f"machine {typing}" if typing else "", overrides=pairs)


def _room(machine: Any) -> str:
    """Return the limits of *machine* as text: processors in total and per process."""
    said = f"up to {machine.processors_max} processors"
    if machine.process_max < machine.processors_max:
        said += f", {machine.process_max} per process"
    return said


def _about(row: FieldRow) -> str:
    unit = f" ({row.unit})" if row.unit else ""
    return "\n".join(part for part in (f"{row.description}{unit}", f"now {row.value}", row.origin) if part)


class RunSection(Section):
    """Repetitions, schedule, what is collected, and the limits per run."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Runs")
        self.ask_value("repetitions")
        self.ask_value("schedule")
        self._schedules()
        self.ask_value("timed")
        self.ask_value("work")
        grid_of = QWidget()
        grid = QGridLayout(grid_of)  # two columns, to fit a small window
        grid.setContentsMargins(0, 0, 0, 0)
        apart = ("collect.monitor", "collect.sample")
        known = [key for key in BY_KEY if key.startswith("collect.") and key not in apart]
        for place, key in enumerate(known):
            grid.addWidget(self.editor_of(key), place // 2, place % 2)
        grid.setColumnStretch(2, 1)
        self.ask("collect", grid_of)
        self.ask_value("verify")
        self.ask_value("collect.sample").setAccessibleName("Sampling of phases that repeat")
        monitor = self.ask_value("collect.monitor")
        monitor.setAccessibleName("Monitoring on the simulated machine")
        self.ask_rest("", "limits", "schedules", elsewhere=("title", "parameters", "processors", "reference"))

    def _schedules(self) -> None:
        """Add the field of schedules to compare, and the check box for the best of each loop."""
        said = request_value("schedules.compare")
        compare, advise = self.editor_of("schedules.compare"), self.editor_of("schedules.advise")
        both = QWidget()
        both.setFocusProxy(compare)
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(compare)
        column.addWidget(advise)
        self.add(said.label, both, ("schedules.compare", "schedules.advise"), said.tip())

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        super().show_form(form)
        self.editors["schedules.advise"].setVisible(bool(form.compare.strip()))
        self.editors["verify"].setVisible(form.target == SIMULATED)
