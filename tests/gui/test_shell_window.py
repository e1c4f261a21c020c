"""The window with real clicks and keys; the runs are fake."""

import re
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QScrollArea, QWidget

from scalegraph.base.errors import MissingTool
from scalegraph.gui import app
from scalegraph.gui.dock.arrangements import TRACE_ARRANGEMENTS
from scalegraph.gui.figures.export_dialog import ExportDialog
from scalegraph.gui.shell.actions import ARRANGEMENT_NAMES
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.shell.start_page import Card

pytestmark = pytest.mark.slow

Choose = Callable[..., None]
MakeStudy = Callable[..., Path]


def opened(window: MainWindow, qtbot: Any, path: Path) -> Any:
    handle = window.open_study(path)
    qtbot.waitUntil(lambda: handle.data() is not None and not window.jobs.running)
    return handle


def test_window_opens_on_the_start_page_with_an_example_for_every_program(window: MainWindow) -> None:
    assert window.page == "start"
    cards = [card for card in window.start.findChildren(Card) if "Run this example" in card.accessibleName()]
    assert len(cards) == len(window.session.programs())


def test_cards_are_buttons_for_keys_and_screen_readers(window: MainWindow, qtbot: Any) -> None:
    card = next(card for card in window.start.findChildren(Card) if card.accessibleName().startswith("Run a program"))
    said = QAccessible.queryAccessibleInterface(card)
    assert said.role() == QAccessible.Role.Button
    assert said.text(QAccessible.Text.Name) == card.accessibleName()
    with qtbot.waitSignal(card.clicked):
        qtbot.keyClick(card, Qt.Key.Key_Return)
    assert window.page == "request"


def test_words_of_cards_have_their_height(window: MainWindow, qtbot: Any) -> None:
    window.resize(1280, 720)
    qtbot.waitUntil(lambda: not window.jobs.running)
    words = [label for card in window.start.findChildren(Card) for label in card.findChildren(QLabel)]
    assert words
    assert [word.text() for word in words if word.height() < word.heightForWidth(word.width())] == []


def test_defaults_can_run_as_soon_as_a_program_is_chosen(window: MainWindow, qtbot: Any) -> None:
    window.go("request")
    assert not window.request.can_run
    window.request.program.choose("ge1")
    qtbot.waitUntil(lambda: window.request.can_run)
    assert "run" in window.request.side.count.text()
    assert '[program]\nname = "ge1"' in window.request.side.toml.toPlainText()


def test_a_request_runs_and_its_study_comes_into_view(
    window: MainWindow, session: Any, qtbot: Any, choose: Choose
) -> None:
    choose()
    session.hold()
    qtbot.mouseClick(window.request.side.run, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(window.runner.entries and window.runner.entries[0].runs))
    entry = window.runner.entries[0]
    assert window.queue.isVisible()
    session.let(1)
    qtbot.waitUntil(lambda: window.page == "study")
    qtbot.waitUntil(lambda: window.study.handle is not None and window.study.handle.data() is not None)
    session.let(100)
    qtbot.waitUntil(lambda: entry.phase == "done" and not window.jobs.running)
    data = window.study.handle.data() if window.study.handle else None
    assert data is not None
    assert len(data.table) == entry.total
    assert "processors" in window.study.header.verdict.accessibleDescription()
    assert window.navigator.regions_tree.topLevelItemCount() == 1
    assert session.threads.isdisjoint({threading.main_thread().ident})


def test_the_request_of_a_study_is_edited_and_completes_it(
    window: MainWindow, session: Any, qtbot: Any, choose: Choose
) -> None:
    choose()
    window.request.start()
    entry = window.runner.entries[0]
    qtbot.waitUntil(lambda: entry.ended and window.page == "study" and not window.jobs.running)
    window.request.program.choose("ge1")
    window.actions_["edit_request"].trigger()
    assert window.page == "request"
    assert (window.request.model.form.program, window.request.model.form.processors) == ("billiard", "1, 2, 4")
    window.request.model.edit("more", processors="1, 2, 4, 8")
    qtbot.waitUntil(lambda: window.request.can_run)
    window.request.start()
    again = window.runner.entries[1]
    qtbot.waitUntil(lambda: again.ended)
    assert again.path == entry.path
    assert [run.phase for run in again.runs.values()] == ["kept", "kept", "kept", "done"]


