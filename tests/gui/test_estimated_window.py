"""The window says that numbers are estimates: below every picture, beside the verdict, and in the request panel."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets", reason="the window needs Qt and its libraries", exc_type=ImportError)

from scalegraph.gui.base.theme import Theme
from scalegraph.gui.dock.figure_widget import FigureWidget
from scalegraph.gui.request.widgets import Choice
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.context import Context
from scalegraph.gui.state.selection import SelectionModel
from scalegraph.store import Study
from scalegraph.subjects.study import StudyData
from scalegraph.views import get
from tests.analyze import synthetic
from tests.views.test_estimated import estimate


@pytest.mark.parametrize(("width", "height"), [(900, 600), (300, 200), (240, 120)])
def test_the_line_is_there_at_every_size_with_the_interval_at_its_end(qtbot: Any, width: int, height: int) -> None:
    data = StudyData.from_runs([estimate(run) for run in synthetic.fixed((1, 2, 4))])
    widget = FigureWidget(Context(SelectionModel(), Theme("light")))
    qtbot.addWidget(widget)
    widget.show_figure(get("breakdown").build(data))
    widget.resize(width, height)
    widget.show()
    line = widget.estimated
    assert line.isVisible()
    assert line.text().startswith("Est")
    assert line.text().endswith("(95 %).")
    assert line.whole() == data.estimated()
    assert line.height() >= line.fontMetrics().height()
    assert (line.toolTip() == line.whole()) == (line.text() != line.whole())
    widget.show_figure(get("breakdown").build(StudyData.from_runs(synthetic.fixed((1, 2, 4)))))
    assert not line.isVisible()


@pytest.mark.slow
def test_a_study_is_called_estimated_beside_its_verdict(
    window: MainWindow, model_study: Callable[..., Path], qtbot: Any
) -> None:
    path = model_study()
    with Study.open(path, write=True) as study:
        for run in study.runs():
            if run.point.processors == 4:
                study.add_run(estimate(run))
    window.open_study(path)
    mark = window.study.header.estimated
    qtbot.waitUntil(mark.isVisible)
    assert "1 of 4 runs (N = 4)" in mark.toolTip()


@pytest.mark.slow
def test_sampling_is_chosen_in_the_request_panel(window: MainWindow, choose: Callable[..., None]) -> None:
    choose()
    (choice,) = [one for one in window.request.findChildren(Choice) if "Sampling" in one.accessibleName()]
    model = window.request.model
    assert model.form.sample == "automatic"
    choice.setCurrentIndex(choice.findData("never"))
    choice.activated.emit(choice.currentIndex())
    assert model.form.sample == "never"
    window.actions_["undo"].trigger()
    assert model.form.sample == "automatic"
