"""All points of a study's space in one table to sort and search."""

from __future__ import annotations

from scalegraph.base.units import counted
from scalegraph.figures.figure import Figure
from scalegraph.subjects.study import StudyData
from scalegraph.views.study.choosing.choice import table
from scalegraph.views.study.choosing.common import SEVERAL, axes, points, title
from scalegraph.views.view import View

_TITLE = "All points"


def _make(data: StudyData) -> Figure:
    found, notes = points(data)
    varied = axes(found)
    words = ", ".join("N" if name == "processors" else name.replace("_", " ") for name in varied)
    return Figure(
        title(_TITLE, data, found),
        f"{counted(len(found), 'point')} that differ in {words}.",
        (table(sorted(found, key=lambda one: one.elapsed_s)),),
        notes=notes,
    )


VIEW = View(
    "points",
    _TITLE,
    "Every point with machine, N, split, schedule, time and costs, the fastest first; sorts and filters.",
    _make,
    needs=(SEVERAL,),
    wide=True,
)
