"""A selection highlights: no view loses rows, cells or curves; a view of one run says which run it shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures.diagram import Diagram
from scalegraph.figures.figure import Field, Figure, Grid, Panel, Plot, Source, Surface, Table
from scalegraph.figures.flames import Flame
from scalegraph.gui.dock.view_options import FOLLOWS, OptionBar
from scalegraph.gui.state.following import build_following, to_follow
from scalegraph.gui.state.selection_state import Selection
from scalegraph.gui.state.time_window import TimeWindow
from scalegraph.gui.state.trace_filter import TraceFilter
from scalegraph.gui.trace.options import trace_options
from scalegraph.subjects.study import StudyData
from scalegraph.views import View
from tests.analyze import synthetic
from tests.views import studies, test_model_views, traces

OF_TRACES = [view for view in views.everything().values() if view.subject == "trace"]
OF_STUDIES = [view for view in views.everything().values() if view.subject == "study"]
STUDIES: dict[str, Callable[[], StudyData]] = {
    "sizes and what-if runs": studies.full,
    "fixed size": lambda: StudyData.from_runs(synthetic.fixed((1, 2, 4, 8)), regions=synthetic.REGIONS),
    "a few grids": lambda: StudyData.from_runs(synthetic.grid((1, 2, 4, 8), (256, 1024)), regions=synthetic.REGIONS),
    "imported": test_model_views.measured,
}
SELECTIONS = {
    "N = 1": Selection(processors=1),
    "N = 4": Selection(processors=4),
    "N = 8": Selection(processors=8),
    "N = 64": Selection(processors=64),
    "N without runs": Selection(processors=7),
    "cell": Selection(cell=(4, 8)),
    "region": Selection(study="here", region=2),
    "region of another study": Selection(study="there", region=2),
    "line": Selection(study="here", line=("model.c", 12)),
    "call path": Selection(call_path="main->solve"),
    "call path of another set": Selection(call_path="init->never"),
    "metric": Selection(metric="time"),
    "metric of another set": Selection(metric="cache misses"),
    "interval and location": Selection(study="trace", interval=(0, 100), location=3),
}


@pytest.fixture(scope="module", params=STUDIES)
def study(request: Any) -> StudyData:
    return STUDIES[request.param]()


def content(panel: Panel) -> tuple[int, ...]:
    """Return how much content a panel shows."""
    if isinstance(panel, Plot):
        bars = panel.bars
        return (
            len(panel.lines),
            sum(value == value for line in panel.lines for value in line.y),
            0 if bars is None else len(bars.x) * len(bars.series),
        )
    if isinstance(panel, Grid):
        return len(panel.rows), len(panel.columns), sum(cell is not None for row in panel.cells for cell in row)
    if isinstance(panel, Table):
        return len(panel.rows), len(panel.columns)
    if isinstance(panel, Source):
        return len(panel.lines), len(panel.columns)
    if isinstance(panel, Flame):
        return len(panel.frames), sum(frame.width > 0 for frame in panel.frames)
    if isinstance(panel, Diagram):
        return len(panel.shapes), len(panel.items)
    assert isinstance(panel, Field | Surface)
    return len(panel.rows), len(panel.columns)


def same(one: Figure, other: Figure) -> bool:
    return repr(one) == repr(other)  # missing values are NaN in both, which equals nothing


def words(figure: Figure) -> str:
    return " ".join((figure.title, figure.sentence, *figure.notes))


@pytest.mark.few(60)
@pytest.mark.slow
@pytest.mark.parametrize("view", OF_STUDIES, ids=lambda view: view.name)
def test_no_selection_takes_anything_out_of_a_view(view: View, study: StudyData) -> None:
    plain = view.build(study)
    for name, selection in SELECTIONS.items():
        followed = to_follow(view, study, selection, "here", {})
        figure = build_following(view, study, study, {}, followed)
        if "processors" in followed:
            assert len(figure.panels) >= len(plain.panels), name
        elif not followed:
            assert same(figure, plain), name
        else:
            assert [type(panel) for panel in figure.panels] == [type(panel) for panel in plain.panels], name
        whole = zip(figure.panels, plain.panels, strict=False)
        if "processors" not in followed:
            assert all(a >= b for here, there in whole for a, b in zip(content(here), content(there), strict=True)), (
                name
            )


@pytest.mark.few(75)
@pytest.mark.slow
@pytest.mark.parametrize("view", OF_STUDIES, ids=lambda view: view.name)
def test_a_view_that_follows_n_shows_one_run_and_says_which(view: View, study: StudyData) -> None:
    option = next((option for option in view.options if option.name == "processors"), None)
    if option is None or not option.follows:
        followed = [to_follow(view, study, chosen, "here", {}) for chosen in SELECTIONS.values()]
        assert not any("processors" in taken for taken in followed)
        return
    assert option.type == "int"
    assert option.description.startswith("N of the run")
    for name, selection in SELECTIONS.items():
        followed = to_follow(view, study, selection, "here", {})
        if "processors" not in followed:
            continue
        figure = build_following(view, study, study, {}, followed)
        plain = view.build(study)
        if not plain.panels:
            assert same(figure, plain)
            continue
        try:
            own = view.build(study, processors=followed["processors"])
        except InputError:
            own = None
        if own is not None and own.panels:
            assert same(figure, own), name
            said = re.findall(r"\d+", words(figure))
            assert str(followed["processors"]) in said or "one processor" in words(figure), (name, words(figure))
        else:  # no data for this N: shown as without a selection
            assert figure.panels == plain.panels, name
            assert f"N = {followed['processors']}" in figure.notes[0], name


@pytest.mark.parametrize("view", OF_TRACES, ids=lambda view: view.name)
def test_of_a_trace_only_the_selected_time_is_taken_and_only_by_views_of_a_stretch(view: View, qtbot: Any) -> None:
    data = traces.halves()
    trace = SimpleNamespace(
        key="here",
        window=TimeWindow(1.0),
        filter=TraceFilter(),
        replay=SimpleNamespace(shown=False),
        data=lambda: data,
        seconds=lambda tick: tick / traces.SECOND,
    )

    def taken(**changes: Any) -> dict[str, Any]:
        return trace_options(view, trace, Selection(study="here", **changes), 800)  # type: ignore[arg-type]

    marked = taken(region=0, location=1, processors=4, cell=(1, 2), line=("work.c", 7), call_path="a", metric="time")
    into_view = {"file": "", "function": ""}  # scroll to the region's source, and its callers
    assert marked | into_view == taken() | into_view
    stretch = taken(interval=(0, traces.SECOND // 2))
    assert stretch == (taken() if view.window or "begin" not in names_of(view) else taken() | {"begin": 0, "end": 0.5})


def names_of(view: View) -> set[str]:
    return {option.name for option in view.options}


def test_what_was_chosen_in_the_options_stands_before_the_selection() -> None:
    study = STUDIES["fixed size"]()
    view = views.get("profile")
    assert to_follow(view, study, Selection(processors=4), "here", {}) == {"processors": 4}
    assert to_follow(view, study, Selection(processors=4), "here", {"processors": 8}) == {}


def test_a_wrong_option_is_still_reported_while_something_is_followed() -> None:
    study = STUDIES["fixed size"]()
    with pytest.raises(InputError, match="size"):
        build_following(views.get("profile"), study, study, {"size": "balls=never"}, {"processors": 4})


@pytest.mark.slow
def test_only_what_follows_the_selection_says_so_in_its_options(qtbot: Any) -> None:
    study = STUDIES["a few grids"]()
    for view in OF_STUDIES:
        bar = OptionBar(view)
        qtbot.addWidget(bar)
        bar.offer(study)
        bar.show_followed({"processors": 4})
        for option in view.options:
            editor = bar.editor(option.name).editor
            shown = editor.itemText(0) if hasattr(editor, "itemText") else getattr(editor, "placeholderText", str)()
            assert (FOLLOWS in shown) == option.follows, (view.name, option.name)
    bar = OptionBar(views.get("profile"))
    qtbot.addWidget(bar)
    bar.show_followed({"processors": 4})
    assert bar.editor("processors").editor.itemText(0) == f"{FOLLOWS}: 4"
    bar.show_followed({})
    assert bar.editor("processors").editor.itemText(0) == FOLLOWS


def test_a_matrix_takes_a_list_of_n_that_is_typed(qtbot: Any) -> None:
    bar = OptionBar(views.get("matrix"))
    qtbot.addWidget(bar)
    editor = bar.editor("processors").editor
    told: list[tuple[str, object]] = []
    bar.changed.connect(lambda name, value: told.append((name, value)))
    editor.setText("2, 4, 8")
    editor.editingFinished.emit()
    assert told == [("processors", "2, 4, 8")]
