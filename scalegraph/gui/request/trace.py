"""The section on traces: whether runs write one, its content, time range and locations."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.widgets import label
from scalegraph.gui.request.form import RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Section, dress
from scalegraph.gui.request.widgets import Choice
from scalegraph.request.model.values import request_value

_COLUMNS = 3  # of check boxes, to fit a small window


class TraceSection(Section):
    """Off by default; switching it on shows the fields."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Trace")
        self.on = QCheckBox(request_value("trace").label)
        dress(self.on, "trace")
        self.on.clicked.connect(lambda on: self.model.edit("choice of tracing", trace=on))
        self.column.addWidget(self.on)
        self.kinds = {kind: self._check(kind, text) for kind, text in request_value("trace.what").choices.items()}
        grid = QWidget()
        lines = QGridLayout(grid)
        lines.setContentsMargins(0, 0, 0, 0)
        for place, check in enumerate(self.kinds.values()):
            lines.addWidget(check, place // _COLUMNS, place % _COLUMNS)
        lines.setColumnStretch(_COLUMNS, 1)
        self.ask("trace.what", grid, "trace")
        self.processors = self.ask_text("trace.processors", "trace_processors")
        self.sizes = self._choice("trace.sizes", "Traced sizes")
        self.runs = self._choice("trace.runs", "Traced runs")
        self._ask_times()
        self.region = self.ask_text("trace.region", "trace_region")
        self.interval = self.ask_text("trace.interval", "trace_interval")
        self.limit = self.ask_text("trace.limit", "trace_limit")

    def _choice(self, key: str, name: str) -> Choice:
        made = Choice()
        made.setAccessibleName(name)
        made.offer(list(request_value(key).choices.items()))
        attribute = key.replace(".", "_")
        made.chosen.connect(lambda value: self.model.edit(f"choice of the {name.lower()}", **{attribute: value}))
        self.ask(key, made)
        return made

    def _ask_times(self) -> None:
        begin, end = request_value("trace.begin"), request_value("trace.end")
        self.begin = self.entry("trace_begin", begin.placeholder())
        self.end = self.entry("trace_end", end.placeholder())
        times = QWidget()
        line = horizontal(times)
        for editor, key, name in ((self.begin, "trace.begin", "Trace from"), (self.end, "trace.end", "Trace to")):
            editor.setAccessibleName(name)
            dress(editor, key)
        line.addWidget(self.begin, 1)
        line.addWidget(label(end.short, "muted"))
        line.addWidget(self.end, 1)
        self.add(begin.label, times, ("trace.begin", "trace.end"), begin.tip())

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
