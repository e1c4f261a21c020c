"""The request panel's third part: machine, processors, what to collect, repetitions and limits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from PySide6.QtWidgets import QCheckBox, QFileDialog, QGridLayout, QWidget

from scalegraph.gui.base.widgets import label
from scalegraph.gui.request.form import Pairs, RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Catalog, Section
from scalegraph.gui.request.widgets import Choice, PairsEditor
from scalegraph.machine import FieldRow

_FILE: Final = "\0file"


class MachineSection(Section):
    """The machine with overrides, and the processor counts."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Machine")
        self._catalog = Catalog()
        self.choice = Choice()
        self.choice.chosen.connect(self._chosen)
        self.add("Machine", self.choice, ("machine", "machine.name", "machine.path"), "A shipped machine or a file")
        self.summary = label("", "muted", wrap=True)
        self.column.addWidget(self.summary)
        self.processors = self.entry("processors", "1, 2, 4, 8, 16, 32")
        self.add("Processors N", self.processors, ("processors",), "Counts with commas, ranges as 1-16")
        self.overrides = PairsEditor("override", self._typed, name_hint="key", add="Change a value of the machine")
        self.overrides.setAccessibleName("Override")
        self.tables["machine.overrides"] = self.overrides
        self.add("Overrides", self.overrides, ("machine.overrides",), "Values that apply to this request only")

    def set_catalog(self, catalog: Catalog) -> None:
        """Offer the machines."""
        self._catalog = catalog
        self.show_form(self.model.form)

    def set_values(self, rows: Sequence[FieldRow]) -> None:
        """Take the values of the chosen machine: their keys complete what is typed, they themselves are shown."""
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
        self.summary.setText(f"up to {found.processors_max} processors" if found is not None else "")
        self.summary.setVisible(found is not None)
        self.processors.show_text(form.processors)
        self.overrides.show_pairs(form.overrides)

    def choose_file(self, path: Path) -> None:
        """Take the machine described by the file at *path*."""
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


def _about(row: FieldRow) -> str:
    unit = f" ({row.unit})" if row.unit else ""
    return "\n".join(part for part in (f"{row.description}{unit}", f"now {row.value}", row.origin) if part)


MONITORS: Final = {
    "none": "none: free of cost",
    "software": "software: inserted probes",
    "hardware": "hardware: event counters",
}
MONITORING: Final = (
    "Who observes the regions on the simulated machine itself. Software and hardware monitoring take simulated time at "
    "the beginning and end of every region (monitor.probe_cycles and monitor.counter_cycles of the machine)"
)


class RunSection(Section):
    """Repetitions, schedule, what is collected, and the limits of one run."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Runs")
        self.repetitions = self.entry("repetitions", "1")
        self.add("Repetitions", self.repetitions, ("repetitions",), "Repetitions of each run; the simulator needs one")
        self.schedule = self.entry("schedule", "as written in the program")
        self.schedule.setToolTip("For loops with schedule(runtime): static, dynamic, guided or auto, and a chunk size")
        self.add("Loop schedule", self.schedule, ("schedule",))
        self.timed = self.entry("timed", "the whole run only")
        self.add(
            "Timed part",
            self.timed,
            ("timed",),
            "Show time, speedup and efficiency of a part too: a region (loop main:40, FILE:LINE or a phase's name), or "
            "clock, what the program times itself",
        )
        self.collect = QWidget()
        grid = QGridLayout(self.collect)  # two by two: side by side they are wider than a small window's form
        grid.setContentsMargins(0, 0, 0, 0)
        self.regions = self._check("costs by region", "regions")
        self.lines = self._check("costs by source line", "lines")
        self.detail = Choice()
        self.detail.setAccessibleName("Which loops become regions")
        self.detail.offer([("outer", "outer loops"), ("all", "all loops"), ("functions", "functions only")])
        self.detail.chosen.connect(lambda value: self.model.edit("choice of the detail", detail=value))
        self.classes = self._check("misses by class", "classes")
        self.classes.setToolTip("Cold, capacity, conflict, true and false sharing; runs take up to ten times longer")
        for place, widget in enumerate((self.regions, self.detail, self.lines, self.classes)):
            grid.addWidget(widget, place // 2, place % 2)
        grid.setColumnStretch(2, 1)
        self.add("Collect", self.collect, ("collect",), "What each run records in addition to its totals")
        self.monitor = Choice()
        self.monitor.setAccessibleName("Monitoring on the simulated machine")
        self.monitor.offer([(kind, words) for kind, words in MONITORS.items()])
        self.monitor.chosen.connect(lambda value: self.model.edit("choice of the monitoring", monitor=value))
        self.add("Monitoring", self.monitor, ("collect.monitor",), MONITORING)
        self.time_s = self.entry("time_s", "10 min")
        self.add("Time limit", self.time_s, ("limits.time_s",), "Longest time that one run may take on this computer")
        self.memory = self.entry("memory_bytes", "8 GiB")
        self.add(
            "Memory limit", self.memory, ("limits.memory_bytes",), "Most memory that one run may use on this computer"
        )
        self.output = self.entry("output_bytes", "16 MiB")
        self.add("Output kept", self.output, ("limits.output_bytes",), "Most bytes of printed output kept for each run")

    def _check(self, words: str, attribute: str) -> QCheckBox:
        made = QCheckBox(words)
        made.clicked.connect(lambda on: self.model.edit("choice of what is collected", **{attribute: on}))
        return made

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        self.setVisible(form.chosen)
        self.repetitions.show_text(form.repetitions)
        self.schedule.show_text(form.schedule)
        self.timed.show_text(form.timed)
        self.regions.setChecked(form.regions)
        self.lines.setChecked(form.lines)
        self.classes.setChecked(form.classes)
        self.detail.show_value(form.detail)
        self.monitor.show_value(form.monitor)
        self.time_s.show_text(form.time_s)
        self.memory.show_text(form.memory_bytes)
        self.output.show_text(form.output_bytes)
