"""A new user's first minutes: opening one's own program, the first answer, the demonstration."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent
from PySide6.QtWidgets import QFileDialog, QPushButton

from scalegraph import machine
from scalegraph.base.run import LineCost, RunPoint
from scalegraph.figures.figure import Source, SourceLine
from scalegraph.gui import app
from scalegraph.gui.figures.legend_strip import LegendEntry, LegendStrip
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.request.form import RequestForm, read
from scalegraph.gui.request.sizes import with_sizes
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.shell.start_page import Card
from scalegraph.request import Session
from scalegraph.request.model import shipped
from scalegraph.store import Manifest, SourceText, Study
from scalegraph.views import ways
from tests.gui.conftest import REGIONS, record

pytestmark = pytest.mark.slow(2)

LEFT = Qt.MouseButton.LeftButton
LONG = 240_000  # ms: runs of a whole program
SOURCE = "int main(void) { return 0; }\n"


def pick(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    """Make every file dialog return *paths*."""
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_a, **_k: ([str(path) for path in paths], ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a, **_k: (str(paths[0]), ""))


def drop(window: MainWindow, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    actions, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(5, 5), actions, data, LEFT, none))


def test_a_new_request_is_empty_and_undo_brings_back_what_was_there(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    path = one_size(tmp_path / "one.sgstudy", SHIPPED)
    shown(window, qtbot, path)
    window.way_commands.go(ways.ADD_SIZES)
    before = window.request.model.form
    assert window.request.side.study_path() == path
    window.actions_["new_request"].trigger()
    assert window.page == "request"
    assert window.request.model.form == RequestForm()
    assert window.request.side.study_path() is None
    window.request.program.choose("billiard")
    proposed = window.request.side.study_path()
    assert proposed is not None
    assert proposed != path, "it does not run into the study of the request before"
    for _ in range(2):
        window.request.model.undo_stack.undo()
    assert window.request.model.form == before


def test_the_request_panel_begins_with_the_ways_to_a_program_of_ones_own(window: MainWindow) -> None:
    window.go("request")
    program = window.request.program
    first = [button.text() for button in program.findChildren(QPushButton) if button.isVisible()][:3]
    assert first == ["Choose source files…", "Executable…", "Build command…"]
    assert program.own.y() < program.choice.parentWidget().y()
    words = [program.choice.itemText(index) for index in range(program.choice.count())]
    heading = words.index("Shipped programs")
    assert heading == 3
    assert all("of your own" in text for text in words[:heading])
    assert set(words[heading + 1 :]) == {found.program.title for found in window.session.programs()}
    assert not program.choice.model().index(heading, 0).flags() & Qt.ItemFlag.ItemIsEnabled


def test_a_source_that_is_chosen_on_the_start_page_can_run_at_once(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.c").write_text(SOURCE)
    pick(monkeypatch, tmp_path / "mine.c")
    qtbot.mouseClick(window.start.sources, LEFT)
    assert window.page == "request"
    qtbot.waitUntil(lambda: window.request.can_run)
    assert window.request.side.count.text().startswith("7 runs")
    assert 'name = "server-2x32"' in window.request.side.toml.toPlainText()
    assert not window.request.program.own.isVisible()


def test_a_source_that_is_dropped_on_the_start_page_can_run_at_once(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    (tmp_path / "mine.c").write_text(SOURCE)
    assert window.page == "start"
    drop(window, tmp_path / "mine.c")
    qtbot.waitUntil(lambda: window.request.can_run)
    assert window.request.model.form.sources == (str(tmp_path / "mine.c"),)


def test_an_executable_of_ones_own_is_chosen_in_the_panel(
    window: MainWindow, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pick(monkeypatch, tmp_path / "prog")
    (tmp_path / "prog").write_bytes(b"\x7fELF" + bytes(12) + b"\x02\0")
    window.go("request")
    window.request.program.choose("\0executable")
    assert window.request.model.form.built
    assert window.request.model.form.executable == str(tmp_path / "prog")
    assert window.request.model.form.machine == "server-2x32"


def one_size(path: Path, request: dict[str, Any] | None, counts: tuple[int, ...] = (1, 2, 4)) -> Path:
    """Write a study of one problem size whose second line costs most."""
    manifest = Manifest.new(
        title="Model",
        program="model",
        machine="ksr1",
        machine_values=machine.load("ksr1").model_dump(mode="json"),
        request=request or {},
        sources=(SourceText.of("other.c", "int other;\n"), SourceText.of("model.c", "int a;\nint b;\nint c;\n")),
        regions=REGIONS,
    )
    lines = tuple(
        LineCost(file="model.c", line=line, executions=1, busy=busy) for line, busy in ((1, 10), (2, 900), (3, 90))
    )
    with Study.create(path, manifest) as study:
        for n in counts:
            study.add_run(record(RunPoint(processors=n, parameters={}), lines=lines))
    return path


def shown(window: MainWindow, qtbot: Any, path: Path) -> dict[str, Any]:
    """Open *path* and return the views of its first arrangement, drawn, by name."""
    window.open_files([path])
    qtbot.waitUntil(lambda: window.page == "study" and window.study.area is not None and not window.jobs.running)
    area = window.study.area
    assert area is not None
    for dock in area.docks:
        dock.drawing.refresh()
    qtbot.waitUntil(lambda: not window.jobs.running and all(dock.figure() is not None for dock in area.docks))
    return {dock.view.name: dock for dock in area.docks}


SHIPPED = {"program": {"name": "ge1"}, "processors": [1, 2, 4], "bound": [{"kind": "problem_size"}]}


def test_a_study_of_one_size_opens_with_its_answer_and_nothing_is_empty(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    docks = shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    assert {"time", "speedup", "breakdown", "hottest", "source"} <= docks.keys()
    assert "matrix" not in docks
    for name in ("time", "hottest"):
        assert not docks[name].figure().empty, name
        assert not docks[name].visibleRegion().isEmpty(), name
    rows = docks["hottest"].figure().panels[0].rows
    assert [row.values[0] for row in rows] == ["model.c:2", "model.c:3", "model.c:1"]
    assert rows[0].values[1] > rows[1].values[1] > rows[2].values[1]


def test_a_click_on_a_line_to_look_at_opens_its_source(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    docks = shown(window, qtbot, one_size(tmp_path / "one.sgstudy", SHIPPED))
    assert docks["source"].visibleRegion().isEmpty()
    tree = docks["hottest"].picture.panels[0].tree
    place = tree.visualRect(tree.model().index(0, 0)).center()
    qtbot.mouseClick(tree.viewport(), LEFT, pos=place)
    assert window.selection.current.line == ("model.c", 2)
    assert window.selection.current.region == 1
    qtbot.waitUntil(lambda: not docks["source"].visibleRegion().isEmpty() and not window.jobs.running)
    qtbot.waitUntil(lambda: docks["source"].figure().meta.get("file") == "model.c")
    assert docks["source"].picture.panels[0].editor.isVisible()


def test_a_button_plans_the_runs_of_a_scalability_matrix(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = one_size(tmp_path / "one.sgstudy", SHIPPED)
    shown(window, qtbot, path)
    area = window.study.area
    assert area is not None
    assert window.study.handle is not None
    matrix = area.show_view(window.study.handle, "matrix")  # type: ignore[arg-type]
    qtbot.waitUntil(lambda: matrix.figure() is not None and not window.jobs.running)
    (way,) = [button for button in matrix.findChildren(QPushButton) if "Add sizes" in button.text()]
    assert way.isVisible()
    qtbot.mouseClick(way, LEFT)
    assert window.page == "request"
    form = window.request.model.form
    assert form.method
    assert [bound.kind for bound in form.bounds] == ["problem_size", "efficiency"]
    qtbot.waitUntil(lambda: window.request.can_run)
    assert window.request.side.study_path() == path
    assert "to" in window.request.side.count.text()
    assert "about" in window.request.side.count.text(), "the runs of the study say how long"
    assert "known after the first runs" not in window.request.side.notes.text()
    window.request.model.undo_stack.undo()
    assert not window.request.model.form.chosen


def test_times_that_were_imported_open_with_what_they_say_and_what_to_measure_for_a_matrix(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    table = tmp_path / "plain.csv"
    table.write_text("p,time_s\n1,8.0\n2,4.2\n4,2.3\n8,1.4\n")
    docks = shown(window, qtbot, table)
    assert "matrix" not in docks
    seen = [name for name, dock in docks.items() if not dock.visibleRegion().isEmpty()]
    assert {"time", "verdicts"} <= set(seen)
    assert not [name for name in seen if docks[name].figure().empty]
    (way,) = [button for button in docks["verdicts"].findChildren(QPushButton) if "What to measure" in button.text()]
    qtbot.mouseClick(way, LEFT)
    assert "1, 2, 4 and 8 processors" in window.study.banner.text


def test_a_study_that_has_or_asks_for_several_sizes_opens_with_its_matrix(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    held = {**SHIPPED, "bound": [{"kind": "problem_size"}, {"kind": "efficiency", "value": 0.5}]}
    docks = shown(window, qtbot, one_size(tmp_path / "held.sgstudy", held, counts=(1,)))
    assert next(iter(docks)) == "matrix"


@pytest.mark.parametrize(
    ("form", "grow", "other"),
    [
        (RequestForm(sources=("a.c",), parameters=(("m", "100"),), args="{m}"), (("m", "N"),), False),
        (RequestForm(sources=("a.c",), args="-v 20 3000"), (("n", "N"),), True),
        (RequestForm(sources=("a.c",)), (("n", "N"),), True),
    ],
)
def test_sizes_of_an_own_program_grow_by_a_parameter_or_by_its_largest_argument(
    form: RequestForm, grow: Any, other: bool
) -> None:
    grown = with_sizes(form, None, {"efficiency": 0.37})
    assert (grown.form.grow, grown.other) == (grow, other)
    assert grown.form.bounds[-1].kind == "efficiency"
    assert grown.form.bounds[-1].value == "0.35"
    if form.args.startswith("-v"):
        assert grown.form.args == "-v 20 {n}"
        assert grown.form.parameters == (("n", "3000"),)
    request, faults = read(grown.form)
    assert [fault.key for fault in faults] == ([] if form.args else ["parameters.n"])
    assert request is not None
    if not form.args:  # fields that need the missing value are not reported
        said = {fault.key for fault in Session().check(request)} - {"parameters.n"}
        assert not [key for key in said if key.startswith(("program.args", "scaling"))]


@pytest.mark.parametrize(
    ("known", "value"), [(0.37, "0.35"), (0.043, "0.04"), (0.97, "0.97"), (0.93, "0.9"), (None, "0.5"), (0.1, "0.1")]
)
def test_the_efficiency_that_is_proposed_lies_near_those_of_the_runs(known: float | None, value: str) -> None:
    grown = with_sizes(
        RequestForm(sources=("a.c",), parameters=(("m", "100"),), args="{m}"), None, {"efficiency": known}
    )
    assert grown.form.bounds[-1].value == value


@pytest.fixture
def demo_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Redirect the user's copy of the demonstration."""
    place = tmp_path / "data"
    monkeypatch.setattr(shipped, "user_directory", lambda: place)
    return place


