"""View options that follow the selection: a view of a single run follows the selected N."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Figure
from scalegraph.gui.state.loss import region_path
from scalegraph.gui.state.selection_state import Selection
from scalegraph.subjects.option import OptionValue
from scalegraph.subjects.study import StudyData
from scalegraph.views import View

Followed: TypeAlias = dict[str, OptionValue]  # option -> value from the selection
_PATH: Final = "call_path"


def to_follow(
    view: View, data: StudyData, selection: Selection, study: str, chosen: Mapping[str, OptionValue]
) -> Followed:
    """Return the values of *selection* for the options of *view* that follow it and are not *chosen*.

    *study* is the study shown: regions have no meaning in another one. See `Option.follows`.
    """
    open_ = {option.name for option in view.options if option.follows and option.name not in chosen}
    wanted: Followed = {}
    if "processors" in open_ and selection.processors is not None and _has_run(data, selection.processors):
        wanted["processors"] = selection.processors
    if _PATH in open_:
        path = selection.call_path
        if path is None and selection.region is not None and selection.study == study:
            path = region_path(data.regions, selection.region)
        if path is not None:
            wanted[_PATH] = path
    if "file" in open_ and (file := _file(data, selection, study)):
        wanted["file"] = file
    if "metric" in open_ and selection.metric is not None:
        wanted["metric"] = selection.metric
    return wanted


def _file(data: StudyData, selection: Selection, study: str) -> str:
    """Return the source file of *study*'s selected line or region, if it has several files."""
    if selection.study not in (None, study) or len(data.sources) < 2:
        return ""
    if selection.line is not None:
        return selection.line[0]
    return next((item.file for item in data.regions if item.id == selection.region), "")


def build_following(
    view: View, data: StudyData, asked: StudyData, options: Mapping[str, OptionValue], followed: Followed
) -> Figure:
    """Return the figure of *asked* with *options*, and with *followed* if the view can show that.

    *data* is the study alone, *asked* the same with studies to compare. A selection that the view cannot show (an N
    without what-if runs, a call path of another set) is ignored instead of failing. It is also ignored, with a note, if
    the view has nothing to show for it but has something for another run. Not for Qt's thread.

    Raises:
        InputError: *options* are invalid.

    """
    known = _known_here(view, data, followed)
    if known:
        try:
            figure = view.build(asked, **options, **known)
        except InputError:  # caused by the selection; an error in *options* is raised again below
            pass
        else:
            if figure.panels:
                return figure
    figure = view.build(asked, **options)
    if "processors" in known and figure.panels:
        note = f"There is nothing to show here for the selected N = {known['processors']}."
        return replace(figure, notes=(note, *figure.notes))
    return figure


def _known_here(view: View, data: StudyData, followed: Followed) -> Followed:
    """Return the part of *followed* that the study has, without call paths or metrics of other sets.

    A view may take the full name of a call path or its number in the set; a choice takes one of its names.
    """
    measured = data.measured
    kept: Followed = {}
    for option in view.options:
        value = followed.get(option.name)
        if value is None:
            continue
        if option.name == _PATH and (measured is None or value not in measured.paths):
            continue
        if option.name == "metric" and (measured is None or value not in {m.name for m in measured.metrics}):
            continue
        if option.type == "choice" and value not in option.choices:
            continue
        kept[option.name] = value
    return kept


def _has_run(data: StudyData, processors: int) -> bool:
    return not data.table.empty and bool((data.table["processors"] == processors).any())