def test_one_of_two_requests_is_cancelled_and_the_other_goes_on(
    window: MainWindow, session: Any, qtbot: Any, choose: Choose
) -> None:
    session.hold()
    choose()
    window.request.start()
    choose("ge1")
    window.request.start()
    first, second = window.runner.entries
    session.let(1)
    qtbot.waitUntil(lambda: first.finished == 1)
    assert second.phase == "waiting"
    window.queue.tree.setCurrentIndex(window.queue.model.index_of(first))
    qtbot.mouseClick(window.queue.cancel_button, Qt.MouseButton.LeftButton)
    assert first.phase == "stopping"
    session.let(10_000)
    qtbot.waitUntil(lambda: first.phase == "cancelled" and second.phase == "done")
    assert session.open(first.path).has(next(iter(first.runs)))


def test_what_was_cancelled_can_be_run_again_and_keeps_its_runs(
    window: MainWindow, session: Any, qtbot: Any, choose: Choose
) -> None:
    session.hold()
    choose()
    window.request.start()
    session.let(1)
    entry = window.runner.entries[0]
    qtbot.waitUntil(lambda: entry.finished == 1)
    window.actions_["cancel_all"].trigger()
    qtbot.waitUntil(lambda: entry.phase == "cancelled")
    session.let(10_000)
    qtbot.waitUntil(window.queue.retry_button.isEnabled)
    qtbot.mouseClick(window.queue.retry_button, Qt.MouseButton.LeftButton)
    again = window.runner.entries[0]
    qtbot.waitUntil(lambda: again.phase == "done")
    assert [run.phase for run in again.runs.values()].count("kept") == 1


def test_a_failed_run_opens_its_message_and_output(
    window: MainWindow, session: Any, qtbot: Any, choose: Choose
) -> None:
    session.fails = {4: "the program crashed with signal 11 at model.c:5"}
    choose()
    window.request.start()
    qtbot.waitUntil(lambda: bool(window.runner.entries) and window.runner.entries[0].ended)
    qtbot.waitUntil(lambda: "signal 11" in window.queue.output.toPlainText())
    assert "so far" in window.queue.output.toPlainText()
    assert "1 failed" in window.runner.entries[0].said()
    assert window.queue.isVisible()


def test_a_program_that_does_not_compile_says_so_where_the_user_is(
    window: MainWindow, session: Any, qtbot: Any, choose: Choose
) -> None:
    session.build_error = "model.c:3:5: error: expected ';'"
    choose()
    window.request.start()
    qtbot.waitUntil(lambda: bool(window.runner.entries) and window.runner.entries[0].phase == "failed")
    qtbot.waitUntil(lambda: window.request.banner.text == "model.c does not compile")
    assert "expected ';'" in window.queue.output.toPlainText()


def test_bad_input_shows_its_sentence_at_the_field(window: MainWindow, qtbot: Any, choose: Choose) -> None:
    choose()
    field = window.request.machine.editors["processors"]
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "1,2,zwei")
    fault = next(f.fault for f in window.request.machine.fields if "processors" in f.keys)
    qtbot.waitUntil(lambda: "'zwei' is not a processor count" in fault.text())
    assert fault.isVisible()
    assert not window.request.side.run.isEnabled()
    field.selectAll()
    qtbot.keyClicks(field, "1,2")
    qtbot.waitUntil(lambda: window.request.can_run)
    assert not fault.isVisible()