def test_the_demonstration_opens_its_shipped_study_without_running_anything(
    window: MainWindow, session: Any, qtbot: Any, demo_place: Path
) -> None:
    card = next(card for card in window.start.findChildren(Card) if "Open the demonstration" in card.accessibleName())
    qtbot.mouseClick(card, LEFT)
    assert window.page == "study"
    qtbot.waitUntil(lambda: window.study.area is not None and not window.jobs.running)
    handle = window.study.handle
    assert handle is not None
    assert handle.path == demo_place / "demo.sgstudy"
    assert len(handle.data().table) > 100
    assert not session.submitted
    assert window.study.area is not None
    assert window.study.area.docks[0].view.name == "matrix"
    assert "Compute anew" in [b.text() for b in window.study.banner.findChildren(QPushButton) if b.isVisible()]


def test_the_demonstration_is_computed_anew_into_another_study_and_its_runs_are_seen_arriving(
    window: MainWindow, session: Any, qtbot: Any, demo_place: Path
) -> None:
    window.demonstration.open()
    qtbot.waitUntil(lambda: window.study.area is not None and not window.jobs.running)
    before = (demo_place / "demo.sgstudy").read_bytes()
    way = next(b for b in window.study.banner.findChildren(QPushButton) if b.text() == "Compute anew")
    session.hold()
    qtbot.mouseClick(way, LEFT)
    qtbot.waitUntil(lambda: bool(window.runner.entries and window.runner.entries[0].runs))
    session.let(1)
    qtbot.waitUntil(lambda: window.study.handle is not None and window.study.handle.path != demo_place / "demo.sgstudy")
    assert window.page == "study"
    assert window.queue.isVisible()
    assert window.runner.entries[0].total > 10
    session.let(10_000)
    qtbot.waitUntil(lambda: not window.runner.busy and not window.jobs.running)
    assert (demo_place / "demo.sgstudy").read_bytes() == before


