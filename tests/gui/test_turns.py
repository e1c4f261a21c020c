"""Work of the window's thread per turn of its event loop, counted: widgets restyled, panels built."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QTabBar, QWidget

from scalegraph import views
from scalegraph.figures.figure import Plot, Source, SourceLine
from scalegraph.gui.base.jobs import Jobs
from scalegraph.gui.base.restyle import Restyler
from scalegraph.gui.base.style import PAPERS
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.base.turn_queue import TurnQueue, turn_queue
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.dock.parts import Parts
from scalegraph.gui.dock.view_bar import ViewBar
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from tests.gui.pictures import view_figures as figures
from tests.views import studies

pytestmark = pytest.mark.slow


@pytest.fixture
def study(window: MainWindow, model_study: Callable[..., Path], qtbot: Any) -> MainWindow:
    """The window with a study whose views are open."""
    window.open_study(model_study())
    settle(window, qtbot)
    return window


def settle(window: MainWindow, qtbot: Any) -> None:
    """Wait until every visible view has its picture."""

    def there() -> bool:
        area = window.study.area
        return (
            area is not None
            and not window.jobs.running
            and not len(turn_queue())
            and all(dock.figure() is not None for dock in area.docks if not dock.visibleRegion().isEmpty())
        )

    qtbot.waitUntil(there)


def test_another_theme_sets_no_style_sheet_and_dresses_at_once_only_what_is_in_sight(
    study: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheets: list[str] = []
    dressed: list[int] = []
    begin = Restyler.begin
    monkeypatch.setattr(QApplication, "setStyleSheet", lambda _self, sheet: sheets.append(sheet))
    monkeypatch.setattr(Restyler, "begin", lambda self: dressed.append(begin(self)))
    shown = [w for w in QApplication.allWidgets() if w.isVisible()]
    other = "dark" if study.theme.name == "light" else "light"
    study.actions_[f"theme_{other}"].trigger()
    assert study.theme.name == other
    assert not sheets
    assert len(dressed) == 1
    assert 0 < dressed[0] <= len(shown) < len(QApplication.allWidgets())
    qtbot.waitUntil(lambda: study.theme._restyler.waiting == 0)
    study.actions_["theme_light"].trigger()


def test_widgets_out_of_sight_have_the_colours_of_the_theme_when_they_come_into_it(
    study: MainWindow, qtbot: Any
) -> None:
    muted = next(label for label in study.start.findChildren(QLabel) if label.property("role") == "muted")
    study.actions_["theme_light"].trigger()
    study.go("start")
    qtbot.waitUntil(lambda: study.theme._restyler.waiting == 0)
    assert _ink(muted) == QColor(PAPERS["light"].muted)
    study.go("study")
    study.actions_["theme_dark"].trigger()
    qtbot.waitUntil(lambda: study.theme._restyler.waiting == 0)
    study.go("start")
    assert _ink(muted) == QColor(PAPERS["dark"].muted)
    assert study.grab().toImage().pixelColor(3, 3) == QColor(PAPERS["dark"].window)
    study.actions_["theme_light"].trigger()


def _ink(label: QLabel) -> QColor:
    label.ensurePolished()
    return label.palette().color(label.foregroundRole())


def test_a_view_behind_a_tab_draws_its_panels_for_the_theme_when_it_is_shown(
    study: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    area = study.study.area
    assert area is not None
    for dock in area.docks:
        dock.raise_()
        qtbot.waitUntil(lambda dock=dock: dock.figure() is not None)
    settle(study, qtbot)
    behind = [dock for dock in area.docks if dock.picture.visibleRegion().isEmpty() and dock.picture.panels]
    assert behind
    asked: list[str] = []
    for dock in behind:
        for panel in dock.picture.panels:
            monkeypatch.setattr(panel, "set_theme", asked.append)
    study.actions_["theme_dark"].trigger()
    assert not asked
    behind[0].raise_()
    qtbot.waitUntil(lambda: asked == ["dark"] * len(behind[0].picture.panels))
    study.actions_["theme_light"].trigger()


def test_a_heavy_job_has_a_turn_of_its_own_and_jobs_keep_their_order(qapp: QApplication) -> None:
    queue, owner = TurnQueue(), QObject()
    done: list[str] = []
    for name in ("a", "b"):
        queue.add(owner, lambda name=name: done.append(name))
    for name in ("C", "D"):
        queue.add(owner, lambda name=name: done.append(name), heavy=True)
    queue.add(owner, lambda: done.append("e"))
    seen = []
    while len(queue):
        queue._turn()
        seen.append("".join(done))
    assert seen == ["ab", "abC", "abCD", "abCDe"]


def test_a_job_whose_owner_is_gone_is_dropped_and_a_failing_one_does_not_stop_the_rest(qapp: QApplication) -> None:
    queue, gone, there = TurnQueue(), QWidget(), QObject()
    done: list[int] = []
    queue.add(gone, lambda: done.append(1))

    def fail() -> None:
        raise RuntimeError("this job fails")

    queue.add(there, fail)
    queue.add(there, lambda: done.append(2))
    gone.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    import shiboken6

    shiboken6.delete(gone)
    with pytest.raises(RuntimeError, match="this job fails"):
        queue._turn()
    queue._turn()
    assert done == [2]
    queue.add(there, lambda: done.append(3))
    queue.drop(there)
    assert len(queue) == 0


def test_results_of_several_jobs_come_in_turns_of_their_own(qtbot: Any) -> None:
    jobs = Jobs(QApplication.instance())
    turns: list[int] = []
    told: list[int] = []
    turn = 0

    def take(answer: int) -> None:
        end = time.thread_time() + 0.03  # longer than a turn's budget
        while time.thread_time() < end:
            pass
        told.append(answer)
        turns.append(turn)

    for number in range(3):
        jobs.start("counting", lambda _reporter, number=number: number, done=take, long=True)
    assert jobs.join(60_000)  # all three are ready before the first is delivered
    while len(told) < 3:
        turn += 1
        QApplication.processEvents()
    assert told == [0, 1, 2]
    assert len(set(turns)) == 3
    qtbot.waitUntil(lambda: not jobs.running)


def test_what_draws_pictures_is_not_loaded_in_the_window_s_thread(tmp_path: Path) -> None:
    program = f"""
