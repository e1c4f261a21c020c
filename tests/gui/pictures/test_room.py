"""Lane heights, folding in small windows, and tooltips that stay small."""

from pathlib import Path
from typing import Any

import pyqtgraph as pg
import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction, QColor, QFontMetrics, QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QPushButton,
    QStyle,
    QStyleOptionViewItem,
    QToolTip,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from scalegraph import views
from scalegraph.gui.app import fit_on_screen
from scalegraph.gui.base import tips
from scalegraph.gui.base.fitted_names import NameDelegate, fitted
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.dock.view_options import OptionBar
from scalegraph.gui.figures.plot.labels import EndLabel, EndLabels, most_important
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.gui.study.headline import Headline
from tests.gui.pictures.view_figures import all_figures
from tests.gui.trace.test_trace_window import opened, settled, timeline

SAMPLE = Path(__file__).parents[3] / "traces" / "pipeline.sgtrace"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / SAMPLE.name
    path.write_bytes(SAMPLE.read_bytes())
    return path


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1024, 700), (1280, 720), (1920, 1080)])
def test_lanes_have_most_of_the_window(window: MainWindow, qtbot: Any, trace: Path, size: tuple[int, int]) -> None:
    window.resize(*size)
    opened(window, qtbot, trace)
    window.study.arrange("Timeline")
    settled(window, qtbot)
    qtbot.waitUntil(lambda: timeline(window).isVisible())
    QApplication.processEvents()
    assert (window.width(), window.height()) == size
    assert timeline(window).canvas.places.height >= 0.55 * window.height()


@pytest.mark.slow
def test_tool_rows_appear_when_they_are_used(window: MainWindow, qtbot: Any, trace: Path) -> None:
    handle = opened(window, qtbot, trace)
    area = window.study.area
    assert area is not None
    assert area.trace_bar.line.isVisible()
    assert not area.trace_bar.isVisible()
    assert not area.replay_bar.isVisible()
    qtbot.keyClick(area.trace_bar.filter, Qt.Key.Key_Space)
    assert area.trace_bar.entry.isVisible()
    qtbot.keyClick(area.trace_bar.filter, Qt.Key.Key_Space)
    assert not area.trace_bar.isVisible()
    handle.filter.set(locations="1")
    assert area.trace_bar.chip("locations").isVisible()
    window.actions_["undo"].trigger()
    assert not area.trace_bar.isVisible()
    handle.marks.place(0.0005, "A")
    assert area.trace_bar.measured.isVisible()
    window.actions_["trace_play"].trigger()
    assert area.replay_bar.isVisible()
    window.actions_["trace_play"].trigger()
    settled(window, qtbot)


@pytest.mark.slow
@pytest.mark.parametrize("width", [1024, 1920])
def test_every_arrangement_can_be_chosen(window: MainWindow, qtbot: Any, model_study: Any, width: int) -> None:
    window.resize(width, 700)
    window.open_study(model_study())
    settled(window, qtbot)
    area = window.study.area
    assert area is not None
    bar = area.bar
    names = area.arranging.names()
    if bar.folded.isVisible():
        offered = [action.text() for action in bar.folded.menu().actions()]
    else:
        shown = [one for one in bar.findChildren(QWidget) if one.isVisible() and hasattr(one, "defaultAction")]
        offered = [one.defaultAction().text() for one in shown if isinstance(one.defaultAction(), QAction)]
        assert all(bar.rect().contains(one.geometry().topRight() + one.parentWidget().pos()) for one in shown)
    assert offered == names
    assert bar.width() < 1000 or not bar.folded.isVisible() or len(names) > 6
    assert bar.add.geometry().right() <= bar.width()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1024, 1280, 1920])
def test_tools_of_a_trace_that_is_opened_last_have_their_room(
    window: MainWindow, qtbot: Any, trace: Path, width: int
) -> None:
    window.resize(width, 720)
    opened(window, qtbot, trace)  # no resize follows
    settled(window, qtbot)
    area = window.study.area
    assert area is not None
    line = area.trace_bar.line
    room = line.layout()
    assert room is not None
    assert line.width() >= room.minimumSize().width()
    assert area.bar.rect().contains(area.bar.add.geometry())


def shown_tip() -> QWidget | None:
    found = [one for one in QApplication.topLevelWidgets() if one.metaObject().className() == "QTipLabel"]
    return next((one for one in found if one.isVisible()), None)


