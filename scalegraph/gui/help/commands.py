"""Connects help and preferences actions to their dialogs, created on first use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QDialog

from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.help import dialogs
from scalegraph.gui.preferences import values

if TYPE_CHECKING:
    from scalegraph.gui.shell.main_window import MainWindow


class HelpCommands(QObject):
    """Opens the Help menu's dialogs, and the preferences."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        doing: dict[str, Callable[[], object]] = {
            "about": lambda: self._open(dialogs.AboutDialog(window)),
            "glossary": lambda: self._open(dialogs.GlossaryDialog(window)),
            "tutorial": lambda: self._open(dialogs.TutorialDialog(window)),
            "report_problem": lambda: self._open(dialogs.ReportDialog(window)),
            "documentation": dialogs.open_documentation,
            "preferences": self.preferences,
        }
        for name, act in doing.items():
            window.actions_[name].triggered.connect(tied(self, act))
        self._take(values.read(window.settings))

    def preferences(self) -> None:
        """Show the preferences; applied changes take effect at once."""
        from scalegraph.gui.preferences.dialog import PreferencesDialog

        window = self._window
        dialog = PreferencesDialog(
            window.settings,
            window.theme,
            window.jobs,
            window,
            busy=window.runner.busy,
            machines=[(machine.name, machine.title) for machine in window.late.catalog.machines],
        )
        dialog.applied.connect(tied(self, self._take))
        dialog.applied.connect(tied(self, lambda *_: self._show_mode()))
        self._open(dialog)

    def _show_mode(self) -> None:
        self._window.actions_[f"theme_{self._window.theme.mode}"].setChecked(True)

    def _take(self, preferences: values.Preferences) -> None:
        self._window.runner.workers = preferences.side_by_side or None

    def _open(self, dialog: QDialog) -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
