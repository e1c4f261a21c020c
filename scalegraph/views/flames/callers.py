"""Callers and callees of one region of a run, or of one function of measured call paths."""

from __future__ import annotations

from dataclasses import replace

from scalegraph.analyze.profile import region_tree
from scalegraph.figures.figure import Figure
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.flames import butterfly, study_trees
from scalegraph.views.flames.building import Grown
from scalegraph.views.view import View

_NAME, _TITLE = "callers", "Callers and callees"
_NEED = replace(study_trees.NEED, text="Callers and callees need costs by region or by call path.")
_NOTHING = Need("No region of {words} has any {value}.")
_FUNCTION = Option(
    "call_path",
    "Function",
    "text",
    follows=True,
    description="name of the function or region; otherwise what is selected, or the most expensive",
)


def _make(
    data: StudyData, call_path: object = None, metric: object = None, processors: object = None, size: object = None
) -> Figure | Need:
    grown = study_trees.grown(data, metric, processors, size)
    if grown is None:
        return _NEED
    if not len(grown.tree):
        return _NOTHING.of(words=grown.words, value=grown.value.label)
    named = _of_path(data, str(call_path), grown) if call_path is not None else None
    title = f"{_TITLE}: {common.study_title(data)}, {grown.words}"
    made = butterfly.figure(_NAME, title, grown, named or call_path, grown.notes)
    return replace(made, ways=study_trees.to_trace(data, grown))


def _of_path(data: StudyData, path: str, grown: Grown) -> str | None:
    """Return the name that the region or call path *path* (full name) has in the tables, None if it has none."""
    measured = data.measured if "->" in path else None
    if measured is None or path not in measured.paths:
        return None
    number = measured.paths.index(path)
    if data.imported is None:  # paths are in the order of the regions
        known = region_tree(data.regions, *(run for run in data.runs if run.ok))
        number = known[number][0].id if number < len(known) else -1
    return next((name for name, key in zip(grown.tree.names, grown.tree.keys, strict=True) if key == str(number)), None)


VIEW = View(
    _NAME,
    _TITLE,
    "Who calls a function and what it calls, with time and visits; a click goes to the caller or callee.",
    _make,
    (_FUNCTION, study_trees.METRIC, common.PROCESSORS, common.SIZE),
    needs=(*needs.RUNS_OR_SET, _NEED, _NOTHING),
    without=True,
)
