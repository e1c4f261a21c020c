"""Menus, palette, single keys, raised docks, outdated messages and saved arrangements, as a user sees them."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QMenu

from scalegraph import views
from scalegraph.gui.commands.arrangement_dialogs import ManageDialog, NameDialog
from scalegraph.gui.commands.matching import score
from scalegraph.gui.commands.synonyms import SYNONYMS
from scalegraph.gui.figures.export_dialog import ExportDialog
from scalegraph.gui.shell.actions import ARRANGEMENT_NAMES
from scalegraph.gui.shell.main_window import MainWindow

pytestmark = pytest.mark.slow

MakeStudy = Callable[..., Path]
HIGHEST = 700  # pixels: a menu must fit on a 720-pixel screen


@pytest.fixture
def study(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> MainWindow:
    handle = window.open_study(model_study())
    qtbot.waitUntil(lambda: handle.data() is not None and not window.jobs.running)
    qtbot.waitUntil(lambda: window.study.area is not None and bool(window.study.area.docks))
    return window


def test_no_menu_is_higher_than_a_small_screen(study: MainWindow) -> None:
    menus = study.findChildren(QMenu)
    assert len(menus) > 15
    assert {m.title(): m.sizeHint().height() for m in menus if m.sizeHint().height() > HIGHEST} == {}
    assert {m.title(): len(m.actions()) for m in menus if len(m.actions()) > 25} == {}


def test_views_stand_in_the_submenu_of_their_group_and_only_those_of_the_subject_are_offered(study: MainWindow) -> None:
    from scalegraph import views

    for view in (*views.listed("study").values(), *views.listed("trace").values()):
        menu = study.actions_.menus[f"View/{view.group}"]
        assert study.actions_[f"view_{view.name}"] in menu.actions()
        assert study.actions_[f"view_{view.name}"].text() == view.title
    assert study.actions_.menus["View/Scalability"].menuAction().isVisible()
    assert not study.actions_.menus["View/Timeline"].menuAction().isVisible()


def test_the_palette_finds_a_view_by_its_own_name_and_by_its_familys(study: MainWindow) -> None:
    study.actions_["palette"].trigger()
    study.palette_.entry.setText("hit rates by cause")
    assert study.palette_.names()[0] == "Show Hit rates by cause"
    assert study.actions_["view_hit-rates"] not in study.actions_.menus["View/Cache and memory"].actions()
    study.palette_.entry.setText("caches over processors")
    assert {"Show Hit rates by cause", "Show Invalidation widths"} < set(study.palette_.names())
    study.palette_.leave()


def test_no_two_commands_of_the_window_have_the_same_keys(study: MainWindow) -> None:
    dock = study.study.area.docks[0] if study.study.area else None
    assert dock is not None
    keys = Counter(
        sequence.toString()
        for action in study.actions_.all()
        if not action.text().isdecimal() and action.isEnabled()
        for sequence in action.shortcuts()
    )
    keys.update(a.shortcut().toString() for a in dock.picture.actions() if not a.shortcut().isEmpty())
    assert {key: times for key, times in keys.items() if times > 1} == {}


TYPED = {
    "save picture": "Export image or data", "png": "Export image or data", "export": "Export image or data",
    "image": "Export image or data", "print": "Export image or data", "exprot": "Export image or data",
    "dark": "Dark theme", "theme": "System theme", "night mode": "Dark theme", "colors": "Dark theme",
    "zoom": "Reset zoom of the view", "compare": "Arrange: Compare", "versus": "Arrange: Compare",
    "undo": "Undo", "revert": "Undo", "font": "Preferences", "settings": "Preferences", "bigger text": "Preferences",
    "close": "Close study or trace", "exit": "Quit", "run": "Run a program", "simulate": "Run a program",
    "open csv": "Open measurements", "import": "Open measurements", "otf2": "Open a trace", "load": "Open",
    "stop": "Cancel all runs", "what-if": "What if", "whatif": "What if", "help": "Tutorial",
    "definition": "Glossary", "hotkeys": "Keyboard shortcuts", "version": "About ScaleGraph", "bug": "Report a problem",
    "save layout": "Save arrangement as", "clipboard": "Copy image of the view", "find": "Search",
    "clear cache": "Preferences", "keyboard shortcut": "Keyboard shortcuts", "prefrences": "Preferences",
    "matrix": "Show Scalability matrix", "hotest lines": "Show Hottest lines", "glosary": "Glossary",
}  # fmt: skip


def test_the_palette_finds_commands_by_what_people_type(study: MainWindow) -> None:
    study.actions_["palette"].trigger()
    missed = {}
    for typed, wanted in TYPED.items():
        study.palette_.entry.setText(typed)
        if wanted not in study.palette_.listed()[:3]:
            missed[typed] = study.palette_.listed()[:5]
    assert missed == {}


def test_synonyms_belong_to_commands_and_are_lower_case(window: MainWindow) -> None:
    of_views = {f"view_{name}" for name in views.everything()}  # offered once a study is open
    assert set(SYNONYMS) <= set(window.actions_.names()) | of_views
    assert all(word == word.lower() for words in SYNONYMS.values() for word in words)


def test_a_command_that_is_not_possible_now_is_found_but_does_nothing(window: MainWindow, qtbot: Any) -> None:
    window.actions_["palette"].trigger()
    assert "Copy image of the view" not in window.palette_.names()
    qtbot.keyClicks(window.palette_.entry, "copy image")
    assert window.palette_.listed()[0] == "Copy image of the view"
    assert "Copy image of the view" not in window.palette_.names()
    qtbot.keyClick(window.palette_.entry, Qt.Key.Key_Return)
    assert not window.palette_.isVisible()


def test_matching_counts_swapped_letters_once_and_prefers_the_name() -> None:
    assert score("exprot", "Export") == score("expert", "Export")
    assert score("exprto", "Export") is None  # two typos in six letters are too many
    assert score("measuremnets fitl", "Measurements: filter") is not None  # one in each word
    by_name, by_synonym = score("open", "Open"), score("open", "Load", ("open",))
    typo, letters = score("opne", "Open"), score("opn", "Op e n")
    assert by_name is not None
    assert by_synonym is not None
    assert typo is not None
    assert letters is not None
    assert by_name < by_synonym < typo < letters
    assert score("xyz", "Quit") is None


def test_numbers_in_the_export_dialog_can_be_read(study: MainWindow, qtbot: Any) -> None:
    area = study.study.area
    assert area is not None
    dock = area.docks[0]
    qtbot.waitUntil(lambda: dock.figure() is not None)
    figure = dock.figure()
    assert figure is not None
    dialog = ExportDialog(figure, "x", study.jobs, study.settings, study)
    with qtbot.waitSignal(dialog.previewed):
        dialog.show()
    readable(dialog)
    dialog.close()


def readable(dialog: Any) -> None:
    boxes = dialog.findChildren(QAbstractSpinBox)
    assert boxes
    for box in boxes:
        text = box.text()
        assert box.lineEdit().width() >= box.fontMetrics().horizontalAdvance(text), text


def test_focus_is_in_the_views_of_a_fresh_study_and_digits_arrange(study: MainWindow, qtbot: Any) -> None:
    area = study.study.area
    assert area is not None
    focus = QApplication.focusWidget()
    assert focus is not None
    assert area.isAncestorOf(focus)
    shown: list[str] = []
    study.actions_[f"arrange_{ARRANGEMENT_NAMES[2]}"].triggered.connect(lambda: shown.append("3"))
    qtbot.keyClick(focus, Qt.Key.Key_3)
    assert shown == ["3"]
    assert study.navigator.search.text() == ""


def test_single_keys_are_shortcuts_wherever_no_text_is_typed(study: MainWindow, qtbot: Any) -> None:
    shown: list[str] = []
    for number, name in enumerate(ARRANGEMENT_NAMES, 1):
        study.actions_[f"arrange_{name}"].triggered.connect(lambda _on=False, number=number: shown.append(str(number)))
    study.panels.want("inspector", True)
    study.panels.want("queue", True)
    study.panels.want("navigator", True)
    places = [study.navigator.regions_tree, study.queue.tree, study.study, study]
    for place in places:
        place.setFocus()
        for key in "12":
            qtbot.keyClick(place, key)
        qtbot.keyClick(place, "?")
        assert study.sheet.isVisible(), place
        study.sheet.hide()
    assert shown == ["1", "2"] * len(places)
    study.navigator.search.setFocus()
    qtbot.keyClicks(study.navigator.search, "3")
    assert study.navigator.search.text() == "3"


@pytest.mark.parametrize("name", ["navigator", "inspector", "whatif", "queue"])
def test_a_panel_that_is_asked_for_comes_in_front(study: MainWindow, qtbot: Any, name: str) -> None:
    panel = {"navigator": study.navigator, "inspector": study.inspector, "whatif": study.whatif, "queue": study.queue}
    for other in panel:
        study.panels.want(other, True)
    for other in ("inspector", "whatif"):
        study.panels.want(other, True)
    study.panels.want(name, False)
    study.actions_[f"toggle_{name}"].trigger()
    qtbot.waitUntil(lambda: not panel[name].visibleRegion().isEmpty())
    behind = {"inspector": "whatif", "whatif": "inspector"}.get(name)
    if behind:  # hidden behind the other: asking again raises it instead of closing it
        study.actions_[f"toggle_{behind}"].trigger()
        qtbot.waitUntil(lambda: not panel[behind].visibleRegion().isEmpty())
        assert not study.panels._panels[name].dock.isHidden()


def test_a_new_file_clears_what_was_said_of_the_one_before(
    window: MainWindow, qtbot: Any, tmp_path: Path, model_study: MakeStudy
) -> None:
    broken = tmp_path / "broken.sgstudy"
    broken.write_text("nothing")
    window.open_files([tmp_path / "missing.sgstudy"])
    assert window.start.banner.text
    window.open_files([model_study()])
    qtbot.waitUntil(lambda: window.study.handle is not None and window.study.handle.data() is not None)
    window.actions_["go_start"].trigger()
    assert window.start.banner.text == ""


def test_an_arrangement_is_saved_offered_in_another_study_and_after_a_restart(
    study: MainWindow, qtbot: Any, model_study: MakeStudy
) -> None:
    area = study.study.area
    assert area is not None
    study.study.arrange("Models")
    wanted = [dock.view.name for dock in area.docks]
    study.actions_["save_arrangement"].trigger()
    dialog = study.findChild(NameDialog)
    assert dialog is not None
    qtbot.keyClicks(dialog.name, "Mine")
    dialog.accept()
    assert study.view_commands.saved.names("study") == ["Mine"]
    handle = study.open_study(model_study("other"))
    qtbot.waitUntil(lambda: handle.data() is not None and not study.jobs.running)
    assert [dock.view.name for dock in area.docks] != wanted
    study.actions_["palette"].trigger()
    qtbot.keyClicks(study.palette_.entry, "mine")
    assert study.palette_.names()[0] == "Arrange: Mine"
    qtbot.keyClick(study.palette_.entry, Qt.Key.Key_Return)
    assert sorted(dock.view.name for dock in area.docks) == sorted(wanted)
    from scalegraph.gui.commands.saved_arrangements import SavedArrangements

    assert SavedArrangements(study.settings).names() == ["Mine"]


def test_saved_arrangements_are_renamed_deleted_and_brought_back(study: MainWindow) -> None:
    study.view_commands.save("One")
    study.view_commands.save("Two")
    dialog = ManageDialog(study.view_commands.saved, study)
    dialog.list.item(0).setText("First")
    assert study.view_commands.saved.names() == ["First", "Two"]
    dialog.list.setCurrentRow(0)
    dialog.delete.click()
    assert study.view_commands.saved.names() == ["Two"]
    assert "saved_First" not in study.actions_.names()
    dialog.undo.click()
    assert study.view_commands.saved.names() == ["First", "Two"]
    study.actions_["undo"].trigger()
    assert study.view_commands.saved.names() == ["One", "Two"]
    dialog.close()


def test_shortcut_texts_can_be_read_by_qt(window: MainWindow) -> None:
    assert all(not QKeySequence(s).isEmpty() for a in window.actions_.all() for s in a.shortcuts())
