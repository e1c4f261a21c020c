"""The window on a small screen: what a new user sees and presses."""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QTabBar, QTreeView

from scalegraph.figures.figure import Axis, Cell, Column, Grid, Key, LaneTrack, Row, Table, Timeline
from scalegraph.gui.dock.arrangements import ARRANGEMENTS, Split, Tabs, filled_first, layout_of, two_views, views_of
from scalegraph.gui.figures.grid.folding import folded
from scalegraph.gui.figures.grid.panel import GridPanel
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.table.panel import TablePanel
from scalegraph.gui.figures.timeline.layout import Layout
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.loss import RegionLoss, by_share
from scalegraph.gui.whatif.helpful import help_for
from scalegraph.request import Session
from tests.gui.trace.test_trace_window import settled

ROOT = Path(__file__).parents[2]


def shown(window: MainWindow) -> list[QDockWidget]:
    area = window.study.area
    assert area is not None
    return [dock for dock in area.docks if not dock.visibleRegion().isEmpty()]


def opened(window: MainWindow, qtbot: Any, path: Path) -> None:
    window.resize(1280, 720)
    window.open_study(path)
    settled(window, qtbot)


def key(window: MainWindow, keys: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(QApplication.focusWidget() or window, keys, modifiers)


@pytest.mark.slow
def test_a_small_window_has_two_large_views_below_110_pixels_of_chrome(
    window: MainWindow, qtbot: Any, model_study: Any
) -> None:
    opened(window, qtbot, model_study())
    area = window.study.area
    assert area is not None
    window.study.banner.show_remark("Something worth knowing. " * 8, "A way on", lambda: None)
    for name in ("Overview", "Lost time", "Regions"):
        window.study.arrange(name)
        settled(window, qtbot)
        assert len(shown(window)) == 2
        assert area.bar.mapTo(window, QPoint(0, area.bar.height())).y() <= 110
        assert all(dock.height() > 500 for dock in shown(window))
        marked = [action.text() for action in area.bar.folded.menu().actions() if action.isChecked()]
        assert marked == [name]


@pytest.mark.slow
def test_keys_and_clicks_lead_on_right_after_the_start(window: MainWindow, qtbot: Any, model_study: Any) -> None:
    window.actions_["export_view"].trigger()
    assert "Nothing is open" in window.statusBar().currentMessage()
    opened(window, qtbot, model_study())
    area = window.study.area
    assert area is not None
    key(window, Qt.Key.Key_3)
    settled(window, qtbot)
    before = [dock.objectName() for dock in area.docks]
    assert "overheads" in before
    key(window, Qt.Key.Key_8)
    assert window.study.banner.text == "Compare needs a second study."
    assert [dock.objectName() for dock in area.docks] == before
    for leave in ("clear_selection", "back"):
        window.go("request")
        window.actions_[leave].trigger()
        assert window.page == "study"
    window.go("request")
    window.navigator.regions_tree.itemClicked.emit(window.navigator.regions_tree.topLevelItem(0), 0)
    assert window.page == "study"


@pytest.mark.slow
def test_a_further_window_lets_go_of_a_closed_study(window: MainWindow, qtbot: Any, model_study: Any) -> None:
    opened(window, qtbot, model_study())
    window.actions_["new_window"].trigger()
    second = window.windows.all[0]
    settled(window, qtbot)
    assert second.study.header.verdict.text()
    window.actions_["close_study"].trigger()
    settled(window, qtbot)
    assert second.study.handle is None
    assert not second.study.header.verdict.text()
    said = [label.text() for label in second.findChildren(QLabel) if label.isVisible() and label.text()]
    assert "No study is open." in said


@pytest.mark.slow
def test_further_windows_and_floating_views_are_windows_of_the_desktop(
    window: MainWindow, qtbot: Any, model_study: Any
) -> None:
    opened(window, qtbot, model_study())
    window.actions_["new_window"].trigger()
    second = window.windows.all[0]
    settled(window, qtbot)
    assert second.parent() is None
    assert second.windowType() is Qt.WindowType.Window
    assert second.study.area is not None
    second.study.arrange("Lost time")
    settled(window, qtbot)
    window.selection.select(processors=4)
    assert "N = 4" in second.study.header.chosen.text()
    dock = shown(window)[0]
    window.study.area.desk.current().title.float.click()  # type: ignore[union-attr]
    floating = [one for one in window.study.area.docks if one.isFloating()]  # type: ignore[union-attr]
    assert len(floating) == 1
    qtbot.waitUntil(lambda: floating[0].windowType() is Qt.WindowType.Window)
    assert floating[0].windowHandle().transientParent() is None
    floating[0].setFloating(False)
    assert not dock.isFloating()
    second.close()
    qtbot.waitUntil(lambda: not window.windows.all)
    again = window.windows.open()
    settled(window, qtbot)
    assert again.study.area is not None
    assert "overheads" in [one.objectName() for one in again.study.area.docks]
    again.close()
    qtbot.waitUntil(lambda: not window.windows.all)


@pytest.mark.slow
@pytest.mark.parametrize("height", [800, 900, 999])
def test_a_window_that_is_not_high_enough_for_four_views_shows_two(
    height: int, window: MainWindow, qtbot: Any, model_study: Any
) -> None:
    window.resize(1280, height)
    window.open_study(model_study())
    settled(window, qtbot)
    window.study.arrange("Lost time")
    settled(window, qtbot)
    assert len(shown(window)) == 2
    tree = next(tree for dock in shown(window) for tree in dock.findChildren(QTreeView) if tree.isVisible())
    assert tree.viewport().height() >= 8 * tree.sizeHintForRow(0)


def test_every_arrangement_folds_to_two_places_with_all_views() -> None:
    layouts = (*ARRANGEMENTS.values(), layout_of("Regions", imported=True, runs=True))
    for layout in layouts:
        folded_ = two_views(layout)
        assert isinstance(folded_, Split)
        assert folded_.direction == "beside"
        assert len(folded_.parts) == 2
        assert all(isinstance(part, Tabs) for part in folded_.parts)
        assert sorted(views_of(folded_)) == sorted(set(views_of(layout)))


def test_views_without_content_come_behind_those_that_show_something() -> None:
    layout = Split("beside", (Tabs(("a", "b", "c"), 2), Tabs(("d",))))
    assert filled_first(layout, lambda name: name in ("a", "d")) == Split(
        "beside", (Tabs(("b", "c", "a"), 2), Tabs(("d",)))
    )


@pytest.mark.slow
def test_after_a_comparison_views_do_not_name_their_study(window: MainWindow, qtbot: Any, model_study: Any) -> None:
    opened(window, qtbot, model_study("one"))
    opened(window, qtbot, model_study("two"))
    window.study.arrange("Compare")
    settled(window, qtbot)
    area = window.study.area
    assert area is not None
    assert any("two" in dock.windowTitle() for dock in area.docks)
    assert len([dock for dock in area.docks if not dock.view.several]) <= 4, "tabs have room for their names"
    window.study.arrange("Overview")
    settled(window, qtbot)
    assert not any("two" in dock.windowTitle() for dock in area.docks)


@pytest.mark.slow
def test_the_bar_of_a_comparison_names_open_studies_only(window: MainWindow, qtbot: Any, model_study: Any) -> None:
    for name in ("one", "two", "three"):
        opened(window, qtbot, model_study(name))
    window.study.arrange("Compare")
    settled(window, qtbot)
    area = window.study.area
    assert area is not None
    assert area.bar.message.text() == "three beside one, two"
    window.close_study(next(handle.key for handle in window.studies if handle.title == "two"))
    settled(window, qtbot)
    assert area.bar.message.text() == "three beside one"
    window.close_study(next(handle.key for handle in window.studies if handle.title == "one"))
    settled(window, qtbot)
    assert area.bar.message.text() == ""


@pytest.mark.slow
@pytest.mark.parametrize(("other", "views"), [("a", 2), ("a study whose name is of some length", 1)])
def test_tabs_of_a_comparison_have_room_for_their_names(
    window: MainWindow, qtbot: Any, model_study: Any, other: str, views: int
) -> None:
    window.resize(1280, 720)
    opened(window, qtbot, model_study(other))
    opened(window, qtbot, model_study("b"))
    window.study.arrange("Compare")
    settled(window, qtbot)
    area = window.study.area
    assert area is not None
    assert area.desk is not None
    assert len([dock for dock in area.docks if not dock.view.several]) == 2 * views
    bars = [bar for bar in area.desk.window.findChildren(QTabBar) if bar.isVisible() and ": b" in bar.tabText(0)]
    for bar in bars:
        metrics = bar.fontMetrics()
        assert all(metrics.horizontalAdvance(bar.tabText(tab)) < bar.tabRect(tab).width() for tab in range(bar.count()))
    assert bars


@pytest.mark.slow
def test_fields_of_a_request_stay_legible_in_a_very_wide_window(window: MainWindow, qtbot: Any, choose: Any) -> None:
    choose()
    window.resize(3840, 1200)
    qtbot.waitUntil(lambda: window.request.width() > 3800)
    QApplication.processEvents()
    assert window.request.form_area.width() <= 1400
    assert window.request.side.width() > 2000


def test_regions_are_sorted_by_loss_below_what_they_are_in() -> None:
    def loss(region: int, parent: int | None, share: float) -> RegionLoss:
        return RegionLoss(region, parent, str(region), share, "")

    given = (loss(0, None, 1.0), loss(1, 0, 0.2), loss(2, 1, 0.1), loss(3, 1, 0.15), loss(4, 0, 0.7), loss(5, 9, 0.3))
    assert [one.region for one in by_share(given)] == [0, 4, 1, 3, 2, 5]


@pytest.mark.slow
def test_a_line_that_waits_is_offered_what_would_help() -> None:
    session = Session()
    study = session.open(ROOT / "resources" / "studies" / "demo.sgstudy")
    data = session.study_data(study)
    found = help_for(data, "line:billiard.c:104")
    assert found is not None
    assert (found.act, found.target, found.factor) == (
        "Make what this lock protects free",
        "section:billiard.c:104",
        "inf",
    )
    assert "A faster billiard.c:104 changes little" in found.sentence
    assert help_for(data, "line:billiard.c:92") is None  # it computes
    assert help_for(data, "region:#33") is None
    study.close()
    session.close()


def large_grid() -> Grid:
    rows = [
        [Cell((None,), reason="none") if j == 5 else Cell((1 / (i + j + 1),)) for j in range(20)] for i in range(46)
    ]
    return Grid(
        "N",
        "N'",
        tuple(map(str, range(46))),
        tuple(map(str, range(20))),
        tuple(map(tuple, rows)),
        ("efficiency",),
        row_processors=tuple(range(46)),
        column_processors=tuple(range(20)),
    )


def test_columns_without_a_value_are_folded_and_said() -> None:
    grid, said = folded(large_grid())
    assert len(grid.columns) == len(grid.column_processors) == 19
    assert all(len(row) == 19 for row in grid.cells)
    assert said == "Left out, as all values are missing: N' = 5"


def test_a_large_matrix_is_seen_whole(qtbot: Any) -> None:
    panel = GridPanel(large_grid())
    qtbot.addWidget(panel)
    panel.resize(540, 470)
    panel.show()
    QApplication.processEvents()
    assert panel.table.verticalScrollBar().maximum() == 0
    assert panel.table.horizontalScrollBar().maximum() == 0


def test_a_matrix_fills_a_very_large_view_unless_it_has_few_rows(qtbot: Any) -> None:
    cells = tuple(tuple(Cell((0.5,)) for _ in range(7)) for _ in range(7))
    names = tuple(map(str, range(7)))
    whole = Grid("N", "N'", names, names, cells, ("efficiency",))
    low = Grid("N", "N'", names[:2], names, cells[:2], ("efficiency",))
    panel = GridPanel(whole)
    qtbot.addWidget(panel)
    panel.resize(1900, 1600)
    panel.show()
    QApplication.processEvents()
    assert panel.table.width() > 0.85 * panel.width()
    assert panel.table.height() > 0.85 * panel.height()
    panel.set_grid(low)
    assert panel.table.height() < 0.5 * panel.height()


def test_few_lanes_fill_a_full_screen() -> None:
    edges, codes = np.array([0.0, 1.0]), np.zeros((4, 1, 1), int)
    track = LaneTrack(tuple("0123"), (0, 1, 2, 3), edges, codes, codes + 1.0, (Key("busy", "busy"),))
    places = Layout(height=760)
    places.place(Timeline(Axis("time", "s"), 0, 1, (track,)))
    assert places.content > 700


def shown_table(qtbot: Any, table: Table, width: int) -> TablePanel:
    panel = TablePanel(table)
    qtbot.addWidget(panel)
    panel.resize(width, 400)
    panel.show()
    QApplication.processEvents()
    return panel


def test_formulas_of_many_regions_take_one_line_each(qtbot: Any) -> None:
    formula = "0.0005363 + 1.076e-05 N^3 + 2.613e-06 num_balls + 9.25e-05 num_steps"
    columns = (Column("call path"), Column("model"), Column("share", "%"), Column("value", "s"))
    rows = tuple(Row((f"program->function place_{n}", formula, 2.0, 181.0)) for n in range(41))
    panel = shown_table(qtbot, Table(columns, rows), 480)
    line = panel.tree.fontMetrics().lineSpacing()
    index = panel.tree.model().index(0, 0)
    assert panel.tree.rowHeight(index) < 2 * line
    assert panel.tree.viewport().height() > 8 * panel.tree.rowHeight(index)


def test_a_name_at_the_edge_of_its_table_is_seen_whole(qtbot: Any) -> None:
    columns = (Column("kind"), Column("lost", "s"), Column("region"), Column("of all time", "%"))
    rows = tuple(
        Row(("nothing left to do", 0.3, f"parallel initialize (billiard.c:{n})", 5.0)) for n in range(300, 309)
    )
    panel = shown_table(qtbot, Table(columns, rows), 350)
    header = panel.tree.header()
    end = header.sectionPosition(2) + header.sectionSize(2)
    assert end <= panel.tree.viewport().width()


@pytest.mark.parametrize("width", range(360, 600, 30))
@pytest.mark.parametrize("tree", [True, False])
def test_the_right_edge_of_a_table_cuts_no_number_if_names_can_yield(qtbot: Any, width: int, tree: bool) -> None:
    columns = (Column("region"), *(Column(name, "s") for name in ("lost", "inclusive", "exclusive", "waiting")))
    rows = tuple(
        Row((f"parallel initialize:{n}", 0.3, 12.5, 130.25, 5.0), depth=n % 2 if tree else 0) for n in range(300, 320)
    )
    panel = shown_table(qtbot, Table(columns, rows), width)
    header = panel.tree.header()
    edge = panel.tree.viewport().width()
    cut = [
        (column, header.sectionPosition(column) + header.sectionSize(column) - edge)
        for column in range(1, header.count())
        if header.sectionPosition(column) < edge < header.sectionPosition(column) + header.sectionSize(column)
    ]
    assert all(over > 0.3 * header.sectionSize(0) for _, over in cut)


def test_columns_of_texts_share_the_width_that_none_needs(qtbot: Any) -> None:
    columns = (Column("ranks"), Column("size"), Column("region"))
    panel = shown_table(qtbot, Table(columns, tuple(Row(("1", "1000", "sweep")) for _ in range(5))), 900)
    sizes = [panel.tree.header().sectionSize(column) for column in range(3)]
    assert sum(sizes) == pytest.approx(panel.tree.viewport().width(), abs=2)
    assert max(sizes) < 1.5 * min(sizes)


_HIDDEN = """
    import importlib.abc, os, sys
    hidden = {"fcntl", "resource", "termios", "pty", "pwd", "grp", "tty"}
    class Hide(importlib.abc.MetaPathFinder):
        def find_spec(self, name, path=None, target=None):
            if name in hidden:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    for name in hidden:
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Hide())
    os.environ["PATH"] = "/nonexistent"
    from pathlib import Path
    from PySide6.QtCore import QDeadlineTimer
    from PySide6.QtWidgets import QApplication
    from scalegraph.figures import render
    from scalegraph.gui import app
    from scalegraph.gui.base.turn_queue import turn_queue
    folder, trace = Path(sys.argv[1]), Path(sys.argv[2])
    app.make_application()
    window = app.make_window(settings_file=folder / "window.ini")
    window.show()
    def drawn():
        area = window.study.area
        docks = [] if area is None else [d for d in area.docks if d.figure() is not None and d.figure().panels]
        return docks if docks and not window.jobs.running and not len(turn_queue()) else []
    def settle(words):
        end = QDeadlineTimer(60_000)
        while not (words in window.study.header.verdict.accessibleDescription() and drawn()) and not end.hasExpired():
            QApplication.processEvents()
        assert words in window.study.header.verdict.accessibleDescription(), window.study.header.verdict.text()
        return drawn()[0]
    window.demonstration.open()
    dock = settle("Billiard")
    for ending in ("svg", "csv"):
        assert render.content(dock.figure(), ending)
    table = folder / "times.csv"
    table.write_text("processors,n,time (s)\\n" + "".join(f"{n},9,{1 / n}\\n" for n in (1, 2, 4)))
    window.open_files([table])
    settle("times")
    window.open_files([trace])
    settle("4 processes")
    window.close()
"""


@pytest.mark.slow
def test_everything_but_runs_works_where_nothing_can_be_simulated(tmp_path: Path) -> None:
    trace = tmp_path / "pipeline.sgtrace"
    trace.write_bytes((ROOT / "traces" / "pipeline.sgtrace").read_bytes())
    code = textwrap.dedent(_HIDDEN)
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(trace)], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("height", [720, 800])
def test_plots_have_220_pixels_and_tables_eight_rows_in_low_windows(
    window: MainWindow, qtbot: Any, model_study: Any, height: int
) -> None:
    opened(window, qtbot, model_study())
    area, seen = window.study.area, 0
    assert area is not None
    for name in ("Overview", "Scalability", "Lost time"):
        window.resize(1280, height)
        window.study.arrange(name)
        settled(window, qtbot)
        for dock in (one for one in area.docks if not one.visibleRegion().isEmpty()):
            for plot in dock.findChildren(PlotPanel):
                if plot.isVisible():
                    seen += 1
                    assert plot._box.height() >= 220, (name, dock.objectName())
            for table in dock.findChildren(TablePanel):
                if table.isVisible():
                    rows = table.tree.viewport().height() // max(1, table.tree.sizeHintForRow(0))
                    assert rows >= min(8, len(table.shown_rows())), (name, dock.objectName())
    assert seen