def test_without_a_shipped_study_the_demonstration_is_computed(
    window: MainWindow, session: Any, qtbot: Any, demo_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shipped, "shipped", lambda _name="demo": None)
    session.hold()
    window.demonstration.open()
    qtbot.waitUntil(lambda: bool(window.runner.entries and session.submitted))  # another thread submits it
    assert session.submitted[0].program.name == "billiard"


def test_traces_that_the_demonstration_does_not_ship_are_run_by_a_click(
    window: MainWindow, session: Any, qtbot: Any, demo_place: Path
) -> None:
    window.demonstration.open()
    qtbot.waitUntil(lambda: window.study.area is not None and not window.jobs.running)
    tree = window.navigator.studies_tree
    top = tree.topLevelItem(0)
    assert top is not None
    (item,) = [top.child(i) for i in range(top.childCount()) if top.child(i).text(0).startswith("traces of 4, 16")]
    session.hold()
    tree.itemClicked.emit(item, 0)
    qtbot.waitUntil(lambda: bool(session.submitted))
    assert session.submitted[0].trace.processors == (4, 16)
    assert window.runner.entries[0].path == demo_place / "demo.sgstudy"


# without the loop that is the serial part, this would scale
SERIAL_SET_UP = """\
#include <stdio.h>
#define N 400000
static double a[N], b[N];
int main(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        a[i] = (double)(i % 97) / (1.0 + i) / (2.0 + i % 89);
    for (int step = 0; step < 3; step++) {
#pragma omp parallel for reduction(+ : sum)
        for (int i = 0; i < N; i++)
            sum += a[i];
    }
    printf("%g\\n", sum);
    return 0;
}
"""
SET_UP_LINE = 8


