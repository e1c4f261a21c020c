"""The section for the target: where programs run, how real runs are measured, and a test of the target."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from scalegraph.base.run import SIMULATED
from scalegraph.gui.base.jobs import Latest
from scalegraph.gui.base.layouts import horizontal
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.request.form import Pairs, RequestForm
from scalegraph.gui.request.model import RequestModel
from scalegraph.gui.request.sections import Section, dress
from scalegraph.gui.request.widgets import Choice, PairsEditor
from scalegraph.link.targets import Finding, named, targets
from scalegraph.request.model.values import request_value


class TargetSection(Section):
    """The target with its Test button; for a real one also repetitions, pinning and warm-up."""

    def __init__(self, model: RequestModel) -> None:
        super().__init__(model, "Target")
        self._latest: Latest | None = None
        self.choice = Choice()
        self.choice.offer([(name, target.title) for name, target in targets().items()])
        self.choice.chosen.connect(lambda name: self.model.edit("choice of the target", target=name))
        self.test = button("Test", "Check whether the target can be used here")
        self.test.clicked.connect(self._test)
        row = QWidget()
        line = horizontal(row)
        line.addWidget(self.choice, 1)
        line.addWidget(self.test)
        row.setFocusProxy(self.choice)
        said = dress(self.choice, "target.name")
        self.add(said.label, row, ("target.name", "target"), said.tip())
        self.measures = label("", "muted", wrap=True)
        self.column.addWidget(self.measures)
        self.found = label("", "muted", wrap=True)
        self.found.setAccessibleName("What the test of the target found")
        self.found.hide()
        self.column.addWidget(self.found)
        self.ask_value("target.until")
        self.ask_value("target.pin")
        self.ask_rest("target", elsewhere=("target.name", "target.settings"))
        self._real = self.fields[1:]
        self.settings = PairsEditor("setting", self._typed, name_hint="name", add="Give a setting to the target")
        self.settings.setAccessibleName("Setting of the target")
        self.tables["target.settings"] = self.settings
        self._own = self.ask("target.settings", self.settings)
        self._shown = ""

    def set_test(self, latest: Latest) -> None:
        """Set how the Test button starts the test in another thread."""
        self._latest = latest

    def show_form(self, form: RequestForm) -> None:
        """Show *form*."""
        super().show_form(form)
        self.choice.show_value(form.target)
        known = targets().get(form.target)
        own = known.settings if known is not None else ()
        self.settings.set_names(fixed=False, known=[one.name for one in own])
        self.settings.set_hints({one.name: (one.default or "value", one.help) for one in own})
        said = request_value("target.settings").tip()
        self.settings.setToolTip("\n".join([said, *(f"{one.name}: {one.help}" for one in own)]))
        self.settings.show_pairs(form.target_settings)
        self.measures.setText(f"Measures {', '.join(known.capabilities())}." if known is not None else "")
        for field in self._real:
            field.setVisible(form.target != SIMULATED)
        self._own.setVisible(bool(form.target_settings) or bool(own))
        if form.target != self._shown:
            self._shown = form.target
            self.found.hide()

    def _typed(self, pairs: Pairs, typing: str) -> None:
        typed = f"setting {typing}" if typing else ""
        self.model.edit("change of the target's settings", typing=typed, target_settings=pairs)

    def _test(self) -> None:
        if self._latest is None:
            return
        name, settings = self.model.form.target, dict(self.model.form.target_settings)
        self.test.setEnabled(False)
        self._show("testing ..")
        self._latest.ask(lambda _reporter: named(name).reached(settings), self._tested, self._failed)

    def _tested(self, finding: Finding) -> None:
        self.test.setEnabled(True)
        advice = f": {finding.advice}" if finding.advice and finding.state != "ok" else ""
        self._show(f"{finding.found}{advice}")

    def _failed(self, error: Exception) -> None:
        self.test.setEnabled(True)
        self._show(str(error))

    def _show(self, text: str) -> None:
        self.found.setText(text)
        self.found.show()