LONG = "a tooltip of one long sentence that says at what cost " * 12
TEXTS = [LONG, "short", LONG.replace(" ", "_")[:48], f"first line\n{LONG}", f"<b>{LONG}</b>"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_tooltip_is_narrow_and_beside_the_pointer(qtbot: Any, text: str) -> None:
    button = QPushButton("what has a tooltip")
    qtbot.addWidget(button)
    button.show()
    at = button.mapToGlobal(button.rect().center())
    tips.show(at, text, button)
    qtbot.waitUntil(lambda: shown_tip() is not None)
    tip = shown_tip()
    assert tip is not None
    assert tip.width() <= tips.WIDEST
    assert not tip.geometry().contains(at)
    QToolTip.hideText()


@pytest.mark.slow
def test_widgets_tell_their_tooltips_through_the_helper(window: MainWindow, qtbot: Any, model_study: Any) -> None:
    window.open_study(model_study())
    settled(window, qtbot)
    assert QApplication.instance().findChild(tips.Tips) is not None  # type: ignore[union-attr]
    told = {text for one in window.findChildren(QWidget) if (text := tips.told(one, QPoint(3, 3))[0])}
    assert len(told) > 20
    for text in told:
        label = QLabel(tips.bounded(text))
        label.setWordWrap(True)
        assert label.sizeHint().width() <= tips.WIDEST, text


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(all_figures()))
def test_tooltips_of_pictures_are_narrow(qtbot: Any, name: str) -> None:
    widget = FigureWidget(Context(SelectionModel(), Theme("light")))
    qtbot.addWidget(widget)
    widget.resize(900, 600)
    widget.show_figure(all_figures()[name])
    for panel in widget.panels:
        if isinstance(panel, PlotPanel):
            for target in getattr(panel, "_targets", []):
                label = QLabel(tips.bounded(target.tip))
                label.setWordWrap(True)
                assert label.sizeHint().width() <= tips.WIDEST


def test_a_pointer_that_rests_on_a_widget_shows_its_tooltip_narrow(qtbot: Any) -> None:
    button = QPushButton("Run")
    button.setToolTip("many words " * 9)
    qtbot.addWidget(button)
    button.resize(80, 30)
    button.show()
    qtbot.waitExposed(button)
    QTest.mouseMove(button, QPoint(10, 10))
    QTest.mouseMove(button, QPoint(12, 12))
    qtbot.waitUntil(QToolTip.isVisible)
    tip = shown_tip()
    assert tip is not None
    assert tip.width() <= tips.WIDEST < QFontMetrics(tip.font()).horizontalAdvance(button.toolTip())
    QToolTip.hideText()


def test_no_other_code_shows_tooltips() -> None:
    gui = Path(tips.__file__).parent
    files = [path for path in gui.rglob("*.py") if path.name != "tips.py"]
    assert not [path.name for path in files if "QToolTip.showText" in path.read_text(encoding="utf-8")]


def test_only_names_in_lists_are_cut_in_the_middle() -> None:
    gui = Path(tips.__file__).parents[1]
    cut = {
        path.name
        for folder in ("base", "dock", "study", "shell")
        for path in (gui / folder).glob("*.py")
        if "ElideMiddle" in path.read_text(encoding="utf-8")
    }
    assert cut == {"fitted_names.py", "navigator.py", "call_tree.py"}


@pytest.mark.parametrize(("room", "text"), [(40, "▾"), (400, "Options ▾")])
def test_the_button_of_options_is_never_cut(qtbot: Any, room: int, text: str) -> None:
    bar = OptionBar(views.get("overheads"))
    qtbot.addWidget(bar)
    bar.make_room(room)
    assert bar.more.text() == text
    assert bar.more.sizeHint().width() <= max(room, 44)


def test_the_button_of_options_follows_the_room_it_gets(qtbot: Any) -> None:
    bar = OptionBar(views.get("overheads"))
    holder = QWidget()  # a top-level window would not become narrower than its content
    qtbot.addWidget(holder)
    bar.setParent(holder)
    holder.show()
    bar.show()
    bar.make_room(bar.more.sizeHint().width())
    whole = bar.more.sizeHint().width()
    for width in (whole - 1, whole + 40, whole - 20):
        bar.resize(width, 30)
        assert bar.more.text() == ("▾" if width < whole else "Options ▾")


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("barrier simulate (billiard.c:88)", " (billiard.c:88)"),
        ("critical queue (line 12)", " (line 12)"),
        ("loop add_time_to_queue:107", ":107"),
        ("add_time_to_queue", "queue"),
    ],
)
def test_names_that_are_cut_keep_their_ends(qtbot: Any, name: str, place: str) -> None:
    metrics = QFontMetrics(QLabel().font())
    whole = metrics.horizontalAdvance(name)
    assert fitted(name, metrics, whole) == name
    cut = fitted(name, metrics, whole - 4)
    start, _, end = cut.partition("…")
    assert name.startswith(start)
    assert start
    assert end
    assert name.endswith(end)
    assert len(end) >= len(place) - (1 if place == "queue" else 0)