@pytest.mark.compiler
def test_an_own_program_is_answered_in_three_clicks_with_the_line_that_stops_it(
    qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Choose the source, run, read the line: with the real simulator."""
    source = tmp_path / "heat.c"
    source.write_text(SERIAL_SET_UP)
    pick(monkeypatch, source)
    app.make_application()
    window = app.make_window(Session(), tmp_path / "window.ini")
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: not window.jobs.running)
    qtbot.mouseClick(window.start.sources, LEFT)
    qtbot.waitUntil(lambda: window.request.can_run)
    qtbot.mouseClick(window.request.side.run, LEFT)
    qtbot.waitUntil(lambda: window.page == "study" and not window.runner.busy and not window.jobs.running, timeout=LONG)
    entry = window.runner.entries[0]
    assert (entry.phase, entry.title) == ("done", "heat on Two-socket server, 2 x 32 out-of-order cores"), entry.message
    area = window.study.area
    assert area is not None
    seen = {dock.view.name: dock for dock in area.docks if not dock.visibleRegion().isEmpty()}
    assert {"time", "hottest"} <= seen.keys()

    def drawn() -> bool:
        figures = [None if dock.drawing.stale else dock.figure() for dock in seen.values()]
        return all(figure is not None and not figure.empty for figure in figures)

    qtbot.waitUntil(drawn, timeout=LONG)
    assert "1 to 64 processors" in window.study.header.verdict.accessibleDescription()
    panel = seen["hottest"].picture.panels[0]
    rows = panel.table.rows
    assert len(rows) == 3
    assert rows[0].values[0] == f"heat.c:{SET_UP_LINE}", "the line that the others wait for costs most"
    assert rows[0].values[1] > 50
    qtbot.mouseClick(panel.tree.viewport(), LEFT, pos=panel.tree.visualRect(panel.tree.model().index(0, 0)).center())
    assert window.selection.current.line == (str(source), SET_UP_LINE)
    source_view = next(dock for dock in area.docks if dock.view.name == "source")
    qtbot.waitUntil(lambda: not source_view.visibleRegion().isEmpty() and not source_view.drawing.stale)
    window.close()
    qtbot.waitUntil(lambda: not window.jobs.running)


def test_a_legend_that_has_no_room_for_all_names_the_largest(qapp: Any) -> None:
    assert qapp is not None
    strip = LegendStrip()
    strip.setFixedWidth(300)
    strip.allow(1)
    names = [f"a rather long name {number}" for number in range(9)]
    entries = [LegendEntry(name, QColor("red"), "bar", float(size)) for size, name in enumerate(names)]
    strip.show_entries(entries)
    assert strip.texts()[0] == names[-1]
    strip.setFixedWidth(5000)
    strip.show_entries(entries)
    assert strip.texts() == names


def test_the_line_that_was_chosen_stays_in_sight_when_the_view_gets_its_size(qtbot: Any) -> None:
    lines = tuple(SourceLine(number, f"int line_{number};") for number in range(1, 60))
    panel = SourcePanel(Source("a.c", (), lines), "light")
    qtbot.addWidget(panel)
    panel.resize(500, 1400)  # high enough for the line to be visible
    panel.show()
    panel.select(None, ("a.c", 40))
    panel.resize(500, 220)

    def in_sight() -> bool:
        first = panel.editor.firstVisibleBlock().blockNumber()
        return first <= 39 <= first + panel.editor.verticalScrollBar().pageStep() - 1

    qtbot.waitUntil(in_sight)


def test_a_matrix_whose_sizes_are_under_way_offers_no_second_plan(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    held = {**SHIPPED, "bound": [{"kind": "efficiency", "value": 0.5}]}
    docks = shown(window, qtbot, one_size(tmp_path / "held.sgstudy", held))
    figure = docks["matrix"].figure()
    assert "asks for them" in figure.empty
    assert not figure.ways


def test_the_file_of_sizes_is_not_proposed_for_another_program(window: MainWindow, qtbot: Any, tmp_path: Path) -> None:
    path = one_size(tmp_path / "one.sgstudy", SHIPPED)
    shown(window, qtbot, path)
    window.way_commands.go(ways.ADD_SIZES)
    assert window.request.side.study_path() == path
    window.request.program.choose("billiard")
    proposed = window.request.side.study_path()
    assert proposed is not None
    assert proposed.name == "billiard-ksr1.sgstudy"
    qtbot.keyClicks(window.request.side.study, "x")
    typed = window.request.side.study_path()
    window.request.program.choose("ge2")
    assert window.request.side.study_path() == typed
