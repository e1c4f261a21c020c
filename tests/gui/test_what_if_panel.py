"""The What if panel in use: switches, sliders, faster code; the runs are fake."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QMenu

from scalegraph.gui.base.widgets import Group
from scalegraph.gui.figures.source.panel import SourcePanel
from scalegraph.gui.figures.table.panel import FASTER, TablePanel
from scalegraph.gui.shell.main_window import MainWindow
from scalegraph.gui.state.what_if_state import WhatIfState, of_request, target_of
from scalegraph.gui.whatif.panel import WhatIfPanel
from scalegraph.request.model.values import request_value

pytestmark = pytest.mark.slow(2)

Choose = Callable[..., None]
MakeStudy = Callable[..., Path]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(window: MainWindow, qtbot: Any, choose: Choose) -> WhatIfPanel:
    """The panel with a study of runs on 1, 2 and 4 processors; changes run at once."""
    choose()
    window.request.start()
    entry = window.runner.entries[0]
    qtbot.waitUntil(lambda: entry.ended and window.page == "study" and not window.jobs.running)
    window.actions_["toggle_whatif"].trigger()
    panel = window.whatif
    qtbot.waitUntil(lambda: panel.state.processors == (4,) and panel.isVisible())
    panel.auto.setChecked(True)
    panel._later.setInterval(0)
    return panel


def tick(box: QCheckBox, qtbot: Any) -> None:
    """Click on a check box where it reacts: on its mark."""
    qtbot.mouseClick(box, LEFT, pos=QPoint(8, box.height() // 2))


def idle(window: MainWindow, qtbot: Any) -> None:
    """Wait for started work and for the study to be read again."""
    qtbot.waitUntil(lambda: not window.jobs.running and not window.whatif._later.isActive())


def answered(window: MainWindow, qtbot: Any, count: int) -> Any:
    """Wait until *count* requests were made and the last has ended; return it."""
    session = window.session
    qtbot.waitUntil(lambda: len(session.submitted) == count)
    qtbot.waitUntil(lambda: window.whatif.entry is not None and window.whatif.entry.ended)
    idle(window, qtbot)
    return session.submitted[-1]


def test_without_a_study_the_panel_says_what_to_do(window: MainWindow) -> None:
    assert "Open a study of simulated runs" in window.whatif._empty.text()
    assert window.whatif.undo_stack is None


def test_words_and_ranges_are_those_that_the_request_declares(panel: WhatIfPanel) -> None:
    groups = {group.column.itemAt(0).widget().text() for group in panel.findChildren(Group)}
    keys = ("what_if.processors", "what_if.ideal", "what_if.speedup", "what_if.machine")
    assert groups == {request_value(key).short for key in keys}
    assert {name: box.toolTip() for name, box in panel.ideals.items()} == request_value("what_if.ideal").choices
    assert panel.target.toolTip() == request_value("what_if.speedup").tip()
    lines = request_value("speedups.lines")
    assert panel.lines.maximum() == lines.most
    assert panel.lines.toolTip().startswith(lines.tip())


def test_the_panel_that_is_opened_by_its_key_has_the_focus(window: MainWindow, panel: WhatIfPanel, qtbot: Any) -> None:
    action = window.actions_["toggle_whatif"]
    action.trigger()
    qtbot.waitUntil(lambda: not panel.isVisible())
    action.trigger()
    qtbot.waitUntil(lambda: panel.isAncestorOf(window.focusWidget()))
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Space)
    assert len(panel.state.ideals) == 1


def test_a_study_without_a_request_cannot_be_run_again(window: MainWindow, qtbot: Any, model_study: MakeStudy) -> None:
    handle = window.open_study(model_study())
    qtbot.waitUntil(lambda: handle.data() is not None)
    assert "no request to run again" in window.whatif._empty.text()


def test_switches_are_run_alone_and_together_and_shown_beside_the_actual(
    window: MainWindow, panel: WhatIfPanel, qtbot: Any
) -> None:
    panel._later.setInterval(300)  # both switches go into one request
    tick(panel.ideals["cache"], qtbot)
    tick(panel.ideals["sync"], qtbot)
    request = answered(window, qtbot, 2)
    assert [what.ideal for what in request.what_if] == [("cache",), ("sync",), ("cache", "sync")]
    assert {what.processors for what in request.what_if} == {(4,)}
    data = window.study.handle.data() if window.study.handle else None
    assert data is not None
    assert len(data.variants) == 3
    assert not data.table["key"].isin([run.point.key for run in data.variants]).any()
    docks = {dock.view.name: dock for dock in (window.study.area.docks if window.study.area else [])}
    assert "what-if" in docks
    assert docks["time"].chosen == {"what_if": True}  # its curves beside the actual one
    qtbot.waitUntil(lambda: len(window.runner.entries) == 1)  # the queue keeps the user's own requests
    assert not window.queue.isVisible()


def test_a_slider_moved_by_keys_runs_the_changed_machine_and_undo_takes_it_back(
    window: MainWindow, panel: WhatIfPanel, qtbot: Any
) -> None:
    panel.machine.filter.setText("hop upper")
    row = panel.machine.rows["network.upper_hop_cycles"]
    assert row.isVisible()
    assert not panel.machine.rows["processor.clock_mhz"].isVisible()
    row.slider.setFocus()
    qtbot.keyClick(row.slider, Qt.Key.Key_Home)
    request = answered(window, qtbot, 2)
    assert request.what_if[0].machine == {"network.upper_hop_cycles": "1"}
    assert (row.entry.text(), row.reset.isEnabled()) == ("1", True)
    assert "4" in row.reset.toolTip()
    window.actions_["undo"].trigger()
    assert panel.state.machine == ()
    assert (row.entry.text(), row.reset.isEnabled()) == ("4", False)
    assert window.page == "study"
    window.actions_["redo"].trigger()
    qtbot.mouseClick(row.reset, LEFT)
    assert panel.state.empty


def test_a_value_is_typed_and_one_out_of_range_is_refused_in_place(
    window: MainWindow, panel: WhatIfPanel, qtbot: Any
) -> None:
    entry = panel.machine.rows["network.hop_cycles"].entry
    entry.setText("0")
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert entry.property("fault")
    assert "from 1 to 10000" in entry.toolTip()
    assert panel.state.empty
    entry.setText("7")
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    assert not entry.property("fault")
    assert answered(window, qtbot, 2).what_if[0].machine == {"network.hop_cycles": "7"}


def test_a_machine_that_cannot_be_is_said_and_nothing_runs(window: MainWindow, panel: WhatIfPanel, qtbot: Any) -> None:
    entry = panel.machine.rows["cache.0.ways"].entry
    entry.setText("3")
    qtbot.keyClick(entry, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: panel.fault.isVisible())
    assert "cache" in panel.fault.text()
    assert len(window.session.submitted) == 1


def test_runs_are_cancelled_by_the_button_and_by_what_comes_after(
    window: MainWindow, panel: WhatIfPanel, session: Any, qtbot: Any
) -> None:
    session.hold()
    tick(panel.ideals["cache"], qtbot)
    qtbot.waitUntil(lambda: panel.entry is not None and panel.entry.phase == "running")
    first = panel.entry
    assert panel.bar.isVisible()
    tick(panel.ideals["sync"], qtbot)
    qtbot.waitUntil(lambda: panel.entry is not first and panel.entry is not None and panel.entry.phase == "running")
    assert first is not None
    assert first.phase == "cancelled"
    qtbot.mouseClick(panel.cancel, LEFT)
    qtbot.waitUntil(lambda: not panel.cancel.isEnabled())
    assert panel.entry is not None
    assert panel.entry.phase == "cancelled"
    assert not panel.bar.isVisible()


def test_without_following_nothing_runs_until_it_is_asked_for(
    window: MainWindow, panel: WhatIfPanel, qtbot: Any
) -> None:
    tick(panel.auto, qtbot)
    qtbot.mouseClick(panel.counts.button(2), LEFT)
    tick(panel.ideals["network"], qtbot)
    assert not panel._later.isActive()
    assert "2 runs beside the actual ones" in panel.said.text()
    qtbot.mouseClick(panel.go, LEFT)
    assert answered(window, qtbot, 2).what_if[0].processors == (2, 4)


def test_one_processor_count_stays_chosen(panel: WhatIfPanel, qtbot: Any) -> None:
    qtbot.mouseClick(panel.counts.button(4), LEFT)
    assert panel.counts.button(4).isChecked()
    assert panel.state.processors == (4,)


def test_a_failed_run_is_said(window: MainWindow, panel: WhatIfPanel, session: Any, qtbot: Any) -> None:
    session.fails[4] = "crashed in model.c:3"
    tick(panel.ideals["cache"], qtbot)
    answered(window, qtbot, 2)
    assert "crashed in model.c:3" in panel.fault.text()


def test_a_line_is_named_as_everywhere_in_the_window(panel: WhatIfPanel, qtbot: Any) -> None:
    tick(panel.auto, qtbot)
    for typed in ("solve.c:3", " line:solve.c:4", "parts/solve.f90:5-8"):
        panel.target.setText(typed)
        qtbot.keyClick(panel.target, Qt.Key.Key_Return)
        assert panel.fault.text() == ""
    assert [target for target, _ in panel.state.speedups] == [
        "line:solve.c:3",
        "line:solve.c:4",
        "line:parts/solve.f90:5-8",
    ]


def test_code_is_named_or_taken_from_a_table_or_the_source(window: MainWindow, panel: WhatIfPanel, qtbot: Any) -> None:
    tick(panel.auto, qtbot)
    panel.target.setText("solve.c")
    qtbot.keyClick(panel.target, Qt.Key.Key_Return)
    assert "line:solve.c:88" in panel.fault.text()
    panel.target.setText("lock:m")
    qtbot.keyClick(panel.target, Qt.Key.Key_Return)
    assert panel.state.speedups == (("lock:m", "2"),)
    panel.speedups.factors["lock:m"].setCurrentText("inf")
    panel.speedups.factors["lock:m"].activated.emit(0)
    assert panel.state.speedups == (("lock:m", "inf"),)

    window.show_view("profile")
    assert window.study.area is not None
    dock = next(dock for dock in window.study.area.docks if dock.view.name == "profile")
    qtbot.waitUntil(lambda: bool(dock.picture.panels))
    table = next(part for part in dock.picture.panels if isinstance(part, TablePanel))
    take(table.menu_for("1"))
    assert panel.state.speedups[-1] == ("region:#1", "2")
    assert [action.text() for action in table.menu_for("").actions()] == ["Copy the table"]

    window.show_view("source")
    dock = next(dock for dock in window.study.area.docks if dock.view.name == "source")
    qtbot.waitUntil(lambda: bool(dock.picture.panels))
    source = next(part for part in dock.picture.panels if isinstance(part, SourcePanel))
    take(source.editor.menu_at(QPoint(5, 5)))
    target = panel.state.speedups[-1][0]
    assert target.startswith("line:model.c:")
    idle(window, qtbot)


def take(menu: QMenu) -> None:
    next(action for action in menu.actions() if action.text() == FASTER).trigger()
    menu.deleteLater()


def test_settings_come_back_from_the_request_of_a_study() -> None:
    data = {
        "what_if": [
            {"ideal": ["cache"], "processors": [2, 8]},
            {"ideal": ["cache", "balance"], "processors": [2, 8]},
            {"machine": {"processor.clock_mhz": "40"}},
            {"speedup": {"line:a.c:3": "2"}},
        ],
        "speedups": {"lines": 3},
    }
    state = of_request(data, (1, 2, 4, 8))
    assert state == WhatIfState(
        ideals=("cache", "balance"),
        apart=True,
        machine=(("processor.clock_mhz", "40"),),
        speedups=(("line:a.c:3", "2"),),
        sweep=True,
        lines=3,
        processors=(2, 8),
    )
    assert of_request({}, (1, 2, 4)) == WhatIfState(processors=(4,))


@pytest.mark.parametrize(
    ("view", "key", "target"),
    [
        ("profile", "3", "region:#3"),
        ("profile", "0", ""),
        ("lines", "src/a.c:12", "line:src/a.c:12"),
        ("runs", "1234567890123456", ""),
        ("virtual-speedup", "a.c:4", "line:a.c:4"),
        ("virtual-speedup", "abcdef", ""),
        ("variables", "data:grid", "data:grid"),
        ("variables", "a.c:17", "heap:a.c:17"),
        ("variables", "", ""),
    ],
)
def test_rows_that_stand_for_code_can_be_faster(view: str, key: str, target: str) -> None:
    assert target_of(view, key) == target


def test_editing_the_request_of_a_study_keeps_what_if_runs(
    window: MainWindow, panel: WhatIfPanel, session: Any, qtbot: Any, tmp_path: Path
) -> None:
    tick(panel.ideals["cache"], qtbot)
    request = answered(window, qtbot, 2)
    fault = window.request.show_request(request.model_dump(mode="json"), "study", tmp_path / "study.sgstudy")
    assert not fault
    qtbot.waitUntil(lambda: window.request.can_run)
    window.request.start()
    qtbot.waitUntil(lambda: len(session.submitted) == 3)
    assert session.submitted[-1].what_if == request.what_if
