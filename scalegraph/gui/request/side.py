"""The column beside the request form: live plan, the request as TOML, the study's path, the Run button."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPlainTextEdit, QTabWidget, QWidget

from scalegraph.base.errors import Fault
from scalegraph.base.units import counted, seconds
from scalegraph.gui.base.layouts import horizontal, vertical
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.widgets import Field, button, label
from scalegraph.gui.request.plan import PlanView
from scalegraph.gui.request.where import WhereField
from scalegraph.gui.request.widgets import Entry


class RequestSide(QWidget):
    """Shows what the request will do, and starts it."""

    run_clicked = Signal()
    load_clicked = Signal()
    save_clicked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        column = vertical(self, spacing=8)
        self.tabs = QTabWidget()
        self.tabs.setDocumentMode(True)
        self.plan = PlanView(theme)
        self.toml = QPlainTextEdit()
        self.toml.setReadOnly(True)
        self.toml.setProperty("role", "mono")
        self.toml.setAccessibleName("Request as TOML")
        self.toml.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.toml.setPlaceholderText("The request as a file appears here once it is valid")
        self.tabs.addTab(self.plan, "Plan")
        self.tabs.addTab(self.toml, "Request file")
        column.addWidget(self.tabs, 1)
        self.count = label("", "heading")
        self.notes = label("", "muted", wrap=True)
        self.faults = label("", "fault", wrap=True)
        self.faults.setAccessibleName("Faults")
        for widget in (self.count, self.notes, self.faults):
            column.addWidget(widget)
        self.study = Entry()
        self._study_typed = False
        self._study_given = False  # set with the chosen program (`set_study`), not by hand
        self.study.textEdited.connect(self._typed)
        self.where = WhereField()
        column.addWidget(self.where)
        self.study_field = Field("Study file", self._study_row(), ("study",), "Where the runs are kept", beside=False)
        column.addWidget(self.study_field)
        column.addLayout(self._buttons())

    def _study_row(self) -> QWidget:
        row = QWidget()
        line = horizontal(row)
        self.study.setAccessibleName("Study file")
        browse = button("Browse…")
        browse.clicked.connect(self._browse)
        line.addWidget(self.study, 1)
        line.addWidget(browse)
        return row

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        load = button("Load…", "Load a request from a file")
        load.clicked.connect(self.load_clicked)
        self.save = button("Save…", "Save the request as a file")
        self.save.clicked.connect(self.save_clicked)
        self.run = button("Run", "Start the runs (Ctrl+Return)", "primary")
        self.run.setMinimumWidth(110)
        self.run.clicked.connect(self.run_clicked)
        row.addWidget(load)
        row.addWidget(self.save)
        row.addStretch(1)
        row.addWidget(self.run)
        return row

    def study_path(self) -> Path | None:
        """Return the study's path, or ``None`` if nothing is typed."""
        text = self.study.text().strip()
        if not text:
            return None
        path = Path(text).expanduser()
        return path if path.suffix == ".sgstudy" else path.with_name(path.name + ".sgstudy")

    def suggest_study(self, path: Path, *, again: bool = False, other: bool = False) -> None:
        """Suggest *path* unless another was set; *again* discards what was typed.

        For an *other* program, a path from `set_study` is discarded as well.
        """
        if again or not self._study_typed or (other and self._study_given):
            self._study_given = False
            self._study_typed = False
            self.study.show_text(str(path))

    def set_study(self, path: Path) -> None:
        """Set *path* as if it had been typed."""
        self._study_typed = self._study_given = True
        self.study.show_text(str(path))

    def forget_study(self) -> None:
        """Forget the path, typed or not."""
        self._study_typed = self._study_given = False
        self.study.show_text("")

    def show_waiting(self) -> None:
        """Show that the request is being checked."""
        self.run.setEnabled(False)

    def show_plan(self, plan: Any, toml: str, remarks: Sequence[Fault]) -> None:
        """Show a valid request's plan."""
        self.plan.show_plan(plan.points, plan.searches, plan.predicted)
        runs = len(plan.points)
        count = f"{runs} to {plan.runs_at_most}" if runs else f"up to {plan.runs_at_most}"
        count = str(runs) if plan.runs_at_most <= runs else count
        how = "roughly" if plan.estimate_rough else "about"
        estimate = f", {how} {seconds(plan.estimate_s)}" if plan.estimate_s else ""
        done = f" ({plan.done} already done)" if plan.done else ""
        self.count.setText(f"{count} run{'' if count == '1' else 's'}{done}{estimate}")
        unknown = (
            []
            if plan.estimate_s is not None
            else [f"The time will be known after the first runs; the limits allow {seconds(plan.limit_s)} at most."]
        )
        self._say("\n".join([*map(_sentence, plan.notes), *unknown, *(fault.message for fault in remarks)]), "")
        self._show_toml(toml)
        self.run.setEnabled(True)
        self.save.setEnabled(True)

    def show_faults(self, faults: Sequence[Fault], total: int) -> None:
        """Show why the request cannot run: *faults* that belong to no field, and the *total* number of errors."""
        self.plan.show_plan(())
        fields = total - len(faults)
        self.count.setText(f"Fix {counted(fields, 'field')} to run" if fields else "Cannot run yet")
        self._say("", "\n".join(str(fault) for fault in faults))
        self._show_toml("")
        self.run.setEnabled(False)
        self.save.setEnabled(False)

    def show_empty(self) -> None:
        """Show that no program is chosen yet."""
        self.plan.show_plan(())
        self.count.setText("No program yet")
        self._say("Choose source files of your own, or a shipped program, which runs with its defaults.", "")
        self._show_toml("")
        self.run.setEnabled(False)
        self.save.setEnabled(False)

    def _say(self, notes: str, faults: str) -> None:
        self.notes.setText(notes)
        self.notes.setVisible(bool(notes))
        self.faults.setText(faults)
        self.faults.setVisible(bool(faults))

    def _show_toml(self, text: str) -> None:
        if self.toml.toPlainText() != text:
            self.toml.setPlainText(text)

    def _typed(self, _text: str) -> None:
        self._study_typed, self._study_given = True, False
        self.study_field.show_fault("")

    def _browse(self) -> None:
        path, _kind = QFileDialog.getSaveFileName(
            self,
            "Study file",
            self.study.text(),
            "Study (*.sgstudy)",
            options=QFileDialog.Option.DontConfirmOverwrite,  # an existing study is continued, not overwritten
        )
        if path:
            self.study.setText(path)
            self._study_typed = True


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
