"""The section on traces: whether runs write one, its content, time range and locations."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.widgets import label
from scalegraph.gui.request.form import RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Section, dress
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
        self.ask_value("trace.processors")
        for key, name in (("trace.sizes", "Traced sizes"), ("trace.runs", "Traced runs")):
            self.ask_value(key).setAccessibleName(name)
        self._ask_times()
        self.ask_rest("trace", elsewhere=("trace.what",))

    def _ask_times(self) -> None:
        begin, end = request_value("trace.begin"), request_value("trace.end")
        times = QWidget()
        line = horizontal(times)
        for key, name in (("trace.begin", "Trace from"), ("trace.end", "Trace to")):
            editor = self.editor_of(key)
            editor.setAccessibleName(name)
            if key == "trace.end":
                line.addWidget(label(end.short, "muted"))
            line.addWidget(editor, 1)
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
        super().show_form(form)
        self.on.setChecked(form.trace)
        for item in self.fields:
            item.setVisible(form.trace)
        for kind, check in self.kinds.items():
            check.setChecked(kind in form.trace_what)