import builtins, sys, threading
from pathlib import Path
loaded = {{}}
before = builtins.__import__
def noting(name, *rest, **more):
    new = name not in sys.modules
    made = before(name, *rest, **more)
    if new:
        loaded.setdefault(name, threading.current_thread() is threading.main_thread())
    return made
builtins.__import__ = noting
from scalegraph.gui import app
application = app.make_application()
window = app.make_window(None, Path({str(tmp_path / "window.ini")!r}))
from PySide6.QtCore import QEventLoop
while window.jobs.running:
    application.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
import importlib
assert "scalegraph.gui.dock.view_area" in sys.modules and "pyqtgraph" in sys.modules
heavy = [name for name in ("numpy", "pandas", "scipy", "pyqtgraph", "matplotlib") if loaded.get(name)]
assert not heavy, heavy
from PySide6.QtCore import QObject
import gc
from shiboken6 import isValid
there = [o for o in gc.get_objects() if isinstance(o, QObject) and isValid(o)]
assert all(o.thread() is application.thread() for o in there)
window.close()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_no_view_has_a_style_sheet_of_its_own(study: MainWindow) -> None:
    area = study.study.area
    assert area is not None
    for dock in area.docks:
        there = [dock, *dock.title.findChildren(QWidget), dock.picture]
        there += [child for child in dock.picture.children() if isinstance(child, QWidget)]
        assert not [widget for widget in there if widget.styleSheet()]
    bars = [area.bar, *area.bar.findChildren(QWidget)]
    assert not [widget for widget in bars if widget.styleSheet()]


