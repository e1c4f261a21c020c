"""Edit > Preferences: OK and Apply save the changes, Cancel discards them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QAbstractButton,
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSpinBox,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from scalegraph.base.units import si
from scalegraph.gui.base.jobs import Jobs
from scalegraph.gui.base.settings import Settings
from scalegraph.gui.base.theme import MODES, Theme
from scalegraph.gui.base.widgets import button, label
from scalegraph.gui.preferences import cache
from scalegraph.gui.preferences.values import AT_START, TEXT_SIZES, Preferences, read, write

_MODES: Final = {"system": "As the system", "light": "Light", "dark": "Dark"}
_FORMATS: Final = ("png", "svg", "pdf", "csv", "tex", "md", "parquet", "json")
_COLOURS: Final = {"print": "On white, for print", "light": "As on the light screen", "dark": "As on the dark screen"}
_MOST_RUNS: Final = 4  # times the processors of this computer


class PreferencesDialog(QDialog):
    """Shows the preferences; *applied* carries the new ones."""

    applied = Signal(object)

    def __init__(
        self,
        settings: Settings,
        theme: Theme,
        jobs: Jobs,
        parent: QWidget | None = None,
        *,
        busy: bool = False,
        machines: Sequence[tuple[str, str]] = (),
    ) -> None:
        """Show the *settings*; *busy*: runs use the cache; *machines*: names and titles."""
        super().__init__(parent)
        self._settings, self._theme, self._jobs = settings, theme, jobs
        self.setWindowTitle("Preferences")
        tabs = QTabWidget()
        tabs.addTab(self._general(), "General")
        tabs.addTab(self._export(), "Export")
        tabs.addTab(self._requests(machines), "New requests")
        tabs.addTab(self._runs(busy), "Runs and cache")
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel | kinds.Apply | kinds.RestoreDefaults)
        self.buttons.clicked.connect(self._clicked)
        column = QVBoxLayout(self)
        column.addWidget(tabs, 1)
        column.addWidget(self.buttons)
        self.resize(540, 360)
        self.show_values(read(settings), theme.mode)

    def _general(self) -> QWidget:
        page, form = _page()
        self.mode = _choice(_MODES)
        self.text_size = _number(*TEXT_SIZES, " pt")
        self.at_start = _choice(AT_START)
        form.addRow("Theme", self.mode)
        form.addRow("Text size", self.text_size)
        form.addRow("Open at start", self.at_start)
        return page

    def _export(self) -> QWidget:
        page, form = _page()
        self.format = _choice({ending: ending.upper() for ending in _FORMATS})
        self.natural = QCheckBox("As high as its content needs")
        self.width_cm, self.height_cm = QDoubleSpinBox(), QDoubleSpinBox()
        for box in (self.width_cm, self.height_cm):
            box.setRange(4.0, 120.0)
            box.setDecimals(1)
            box.setSuffix(" cm")
            self.natural.toggled.connect(box.setDisabled)
        self.dpi = _number(50, 1200, " dots per inch")
        self.colours = _choice(_COLOURS)
        form.addRow(label("Initial settings of the export dialog.", "muted"))
        for name, field in (
            ("Format", self.format),
            ("Size", self.natural),
            ("Width", self.width_cm),
            ("Height", self.height_cm),
            ("Resolution", self.dpi),
            ("Colours", self.colours),
        ):
            form.addRow(name, field)
        return page

    def _requests(self, machines: Sequence[tuple[str, str]]) -> QWidget:
        page, form = _page()
        self.machine = _choice({"": "Usual"} | dict(machines))
        self.machine.setToolTip("Machine of a new request with sources or a program of your own")
        self.processors = QLineEdit()
        self.processors.setPlaceholderText("usual: 1, 2, 4, … 64, as many as the machine has")
        self.processors.setToolTip("Processor counts of a new request, as in 1, 2, 4, 8")
        self.processors.setAccessibleName("Processor counts of a new request")
        form.addRow(label("Initial settings of a request with sources or a program of your own.", "muted"))
        form.addRow("Machine", self.machine)
        form.addRow("Processors", self.processors)
        return page

    def _runs(self, busy: bool) -> QWidget:
        page, form = _page()
        self.side_by_side = _number(0, _MOST_RUNS * (os.cpu_count() or 1), "")
        self.side_by_side.setSpecialValueText("Automatic")
        self.side_by_side.setToolTip("Runs on this computer at the same time; from the next request on")
        form.addRow("Runs side by side", self.side_by_side)
        where = QLabel(str(cache.place()))
        where.setWordWrap(True)
        form.addRow("Cache", where)
        self.cache_size = label("measuring …", "muted")
        self.clear = button(
            "Clear cache",
            "Remove built programs and converted traces; they are made again when needed. Those of the last hour stay",
        )
        self.clear.setEnabled(not busy)
        if busy:
            self.clear.setToolTip("Runs use the cache now")
        row = QHBoxLayout()
        row.addWidget(self.cache_size, 1)
        row.addWidget(self.clear)
        form.addRow("Size", row)
        self.clear.clicked.connect(self._clear)
        self._jobs.start("measuring the cache", lambda _reporter: cache.size(), done=self._measured)
        return page

    def show_values(self, values: Preferences, mode: str) -> None:
        """Show *values* in the fields."""
        for box, chosen in (
            (self.mode, mode),
            (self.at_start, values.at_start),
            (self.format, values.export_format),
            (self.colours, values.export_colours),
            (self.machine, values.machine),
        ):
            box.setCurrentIndex(max(0, box.findData(chosen)))
        self.processors.setText(values.processors)
        self.text_size.setValue(values.text_size)
        self.side_by_side.setValue(values.side_by_side)
        self.natural.setChecked(values.export_natural)
        self.width_cm.setValue(values.export_width_cm)
        self.height_cm.setValue(values.export_height_cm)
        self.dpi.setValue(values.export_dpi)

    def values(self) -> Preferences:
        """Return the values in the fields."""
        return replace(
            read(self._settings),
            text_size=self.text_size.value(),
            at_start=str(self.at_start.currentData()),
            side_by_side=self.side_by_side.value(),
            export_format=str(self.format.currentData()),
            export_natural=self.natural.isChecked(),
            export_width_cm=self.width_cm.value(),
            export_height_cm=self.height_cm.value(),
            export_dpi=self.dpi.value(),
            export_colours=str(self.colours.currentData()),
            machine=str(self.machine.currentData()),
            processors=self.processors.text().strip(),
        )

    def apply(self) -> None:
        """Save and announce the values in the fields."""
        values, mode = self.values(), next(m for m in MODES if m == self.mode.currentData())
        write(self._settings, values)
        self._settings.mode = mode
        self._theme.set_mode(mode)
        self._theme.set_text_size(values.text_size)
        self.applied.emit(values)

    def _clicked(self, which: QAbstractButton) -> None:
        role = self.buttons.buttonRole(which)
        if role == QDialogButtonBox.ButtonRole.ResetRole:
            self.show_values(Preferences(), "system")
            return
        if role in (QDialogButtonBox.ButtonRole.AcceptRole, QDialogButtonBox.ButtonRole.ApplyRole):
            self.apply()
        if role == QDialogButtonBox.ButtonRole.AcceptRole:
            self.accept()
        elif role == QDialogButtonBox.ButtonRole.RejectRole:
            self.reject()

    def _clear(self) -> None:
        self.clear.setEnabled(False)
        self.cache_size.setText("clearing …")
        self._jobs.start("clearing the cache", lambda _reporter: cache.clear(), done=self._measured)

    def _measured(self, size: Any) -> None:
        self.cache_size.setText(si(size, "B"))


def _page() -> tuple[QWidget, QFormLayout]:
    page = QWidget()
    return page, QFormLayout(page)


def _choice(entries: dict[str, str]) -> QComboBox:
    made = QComboBox()
    for key, text in entries.items():
        made.addItem(text, key)
    return made


def _number(low: int, high: int, suffix: str) -> QSpinBox:
    made = QSpinBox()
    made.setRange(low, high)
    made.setSuffix(suffix)
    return made
