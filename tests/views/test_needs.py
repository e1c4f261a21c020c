"""Every view declares its needs; a study or trace that does not meet one gets the declared message and button."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from scalegraph import views
from scalegraph.base.loops import LoopCost
from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.predict.kept import Kept
from scalegraph.request.results import quantities
from scalegraph.subjects.study import StudyData
from scalegraph.traces.model import Region
from scalegraph.views import needs, ways
from scalegraph.views.trace.common import origin
from scalegraph.views.view import View
from tests.views.studies import predicted
from tests.views.test_model_views import measured
from tests.views.test_ways import shown, some_studies, some_traces
from tests.views.traces import builder, calls, finish

ANYTHING = {"trace-overview"}  # shows any trace


@cache
def subjects() -> dict[str, list[tuple[str, Any]]]:
    """Return the studies and traces, alone and compared with another."""
    studies, traces = some_studies(), some_traces()
    two = replace(studies["full"], others=(studies["times"],))
    both = replace(traces["halves"], others=(traces["nothing"],))
    unshared = [run.model_copy(update={"shared_lines": ()}) for run in studies["full"].runs]
    some = [("two studies", two), ("not shared", StudyData.from_runs(unshared)), ("no counts", measured(unknown=True))]
    unseen = [run.model_copy(update={"loops": (LoopCost(iterations=8),)}) for run in studies["full"].runs]
    some.append(("no chunks", StudyData.from_runs(unseen)))
    some.append(("not run", replace(studies["full"], predictions=Kept(points=predicted(8192)))))
    return {
        "study": [*studies.items(), *some],
        "trace": [*traces.items(), ("two traces", both), ("no lanes", no_lanes()), ("library", of_a_library())],
    }


def of_a_library() -> Any:
    """Return a trace whose only region is in no file of the program."""
    made = builder(1)
    made.region("MPI_Send", lambda: Region("MPI_Send", "MPI", 0))
    calls(made, 0, (0, 1000, 0))
    return finish(made, 1000)


def no_lanes() -> Any:
    """Return a trace with events but without locations."""
    data = some_traces()["halves"]
    trace = data.trace
    return replace(data, trace=_Without(trace, replace(trace.definitions, locations=())))


class _Without:
    """A trace with other definitions."""

    def __init__(self, trace: Any, definitions: Any) -> None:
        self._trace, self.definitions = trace, definitions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._trace, name)


def lacking() -> Iterator[tuple[View, str, Any, Need]]:
    """Yield each view with each study or trace that does not meet one of its needs by default, and that need."""
    for view in views.everything().values():
        for name, data in subjects()[view.subject]:
            need = view.lacking(data, view.check({}))
            if need is not None:
                yield view, name, data, need


def runs(data: Any) -> bool:
    return ways.can_run(data) if hasattr(data, "runs") else origin(data) == "simulated"


def is_of(figure: Figure, need: Need) -> bool:
    """Return whether the empty state is that of *need*, whose text may have placeholders."""
    parts = [re.escape(part) for part in re.split(r"\{\w+\}", need.text)]
    return re.search(".*".join(parts), figure.empty, re.DOTALL) is not None


@pytest.mark.parametrize("name", views.everything())
def test_every_view_declares_what_it_needs(name: str) -> None:
    view = views.get(name)
    assert bool(view.every_need) != (name in ANYTHING)
    for need in view.every_need:
        assert need.text
        assert need.declared is None
        assert need.text.endswith((".", "}")), need.text


@pytest.mark.slow
def test_what_is_lacking_is_the_declared_empty_state() -> None:
    seen = 0
    for view, name, data, need in lacking():
        figure = shown(view, data)
        assert figure.view == view.name
        assert figure.title.startswith(view.title)
        assert not figure.panels
        assert figure.empty.endswith(need.sentence(runs=runs(data))), (view.name, name)
        assert figure.ways == need.ways(runs=runs(data)) or not need.ways(runs=runs(data)), (view.name, name)
        seen += 1
    assert seen > 200


@pytest.mark.slow
def test_what_only_the_view_finds_out_is_declared_too() -> None:
    seen = 0
    for view in views.everything().values():
        for name, data in subjects()[view.subject]:
            if view.lacking(data, view.check({})) is None and (figure := shown(view, data)).empty:
                assert any(is_of(figure, need) for need in view.every_need if need.met is None), (view.name, name)
                seen += 1
    assert seen > 50


@pytest.mark.slow
def test_every_need_that_is_checked_is_lacking_in_some_study_or_trace() -> None:
    declared = {need.text for view in views.everything().values() for need in view.every_need if need.met}
    assert declared == {need.text for *_, need in lacking()}


@pytest.mark.slow
def test_a_view_draws_where_its_needs_are_met() -> None:
    drawn = {
        view.name
        for view in views.registry("study").values()
        for name, data in subjects()["study"]
        if name in ("full", "two studies", "times") and shown(view, data).panels
    }
    assert len(drawn) > 40


def test_a_need_that_a_view_does_not_declare_is_an_error() -> None:
    view = replace(views.get("time"), make=lambda _data, **_: Need("Something else."))
    with pytest.raises(ValueError, match="does not declare that it needs: Something else"):
        view.build(some_studies()["full"])


def test_a_need_fills_the_places_of_its_text_and_stays_the_declared_one() -> None:
    need = needs.counts("A back-test that hides {hide} needs more.")
    filled = need.of(hide=3)
    assert filled.text == "A back-test that hides 3 needs more."
    assert filled.declared is need
    assert filled.way is ways.ADD_COUNTS


@pytest.mark.slow
def test_no_view_makes_an_empty_state_by_hand(root: Path) -> None:
    for path in (root / "scalegraph/views").rglob("*.py"):
        if path.name != "empty_states.py":
            assert not re.search(r"\bempty=", path.read_text()), path


@pytest.mark.parametrize("name", [name for name, one in quantities.QUANTITIES.items() if one.view])
def test_a_quantity_names_the_view_whose_needs_say_what_it_lacks(name: str) -> None:
    view = views.registry("study")[quantities.QUANTITIES[name].view]
    empty = some_studies()["no runs"]
    assert quantities.blank(quantities.compute(empty, name))
    assert quantities.why_blank(empty, name) == view.build(empty).told


@pytest.mark.slow
def test_a_study_without_runs_has_what_its_views_show_without_them() -> None:
    unknown = measured(unknown=True)
    assert unknown.table.empty
    assert views.get("region-models").of_no_runs
    assert len(quantities.compute(unknown, "models"))
    assert not views.get("latency").of_no_runs
    assert quantities.compute(unknown, "turning").empty


def test_who_measures_is_not_told_to_measure_what_only_a_simulation_has() -> None:
    told = [need for view in views.registry().values() for need in view.needs if "need simulated runs" in need.text]
    assert len(told) >= 6
    assert {need.record for need in told} == {needs.NOT_RECORDED}
