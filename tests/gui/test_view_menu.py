"""The menu "Add view" says, for each view, what the current study or trace lacks."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from scalegraph import views
from scalegraph.gui.dock.view_bar import ViewBar
from tests.views.test_ways import some_studies, some_traces


def offered(bar: ViewBar, subject: Any) -> dict[str, QAction]:
    """Open the menu with all groups; return the actions by view name."""
    bar.offer(subject, [])
    bar.add.menu().aboutToShow.emit()
    groups = [menu for action in bar.add.menu().actions() if isinstance(menu := action.menu(), QMenu)]
    for group in groups:
        group.aboutToShow.emit()
    return {action.data().name: action for group in groups for action in group.actions()}


@pytest.mark.slow
def test_a_view_that_would_be_empty_says_what_it_lacks(qtbot: Any) -> None:
    shown = [some_studies()["one count"]]
    bar = ViewBar(lambda: shown[0])
    qtbot.addWidget(bar)
    found = offered(bar, "study")
    assert found["speedup"].text() == "Time and speedup (empty)"
    assert "Speedup needs one problem on two or more processor counts" in found["speedup"].toolTip()
    assert found["runs"].text() == "Runs"
    assert found["compare"].text() == views.listed()["compare"].title  # what to compare with is chosen later
    shown[0] = some_studies()["full"]
    found = offered(bar, "study")
    assert found["speedup"].text() == "Time and speedup"
    assert found["speedup"].toolTip() == views.listed()["speedup"].description


@pytest.mark.slow
def test_a_family_is_empty_if_all_its_views_are_and_opens_with_one_that_is_not(qtbot: Any) -> None:
    data = some_studies()["times"]
    bar = ViewBar(lambda: data)
    qtbot.addWidget(bar)
    found = offered(bar, "study")
    full = {
        name: [view.name for view in views.get(name).members if view.several or not view.lacking(data, view.check({}))]
        for name in found
    }
    for name, action in found.items():
        assert action.text().endswith(" (empty)") == (not full[name])
        with qtbot.waitSignal(bar.view_wanted) as wanted:
            action.trigger()
        assert wanted.args == [full[name][0] if full[name] else name]
    assert full["remote-causes"][0] != "remote-causes"


def test_a_trace_without_counters_says_so(qtbot: Any) -> None:
    bar = ViewBar(lambda: some_traces()["halves"])
    qtbot.addWidget(bar)
    found = offered(bar, "trace")
    assert found["counters"].text().endswith(" (empty)")
    assert found["spacetime"].text() == views.listed("trace")["spacetime"].title


@pytest.mark.slow
@pytest.mark.parametrize("name", ["full", "no runs"])
def test_the_menu_says_what_the_views_declare(qtbot: Any, name: str) -> None:
    data = some_studies()[name]
    bar = ViewBar(lambda: data)
    qtbot.addWidget(bar)
    for view, action in offered(bar, "study").items():
        need = None if views.get(view).several else views.get(view).lacking(data, views.get(view).check({}))
        assert action.text().endswith(" (empty)") == (need is not None)
        assert need is None or action.toolTip().endswith(need.general)
