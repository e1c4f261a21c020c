"""The part of the request panel about traces: whether runs write one, what it holds, of which time and place."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QWidget

from scalegraph.gui.base.widgets import label
from scalegraph.gui.request.form import RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Section
from scalegraph.gui.request.widgets import Choice
from scalegraph.request.model.request import TRACE_KINDS

_COLUMNS = 3  # of checks: side by side they are wider than a small window's form
_TIME = "as in 20 ms, 0.5 s or 2e6 cycles of simulated time"


class TraceSection(Section):
    """Off by default; the fields appear when it is switched on."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Trace")
        self.on = QCheckBox("write what happened when")
        self.on.setToolTip("Each run writes a trace file next to the study; times and counts of the run stay the same")
        self.on.clicked.connect(lambda on: self.model.edit("choice of tracing", trace=on))
        self.column.addWidget(self.on)
        self.kinds = {kind: self._check(kind, text) for kind, text in TRACE_KINDS.items()}
        grid = QWidget()
        lines = QGridLayout(grid)
        lines.setContentsMargins(0, 0, 0, 0)
        for place, check in enumerate(self.kinds.values()):
            lines.addWidget(check, place // _COLUMNS, place % _COLUMNS)
        lines.setColumnStretch(_COLUMNS, 1)
        self.add("Contents", grid, ("trace", "trace.what"), "What is written down")
        self.processors = self.entry("trace_processors", "those of the request")
        self.add("Processors", self.processors, ("trace.processors",), "Counts whose runs are traced")
        self.sizes = Choice()
        self.sizes.setAccessibleName("Traced sizes")
        self.sizes.offer([("all", "all that are run"), ("base", "that of the parameters")])
        self.sizes.chosen.connect(lambda value: self.model.edit("choice of the traced sizes", trace_sizes=value))
        self.add("Sizes", self.sizes, ("trace.sizes",), "Which problem sizes are traced, where several are run")
        self.runs = Choice()
        self.runs.setAccessibleName("Traced runs")
        self.runs.offer([("actual", "actual ones"), ("all", "what-if runs and repetitions too")])
        self.runs.chosen.connect(lambda value: self.model.edit("choice of the traced runs", trace_runs=value))
        self.add("Runs", self.runs, ("trace.runs",), "Whether runs that something is ideal in are traced as well")
        self.begin = self.entry("trace_begin", "beginning")
        self.end = self.entry("trace_end", "end of the run")
        self.begin.setAccessibleName("Trace from")
        self.end.setAccessibleName("Trace to")
        times = QWidget()
        line = QHBoxLayout(times)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.begin, 1)
        line.addWidget(label("to", "muted"))
        line.addWidget(self.end, 1)
        self.add("From", times, ("trace.begin", "trace.end"), f"The part of the run that is traced, {_TIME}")
        self.region = self.entry("trace_region", "everywhere")
        self.add("Inside", self.region, ("trace.region",), "Only inside this region: its name, FILE:LINE or #ID")
        self.interval = self.entry("trace_interval", "chosen")
        self.add("Sampling", self.interval, ("trace.interval",), f"Shares and counters are added up over it, {_TIME}")
        self.limit = self.entry("trace_limit", "1 GiB")
        self.add("Size limit", self.limit, ("trace.limit",), "Bytes of events in one trace; it ends there")

    def _check(self, kind: str, text: str) -> QCheckBox:
        made = QCheckBox(kind)
        made.setToolTip(text)
        made.clicked.connect(lambda _on: self._chosen())
        return made

    def _chosen(self) -> None:
        what = tuple(kind for kind, check in self.kinds.items() if check.isChecked())
        self.model.edit("choice of what is traced", trace_what=what)

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        self.setVisible(form.chosen)
        self.on.setChecked(form.trace)
        for item in self.fields:
            item.setVisible(form.trace)
        for kind, check in self.kinds.items():
            check.setChecked(kind in form.trace_what)
        self.processors.show_text(form.trace_processors)
        self.sizes.show_value(form.trace_sizes)
        self.runs.show_value(form.trace_runs)
        self.begin.show_text(form.trace_begin)
        self.end.show_text(form.trace_end)
        self.region.show_text(form.trace_region)
        self.interval.show_text(form.trace_interval)
        self.limit.show_text(form.trace_limit)