def test_what_only_the_check_can_know_is_shown_at_its_row(window: MainWindow, qtbot: Any, choose: Choose) -> None:
    choose()
    form = window.request.model.form
    pairs = tuple((name, "-3" if name == "num_balls" else value) for name, value in form.parameters)
    window.request.model.edit("x", parameters=pairs)
    rows = window.request.parameters.editor
    qtbot.waitUntil(lambda: any("at least" in row.fault.text() for row in rows._rows))
    window.request.model.edit("x", parameters=form.parameters, overrides=(("clok_mhz", "3"),))
    overrides = window.request.machine.overrides
    qtbot.waitUntil(lambda: any("clok_mhz" in row.fault.text() for row in overrides._rows))


def test_undo_and_redo_walk_through_edits_by_keyboard(window: MainWindow, qtbot: Any, choose: Choose) -> None:
    choose("ge1")
    field = window.request.runs.editors["repetitions"]
    window.request.form_area.ensureWidgetVisible(field)
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, "23")
    assert window.request.model.form.repetitions == "23"
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert window.request.model.form.repetitions == "1"
    assert field.text() == "1"
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(field, Qt.Key.Key_Z, both)
    assert window.request.model.form.repetitions == "23"


def test_own_c_files_take_arguments_and_parameters(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    source = tmp_path / "mine.c"
    source.write_text("int main(int argc, char **argv) { (void)argv; return argc > 5; }\n")
    window.open_files([source])
    assert window.page == "request"
    section = window.request.parameters
    section.editor.add_row()
    qtbot.keyClicks(section.editor._rows[0].name, "n")
    qtbot.keyClicks(section.editor._rows[0].value, "100")
    qtbot.keyClicks(window.request.program._args_entry, "{n} -v")
    qtbot.waitUntil(lambda: window.request.can_run)
    assert 'args = ["{n}", "-v"]' in window.request.side.toml.toPlainText()


def test_a_program_description_brings_its_parameters(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("int main(void) { return 0; }\n")
    path = tmp_path / "mine.toml"
    path.write_text(
        'title = "Mine"\nsources = ["mine.c"]\nargs = ["{n}"]\n[[parameter]]\nname = "n"\ntitle = "size"\ndefault = 7\n'
    )
    window.open_files([path])
    assert window.request.model.form.parameters == (("n", "7"),)
    assert window.request.program.choice.currentText() == "Mine"
    qtbot.waitUntil(lambda: window.request.can_run)


def test_a_build_of_the_users_own_takes_a_command_and_an_executable(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    section = window.request.program
    section.choose("\0built")
    assert section.choice.currentText().startswith("A build of your own")
    qtbot.waitUntil(lambda: any("name the program" in text for text in faults_shown(window)))
    assert not window.request.can_run
    qtbot.keyClicks(section._executable_entry, "prog")
    qtbot.waitUntil(lambda: any("no such file" in text for text in faults_shown(window)))
    qtbot.keyClicks(section._build_entry, "make CC=scalegraph-cc")
    qtbot.waitUntil(lambda: window.request.can_run)
    shown = window.request.side.toml.toPlainText()
    assert 'executable = "prog"' in shown
    assert 'build = "make CC=scalegraph-cc"' in shown
    window.request.model.undo_stack.undo()
    assert window.request.model.form.build == ""
    window.request.model.undo_stack.undo()
    assert window.request.model.form.executable == ""


def test_a_program_and_sources_of_any_language_are_dropped(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    program = tmp_path / "cg.S"  # the name of benchmarks
    program.write_bytes(b"\x7fELF" + bytes(12) + b"\x02\0")
    drop(window, program)
    assert window.request.model.form.executable == str(program)
    assert window.request.model.form.directory == str(tmp_path)
    sources = [tmp_path / name for name in ("a.c", "b.cpp", "c.f90")]
    for source in sources:
        source.write_text("")
    drop(window, *sources)
    assert window.request.model.form.sources == tuple(map(str, sources))
    assert not window.request.model.form.built


def faults_shown(window: MainWindow) -> list[str]:
    return [field.fault.text() for field in window.request.program.fields]


def test_overriding_a_machine_shows_the_value_it_has(window: MainWindow, qtbot: Any, choose: Choose) -> None:
    choose()
    section = window.request.machine.overrides
    qtbot.waitUntil(lambda: section.hint_of("processor.clock_mhz")[0] == "20.0 MHz")
    section.add_row()
    qtbot.keyClicks(section._rows[0].name, "processor.clock_mhz")
    assert section._rows[0].value.placeholderText() == "20.0 MHz"
    qtbot.keyClicks(section._rows[0].value, "40")
    qtbot.waitUntil(lambda: window.request.can_run)
    assert "processor.clock_mhz" in window.request.side.toml.toPlainText()


def test_a_request_is_saved_and_loaded_again(window: MainWindow, qtbot: Any, choose: Choose, tmp_path: Path) -> None:
    choose("ge2", repetitions="3")
    form = window.request.model.form
    path = tmp_path / "request.toml"
    window.request.save(path)
    window.request.program.choose("ge1")
    window.open_files([path])
    assert window.request.model.form.program == "ge2"
    assert window.request.model.form.repetitions == "3"
    assert window.request.model.form.processors == form.processors
    assert path in window.settings.recent()
    qtbot.waitUntil(lambda: window.request.can_run)


def test_a_broken_request_file_is_told_with_its_line(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "request.toml"
    path.write_text('processors = [0]\n[program]\nname = "bilard"\n')
    window.open_files([path])
    assert f"{path}:1" in window.request.banner.text


def drop(window: MainWindow, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(10, 10),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    window.dropEvent(event)


def test_files_that_are_dropped_are_opened(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    path = model_study()
    drop(window, path)
    qtbot.waitUntil(lambda: window.study.handle is not None and window.study.handle.data() is not None)
    assert window.page == "study"
    assert window.settings.recent() == [path]


def test_what_cannot_be_opened_is_told_in_a_banner(window: MainWindow, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")
    drop(window, picture)
    assert "expected a study" in window.start.banner.text


def test_a_damaged_study_says_so_in_its_place(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "broken.sgstudy"
    path.write_text("this is not a study")
    window.open_files([path])
    qtbot.waitUntil(lambda: bool(window.study.banner.text))
    assert "broken.sgstudy" in window.study.banner.text
    assert "Traceback" not in window.study.banner.text


def test_selection_is_shared_and_walks_back_by_keyboard(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    opened(window, qtbot, model_study())
    window.selection.select(processors=2)
    qtbot.waitUntil(lambda: window.navigator.regions_note.text() == "Share of what N = 2 loses")
    assert any("N = 2" in part.title for part in window.inspector.parts())
    window.selection.select(processors=4)
    qtbot.keyClick(window, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert window.selection.current.processors == 2
    qtbot.keyClick(window, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert window.selection.current.processors == 4
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.selection.current.empty


def test_choosing_a_region_in_the_tree_selects_it(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    opened(window, qtbot, model_study())
    tree = window.navigator.regions_tree
    root = tree.topLevelItem(0)
    assert root is not None
    barrier = root.child(0).child(0)
    tree.setCurrentItem(barrier)
    assert window.selection.current.region == 2
    window.navigator.search.setText("barr")
    assert not barrier.isHidden()
    window.navigator.search.setText("nothing of that name")
    assert barrier.isHidden()
    window.navigator.search.clear()
    assert not barrier.isHidden()


def test_several_studies_are_open_and_closed(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    first = opened(window, qtbot, model_study("one"))
    second = opened(window, qtbot, model_study("two"))
    assert window.study.handle is second
    window.selection.select(study=first.key)
    assert window.study.handle is first
    assert window.windowTitle().startswith("one")
    window.actions_["close_study"].trigger()
    assert window.study.handle is second
    window.actions_["close_study"].trigger()
    assert window.page == "start"
    qtbot.waitUntil(lambda: not window.jobs.running)


def test_a_study_is_saved_as_another_file(
    window: MainWindow, qtbot: Any, model_study: MakeStudy, tmp_path: Path
) -> None:
    opened(window, qtbot, model_study("one"))
    window.files.save_study(tmp_path / "copy.sgstudy")
    qtbot.waitUntil(lambda: window.study.handle is not None and window.study.handle.title == "copy")
    qtbot.waitUntil(lambda: window.study.handle is not None and window.study.handle.data() is not None)


def test_every_action_is_reached_from_the_palette(window: MainWindow, qtbot: Any) -> None:
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    palette = window.palette_
    assert palette.isVisible()
    assert len(palette.names()) == sum(1 for action in window.actions_.all() if action.isEnabled())
    qtbot.keyClicks(palette.entry, "dark")
    assert palette.names()[0] == "Dark theme"
    qtbot.keyClick(palette.entry, Qt.Key.Key_Return)
    assert window.theme.name == "dark"
    assert not palette.isVisible()
    window.actions_["theme_light"].trigger()


@pytest.mark.parametrize("size", [(800, 500), (1024, 700), (1280, 720), (1920, 1080)])
def test_the_sheet_of_keys_is_whole_in_the_window(window: MainWindow, qtbot: Any, size: tuple[int, int]) -> None:
    window.resize(*size)
    action, sheet = window.actions_["shortcuts"], window.sheet
    for _ in range(2):  # the same size when opened again
        action.trigger()
        QApplication.processEvents()  # the area gets its size
        assert window.rect().contains(sheet.geometry())
        area = sheet.findChild(QScrollArea)
        body, bar = area.widget(), area.verticalScrollBar()
        assert body.visibleRegion().boundingRect().width() == body.width() >= body.minimumSizeHint().width()
        while bar.value() < bar.maximum():
            qtbot.keyClick(sheet, Qt.Key.Key_PageDown)
        assert body.visibleRegion().boundingRect().bottom() == body.rect().bottom()
        action.trigger()
        assert not sheet.isVisible()


def test_escape_leaves_the_palette_and_the_sheet(window: MainWindow, qtbot: Any) -> None:
    window.actions_["palette"].trigger()
    qtbot.keyClick(window.palette_.entry, Qt.Key.Key_Escape)
    assert not window.palette_.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_Question)
    assert window.sheet.isVisible()
    qtbot.keyClick(window.sheet, Qt.Key.Key_Escape)
    assert not window.sheet.isVisible()


def test_slash_goes_to_the_search(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    opened(window, qtbot, model_study())
    qtbot.keyClick(window, Qt.Key.Key_Slash)
    assert window.focusWidget() is window.navigator.search
    qtbot.keyClicks(window.navigator.search, "a/b?1")
    assert window.navigator.search.text() == "a/b?1"
    window.navigator.search.clear()


def test_no_two_actions_share_a_key(window: MainWindow) -> None:
    # arrangements of studies and traces share keys: only those for the current subject are enabled
    for other in (TRACE_ARRANGEMENTS, ARRANGEMENT_NAMES):
        away = [window.actions_[f"arrange_{name}"] for name in other]
        keys = [key.toString() for action in window.actions_.all() if action not in away for key in action.shortcuts()]
        assert len(keys) == len(set(keys))


def test_every_field_that_can_be_reached_has_a_name(window: MainWindow, choose: Choose) -> None:
    choose()
    window.request.program._more_button.setChecked(True)
    nameless = [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not (widget.accessibleName() or getattr(widget, "text", str)() or widget.parent() in (None,))
    ]
    assert not [type(widget).__name__ for widget in nameless if type(widget).__module__.startswith("scalegraph")]


def test_instrumentation_is_shown_beside_the_original(window: MainWindow, qtbot: Any, choose: Choose) -> None:
    choose("ge1")
    window.actions_["instrumentation"].trigger()
    qtbot.waitUntil(lambda: bool(window.late.instrument.instrumented.toPlainText()))
    original, made = window.late.instrument.original.toPlainText(), window.late.instrument.instrumented.toPlainText()
    assert len(original.splitlines()) == len(made.splitlines())
    assert len(made) > len(original)
    assert window.late.instrument.instrumented.extraSelections()


def test_the_window_remembers_theme_recent_files_and_panels(
    window: MainWindow, session: Any, qtbot: Any, model_study: MakeStudy
) -> None:
    opened(window, qtbot, model_study())
    window.actions_["theme_dark"].trigger()
    window.actions_["toggle_inspector"].setChecked(True)
    window.panels.want("inspector", True)
    window.panels.want("navigator", False)
    window.close()
    again = app.make_window(session, Path(window.settings._store.fileName()))
    qtbot.addWidget(again)
    again.show()
    qtbot.waitUntil(lambda: not again.jobs.running)
    assert again.theme.name == "dark"
    assert [path.name for path in again.settings.recent()] == ["model.sgstudy"]
    opened(again, qtbot, again.settings.recent()[0])
    assert again.inspector.isVisible()
    assert not again.navigator.isVisible()
    again.actions_["theme_light"].trigger()
    again.close()
    qtbot.waitUntil(lambda: not again.jobs.running)


def test_closing_while_running_stops_the_work_and_keeps_the_runs(
    window: MainWindow, session: Any, qtbot: Any, choose: Choose
) -> None:
    session.hold()
    choose()
    window.request.start()
    session.let(2)
    entry = window.runner.entries[0]
    qtbot.waitUntil(lambda: entry.finished == 2)
    window.close()
    qtbot.waitUntil(lambda: not window.isVisible())
    assert not window.jobs.running
    assert window.jobs.join(60_000)
    assert len(session.open(entry.path)) == 2


def test_an_unexpected_error_becomes_a_banner_not_a_traceback(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "log_path", lambda: tmp_path / "window.log")
    error = ValueError("made up")
    app._hook(window)(type(error), error, None)
    assert "made up" in window.start.banner.text
    assert "window.log" in window.start.banner.text


def test_without_a_display_the_way_on_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(MissingTool, match="scalegraph demo --headless"):
        app.run([])


def test_the_number_keys_arrange_the_views(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    opened(window, qtbot, model_study())
    area = window.study.area
    assert area is not None
    window.go("study")
    qtbot.keyClick(window, Qt.Key.Key_3)
    assert {dock.view.name for dock in area.docks} >= {"overheads", "profile"}
    qtbot.keyClick(window, Qt.Key.Key_1)
    assert {dock.view.name for dock in area.docks} >= {"speedup", "hottest"}
    qtbot.waitUntil(lambda: not window.jobs.running)


def test_a_view_is_opened_by_its_name_in_the_palette(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    opened(window, qtbot, model_study())
    window.actions_["palette"].trigger()
    qtbot.keyClicks(window.palette_.entry, "show execution profile")
    qtbot.keyClick(window.palette_.entry, Qt.Key.Key_Return)
    assert window.study.area is not None
    assert "profile" in [dock.view.name for dock in window.study.area.docks]
    qtbot.waitUntil(lambda: not window.jobs.running)


@pytest.mark.compiler
@pytest.mark.usefixtures("empty_cache")  # the second request is made while the first is still building
def test_a_real_program_goes_from_the_panel_to_a_picture(
    qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By clicks and keys, with the real simulator: fill, run, watch, cancel one, matrix, export, close, reopen."""
    from scalegraph.request import Session

    app.make_application()
    window = app.make_window(Session(), tmp_path / "window.ini")
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: not window.jobs.running)
    left = Qt.MouseButton.LeftButton
    _ask_for_gauss(window, qtbot, "1, 2, 4")
    qtbot.mouseClick(window.request.side.run, left)
    _ask_for_gauss(window, qtbot, "1, 2, 4, 8, 16, 32, 64, 128, 256")
    qtbot.mouseClick(window.request.side.run, left)
    first, second = window.runner.entries
    window.queue.tree.setCurrentIndex(window.queue.model.index_of(second))
    qtbot.mouseClick(window.queue.cancel_button, left)
    qtbot.waitUntil(lambda: first.ended and second.ended, timeout=120_000)
    assert (first.phase, second.phase) == ("done", "cancelled"), first.message
    assert re.fullmatch(r"(\d+) of \1 runs", first.said())
    qtbot.waitUntil(lambda: window.page == "study" and not window.jobs.running)
    handle = window.study.handle
    assert handle is not None
    assert handle.path == first.path
    area = window.study.area
    assert area is not None
    qtbot.keyClick(window, Qt.Key.Key_1)
    matrix = next(dock for dock in area.docks if dock.view.name == "matrix")
    qtbot.waitUntil(lambda: matrix.title.export.isEnabled() and not window.jobs.running)
    picture = tmp_path / "matrix.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(picture), ""))
    qtbot.mouseClick(matrix.title.export, left)
    dialog = area.findChild(ExportDialog)
    assert dialog is not None
    with qtbot.waitSignal(dialog.saved):
        qtbot.mouseClick(dialog.save_button, left)
    dialog.reject()
    assert picture.read_bytes().startswith(b"\x89PNG")
    runs = len(handle.data().table)
    window.close_study(handle.key)
    assert first.path in window.settings.recent()
    opened(window, qtbot, first.path)
    assert len(window.study.handle.data().table) == runs  # type: ignore[union-attr]
    window.close()
    qtbot.waitUntil(lambda: not window.jobs.running)


def _ask_for_gauss(window: MainWindow, qtbot: Any, processors: str) -> None:
    window.go("request")
    window.request.program.choose("ge1")
    field = window.request.machine.editors["processors"]
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, processors)
    size = window.request.parameters.editor._rows[0].value
    size.setFocus()
    size.selectAll()
    qtbot.keyClicks(size, "24")
    qtbot.waitUntil(lambda: window.request.can_run)


def test_an_interrupt_from_the_terminal_closes_the_window(window: MainWindow, qtbot: Any) -> None:
    from scalegraph.gui.base.interrupt import Interrupt

    interrupt = Interrupt(window.close, window)
    try:
        signal.raise_signal(signal.SIGINT)
        qtbot.waitUntil(lambda: not window.isVisible())
    finally:
        interrupt.end()


def test_a_machine_file_with_faults_says_so_before_a_program_is_chosen(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    machine = tmp_path / "mine.toml"
    machine.write_text('name = "mine"\n[processor]\nclok_mhz = 3\n[cache]\n')
    window.open_files([machine])
    qtbot.waitUntil(lambda: "clok_mhz" in window.request.banner.text)
    assert window.page == "request"


def test_the_fields_of_a_request_keep_their_width_beside_the_navigator(
    window: MainWindow, qtbot: Any, model_study: MakeStudy, choose: Choose
) -> None:
    window.resize(1280, 720)
    opened(window, qtbot, model_study())
    choose()
    area = window.request.form_area
    assert window.navigator.isVisible()
    assert window.width() == 1280
    assert area.viewport().width() >= area.widget().minimumSizeHint().width()


def test_a_switch_of_a_panel_tells_whether_it_is_seen(window: MainWindow) -> None:
    assert not window.queue.isVisible()
    assert not window.actions_["toggle_queue"].isChecked()
    window.actions_["toggle_queue"].trigger()
    assert window.queue.isVisible()
    assert window.actions_["toggle_queue"].isChecked()


def test_views_are_loaded_ahead_only_when_nothing_else_runs(
    window: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    qtbot.waitUntil(lambda: not window.jobs.running)
    opened, loaded = threading.Event(), threading.Event()
    order: list[str] = []
    monkeypatch.setattr(window.session, "views", lambda: (order.append("views"), loaded.set()))
    window.jobs.start("opening", lambda _reporter: (opened.wait(), order.append("file")))
    window.loading.preload()
    assert [job.name for job in window.jobs.running] == ["opening"]
    opened.set()
    qtbot.waitUntil(loaded.is_set)
    assert order == ["file", "views"]
