"""The dialog that shows the code a file wants to run, and asks for consent."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from scalegraph.base.text import one_line
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.queue.runner import QueueRunner
from scalegraph.gui.queue.state import QueueEntry
from scalegraph.request.consent import Consent

_SIZE: Final = (640, 360)


class ConsentDialog(QDialog):
    """Shows every item of a `Consent` in full. Neither Return nor Escape runs it."""

    def __init__(self, consent: Consent, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Run Code from This File?")
        column = QVBoxLayout(self)
        column.addWidget(label("This request runs code that you did not write here", "title"))
        source = label(
            f"It comes from {one_line(consent.source)}. Run it only if you trust who made that file.", wrap=True
        )
        column.addWidget(source)
        self.text = QPlainTextEdit("\n".join(consent.lines()))
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setAccessibleName("What would run")
        column.addWidget(self.text, 1)
        column.addWidget(
            label(
                "Your answer is remembered for exactly this: commands, options, environment and files.",
                "muted",
                wrap=True,
            )
        )
        row = QDialogButtonBox()
        self.run_button = button("Run", "Run this now, and do not ask for exactly this again")
        self.stop_button = button("Do Not Run", "Run nothing; the study or request stays open", "primary")
        row.addButton(self.run_button, QDialogButtonBox.ButtonRole.AcceptRole)
        row.addButton(self.stop_button, QDialogButtonBox.ButtonRole.RejectRole)
        row.accepted.connect(self.accept)
        row.rejected.connect(self.reject)
        column.addWidget(row)
        self.resize(*_SIZE)
        self.stop_button.setDefault(True)
        self.stop_button.setFocus()


class ConsentAsker(QObject):
    """Opens a dialog over *window* whenever a request of *runner* needs consent."""

    def __init__(self, runner: QueueRunner, window: QWidget) -> None:
        super().__init__(window)
        self._runner = runner
        self._window = window
        runner.consent_wanted.connect(self._ask)

    def _ask(self, entry: QueueEntry, consent: Consent) -> None:
        dialog = ConsentDialog(consent, self._window)
        dialog.accepted.connect(tied(self, lambda: self._runner.approve(entry)))
        dialog.rejected.connect(tied(self, lambda: self._runner.refuse(entry)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
