"""Measurements in the window: drop, answer, view, search, change answers, export, cancel."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu

from scalegraph.base.cancel import CancelToken
from scalegraph.gui.figures.export_dialog import ExportDialog
from scalegraph.gui.figures.table.model import FAULT_ROLE
from scalegraph.gui.imports.page import ImportPage
from scalegraph.gui.imports.state import without_options
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.shell.start_page import Card
from scalegraph.measurements.model import MeasurementSet
from scalegraph.request.imports import sets as imports

pytestmark = pytest.mark.slow

LEFT = Qt.MouseButton.LeftButton


def drop(window: MainWindow, *paths: Path) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    window.dropEvent(QDropEvent(QPointF(10, 10), Qt.DropAction.CopyAction, mime, LEFT, Qt.KeyboardModifier.NoModifier))


def rest(window: MainWindow, qtbot: Any) -> None:
    qtbot.waitUntil(lambda: not window.jobs.running and window.imports.made is not None and not window.imports.busy)


def asked(window: MainWindow, qtbot: Any) -> ImportPage:
    """Wait until the page has its preview, and return it."""
    qtbot.waitUntil(lambda: window.page == "import" and not window.jobs.running)
    return window.imports.page


def open_points(page: ImportPage) -> dict[str, str]:
    """Return what is asked, by its key."""
    assert page.latest is not None
    return {question.key: question.message for question in page.latest.questions}


@pytest.fixture
def stencil(tmp_path: Path) -> Path:
    """A typical table: sizes, processors, seconds, three times each."""
    lines = ["procs,n,time (s)"]
    for n in (1000, 2000, 4000, 8000):
        for procs in (1, 2, 4, 8, 16):
            seconds = n * n * 1e-7 / procs + 1e-3 * procs
            lines += [f"{procs},{n},{seconds * (1 + 0.001 * again):.6f}" for again in range(3)]
    path = tmp_path / "stencil.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def regions(tmp_path: Path) -> Path:
    """A table that does not say what counts processors, the unit, or which row is the whole program."""
    lines = ["ranks,threads,region,elapsed"]
    for region, share in (("setup", 0.1), ("solve", 1.0), ("output", 0.05)):
        for ranks in (1, 2, 4, 8):
            lines += [f"{ranks},{threads},{region},{share * 10 / ranks / threads:.5f}" for threads in (1, 2)]
    path = tmp_path / "regions.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """Call paths over p in Extra-P's text format."""
    lines = ["PARAMETER p", "POINTS ( 1 ) ( 2 ) ( 4 ) ( 8 ) ( 16 )", "METRIC time"]
    for path, costs in (
        ("main", (10.0, 6.0, 4.0, 3.2, 3.0)),
        ("main->solve", (8.0, 4.0, 2.0, 1.0, 0.5)),
        ("main->solve->MPI_Waitall", (0.1, 0.2, 0.3, 0.4, 0.45)),
        ("main->output", (1.0, 1.1, 1.3, 1.8, 2.2)),
    ):
        lines += [f"REGION {path}", *(f"DATA {cost} {cost * 1.01}" for cost in costs)]
    path_ = tmp_path / "calls.txt"
    path_.write_text("\n".join(lines) + "\n")
    return path_


