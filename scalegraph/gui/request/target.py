"""The third section of the request panel: machine, processors, what to collect, repetitions and limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PySide6.QtWidgets import QCheckBox, QFileDialog, QGridLayout, QVBoxLayout, QWidget

from scalegraph.base.run import SIMULATED
from scalegraph.gui.base.widgets import label
from scalegraph.gui.request import text
from scalegraph.gui.request.form import Pairs, RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section, dress
from scalegraph.gui.request.widgets import Choice, Entry, PairsEditor
from scalegraph.machine import FieldRow
from scalegraph.request.model import processes
from scalegraph.request.model.values import request_value

_FILE: Final = "\0file"


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
        self.processors = self.ask_text("processors", "processors")
        self.threads = self.ask_text("program.threads_per_process", "threads_per_process")
        self.ranks = self.ask_text("program.ranks_per_node", "ranks_per_node")
        self.processes = label("", "muted", wrap=True)
        self.column.addWidget(self.processes)
        self.overrides = PairsEditor("override", self._typed, name_hint="key", add="Change a value of the machine")
        self.overrides.setAccessibleName("Override")
        self.tables["machine.overrides"] = self.overrides
        self.ask("machine.overrides", self.overrides)

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
        self.setVisible(form.chosen)
        items = [(item.name, item.title) for item in self._catalog.machines]
        current = form.machine_path or form.machine
        if current not in (value for value, _words in items):
            items.append((current, current))
        self.choice.offer([*items, (_FILE, "Machine file…")])
        self.choice.show_value(current)
        found: Any = next((item for item in self._catalog.machines if item.name == current), None)
        self.summary.setText(_room(found) if found is not None else "")
        self.summary.setVisible(found is not None)
        self.processors.show_text(form.processors)
        self.threads.show_text(form.threads_per_process)
        self.ranks.show_text(form.ranks_per_node)
        self._show_processes(form)
        self.overrides.show_pairs(form.overrides)

    def _show_processes(self, form: RequestForm) -> None:
        """Show the number of processes per processor count, if a process has more than one thread."""
        try:
            counts, threads = text.processors(form.processors), int(form.threads_per_process)
        except ValueError:
            counts, threads = (), 1
        said = processes.words(counts, threads) if threads > 1 else ""
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
        self.repetitions = self.ask_text("repetitions", "repetitions")
        self.schedule = self.ask_text("schedule", "schedule")
        self.compare, self.advise = self._schedules()
        self.timed = self.ask_text("timed", "timed")
        self.work = self.ask_text("work", "work")
        self.collect = QWidget()
        grid = QGridLayout(self.collect)  # two columns, to fit a small window
        grid.setContentsMargins(0, 0, 0, 0)
        self.regions = self._check("regions")
        self.lines = self._check("lines")
        self.detail = self._choice("detail", "choice of the detail")
        self.classes = self._check("classes")
        self.sample = self._check("sample")
        for place, widget in enumerate((self.regions, self.detail, self.lines, self.classes, self.sample)):
            grid.addWidget(widget, place // 2, place % 2)
        grid.setColumnStretch(2, 1)
        self.ask("collect", self.collect)
        self.verify = QCheckBox(request_value("verify").label)
        dress(self.verify, "verify")
        self.verify.clicked.connect(lambda on: self.model.edit("choice of checking the culprits", verify=on))
        self.column.addWidget(self.verify)
        self.monitor = self._choice("monitor", "choice of the monitoring")
        self.monitor.setAccessibleName("Monitoring on the simulated machine")
        self.ask("collect.monitor", self.monitor)
        self.time_s = self.ask_text("limits.time_s", "time_s")
        self.memory = self.ask_text("limits.memory_bytes", "memory_bytes")
        self.output = self.ask_text("limits.output_bytes", "output_bytes")

    def _schedules(self) -> tuple[Entry, QCheckBox]:
        """Add the field of schedules to compare, and the check box for the best of each loop."""
        said = request_value("schedules.compare")
        compare = self.entry("compare", said.placeholder())
        dress(compare, "schedules.compare")
        advise = QCheckBox(request_value("schedules.advise").label)
        dress(advise, "schedules.advise")
        advise.clicked.connect(lambda on: self.model.edit("choice of the best schedules", advise=on))
        both = QWidget()
        both.setFocusProxy(compare)
        column = QVBoxLayout(both)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(compare)
        column.addWidget(advise)
        self.add(said.label, both, ("schedules.compare", "schedules.advise"), said.tip())
        return compare, advise

    def _choice(self, attribute: str, change: str) -> Choice:
        made = Choice()
        said = dress(made, f"collect.{attribute}")
        made.offer(list(said.choices.items()))
        made.chosen.connect(lambda value: self.model.edit(change, **{attribute: value}))
        return made

    def _check(self, attribute: str) -> QCheckBox:
        made = QCheckBox(request_value(f"collect.{attribute}").label)
        dress(made, f"collect.{attribute}")
        made.clicked.connect(lambda on: self.model.edit("choice of what is collected", **{attribute: on}))
        return made

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        self.setVisible(form.chosen)
        self.repetitions.show_text(form.repetitions)
        self.schedule.show_text(form.schedule)
        self.compare.show_text(form.compare)
        self.advise.setChecked(form.advise)
        self.advise.setVisible(bool(form.compare.strip()))
        self.timed.show_text(form.timed)
        self.work.show_text(form.work)
        self.regions.setChecked(form.regions)
        self.lines.setChecked(form.lines)
        self.classes.setChecked(form.classes)
        self.sample.setChecked(form.sample)
        self.verify.setChecked(form.verify)
        self.verify.setVisible(form.target == SIMULATED)
        self.detail.show_value(form.detail)
        self.monitor.show_value(form.monitor)
        self.time_s.show_text(form.time_s)
        self.memory.show_text(form.memory_bytes)
        self.output.show_text(form.output_bytes)