def test_a_name_in_the_navigator_is_whole_or_cut_in_its_middle(qtbot: Any) -> None:
    tree = QTreeWidget()
    qtbot.addWidget(tree)
    delegate = NameDelegate(tree)
    around = QTreeWidgetItem(["initialize"])
    inside = QTreeWidgetItem(around, ["parallel for initialize:296"])
    tree.addTopLevelItem(around)
    painted = []
    for width in (400, 130, 90):
        option = QStyleOptionViewItem()
        option.widget, option.rect = tree, QRect(0, 0, width, 20)
        delegate.initStyleOption(option, tree.indexFromItem(inside, 0))
        painted.append(option.text)
    assert painted[0] == "parallel for initialize:296"
    for text in painted[1:]:
        assert text.startswith("par")
        assert text.endswith("…:296")
        assert text.count("…") == 1


def test_a_name_that_was_cut_to_fit_is_not_cut_again(qtbot: Any) -> None:
    tree = QTreeWidget()
    qtbot.addWidget(tree)
    delegate = NameDelegate(tree)
    item = QTreeWidgetItem(["parallel for initialize:296"])
    tree.addTopLevelItem(item)
    for width in range(60, 220):
        option = QStyleOptionViewItem()
        option.widget, option.rect = tree, QRect(0, 0, width, 20)
        delegate.initStyleOption(option, tree.indexFromItem(item, 0))
        style = tree.style()
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, tree) + 1
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, tree).width() - 2 * margin
        assert QFontMetricsF(option.font).horizontalAdvance(option.text) <= room, option.text


@pytest.mark.slow
def test_the_window_opens_no_larger_than_its_screen(window: MainWindow) -> None:
    window.resize(1280, 720)
    fit_on_screen(window, QSize(960, 540))
    assert window.width() == 960
    assert 500 <= window.height() < 540
    fit_on_screen(window, QSize(1920, 1080))
    assert window.width() == 960, "it never grows"


@pytest.mark.slow
def test_regions_in_a_narrow_navigator_look_different(window: MainWindow) -> None:
    tree = window.navigator.regions_tree
    delegate = tree.itemDelegateForColumn(0)
    assert isinstance(delegate, NameDelegate)
    painted = []
    for place, name in ((1, "barrier simulate_all_of_it (model.c:88)"), (2, "barrier simulate_all_of_it (model.c:99)")):
        item = QTreeWidgetItem([name])
        tree.addTopLevelItem(item)
        option = QStyleOptionViewItem()
        option.widget, option.rect = tree, QRect(0, 20 * place, 110, 20)
        delegate.initStyleOption(option, tree.indexFromItem(item, 0))
        painted.append(option.text)
    assert len(set(painted)) == 2
    assert all("model.c:" in text for text in painted)


def test_names_left_out_at_the_ends_of_curves_are_in_the_tooltip(qtbot: Any) -> None:
    labels = EndLabels(pg.ViewBox())
    named = [EndLabel(f"N = {n}", QColor("black"), float(n)) for n in range(8)]
    labels.show_labels(most_important(named, 4, QColor("grey")))
    assert labels.texts()[-1] == "… 5 more"
    assert labels.tip().split("\n") == [f"N = {n}" for n in reversed(range(8))]
    labels.show_labels(named[:2])
    assert labels.tip() == ""


def test_long_names_at_the_ends_of_curves_take_more_lines(qtbot: Any) -> None:
    labels = EndLabels(pg.ViewBox())
    words = "scheduling, tasks, threads, monitoring, disturbance"
    shown = [EndLabel(words, QColor("black"), 1.0), EndLabel("idle", QColor("red"), 2.0)]
    labels.show_labels(shown, widest=170.0, most=9)
    lines = labels._in_lines()
    assert " ".join(lines[words]) == words
    assert len(lines[words]) > 1
    assert lines["idle"] == ["idle"]
    assert labels.tip() == ""
    labels.show_labels(shown, widest=170.0, most=2)  # no room for more lines
    (line,) = labels._in_lines()[words]
    assert line.endswith("…")
    assert words in labels.tip()


@pytest.mark.slow
def test_the_link_in_the_headline_takes_the_colour_of_another_theme(qtbot: Any) -> None:
    theme = Theme("light")
    theme.apply()
    headline = Headline()
    qtbot.addWidget(headline)
    headline.resize(600, 60)
    headline.setText("Most is lost at a barrier (model.c:22).")
    headline.show()

    def blue() -> int:
        """Return how many pixels have the accent of the theme."""
        picture, accent = headline.grab().toImage(), QColor(theme.paper.accent)
        pixels = (picture.pixelColor(x, y) for x in range(picture.width()) for y in range(picture.height()))
        return sum(pixel == accent for pixel in pixels)

    assert blue() > 10
    theme.set_mode("dark")
    QApplication.processEvents()
    assert blue() > 10
    theme.set_mode("light")
    QApplication.processEvents()
