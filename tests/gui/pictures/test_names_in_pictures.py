"""Names inside pictures cover nothing: marks' names no curves, contour labels no runs."""

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPointF, QRectF

from scalegraph import views
from scalegraph.figures.figure import Plot
from scalegraph.gui.figures.field.panel import FieldPanel
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.figures.plot.places import _covered
from tests.views import studies

pytestmark = pytest.mark.slow

LOW = [(310, 95), (310, 130), (400, 110), (900, 400)]


def shown(qtbot: Any, panel: PlotPanel, size: tuple[int, int]) -> PlotPanel:
    qtbot.addWidget(panel)
    panel.resize(*size)
    panel.show()
    qtbot.waitExposed(panel)
    qtbot.wait(1)  # names are placed in a turn of their own
    panel.grab()  # once the plot has its size the axis title wraps, which changes the size again
    qtbot.waitUntil(lambda: not isinstance(panel, PlotPanel) or not panel._later.isActive())
    return panel


def places(panel: PlotPanel) -> list[QPointF]:
    """Return the points of *panel*'s curves or runs in scene coordinates."""
    assert panel._drawing is not None
    return [panel._box.mapViewToScene(QPointF(x, y)) for x, y in panel._drawing.ink()]


@pytest.mark.parametrize("size", LOW)
@pytest.mark.parametrize("view", ["speedup", "time", "latency"])
def test_the_name_of_a_mark_hides_no_curve(qtbot: Any, view: str, size: tuple[int, int]) -> None:
    plots = [panel for panel in views.get(view).build(studies.full()).panels if isinstance(panel, Plot) and panel.marks]
    assert plots
    for plot in plots:
        panel = shown(qtbot, PlotPanel(plot), size)
        assert panel._names is not None
        boxes = panel._names.boxes()
        assert size[1] < 400 or len(boxes) == len([mark for mark in plot.marks if mark.text])
        assert not [place for box in boxes for place in places(panel) if box.contains(place)]


@pytest.mark.parametrize("size", [*LOW, (340, 150)])
@pytest.mark.parametrize("view", ["efficiency-contour", "isospeed-contour"])
def test_names_of_iso_lines_hide_no_runs(qtbot: Any, view: str, size: tuple[int, int]) -> None:
    (field,) = views.get(view).build(studies.full()).panels
    panel = shown(qtbot, FieldPanel(field), size)  # type: ignore[arg-type]
    assert isinstance(panel, FieldPanel)
    boxes: list[QRectF] = panel._fielded.boxes()
    names = [text.toPlainText() for text, _, _ in panel._fielded._named if text.isVisible()]
    assert size[1] < 400 or (len(names) > 2 and {handle.text for handle in field.handles} <= set(names))  # type: ignore[union-attr]
    assert not [place for box in boxes for place in places(panel) if box.contains(place)]
    for one, box in enumerate(boxes):
        assert not any(box.intersects(other) for other in boxes[:one])
    for handle in field.handles:  # type: ignore[union-attr]
        panel._show_handle(handle.option, 0.9 * handle.value)
        assert any(text.isVisible() for text, _, of in panel._fielded._named if of == handle)


def test_what_names_cover_is_counted_as_one_by_one() -> None:
    made = np.random.default_rng(3)
    ink = made.uniform(-20, 220, (500, 2)).round()
    ink[:2] = np.nan
    corners = made.uniform(0, 150, (60, 2)).round()
    size = np.array((40.0, 12.0))
    found = _covered(corners, size, ink)
    for corner, count in zip(corners, found, strict=True):
        assert count == ((ink >= corner) & (ink < corner + size)).all(axis=1).sum()