def test_a_csv_goes_from_drop_to_an_exported_matrix(
    window: MainWindow, qtbot: Any, stencil: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    window.statusBar().messageChanged.connect(said.append)  # a message disappears after some seconds
    drop(window, stencil)
    rest(window, qtbot)
    qtbot.waitUntil(lambda: window.page == "study" and window.study.area is not None and not window.jobs.running)
    handle, area = window.study.handle, window.study.area
    assert handle is not None
    assert area is not None
    assert "60 values at 20 points of procs, n" in "\n".join(said)
    dock = area.show_view(handle, "matrix")
    qtbot.waitUntil(lambda: dock.figure() is not None and not window.jobs.running)
    figure = dock.figure()
    assert figure is not None
    assert figure.panels, figure.empty
    target = tmp_path / "matrix.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    qtbot.mouseClick(dock.title.export, LEFT)
    dialog = area.findChild(ExportDialog)
    assert dialog is not None
    dialog.format.setCurrentIndex(dialog.format.findData("csv"))
    with qtbot.waitSignal(dialog.saved):
        qtbot.mouseClick(dialog.save_button, LEFT)
    dialog.reject()
    rows = target.read_text().splitlines()
    assert any(row.startswith("2,") for row in rows), rows
    assert any("0." in row for row in rows)


def test_the_start_page_and_the_menu_lead_to_measurements(
    window: MainWindow, qtbot: Any, stencil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered: list[str] = []

    def choose(_parent: object, _title: str, _folder: str, kinds: str) -> tuple[list[str], str]:
        offered.append(kinds)
        return [str(stencil)], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", choose)
    card = next(card for card in window.start.findChildren(Card) if "Open measurements" in card.accessibleName())
    qtbot.mouseClick(card, LEFT)
    rest(window, qtbot)
    qtbot.waitUntil(lambda: window.page == "study")
    assert "*.csv" in offered[0]
    assert "*.extra-p" in offered[0]


def test_what_cannot_be_guessed_is_asked_with_a_preview_of_the_runs(
    window: MainWindow, qtbot: Any, regions: Path
) -> None:
    drop(window, regions)
    page = asked(window, qtbot)
    assert "processors" in open_points(page)
    assert page.form.fault_of("processors") == ""  # the panel above asks for it
    assert not page.open.isEnabled()
    assert page.rows.table.columns[2].name == "region"
    assert page.rows.table.rows[0].values[:3] == ("1", "1", "setup")
    choose(page.form.processors, "ranks")
    asked(window, qtbot)
    assert "processors" not in open_points(page)
    choose(page.form.unit, "s")
    asked(window, qtbot)
    page.form.total.setEditText("solve")
    page.form.edited.emit("meaning", "total", page.form.total.currentText())
    asked(window, qtbot)
    if "scaling" in open_points(page):
        choose(page.form.scaling, "strong")
        asked(window, qtbot)
    assert [column.name for column in page.runs.table.columns][:2] == ["N", "threads"]
    assert {row.values[0] for row in page.runs.table.rows} == {1, 2, 4, 8}
    assert page.open.isEnabled()
    qtbot.mouseClick(page.open, LEFT)
    rest(window, qtbot)
    qtbot.waitUntil(lambda: window.page == "study" and not window.jobs.running)
    data = window.study.handle.data() if window.study.handle else None
    assert data is not None
    assert sorted(data.table["processors"].unique()) == [1, 2, 4, 8]


def choose(box: Any, value: str) -> None:
    """Choose *value* as a click in the list would."""
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def test_a_tree_that_may_hold_what_is_below_is_asked_for(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "tree.csv"
    lines = [f"{p},main->{part},{seconds / p}" for p in (1, 2, 4) for part, seconds in (("solve", 8), ("sum", 1))]
    path.write_text("\n".join(["p,region,time [cycles]", *lines]) + "\n")
    drop(window, path)
    page = asked(window, qtbot)
    assert "may hold those of the paths below" in page.form.fault_of("extent")
    assert "in cycles" in page.form.fault_of("clock_hz")
    choose(page.form.extent, "exclusive")
    asked(window, qtbot)
    page.form.clock.setText("1e9")
    page.form.clock.editingFinished.emit()
    asked(window, qtbot)
    assert [page.form.fault_of(key) for key in ("extent", "clock_hz", "total")] == ["", "", ""]
    assert page.runs.table.rows[0].values[1] == pytest.approx(9e-9)


def test_every_answer_can_be_undone(window: MainWindow, qtbot: Any, regions: Path) -> None:
    drop(window, regions)
    page = asked(window, qtbot)
    choose(page.form.processors, "threads")
    asked(window, qtbot)
    assert "processors" not in open_points(page)
    window.actions_["undo"].trigger()
    asked(window, qtbot)
    assert "processors" in open_points(page)
    window.actions_["redo"].trigger()
    asked(window, qtbot)
    assert page.form.processors.currentData() == "threads"
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert window.page == "start"
    assert len(window.studies) == 0


def test_what_names_mean_can_be_changed_later(window: MainWindow, qtbot: Any, stencil: Path) -> None:
    stencil.write_text(stencil.read_text().replace("time (s)", "time"))
    drop(window, stencil)
    page = asked(window, qtbot)
    qtbot.mouseClick(page.question.confirm, LEFT)  # seconds
    asked(window, qtbot)
    qtbot.mouseClick(page.open, LEFT)
    rest(window, qtbot)
    qtbot.waitUntil(lambda: window.page == "study" and not window.jobs.running)
    handle = window.study.handle
    assert handle is not None
    qtbot.waitUntil(window.actions_["change_meaning"].isEnabled)
    window.actions_["change_meaning"].trigger()
    page = asked(window, qtbot)
    assert page.form.processors.currentData() == "procs"
    choose(page.form.unit, "ms")
    asked(window, qtbot)
    qtbot.mouseClick(page.open, LEFT)
    rest(window, qtbot)
    qtbot.waitUntil(lambda: window.page == "study" and not window.jobs.running)
    data = handle.data()
    assert data is not None
    assert float(data.table["time_s"].max()) < 0.01
    assert len(window.studies) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("cut.json", '{"parameters": ["p"], "measurements": {"main": {"ti', "cut.json"),
        ("short.txt", "PARAMETER p\nPOINTS 1 2 4\nREGION main\nMETRIC time\nDATA 1 1\nDATA\n", "short.txt:"),
        ("times.csv", "p,time_s\n1,4\n2,2.1\n4,fast\n8,0.7\n16,0.6\n", "times.csv"),
    ],
)
def test_a_damaged_file_is_refused_in_a_sentence_with_its_place(
    window: MainWindow, qtbot: Any, tmp_path: Path, name: str, text: str, said: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    drop(window, path)
    qtbot.waitUntil(lambda: not window.jobs.running and bool(sentence(window)))
    assert said in sentence(window)
    assert len(window.studies) == 0
    assert not any(window.settings.studies_dir().glob("*"))


def sentence(window: MainWindow) -> str:
    """Return the window's message about a file that it could not open without asking."""
    if window.page == "import":
        page = window.imports.page
        latest = page.latest
        questions = "" if latest is None else f"{latest.words} {' '.join(latest.open_questions)}"
        return page.banner.text or questions
    return window.start.banner.text


def test_a_large_set_is_read_beside_the_window_and_can_be_cancelled(
    window: MainWindow, qtbot: Any, stencil: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, ended = threading.Event(), threading.Event()
    real = imports.read_set

    def slow(paths: Any, *, choices: Any, cancel: CancelToken, progress: Callable[[float], None]) -> MeasurementSet:
        progress(0.5)
        gate.wait(60)
        ended.set()
        cancel.check()
        return real(paths, choices=choices, cancel=cancel, progress=progress)

    monkeypatch.setattr(imports, "read_set", slow)
    drop(window, stencil)
    qtbot.waitUntil(lambda: window.page == "import")
    page = window.imports.page
    qtbot.waitUntil(lambda: page.bar.isVisible() and page.bar.value() > 40)
    qtbot.mouseClick(page.cancel, LEFT)
    assert window.page == "start"
    gate.set()
    qtbot.waitUntil(lambda: ended.is_set() and not window.jobs.running)
    assert len(window.studies) == 0
    assert window.start.banner.text == ""
    drop(window, stencil)
    rest(window, qtbot)
    qtbot.waitUntil(lambda: window.page == "study")


def test_call_paths_are_found_by_part_of_their_path_and_shared_by_the_views(
    window: MainWindow, qtbot: Any, calls: Path
) -> None:
    drop(window, calls)
    qtbot.waitUntil(lambda: not window.jobs.running and window.page in ("study", "import"))
    if window.page == "import":
        page = asked(window, qtbot)
        choose(page.form.unit, "s")
        asked(window, qtbot)
        qtbot.mouseClick(page.open, LEFT)
        rest(window, qtbot)
    qtbot.waitUntil(lambda: window.page == "study" and not window.jobs.running)
    tree = window.navigator.calls
    qtbot.waitUntil(lambda: tree.filled and tree.model.values is not None)
    assert tree.model.rowCount() == 1
    assert "p = 16" in tree.note.text()
    window.selection.select(processors=2)
    qtbot.waitUntil(lambda: "p = 2" in tree.note.text())
    qtbot.keyClick(window, Qt.Key.Key_Slash)
    assert window.navigator.search.hasFocus()
    qtbot.keyClicks(window.navigator.search, "solve->mpi")
    assert tree.model.shown == 3  # the match and its ancestors
    qtbot.keyClick(window.navigator.search, Qt.Key.Key_Return)
    assert window.selection.current.call_path == "main->solve->MPI_Waitall"
    assert "MPI_Waitall" in window.study.header.chosen.text()
    index = tree.tree.currentIndex()
    assert tree.model.data(index) == "MPI_Waitall"
    assert tree.model.data(index.siblingAtColumn(1)) == "3.3\u00a0%"
    choose_share(tree, "value")
    assert tree.model.data(index.siblingAtColumn(1)) == "201 ms"
    assert any(part.title == "Call path MPI_Waitall" for part in window.inspector.parts())


def choose_share(tree: Any, value: str) -> None:
    tree.show_as.setCurrentIndex(tree.show_as.findData(value))


def test_a_count_of_every_run_is_asked_for_and_answered(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "iters.csv"
    path.write_text("threads,iters,time [s]\n2,101,8.0\n4,103,4.2\n8,99,2.5\n16,110,1.6\n")
    drop(window, path)
    page = asked(window, qtbot)
    assert "a size of the problem, or a result of the run" in open_points(page)["sizes"]
    assert not page.can_accept
    assert page.form.sizes.isVisibleTo(page)
    choose(page.form.sizes, "none")
    qtbot.waitUntil(lambda: page.can_accept)
    assert page.latest is not None
    assert page.latest.mapping.follow == ("iters",)
    assert "relative to the fewest processors, N = 2" in page.latest.runs_words
    assert [row.values[-1] for row in page.latest.runs.rows] == pytest.approx([1, 8 / 8.4, 0.8, 0.625])
    page.accept()
    rest(window, qtbot)
    assert window.page == "study"


TWO = "ranks,cores,wall,comm\n1,1,10,1.5\n2,1,5.2,0.7\n4,1,2.7,0.4\n1,2,5.3,1.5\n"


def test_all_is_asked_at_once_and_the_guesses_are_one_click(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    path.write_text(TWO)
    drop(window, path)
    page = asked(window, qtbot)
    assert "may each count" in open_points(page)["processors"]
    assert "has no unit" in open_points(page)["unit"]
    assert not page.form.fault_of("processors") + page.form.fault_of("unit")  # said once, in the panel
    assert page.form.processors.currentText() == "choose … (guess: ranks*cores)"
    assert {row.values[0] for row in page.runs.table.rows} == {1, 2, 4}  # if the guesses are right
    assert not page.open.isEnabled()
    assert list(page.question.choices) == ["processors", "unit"]
    assert page.question.choices["processors"].currentData() == page.latest.questions[0].guess
    choose(page.question.choices["processors"], "ranks")
    qtbot.mouseClick(page.question.confirm, LEFT)
    asked(window, qtbot)
    assert page.open.isEnabled()
    assert page.question.isHidden()
    assert page.form.processors.currentData() == "ranks"
    window.actions_["undo"].trigger()
    asked(window, qtbot)
    assert not page.open.isEnabled()


def test_a_click_on_a_column_says_what_it_is_and_undo_takes_it_back(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    path.write_text("p,speed,label\n1,10.5,ax\n2,19.5,by\n4,36.0,cz\n8,70.1,dw\n")
    drop(window, path)
    page = asked(window, qtbot)
    heads = [page.rows.tree.model().headerData(place, Qt.Orientation.Horizontal) for place in range(2)]
    assert heads == ["p\nnumber of processors", "speed\nmeasured value"]
    choose_role(page, 1, "rate")
    asked(window, qtbot)
    assert page.model.state.role("speed", "speed") == "rate"
    assert page.form.rate.currentData() == "speed"
    choose_role(page, 2, "skip")
    asked(window, qtbot)
    assert [round(row.values[-2], 2) for row in page.runs.table.rows] == [1.0, 1.86, 3.43, 6.68]
    assert page.open.isEnabled()
    window.actions_["undo"].trigger()
    window.actions_["undo"].trigger()
    asked(window, qtbot)
    assert page.model.state.role("speed", "speed") is None
    page.leave()


def choose_role(page: ImportPage, column: int, role: str) -> None:
    """Click on a column, and on a role in its menu."""
    page.rows.tree.column_clicked.emit(column)
    menu = page.findChildren(QMenu)[-1]
    next(action for action in menu.actions() if action.data() == role).trigger()
    menu.close()


def test_a_table_of_the_clipboard_is_pasted(window: MainWindow, qtbot: Any, stencil: Path) -> None:
    QGuiApplication.clipboard().setText("procs\ttime (s)\n1\t10\n2\t5.2\n4\t2.7\n")
    window.actions_["paste_table"].trigger()
    qtbot.waitUntil(lambda: window.page == "study" and not window.jobs.running)
    data = window.study.handle.data() if window.study.handle else None
    assert data is not None
    assert sorted(data.table["time_s"]) == [2.7, 5.2, 10.0]
    QGuiApplication.clipboard().setText("nothing")
    window.actions_["paste_table"].trigger()
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(stencil))])
    QGuiApplication.clipboard().setMimeData(mime)
    window.actions_["paste_table"].trigger()
    qtbot.waitUntil(lambda: len(window.studies) == 2 and not window.jobs.running)


def test_logs_that_are_dropped_together_are_one_set_and_so_is_their_folder(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for count, seconds in ((1, 10.0), (2, 5.2), (4, 2.8)):
        (logs / f"run_p{count}.log").write_text(f"done\nreal\t0m{seconds}s\nuser\t0m1.0s\nsys\t0m0.1s\n")
    drop(window, logs)
    qtbot.waitUntil(lambda: window.page == "study" and not window.jobs.running)
    data = window.study.handle.data() if window.study.handle else None
    assert data is not None
    assert sorted(data.table["processors"]) == [1, 2, 4]
    drop(window, *sorted(logs.iterdir()))
    qtbot.waitUntil(lambda: len(window.studies) == 2 and not window.jobs.running)
    assert window.study.handle is not None
    assert len(window.study.handle.data().table) == 3


def test_a_cell_is_marked_by_a_click_and_undo_takes_it_back(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "crashed.csv"
    path.write_text("p,time_s\n1,8\n2,4.1\n4,crashed\n8,1.2\n16,0.8\n")
    drop(window, path)
    page = asked(window, qtbot)  # not refused: the cell can be marked
    assert not page.open.isEnabled()
    assert page._questions.text() == "crashed.csv:4: column 2 'time_s': a number was expected, got 'crashed'"
    bad = page.rows.tree.model().index(2, 1)
    assert bad.data(FAULT_ROLE) == "a number was expected, got 'crashed'"
    assert not page.rows.tree.model().index(1, 1).data(FAULT_ROLE)
    click_cell(page, 2, 1, "none")
    asked(window, qtbot)
    assert page.open.isEnabled()
    assert not page.rows.tree.model().index(2, 1).data(FAULT_ROLE)
    assert [row.values[0] for row in page.runs.table.rows] == [1, 2, 8, 16]
    click_cell(page, 1, 1, "skip")
    asked(window, qtbot)
    assert [row.values[0] for row in page.runs.table.rows] == [1, 8, 16]
    window.actions_["undo"].trigger()
    asked(window, qtbot)
    assert [row.values[0] for row in page.runs.table.rows] == [1, 2, 8, 16]
    window.actions_["undo"].trigger()
    asked(window, qtbot)
    assert not page.open.isEnabled()
    page.leave()


def test_a_unit_that_contradicts_the_file_is_refused_at_its_field(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    path = tmp_path / "two.csv"
    path.write_text("ranks,cores,wall [s]\n1,1,10\n2,1,5.2\n4,1,2.7\n1,2,5.3\n")
    drop(window, path)
    page = asked(window, qtbot)
    choose(page.form.unit, "ms")
    asked(window, qtbot)
    assert page.form.fault_of("unit") == "'wall' is in s according to the file, not in ms"
    assert not page.open.isEnabled()
    page.leave()


def test_a_bad_cell_far_below_is_among_the_first_rows(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    path.write_text("p,time_s\n" + "".join(f"{p},{100 / p}\n" for p in range(1, 90)) + "90,oom\n")
    drop(window, path)
    page = asked(window, qtbot)
    assert page.rows.table.rows[-1].values == ("90", "oom")
    click_cell(page, len(page.rows.table.rows) - 1, 1, "skip")
    asked(window, qtbot)
    assert page.open.isEnabled()
    page.leave()


def test_a_low_window_shows_question_and_tables(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(
        "p;n1;time\n" + "".join(f"{p};7;{2.3 / p:.3f}\n" for p in (1, 2)) + "".join("4;7;640\n" for _ in "ab")
    )
    window.resize(800, 600)
    drop(window, path)
    page = asked(window, qtbot)
    assert page.question.isVisible()
    assert page.question.choices["decimal"].itemText(0) in ("a decimal point", "a decimal comma")
    assert not page.form.isVisible()
    assert page.rows.tree.viewport().height() > 3 * page.rows.tree.rowHeight(page.rows.tree.model().index(0, 0))
    qtbot.mouseClick(page.question.confirm, LEFT)
    asked(window, qtbot)
    assert page.form.isVisible()
    page.leave()


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("got 'x'; --cell 3:a=none leaves out the value", "got 'x'"),
        (
            "taken as values of processors (their names rise; --across says another)",
            "taken as values of processors (their names rise)",
        ),
        ("weak scaling is what the name says; --scaling says another", "weak scaling is what the name says"),
        ("times of parts (a; b) are sums", "times of parts (a; b) are sums"),
    ],
)
def test_notes_come_without_options(said: str, shown: str) -> None:
    assert without_options(said) == shown


def click_cell(page: ImportPage, row: int, column: int, role: str) -> None:
    """Click a cell of the first rows, and an entry of its menu."""
    page.rows.tree.cell_clicked.emit(row, column)
    menu = page.findChildren(QMenu)[-1]
    next(action for action in menu.actions() if action.data() == f"cell:{role}").trigger()
    menu.close()
