"""A flame graph on the screen, in use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QToolTip

from scalegraph import views
from scalegraph.figures import palette
from scalegraph.figures.figure import Axis, Figure
from scalegraph.figures.flame_geometry import WHOLE
from scalegraph.figures.flames import Flame, Frame
from scalegraph.gui.base import tips
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.dock.view_options import OptionBar
from scalegraph.gui.figures.flame import canvas
from scalegraph.gui.figures.flame.panel import FlamePanel
from scalegraph.gui.figures.flame.shades import Shades, strip
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from tests.views import studies

KEYS = Qt.Key


@pytest.fixture(scope="module")
def figure() -> Figure:
    return views.get("flame").build(studies.full())


@pytest.fixture
def widget(qtbot: Any, figure: Figure) -> Iterator[FigureWidget]:
    made = FigureWidget(Context(SelectionModel(), Theme("light")))
    qtbot.addWidget(made)
    made.resize(700, 420)
    made.show_figure(figure)
    made.show()
    qtbot.waitExposed(made)
    yield made
    made.close()


@pytest.fixture
def panel(widget: FigureWidget) -> FlamePanel:
    (only,) = widget.panels
    assert isinstance(only, FlamePanel)
    return only


def frame(panel: FlamePanel, name: str) -> int:
    return next(i for i, one in enumerate(panel.flame.frames) if one.name.startswith(name))


def click(panel: FlamePanel, name: str) -> None:
    place = panel.canvas.box(frame(panel, name)).center().toPoint()
    QTest.mouseClick(panel.canvas, Qt.MouseButton.LeftButton, pos=place)


@pytest.mark.slow
def test_a_click_zooms_in_and_selects_and_escape_and_backspace_go_back(
    widget: FigureWidget, panel: FlamePanel, qtbot: Any
) -> None:
    selection = widget._selection
    narrow = panel.canvas.box(frame(panel, "for sweep")).width()
    click(panel, "for sweep")
    assert panel.canvas.box(frame(panel, "for sweep")).width() == panel.canvas.width() > narrow
    assert selection.current.region == 3
    assert panel.canvas.marked == {frame(panel, "for sweep")}
    assert panel.back.isVisible()
    click(panel, "parallel")
    QTest.keyClick(panel.canvas, KEYS.Key_Backspace)
    assert panel.canvas.zoom.frame == frame(panel, "for sweep")
    QTest.keyClick(panel.canvas, KEYS.Key_Escape)
    assert panel.canvas.zoom.frame == WHOLE
    assert not panel.back.isVisible()
    assert selection.current.region == 2
    QTest.keyClick(panel.canvas, KEYS.Key_Escape)
    assert selection.current.region is None


def test_a_selection_elsewhere_marks_the_frames_and_leaves_the_zoom(widget: FigureWidget, panel: FlamePanel) -> None:
    widget._selection.select(region=4)
    assert panel.canvas.marked == {frame(panel, "barrier")}
    assert panel.canvas.zoom.frame == WHOLE
    widget._selection.clear()
    assert not panel.canvas.marked


def test_keys_walk_and_say_where_they_are(panel: FlamePanel) -> None:
    canvas = panel.canvas
    canvas.setFocus()
    for key, name in (
        (KEYS.Key_Up, "program"),
        (KEYS.Key_Up, "main"),
        (KEYS.Key_Up, "parallel"),
        (KEYS.Key_Up, "barrier"),
        (KEYS.Key_Right, "for sweep"),
        (KEYS.Key_Left, "barrier"),
        (KEYS.Key_Down, "parallel"),
    ):
        QTest.keyClick(canvas, key)
        assert canvas.at == frame(panel, name)
        assert canvas.accessibleDescription().startswith(panel.flame.frames[canvas.at].name)
    QTest.keyClick(canvas, KEYS.Key_Return)
    assert canvas.zoom.frame == canvas.at
    QTest.keyClick(canvas, KEYS.Key_Home)
    assert canvas.zoom.frame == WHOLE


def test_a_search_says_how_much_it_found_and_fades_the_rest(panel: FlamePanel) -> None:
    QTest.keyClick(panel.canvas, KEYS.Key_Slash)
    assert panel.search.hasFocus() or panel.search.isVisible()
    panel.search.setText("BARR")
    assert panel.answer.text() == "1 frame, 59.5\u00a0%"
    assert panel.canvas.found.tolist().count(True) == 1
    QTest.keyClick(panel.search, KEYS.Key_Return)
    assert panel.canvas.at == frame(panel, "barrier")
    colours = panel.canvas.grab().toImage()
    box = panel.canvas.box(frame(panel, "main"))
    pale = colours.pixelColor(box.right() - 4, box.center().y())
    QTest.keyClick(panel.search, KEYS.Key_Escape)
    assert panel.answer.text() == ""
    full = panel.canvas.grab().toImage().pixelColor(box.right() - 4, box.center().y())
    assert pale.lightness() > full.lightness()


def test_the_tooltip_has_value_share_and_base(panel: FlamePanel, qtbot: Any) -> None:
    place = panel.canvas.box(frame(panel, "barrier")).center().toPoint()
    QTest.mouseMove(panel.canvas, place - QPoint(3, 0))
    QTest.mouseMove(panel.canvas, place)
    qtbot.waitUntil(lambda: "59.5\u00a0% of the processor time of the run" in QToolTip.text())
    assert "493.1 ms" in QToolTip.text()


@pytest.mark.slow
def test_another_run_keeps_the_zoom_and_the_roots_are_in_sight(widget: FigureWidget, panel: FlamePanel) -> None:
    click(panel, "parallel")
    widget.show_figure(views.get("flame").build(studies.full(), processors=8))
    assert widget.panels == [panel]
    assert panel.flame.frames[panel.canvas.zoom.frame].name.startswith("parallel")
    widget.show_figure(views.get("flame").build(studies.full(), icicle=True))
    assert panel.canvas.box(frame(panel, "program")).top() == 0
    widget.fit()
    assert panel.canvas.zoom.frame == WHOLE


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_difference_is_painted_in_the_colours_of_its_change(qtbot: Any, theme: str) -> None:
    data = studies.full()
    made = FlamePanel(views.get("flame-difference").build(data, reference=1, processors=64).panels[0], theme)  # type: ignore[arg-type]
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show()
    texts = made._legend.texts()
    assert [text.split()[0] for text in texts] == ["less", "unchanged", "more"]
    box = made.canvas.box(frame(made, "program"))
    shown = made.canvas.grab().toImage().pixelColor(int(box.right()) - 4, int(box.center().y()))
    assert shown.red() > shown.blue()


@pytest.mark.slow
def test_the_metrics_of_a_study_are_offered_where_one_can_be_typed(qtbot: Any) -> None:
    bar = OptionBar(views.get("flame"))
    qtbot.addWidget(bar)
    bar.offer(studies.full())
    editor = bar.editor("metric").editor
    assert isinstance(editor, QLineEdit)
    known = editor.completer()
    known.setCompletionPrefix("STALL")
    assert known.currentCompletion() == "memory_stall"
    assert views.get("flame").build(studies.full(), metric=known.currentCompletion()).panels


@pytest.mark.slow
def test_tooltips_of_a_difference_are_no_wider_than_others(qtbot: Any) -> None:
    data = studies.full()
    made = FlamePanel(views.get("flame-difference").build(data).panels[0], "light")  # type: ignore[arg-type]
    qtbot.addWidget(made)
    made.resize(600, 300)
    made.show()
    made.canvas.setFocus()
    qtbot.waitUntil(made.canvas.hasFocus)
    QTest.keyClick(made.canvas, KEYS.Key_Up)
    text = QToolTip.text()
    assert "N = 64" in text
    assert f"width='{tips.WIDEST - 24}'" in text


def test_however_many_frames_there_are_each_level_is_painted_as_one_picture(
    qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [Frame("all", -1, 0, 0.0, 1.0, 1.0, 0.0, role="name:1")]
    many += [Frame(f"f{i}", 0, 1, i / 500, 1 / 500, 1 / 500, 0.0, role=f"name:{i % 7}") for i in range(500)]
    made = FlamePanel(Flame(tuple(many), Axis("time", "s"), 1.0, "the time"))
    qtbot.addWidget(made)
    made.resize(600, 300)
    drawn: list[int] = []
    monkeypatch.setattr(canvas, "strip", lambda *what: drawn.append(len(what[2])) or strip(*what))
    made.set_theme("dark")
    made.canvas.grab()
    assert len(drawn) == 2  # one call per level, not per frame


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_frames_have_the_colours_of_the_palette(theme: Any) -> None:
    plain = tuple(Frame("f", -1, 0, 0.0, 1.0, 1.0, 0.0, role=role) for role in ("name:3", "time", "muted", "name:3"))
    told = Shades(Flame(plain, Axis("time", "s"), 1.0, "the time")).colours(theme)
    assert [f"#{one:06X}" for one in told] == [palette.colour(frame.role, theme).upper() for frame in plain]
    changes = (-2.0, -1.0, -0.31, 0.0, 0.17, 1.0, float("nan"))
    changed = tuple(Frame("f", -1, 0, 0.0, 1.0, 1.0, 0.0, change=change) for change in changes)
    flame = Flame(changed, Axis("time", "s"), 1.0, "the time", change=Axis("change", "s", limits=(-1.0, 1.0)))
    told = Shades(flame).colours(theme)
    assert [f"#{one:06X}" for one in told] == [palette.diverging(change, theme).upper() for change in changes]


def test_frames_stand_at_their_places_in_a_row_of_pixels() -> None:
    begin, end = np.array([0.5, 0.0]), np.array([1.0, 0.25])
    row = strip(begin, end, np.array([0xFF0000, 0x0000FF]), 16, 1.0, QColor("#FFFFFF"))
    told = [row.pixelColor(x, 0).name() for x in range(16)]
    assert told == ["#0000ff"] * 3 + ["#ffffff"] * 5 + ["#ff0000"] * 7 + ["#ffffff"]  # a gap on the right of each
