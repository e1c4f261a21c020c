"""The window's texts name no command, switch or section of a file; the command line names one for every button."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from scalegraph import views
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Figure, Grid, Plot, Source, Table
from scalegraph.subjects.study import StudyData
from scalegraph.subjects.trace import TraceData
from scalegraph.views import ways
from scalegraph.views.trace.common import origin
from scalegraph.views.view import SHOW_AS, View
from tests.analyze import synthetic
from tests.views import studies, traces
from tests.views.imported import call_paths, times

FILE_WORDS = re.compile(
    r"(?<![\w-])--[a-z]|\[\[?(collect|bound|speedups|trace|what_if|scaling|machine|limits)\b"
    r"|\bscalegraph [a-z]|collect\.lines|\b(lines|classes|regions|kind) = "
)
REQUEST = {"request": {"program": {"name": "ge1"}, "processors": [1, 2, 4]}}


def runnable(data: StudyData) -> StudyData:
    """Return *data* with a request that ScaleGraph can run."""
    return replace(data, manifest={**data.manifest, **REQUEST})


def bare(data: StudyData) -> StudyData:
    """Return *data* as collected by a request that collects nothing."""
    runs = [run.model_copy(update={"lines": (), "regions": (), "collected": ()}) for run in data.runs]
    return StudyData.from_runs(runs, manifest={**data.manifest, **REQUEST})


def alone(*counts: int) -> StudyData:
    return StudyData.from_runs(synthetic.fixed(counts), manifest=REQUEST)


@cache
def some_studies() -> dict[str, StudyData]:
    few = studies.few()
    return {
        "full": studies.full(),
        "runnable": runnable(studies.full()),
        "bare": bare(studies.full()),
        "one count": alone(1),
        "no one": alone(2, 4),
        "times": times(),
        "call paths": call_paths(),
        "no runs": StudyData.from_runs([], manifest=REQUEST),
        **{f"{name}, runnable": runnable(data) for name, data in few.items()},
    }


@cache
def some_traces() -> dict[str, TraceData]:
    empty = traces.builder(2, ("solve",))
    calls = traces.builder(2, ("solve",))
    traces.calls(calls, 0, (0, traces.SECOND, 0))
    measured = traces.builder(2, ("solve",), "thread")
    traces.message(measured, 1, 2, 0, 1)
    return {
        "halves": traces.halves(),
        "threads": traces.threads(),
        "measured": traces.finish(measured),
        "nothing": traces.finish(empty),
        "calls": traces.finish(calls),
    }


def options(view: Any, *, every: bool) -> Iterator[dict[str, Any]]:
    """Yield the defaults, and if *every* each choice of the view by itself."""
    yield {}
    if not every:
        return
    for option in view.options:
        yield from ({option.name: choice} for choice in option.choices)


def said(figure: Figure) -> Iterator[str]:
    """Yield a figure's texts as the window shows them, including tooltips."""
    yield from (figure.title, figure.sentence, figure.empty, *figure.notes)
    for way in figure.ways:
        yield from (way.text, way.tip)
    for panel in figure.panels:
        if isinstance(panel, Table):
            yield from (row.tip for row in panel.rows)
            yield from (str(value) for row in panel.rows for value in row.values if isinstance(value, str))
        elif isinstance(panel, Plot):
            yield from (tip for line in panel.lines for tip in line.tips)
        elif isinstance(panel, Grid):
            yield from (text for row in panel.cells for cell in row if cell for text in (cell.reason, cell.tip))
        elif isinstance(panel, Source):
            yield from (column.name for column in panel.columns)


_SHOWN: dict[tuple[int, str, str], tuple[Any, Figure | None]] = {}


def shown(view: View, data: Any, **choice: Any) -> Figure | None:
    """Return the figure of *view*, built once for all tests of a file; None if the view refuses the choice."""
    try:  # a default that is given is no other figure
        values = choice if SHOW_AS in choice else view.check(choice)
    except InputError:
        return None
    key = (id(data), view.name, repr(values))
    if key not in _SHOWN:
        try:
            _SHOWN[key] = (data, view.build(data, **choice))  # kept with its data, whose identity nothing else gets
        except InputError:
            _SHOWN[key] = (data, None)
    return _SHOWN[key][1]


def built(subject: str, data: Any, *, every: bool) -> Iterator[tuple[str, Figure]]:
    for name, view in views.registry(subject).items():  # type: ignore[arg-type]
        for choice in options(view, every=every):
            if (figure := shown(view, data, **choice)) is not None:
                yield f"{name} {choice}", figure


@pytest.mark.few(5)
@pytest.mark.slow
@pytest.mark.parametrize("name", some_studies())
def test_what_the_window_shows_of_a_study_names_no_switch_or_section(name: str) -> None:
    seen = 0
    for what, figure in built("study", some_studies()[name], every=name == "bare"):
        seen += 1
        for text in said(figure):
            assert not FILE_WORDS.search(text), (what, text)
    assert seen > 40


@pytest.mark.slow
@pytest.mark.parametrize("name", some_traces())
def test_what_the_window_shows_of_a_trace_names_no_switch_or_section(name: str) -> None:
    for what, figure in built("trace", some_traces()[name], every=True):
        for text in said(figure):
            assert not FILE_WORDS.search(text), (what, text)


