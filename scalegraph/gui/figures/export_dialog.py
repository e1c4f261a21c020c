"""Saves a figure: format, paper size, and a preview of the exact output."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from scalegraph.base.errors import ScaleGraphError
from scalegraph.figures import render
from scalegraph.figures.figure import Figure
from scalegraph.gui.base.jobs import Jobs, Latest, Reporter
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.widgets import label, mark
from scalegraph.gui.preferences.values import read

_FORMATS: Final = {
    "png": "PNG – picture in pixels",
    "svg": "SVG – picture in lines, for the web",
    "pdf": "PDF – picture in lines, for papers",
    "csv": "CSV – the numbers",
    "tex": "LaTeX – a table",
    "md": "Markdown – a table",
    "parquet": "Parquet – the numbers in columns",
    "json": "JSON – everything in the figure",
    "folded": "Folded stacks – for flamegraph.pl and speedscope",
}
_COLOURS: Final = {"print": "On white, for print", "light": "As on the light screen", "dark": "As on the dark screen"}
_PREVIEW_DPI: Final = 72
_PREVIEW_TEXT: Final = 20_000  # characters of a large file shown in the preview
_DELAY_MS: Final = 200


class ExportDialog(QDialog):
    """Asks how to save *figure*; *stem* is the proposed file name. *saved* has the path."""

    saved = Signal(object)
    previewed = Signal()

    def __init__(
        self, figure: Figure, stem: str, jobs: Jobs, settings: Settings | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._figure, self._jobs, self._settings = figure, jobs, settings
        self._stem = re.sub(r"[^\w.-]+", "-", stem).strip("-") or "figure"
        self.setWindowTitle(f"Export {figure.title}")
        self._previews = Latest(jobs, "export preview", self)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_DELAY_MS)
        self._later.timeout.connect(self._preview)
        self._picture = QPixmap()
        self._make_form()
        self._begin(settings)
        self._lay_out()
        self.format.currentIndexChanged.connect(self._changed)
        self.colours.currentIndexChanged.connect(self._changed)
        for box in (self.width_cm, self.height_cm):
            box.valueChanged.connect(self._changed)
        self.dpi.valueChanged.connect(self._changed)
        self.caption.toggled.connect(self._changed)
        self.spreadsheet.toggled.connect(self._changed)
        self.natural.toggled.connect(self._changed)
        self._changed()
        self._later.stop()
        self._preview()

    def _make_form(self) -> None:
        self.format = QComboBox()
        for ending in render.formats(self._figure):
            self.format.addItem(_FORMATS.get(ending, ending.upper()), ending)
        self.width_cm, self.height_cm = QDoubleSpinBox(), QDoubleSpinBox()
        for box, value in ((self.width_cm, 16.0), (self.height_cm, 10.0)):
            box.setRange(4.0, 120.0)
            box.setSingleStep(0.5)
            box.setDecimals(1)
            box.setSuffix(" cm")
            box.setValue(value)
        self.natural = QCheckBox("As high as its content needs, 16 cm wide")
        self.natural.setChecked(True)
        self.dpi = QSpinBox()
        self.dpi.setRange(50, 1200)
        self.dpi.setSuffix(" dots per inch")
        self.dpi.setValue(200)
        self.colours = QComboBox()
        for name, text in _COLOURS.items():
            self.colours.addItem(text, name)
        self.caption = QCheckBox("With title, sentence and notes")
        self.caption.setChecked(True)
        self.spreadsheet = QCheckBox("Protect text from being read as a formula")
        self.spreadsheet.setToolTip(
            "Put an apostrophe before text that begins with = + - @, so that no spreadsheet computes it"
        )

    def _begin(self, settings: Settings | None) -> None:
        """Set format, size and colours from the preferences."""
        if settings is None:
            return
        wanted = read(settings)
        for box, chosen in ((self.format, wanted.export_format), (self.colours, wanted.export_colours)):
            box.setCurrentIndex(max(0, box.findData(chosen)))
        self.natural.setChecked(wanted.export_natural)
        self.width_cm.setValue(wanted.export_width_cm)
        self.height_cm.setValue(wanted.export_height_cm)
        self.dpi.setValue(wanted.export_dpi)

    def _lay_out(self) -> None:
        self._form = QFormLayout()
        self._form.addRow("Format", self.format)
        self._form.addRow("Size", self.natural)
        self._form.addRow("Width", self.width_cm)
        self._form.addRow("Height", self.height_cm)
        self._form.addRow("Resolution", self.dpi)
        self._form.addRow("Colours", self.colours)
        self._form.addRow("", self.caption)
        self._form.addRow("Spreadsheets", self.spreadsheet)
        self._image = QLabel()
        self._image.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._image.setMinimumSize(320, 260)
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setProperty("role", "mono")
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._shown = QStackedWidget()
        self._shown.addWidget(self._image)
        self._shown.addWidget(self._text)
        self._said = label("", "muted", wrap=True)
        self._said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        buttons = QDialogButtonBox()
        self.save_button = QPushButton("Save …")
        self.save_button.setProperty("primary", True)
        self.save_button.setDefault(True)
        self.save_button.clicked.connect(self.save)
        buttons.addButton(self.save_button, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.addButton(QDialogButtonBox.StandardButton.Close).clicked.connect(self.reject)
        left = QVBoxLayout()
        left.addLayout(self._form)
        left.addStretch(1)
        left.addWidget(self._said)
        left.addWidget(buttons)
        row = QHBoxLayout(self)
        row.addLayout(left)
        row.addWidget(self._shown, 1)

    def sizeHint(self) -> QSize:
        """Qt: return room for form and preview."""
        return QSize(900, 520)

    # choices

    @property
    def ending(self) -> str:
        """The chosen format's file ending."""
        return str(self.format.currentData())

    def said(self) -> str:
        """Return the message below the form: the path written, or the error."""
        return self._said.text()

    def preview_text(self) -> str:
        """Return the preview's text of a data format."""
        return self._text.toPlainText()

    def preview_size(self) -> QSize:
        """Return the pixel size of the preview's picture."""
        return self._picture.size()

    def _asked(self) -> dict[str, Any]:
        size = None if self.natural.isChecked() else (self.width_cm.value(), self.height_cm.value())
        return {
            "size_cm": size,
            "theme": self.colours.currentData(),
            "dpi": self.dpi.value(),
            "caption": self.caption.isChecked(),
            "for_spreadsheets": self.ending == "csv" and self.spreadsheet.isChecked(),
        }

    def _changed(self, *_: object) -> None:
        picture = self.ending in render.PICTURES
        for row in (self.natural, self.width_cm, self.height_cm, self.colours, self.caption):
            self._form.setRowVisible(row, picture)
        self._form.setRowVisible(self.dpi, self.ending == "png")
        self._form.setRowVisible(self.spreadsheet, self.ending == "csv")
        for box in (self.width_cm, self.height_cm):
            box.setEnabled(not self.natural.isChecked())
        self._later.start()

    # preview

    def _preview(self) -> None:
        figure, asked, ending = self._figure, self._asked(), self.ending
        picture = ending in render.PICTURES

        def draw(reporter: Reporter) -> bytes:
            reporter.token.check()
            if picture:
                # a vector picture previews as pixels, so Qt need not read PDF
                return render.content(figure, "png", **{**asked, "dpi": _PREVIEW_DPI})
            # Parquet is previewed as text with the same numbers
            return render.content(figure, "csv" if ending == "parquet" else ending, **asked)

        self._previews.ask(draw, self._previewed_picture if picture else self._previewed_text, self._failed)

    def _previewed_picture(self, content: bytes) -> None:
        self._picture = QPixmap.fromImage(QImage.fromData(content))
        self._shown.setCurrentWidget(self._image)
        self._fit()
        self._say("")
        self.previewed.emit()

    def _previewed_text(self, content: bytes) -> None:
        text = content.decode()
        rest = len(text) - _PREVIEW_TEXT
        self._text.setPlainText(text[:_PREVIEW_TEXT] + (f"\n… and {rest} more characters" if rest > 0 else ""))
        self._shown.setCurrentWidget(self._text)
        self._say("")
        self.previewed.emit()

    def _failed(self, error: Exception) -> None:
        self._image.clear()
        self._shown.setCurrentWidget(self._image)
        sentence = str(error) if isinstance(error, ScaleGraphError) else f"This cannot be exported: {error}"
        self._say(sentence, fault=True)
        self.previewed.emit()

    def _fit(self) -> None:
        if self._picture.isNull():
            return
        room = self._shown.size()
        keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        small = self._picture.width() <= room.width() and self._picture.height() <= room.height()
        self._image.setPixmap(self._picture if small else self._picture.scaled(room, keep, smooth))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Qt: scale the preview to the new size."""
        super().resizeEvent(event)
        self._fit()

    # saving

    def save(self) -> None:
        """Ask for a file and write it in another thread."""
        folder = self._folder()
        proposed = str(folder / f"{self._stem}.{self.ending}")
        title = _FORMATS.get(self.ending, self.ending)
        chosen, _ = QFileDialog.getSaveFileName(self, "Export", proposed, f"{title} (*.{self.ending})")
        if not chosen:
            return
        path = Path(chosen)
        if path.suffix.lower().removeprefix(".") not in render.formats(self._figure):
            path = path.with_name(f"{path.name}.{self.ending}")
        figure, asked = self._figure, self._asked()
        self.save_button.setEnabled(False)
        self._say("Writing …")

        def write(_reporter: Reporter) -> Path:
            render.save(figure, path, **asked)
            return path

        self._jobs.start(f"exporting {path.name}", write, done=self._written, failed=self._unwritten)

    def _written(self, path: Path) -> None:
        self.save_button.setEnabled(True)
        self._say(f"Written: {path}")
        self.saved.emit(path)

    def _unwritten(self, error: Exception) -> None:
        self.save_button.setEnabled(True)
        self._say(str(error), fault=True)

    def _folder(self) -> Path:
        folder = self._settings.studies_dir() if self._settings is not None else Path.home()
        return folder if folder.is_dir() else Path.home()

    def _say(self, text: str, *, fault: bool = False) -> None:
        self._said.setText(text)
        mark(self._said, "role", "fault" if fault else "muted")

    def done(self, result: int) -> None:
        """Qt: close, and cancel the preview."""
        self._later.stop()
        self._previews.stop()
        super().done(result)
