"""Every bar has its name if it fits, the largest bar always: on the screen and in files."""

import itertools
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from scalegraph.figures.bar_names import every, largest
from scalegraph.figures.figure import Axis, Bars, Figure, Plot
from scalegraph.figures.render import picture
from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.scales import Scale
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel


def bars(count: int, highest: int) -> Figure:
    names = tuple(f"barrier of region {index}" for index in range(count))
    heights = tuple(9.0 if index == highest else 1.0 for index in range(count))
    made = Bars(tuple(float(index) for index in range(count)), (("idle", "idle", heights),))
    plot = Plot(Axis("Region", scale="category", categories=names), Axis("Time", "s"), bars=made)
    return Figure("Bars", "One is the largest.", (plot,), view="bars")


def named(widget: FigureWidget) -> list[str]:
    panel = widget.panels[0]
    assert isinstance(panel, PlotPanel)
    axis = panel._axes["bottom"]
    values = axis.tickValues(*axis.range, axis.size().width())[0][1]
    return [text for text in axis.tickStrings(values, 1.0, 1.0) if text]


@pytest.mark.parametrize(("count", "width"), [(4, 900), (9, 420), (16, 600)])
def test_all_bars_are_named_on_the_screen(qtbot: Any, count: int, width: int) -> None:
    widget = FigureWidget(Context(SelectionModel(), Theme("light")))
    qtbot.addWidget(widget)
    widget.resize(width, 420)
    widget.show_figure(bars(count, 5))
    widget.show()
    qtbot.waitUntil(lambda: widget.panels[0].isVisible())
    QApplication.processEvents()
    assert len(named(widget)) == count


def test_the_largest_is_named_where_not_all_have_room(qtbot: Any) -> None:
    widget = FigureWidget(Context(SelectionModel(), Theme("light")))
    qtbot.addWidget(widget)
    widget.resize(420, 420)
    widget.show_figure(bars(100, 37))
    widget.show()
    qtbot.waitUntil(lambda: widget.panels[0].isVisible())
    QApplication.processEvents()
    found = named(widget)
    assert len(found) < 100
    assert "barrier of region 37" in found


@pytest.mark.parametrize("height", [230, 170, 700])
def test_upright_names_leave_two_thirds_of_the_height_to_the_bars(qtbot: Any, height: int) -> None:
    made = bars(14, 5).panels[0]
    assert isinstance(made, Plot)
    names = tuple(f"compute_the_new_temperature_of_block_{n} (heat.c:{n})" for n in range(14))
    panel = PlotPanel(Plot(Axis("Region", scale="category", categories=names), made.y, bars=made.bars))
    qtbot.addWidget(panel)
    panel.resize(420, 700)
    panel.show()
    panel.resize(420, height)
    axis = panel._axes["bottom"]
    qtbot.waitUntil(lambda: 0 < axis._upright <= 0.34 * panel.canvas().height())
    (tick,) = axis.tickStrings([13.0], 1.0, 1.0) if axis.tickValues(-0.5, 13.5, 400.0) else ("",)
    assert "…" in tick
    assert tick.endswith("(heat.c:13)")
    drawn: list[int] = []
    axis.drawPicture = lambda _p, _axis, _ticks, texts: drawn.append(len(texts))
    axis.picture = None
    panel.grab()
    assert drawn[-1] == 14  # including the first and the last bar


def test_positions_are_even_and_hold_the_largest() -> None:
    assert every(10, 3) == [0, 3, 6, 9]
    assert every(10, 3, 4) == [0, 4, 9]
    assert every(10, 1, 4) == list(range(10))
    assert largest(bars(8, 6).panels[0].bars) == 6  # type: ignore[union-attr]
    ticks = Scale(Axis("N", scale="category", categories=tuple("0123456789")), ()).ticks(-0.5, 9.5, 4, 4)
    assert "4" in [tick.text for tick in ticks]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "highest"), [(5, 2), (14, 5), (120, 61)])
def test_names_stand_in_files_too(count: int, highest: int) -> None:
    with picture.composed(bars(count, highest), (12.0, 9.0), "print", 100) as sheet:
        ticks = [one for axes in sheet.axes for one in axes.get_xticklabels() if one.get_text()]
        words = [one.get_text() for one in ticks]
        boxes = sorted((one.get_window_extent() for one in ticks), key=lambda box: float(box.x0))
        assert f"barrier of region {highest}" in words
        assert len(words) == count or count > 40
        assert all(left.x1 <= right.x0 + 1 for left, right in itertools.pairwise(boxes))
