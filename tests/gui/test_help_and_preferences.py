"""Preferences, About, tutorial, glossary and problem report."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QDialogButtonBox

import scalegraph
from scalegraph.base import glossary
from scalegraph.gui import app
from scalegraph.gui.help.dialogs import AboutDialog, GlossaryDialog, ReportDialog, TutorialDialog
from scalegraph.gui.preferences import cache
from scalegraph.gui.preferences.dialog import PreferencesDialog
from scalegraph.gui.preferences.values import Preferences, read
from scalegraph.gui.shell.main_window import MainWindow

pytestmark = pytest.mark.slow

Kinds = QDialogButtonBox.StandardButton


def preferences(window: MainWindow) -> PreferencesDialog:
    window.actions_["preferences"].trigger()
    found = window.findChild(PreferencesDialog)
    assert found is not None
    return found


def test_cancel_leaves_everything_and_ok_puts_it_in_force(window: MainWindow, qtbot: Any) -> None:
    dialog = preferences(window)
    dialog.text_size.setValue(14)
    dialog.mode.setCurrentIndex(dialog.mode.findData("dark"))
    with qtbot.waitSignal(dialog.destroyed):
        dialog.buttons.button(Kinds.Cancel).click()
    assert read(window.settings) == Preferences()
    assert window.theme.mode == "system"
    dialog = preferences(window)
    dialog.text_size.setValue(14)
    dialog.mode.setCurrentIndex(dialog.mode.findData("dark"))
    dialog.side_by_side.setValue(2)
    dialog.dpi.setValue(300)
    dialog.format.setCurrentIndex(dialog.format.findData("pdf"))
    with qtbot.waitSignal(dialog.destroyed):
        dialog.buttons.button(Kinds.Ok).click()
    kept = read(window.settings)
    assert (kept.text_size, kept.side_by_side, kept.export_dpi, kept.export_format) == (14, 2, 300, "pdf")
    assert window.theme.name == "dark"
    assert window.actions_["theme_dark"].isChecked()
    assert window.runner.workers == 2
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    assert "font-size: 14pt" in application.styleSheet()
    window.theme.set_text_size(10)
    window.theme.set_mode("light")
    qtbot.waitUntil(lambda: not window.jobs.running)


def test_values_in_the_preferences_can_be_read_in_every_text_size(window: MainWindow, qtbot: Any) -> None:
    dialog = preferences(window)
    dialog.show()
    for box in dialog.findChildren(QAbstractSpinBox):
        box.ensurePolished()
        box.resize(box.sizeHint())
        box.grab()
        assert box.lineEdit().width() >= box.fontMetrics().horizontalAdvance(box.text()), box.text()
    qtbot.waitUntil(lambda: not window.jobs.running)
    dialog.reject()


def test_the_cache_says_its_size_and_is_cleared(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setenv("SCALEGRAPH_CACHE", str(tmp_path / "cache"))
    entry = tmp_path / "cache" / "builds" / "old"
    entry.mkdir(parents=True)
    (entry / "program").write_bytes(b"x" * 2_000_000)
    os.utime(entry, (1, 1))
    dialog = preferences(window)
    qtbot.waitUntil(lambda: dialog.cache_size.text() == "2.00 MB")
    dialog.clear.click()
    qtbot.waitUntil(lambda: dialog.cache_size.text() == "0 B")
    assert cache.size() == 0
    dialog.reject()


def test_the_last_file_opens_at_the_start_if_that_is_preferred(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "a.sgstudy"
    path.write_text("")
    window.settings.add_recent(path)
    assert app.first_files(window) == []
    window.settings.set_text("preferences/at_start", "last")
    assert app.first_files(window) == [path]
    assert app.first_files(window, demo=True) == []


def test_settings_that_cannot_be_read_are_the_defaults(window: MainWindow) -> None:
    window.settings.set_text("preferences/text_size", "rubbish")
    window.settings.set_text("preferences/export_dpi", "300")
    assert read(window.settings) == Preferences(export_dpi=300)


def test_about_names_versions_and_licences_and_copies_them(window: MainWindow) -> None:
    window.actions_["about"].trigger()
    dialog = window.findChild(AboutDialog)
    assert dialog is not None
    dialog._copy()
    copied = QGuiApplication.clipboard().text()
    assert f"ScaleGraph {scalegraph.__version__} (BSD-3-Clause)" in copied
    for part in ("Python", "Qt ", "PySide6-Essentials", "pyqtgraph", "numpy"):
        assert part in copied
    assert "Redistribution and use" in dialog.licence.toPlainText()
    dialog.reject()


def test_the_glossary_is_searched(window: MainWindow, qtbot: Any) -> None:
    window.actions_["glossary"].trigger()
    dialog = window.findChild(GlossaryDialog)
    assert dialog is not None
    assert dialog.list.count() == len(glossary.terms())
    qtbot.keyClicks(dialog.entry, "karp")
    assert dialog.list.item(0).text() == "Serial fraction"
    assert "(1/S - 1/N)" in dialog.page.toPlainText()
    dialog.reject()


def test_the_tutorial_is_the_page_of_the_documentation(window: MainWindow) -> None:
    window.actions_["tutorial"].trigger()
    dialog = window.findChild(TutorialDialog)
    assert dialog is not None
    assert "Your program in ten minutes" in dialog.page.toPlainText()
    dialog.reject()


def test_a_problem_report_has_the_versions(window: MainWindow) -> None:
    window.actions_["report_problem"].trigger()
    dialog = window.findChild(ReportDialog)
    assert dialog is not None
    assert f"ScaleGraph {scalegraph.__version__}" in dialog.copied()
    assert "What happened:" in dialog.copied()
    dialog.reject()


def test_new_requests_begin_with_the_preferred_machine_and_processors(window: MainWindow, tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text("int main(void) { return 0; }\n")
    usual = window.request.model.form.machine
    dialog = preferences(window)
    dialog.machine.setCurrentIndex(dialog.machine.findData("cerberus"))
    assert dialog.machine.currentData() == "cerberus" != usual
    dialog.processors.setText("1, 3, 6")
    dialog.buttons.button(Kinds.Ok).click()
    window.request.program.choose_sources((source,))
    form = window.request.model.form
    assert (form.machine, form.processors) == ("cerberus", "1, 3, 6")
    dialog = preferences(window)
    dialog.processors.clear()
    dialog.buttons.button(Kinds.Ok).click()
    window.request.program.choose_build(str(tmp_path / "mine"))
    most = next(m.processors_max for m in window.session.machines() if m.name == "cerberus")
    counts = [int(n) for n in window.request.model.form.processors.split(",")]
    assert counts[0] == 1
    assert max(counts) <= most
    window.request.program.choose("billiard")
    assert window.request.model.form.machine == "ksr1"