def test_a_plot_makes_no_menus_and_only_the_widgets_that_it_shows(qtbot: Any) -> None:
    before = set(QApplication.allWidgets())
    (plot,) = figures.time_over_n().panels
    assert isinstance(plot, Plot)
    made = PlotPanel(plot)
    qtbot.addWidget(made)
    new = [widget for widget in QApplication.allWidgets() if widget not in before]
    assert not [widget for widget in new if isinstance(widget, QMenu)]
    assert len(new) <= 12  # pyqtgraph's own plot has some fifty more, for dialogs that nobody can open


def test_the_menu_of_views_is_filled_when_it_is_opened_and_anew_for_another_subject(qtbot: Any) -> None:
    bar = ViewBar(lambda: None)
    qtbot.addWidget(bar)
    menu = bar.add.menu()
    titles: dict[str, list[str]] = {}
    for subject in ("study", "trace", "study"):
        bar.offer(subject, [f"{subject} arrangement"])  # type: ignore[arg-type]
        assert bool(menu.actions()) == bool(titles)  # none was opened before this one
        menu.aboutToShow.emit()
        found = [view.text() for group in menu.actions() if group.menu() for view in group.menu().actions()]
        assert sorted(found) == sorted(view.title for view in views.listed(subject).values())  # type: ignore[arg-type]
        assert titles.setdefault(subject, found) == found
    chosen: list[str] = []
    bar.view_wanted.connect(chosen.append)
    menu.actions()[0].menu().actions()[0].trigger()
    assert len(chosen) == 1


def test_no_panel_of_a_figure_has_a_style_sheet_of_its_own(qtbot: Any) -> None:
    lines = tuple(SourceLine(number, "int a;") for number in range(1, 9))
    panel = SourcePanel(Source("a.c", (), lines))
    qtbot.addWidget(panel)
    assert not [widget for widget in (panel, *panel.findChildren(QWidget)) if widget.styleSheet()]


