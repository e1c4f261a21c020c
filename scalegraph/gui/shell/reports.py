"""The report of the current study: a dialog, and a PDF or HTML file written in another thread."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QVBoxLayout,
    QWidget,
)

from scalegraph.base.errors import Cancelled
from scalegraph.gui.base.jobs import Job, Jobs, Reporter
from scalegraph.gui.base.widgets import button, label, mark

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow
    from scalegraph.request import Session

_KINDS: Final = "PDF to hand in (*.pdf);;HTML page (*.html)"


class ReportDialog(QDialog):
    """Asks for the text of the first page and writes the report."""

    written = Signal(Path)

    def __init__(self, session: Session, jobs: Jobs, source: Path, title: str, machine: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._jobs, self._source = session, jobs, source
        self._job: Job | None = None
        self._path: Path | None = None
        self.setWindowTitle("Report")
        self.title, self.author, self.machine = QLineEdit(), QLineEdit(), QLineEdit()
        self.title.setPlaceholderText(title)
        self.author.setPlaceholderText("not named")
        self.machine.setPlaceholderText(machine or "what the times were measured on")
        self.note = QPlainTextEdit()
        self.note.setPlaceholderText("a remark shown before the verdicts")
        self.note.setFixedHeight(72)
        self.note.setTabChangesFocus(True)
        form = QFormLayout()
        rows = (("Title", self.title), ("Author", self.author), ("Machine", self.machine), ("Note", self.note))
        for name, editor in rows:
            editor.setAccessibleName(name)
            form.addRow(name, editor)
        self._said = label("", "muted", wrap=True)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(6)
        self.bar.setAccessibleName("Progress of the report")
        self.bar.hide()
        self.show_file = button("Show in folder", "Show the report in the file manager")
        self.show_file.clicked.connect(self._reveal)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self.save = button("Write report…", "Choose a file, PDF or HTML, and write the report", "primary")
        self.save.setDefault(True)
        self.save.clicked.connect(self.ask)
        buttons.addButton(self.save, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(self.show_file, QDialogButtonBox.ButtonRole.ActionRole)
        self.show_file.hide()  # until the file exists; the message box shows widgets added to it
        column = QVBoxLayout(self)
        words = "All in one file: what ran, where, how and when; times, verdicts, and every view that has data."
        column.addWidget(label(words, wrap=True))
        column.addLayout(form)
        column.addWidget(self._said)
        column.addWidget(self.bar)
        column.addWidget(buttons)
        self.resize(520, 340)

    @property
    def said(self) -> str:
        """The message about the file."""
        return self._said.text()

    def ask(self) -> None:
        """Ask for the path and write the report."""
        proposed = str(self._source.with_suffix(".pdf"))
        file, kind = QFileDialog.getSaveFileName(self, "Write report", proposed, _KINDS)
        if file:
            path = Path(file)
            known = path.suffix.lower() in (".pdf", ".html", ".htm")
            self.write(path if known else path.with_name(path.name + (".html" if "html" in kind else ".pdf")))

    def write(self, path: Path) -> None:
        """Write the report to *path* in another thread."""
        session, source, about = self._session, self._source, self._about()

        def work(reporter: Reporter) -> Path:
            from scalegraph.request.results import report
            from scalegraph.store import Study

            with Study.open(source) as study:
                report.write(
                    session.study_data(study),
                    path,
                    about=report.About(**about),
                    request=session.request_text(study),
                    cancel=reporter.token,
                    progress=lambda _view, done, whole: reporter.send(done / whole),
                )
            return path

        self.save.setEnabled(False)
        self.bar.setValue(0)
        self.bar.show()
        self._say(f"Writing {path.name} …")
        self._job = self._jobs.start(
            f"writing {path.name}",
            work,
            done=self._done,
            failed=self._failed,
            said=lambda share: self.bar.setValue(round(100 * share)),
        )

    def _about(self) -> dict[str, str]:
        fields = (("title", self.title), ("author", self.author), ("machine", self.machine))
        return {name: field.text().strip() for name, field in fields} | {"note": self.note.toPlainText().strip()}

    def _done(self, path: Path) -> None:
        self._path = path
        self._rest()
        self._say(f"Written: {path}")
        self.show_file.show()
        self.written.emit(path)

    def _failed(self, error: Exception) -> None:
        self._rest()
        self._say("" if isinstance(error, Cancelled) else str(error), fault=True)

    def _reveal(self) -> None:
        if self._path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path.parent)))

    def _rest(self) -> None:
        self._job = None
        self.bar.hide()
        self.save.setEnabled(True)

    def _say(self, text: str, *, fault: bool = False) -> None:
        self._said.setText(text)
        mark(self._said, "role", "fault" if fault else "muted")

    def done(self, result: int) -> None:
        """Qt: close, and cancel writing."""
        if self._job is not None:
            self._job.cancel()
        super().done(result)


class Reports(QObject):
    """Creates the report dialog for the current study."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def ask(self) -> None:
        """Show the dialog for the current study."""
        handle = self._window.study.handle
        data = handle.study() if handle is not None else None
        if handle is None or data is None:
            return
        machine = "" if data.machine_title == "unknown" else data.machine_title
        title = str(data.manifest.get("title") or data.name)
        dialog = ReportDialog(self._window.session, self._window.jobs, handle.path, title, machine, self._window)
        dialog.open()