@pytest.mark.parametrize(
    ("view", "study", "way", "switch"),
    [
        ("miss-classes", "bare", ways.COLLECT_CLASSES, "--collect classes"),
        ("false-sharing", "bare", ways.COLLECT_CLASSES, "--collect classes"),
        ("lines", "bare", ways.COLLECT_LINES, "[collect]"),
        ("profile", "bare", ways.COLLECT_REGIONS, "[collect]"),
        ("flame", "bare", ways.COLLECT_REGIONS, "[collect]"),
        ("callers", "bare", ways.COLLECT_REGIONS, "[collect]"),
        ("flame", "runnable", ways.traced("regions"), "--trace=regions"),
        ("callers", "runnable", ways.traced("regions"), "--trace=regions"),
        ("flame-difference", "runnable", ways.traced("regions"), "--trace=regions"),
        ("what-if", "one count", ways.WHAT_IF, "--what-if"),
        ("virtual-speedup", "one count", ways.FASTER_LINES, "[speedups]"),
        ("speedup", "no one", ways.ADD_COUNTS, "--processors"),
        ("latency", "no one", ways.ADD_COUNTS, "--processors"),
        ("serial-fraction", "no one", ways.ADD_COUNTS, "--processors"),
        ("time", "no one", ways.ADD_ONE, "--processors"),
        ("pop", "no one", ways.FREE_SYNC, "--what-if sync"),
        ("speedup", "no runs", ways.START, ""),
    ],
)
def test_what_a_study_lacks_is_a_button_in_the_window_and_a_switch_on_the_command_line(
    view: str, study: str, way: ways.Way, switch: str
) -> None:
    figure = views.get(view).build(some_studies()[study])
    assert way in figure.ways
    assert switch in (figure.told or " ".join(figure.remarks))


@pytest.mark.parametrize(
    ("view", "trace", "kind"),
    [
        ("counters", "halves", "counters"),
        ("speed", "halves", "counters"),
        ("communication-matrix", "calls", "waits"),
        ("messages", "calls", "waits"),
        ("task-summary", "halves", "tasks"),
    ],
)
def test_what_a_simulated_trace_lacks_is_run_again_and_of_a_measured_one_is_recorded(
    view: str, trace: str, kind: str
) -> None:
    chosen = {"of": "tasks"} if view == "task-summary" else {}
    figure = views.get(view).build(some_traces()[trace], **chosen)
    assert figure.ways == (ways.traced(kind),)
    assert f"--trace={kind}" in figure.told
    if view not in ("communication-matrix", "messages"):
        other = views.get(view).build(some_traces()["measured"], **chosen)
        assert not other.ways
        assert "ecord" in other.empty


@pytest.mark.parametrize("view", ["miss-classes", "lines", "profile", "speedup", "what-if", "flame"])
@pytest.mark.parametrize("study", ["full", "times", "call paths"])
def test_a_study_that_cannot_be_run_has_no_button(view: str, study: str) -> None:
    figure = views.get(view).build(some_studies()[study])
    assert not figure.ways
    assert not (figure.empty and "run again" in figure.empty)


# Empty states that more runs, studies or traces cannot fill: the absence is the answer, or another choice of the view's
# options is needed.
ANSWERS = (
    "No reference of this run leaves",
    "No miss of this run is due to",
    "No access of these runs goes through",
    "no access goes through the network",
    " cannot be fitted to these ",
    "This trace holds no events",
    "No phase in the whole run",
    "choose by activity",
    "Choose messages",
    "choose them under Costs",
    "No location waits for another",
    "The regions of this trace name no place",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, data in some_studies().items() if ways.can_run(data)])
def test_every_empty_state_of_a_study_that_can_be_run_has_a_button(name: str) -> None:
    empty = 0
    for what, figure in built("study", some_studies()[name], every=True):
        empty += bool(figure.empty)
        assert figure.ways or not figure.empty or any(part in figure.empty for part in ANSWERS), (what, figure.empty)
        assert not re.search(r"\bin the request\b|\bthe command\b|\brun N = ", figure.empty), (what, figure.empty)
    assert empty


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, data in some_traces().items() if origin(data) == "simulated"])
def test_every_empty_state_of_a_simulated_trace_has_a_button(name: str) -> None:
    for what, figure in built("trace", some_traces()[name], every=True):
        assert figure.ways or not figure.empty or any(part in figure.empty for part in ANSWERS), (what, figure.empty)


@pytest.mark.slow
def test_notes_ask_for_nothing_in_a_request() -> None:
    for name, data in some_studies().items():
        for what, figure in built("study", data, every=False):
            assert not any("in the request" in note for note in figure.notes), (name, what, figure.notes)


@pytest.mark.slow
@pytest.mark.parametrize("view", ["compare", "compare-matrix"])
@pytest.mark.parametrize("study", ["times", "one count"])
def test_a_comparison_of_one_study_offers_to_open_another(view: str, study: str) -> None:
    assert views.get(view).build(some_studies()[study]).ways == (ways.OPEN_STUDY,)