def test_the_main_series_of_a_study_is_looked_for_once_however_much_is_selected(
    study: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    from scalegraph.subjects import study as data

    asked: list[object] = []
    monkeypatch.setattr(data, "main_series", asked.append)
    for processors in (2, 4, 2):
        study.selection.select(processors=processors)
    assert not asked  # the reading thread has found it


def test_an_arrangement_makes_at_most_one_view_in_a_turn_and_keeps_those_that_stay(
    study: MainWindow, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    area = study.study.area
    assert area is not None
    made: list[str] = []
    furnish = Parts.__init__

    def noting(self: Parts, *rest: Any) -> None:
        furnish(self, *rest)
        made.append(rest[1].name)

    monkeypatch.setattr(Parts, "__init__", noting)
    before = {dock.view.name: dock for dock in area.docks}
    study.study.arrange("Scalability")
    assert len(made) <= 1  # the one with the keyboard focus
    in_turns = 0
    while len(turn_queue()):
        there = len(made)
        turn_queue()._turn()
        assert len(made) <= there + 1
        in_turns += len(made) - there
    assert in_turns > 1
    stayed = [dock for dock in area.docks if dock.view.name in before]
    assert stayed
    assert all(dock is before[dock.view.name] for dock in stayed)
    settle(study, qtbot)


def test_tiling_resizes_each_view_once_and_one_in_a_turn(study: MainWindow, qtbot: Any) -> None:
    area = study.study.area
    assert area is not None
    study.study.arrange("Lost time")
    settle(study, qtbot)
    area.tile_all()
    settle(study, qtbot)  # every view has its content
    area.docks[0].setFloating(True)
    settle(study, qtbot)
    sized: list[str] = []

    class Noting(QObject):
        def eventFilter(self, _picture: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Resize:
                sized.append(_picture.property("view"))
            return False

    noting = Noting()
    for dock in area.docks:
        dock.picture.setProperty("view", dock.view.name)
        dock.picture.installEventFilter(noting)
    area.tile_all()
    assert not sized, "while docks are placed their contents keep their size"
    while len(turn_queue()):
        before = len(sized)
        turn_queue()._turn()
        assert len(sized) <= before + 1
    assert len(sized) > 1
    assert len(sized) == len(set(sized))
    for dock in area.docks:
        assert dock.picture.updatesEnabled()
        assert dock.picture.size() == dock.widget().size()
    bars = area.desk.window.findChildren(QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly)
    assert all(bar.visibleRegion().isEmpty() for bar in bars), "no tab bar is left over a title"
    assert not any(bar.focusPolicy() & Qt.FocusPolicy.TabFocus for bar in bars), "nor reached by Tab"
    settle(study, qtbot)


def test_only_so_many_contents_take_a_new_size_in_the_turn_of_a_resize(qapp: QApplication) -> None:
    queue, done = TurnQueue(), []
    assert queue.spend(lambda: done.append("cheap"))
    assert queue.spend(lambda: done.append("also"))
    queue._spent = 1.0
    assert not queue.spend(lambda: done.append("late"))
    qapp.processEvents()
    assert queue.spend(lambda: done.append("next turn"))
    assert done == ["cheap", "also", "next turn"]


def test_a_view_behind_a_tab_has_no_content_until_it_is_shown(study: MainWindow, qtbot: Any) -> None:
    area = study.study.area
    assert area is not None
    behind = [dock for dock in area.docks if not dock.furnished]
    assert behind
    assert all(dock.panels == [] and dock.widget() is None and dock.figure() is None for dock in behind)
    assert not [dock for dock in behind if not dock.visibleRegion().isEmpty()]
    study.selection.select(processors=4)
    study.selection.clear()
    assert not [dock for dock in behind if dock.furnished]
    behind[0].raise_()
    qtbot.waitUntil(lambda: bool(behind[0].panels))
    assert [dock for dock in behind if dock.furnished] == behind[:1]


@pytest.mark.parametrize("elsewhere", [False, True], ids=["active", "beside another window"])
def test_keys_go_to_the_picture_of_a_study_that_was_opened_once_it_is_there(
    window: MainWindow, model_study: Callable[..., Path], qtbot: Any, elsewhere: bool
) -> None:
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    front = other if elsewhere else window
    front.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is front)
    window.open_study(model_study())
    settle(window, qtbot)
    assert QApplication.activeWindow() is front
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window)
    area, focus = window.study.area, QApplication.focusWidget()
    assert area is not None
    assert focus is not None
    (dock,) = [dock for dock in area.docks if dock.furnished and dock.picture.isAncestorOf(focus)]
    assert any(panel is focus or panel.isAncestorOf(focus) for panel in dock.panels)
    taken: list[int] = []
    focus.installEventFilter(watcher := _KeyWatcher(taken))
    qtbot.keyClick(window.windowHandle(), Qt.Key.Key_Down)  # sent to the window like real keys; Qt finds the focus
    assert taken == [Qt.Key.Key_Down]
    focus.removeEventFilter(watcher)


class _KeyWatcher(QObject):
    """Records the keys that a widget receives."""

    def __init__(self, taken: list[int]) -> None:
        super().__init__()
        self._taken = taken

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Qt: record a key."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            self._taken.append(event.key())
        return False


def test_panels_that_were_being_made_take_the_theme_that_was_chosen_meanwhile(qtbot: Any) -> None:
    theme = Theme("dark")
    theme.apply()
    made = FigureWidget(Context(SelectionModel(), theme))
    qtbot.addWidget(made)
    made.show()
    shown: list[bool] = []
    made.show_in_turns(views.get("speedup").build(studies.full()), {}, lambda: shown.append(True))
    assert not shown
    theme.set_mode("light")
    qtbot.waitUntil(lambda: bool(shown))
    assert len(made.panels) > 1
    assert {panel._theme for panel in made.panels if isinstance(panel, PlotPanel)} == {"light"}
