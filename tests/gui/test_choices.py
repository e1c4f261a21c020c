"""The switch of choices, the Choose arrangement beside Scalability, and small multiples in the window."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from scalegraph.base.points import RunPoint
from scalegraph.gui.dock.arrangements import NAMES, OFFERED, key_of
from scalegraph.gui.figures.grid.panel import GridPanel
from scalegraph.gui.figures.panel_row import PanelRow, best_columns
from scalegraph.gui.figures.plot.panel import PlotPanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.study.choice_switch import nearest
from scalegraph.store import Manifest, Study
from tests.gui.conftest import record
from tests.gui.trace.test_trace_window import settled

CHOICES = (
    {"machine": "ksr1", "threads_per_process": "1"},
    {"machine": "ksr1", "threads_per_process": "4"},
    {"machine": "epyc-7763", "threads_per_process": "1"},
)


def test_choose_is_offered_beside_scalability_and_keys_stay() -> None:
    assert OFFERED[1:4] == ("Scalability", "Choose", "Lost time")
    assert sorted(OFFERED) == sorted(NAMES)
    assert [key_of(name) for name in ("Lost time", "Compare", "Choose", "Timeline")] == [3, 8, 9, 1]


def test_a_value_leads_to_the_choice_that_agrees_most() -> None:
    assert nearest(CHOICES, CHOICES[2], "threads_per_process", "4") == CHOICES[1]
    assert nearest(CHOICES, CHOICES[1], "threads_per_process", "1") == CHOICES[0]
    assert nearest(CHOICES, CHOICES[0], "machine", "epyc-7763") == CHOICES[2]


@pytest.mark.parametrize(
    ("count", "size", "columns"), [(3, (1000, 480), 3), (6, (1000, 480), 3), (4, (600, 480), 2), (3, (300, 900), 1)]
)
def test_small_multiples_take_the_room_there_is(count: int, size: tuple[int, int], columns: int) -> None:
    found, most = best_columns([PlotPanel] * count, *size)
    assert (found, most >= 1) == (columns, True)


def test_a_panel_without_room_is_shown_alone() -> None:
    assert best_columns([PlotPanel] * 3, 400, 300)[1] < 1
    assert best_columns([GridPanel, PlotPanel], 700, 300)[1] < 1


def test_panels_move_between_row_column_and_rows(qtbot: Any) -> None:
    row = PanelRow(lambda _panel: QWidget(), Qt.Orientation.Vertical)
    qtbot.addWidget(row)
    row.fill([None] * 5)  # type: ignore[list-item]
    for columns, places in ((3, 2), (5, 5), (2, 3), (1, 5)):
        assert row.lay(columns)
        assert not row.lay(columns)
        assert row.count() == places
        assert all(row.isAncestorOf(panel) for panel in row.panels)
        across = row.orientation() == Qt.Orientation.Horizontal
        assert across == (columns == 5)


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Give a study three choices; times are the model's."""
    path = tmp_path / "several.sgstudy"
    study = Study.create(path, Manifest.new(title="t", program="model", machine="ksr1"))
    for setting in CHOICES:
        part = study.add_member(setting, Manifest.new(title="t", program="model", machine=setting["machine"]))
        counts = (1, 4, 8) if setting["machine"] == "ksr1" else (1, 2)
        part.add_runs([record(RunPoint(processors=n, setting=setting), machine=setting["machine"]) for n in counts])
    study.close()
    return path


@pytest.mark.slow
def test_views_show_the_choice_that_is_switched_to(
    window: MainWindow, qtbot: Any, several: Path, model_study: Any
) -> None:
    window.resize(1280, 720)
    window.open_study(several)
    settled(window, qtbot)
    switch = window.study.header.choice
    handle = window.study.handle
    assert handle is not None
    assert switch.isVisible()
    assert switch.text() == "ksr1, 1 thread a process ▾"
    offered = [action.text() for action in switch.menu().actions() if action.isCheckable()]
    assert offered == ["ksr1", "epyc-7763", "1", "4"]
    next(action for action in switch.menu().actions() if action.text() == "epyc-7763").trigger()
    settled(window, qtbot)
    assert switch.text() == "epyc-7763, 1 thread a process ▾"
    data = handle.study()
    assert data is not None
    assert sorted(data.table["processors"]) == [1, 2]
    assert len(data.choices) == 3
    window.open_study(model_study())
    settled(window, qtbot)
    assert not switch.isVisible()
