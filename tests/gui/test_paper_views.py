"""Pictures of the papers in the window: the scaling space (Fig. 4), parallel operations (Fig. 12)."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from scalegraph.base.resources import resource_dir
from scalegraph.figures.figure import OPERATIONS, Plot
from scalegraph.gui.dock.view_dock import ViewDock
from scalegraph.gui.shell.main_window import MainWindow
from tests.gui.test_first_minutes import shown

pytestmark = pytest.mark.slow


def view(window: MainWindow, qtbot: Any, name: str) -> ViewDock:
    assert window.study.area is not None
    dock = window.study.area.show_view(window.study.handle, name)  # type: ignore[arg-type]
    assert isinstance(dock, ViewDock)
    qtbot.waitUntil(lambda: dock.figure() is not None and not window.jobs.running)
    return dock


def test_scaling_space_and_parallel_operations_of_the_demonstration(
    window: MainWindow, qtbot: Any, tmp_path: Path
) -> None:
    path = tmp_path / "demo.sgstudy"
    shutil.copy(resource_dir("studies") / "demo.sgstudy", path)
    shown(window, qtbot, path)
    space = view(window, qtbot, "scaling-space").figure()
    assert space is not None
    plane, over = space.panels
    assert isinstance(plane, Plot)
    assert {plane.x.label, plane.y.label} == {"num_balls", "num_steps"}
    assert isinstance(over, Plot)
    assert {"problem size fixed", "efficiency held", "time held", "memory held"} <= {line.name for line in over.lines}

    dock = view(window, qtbot, "parallelism")
    dock.options.changed.emit("of", "operations")
    qtbot.waitUntil(lambda: not window.jobs.running)
    shares = dock.figure()
    assert shares is not None
    (plot,) = shares.panels
    assert isinstance(plot, Plot)
    assert plot.y.unit == OPERATIONS
    assert all(50 < value <= 100 for line in plot.lines for value in line.y)
