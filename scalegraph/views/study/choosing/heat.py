"""The best point for each pair of values of two axes, as a heat map."""

from __future__ import annotations

from scalegraph.analyze.choosing.point import OBJECTIVES, Objective, Point
from scalegraph.figures.figure import Cell, Figure, Grid
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.choosing.common import AXIS, COST, SEVERAL, axes, points, title, values
from scalegraph.views.view import View

_TITLE = "Best by two"
_AXES = tuple(AXIS)


def _make(data: StudyData, rows: str | None = None, columns: str | None = None, minimise: Objective = "time") -> Figure:
    found, notes = points(data)
    known = [one for one in found if one.cost(minimise)]
    if not known:
        notes = (f"No point's {OBJECTIVES[minimise]} is known; shown is the time instead.", *notes)
        minimise, known = "time", found
    varied = axes(known)
    across = columns or ("processors" if "processors" in varied else varied[-1] if varied else "processors")
    left = [name for name in varied if name != across]
    down = rows if rows and rows != across else left[0] if left else ""
    down = down or ("machine" if across != "machine" else "processors")
    ups, overs = values(known, down), values(known, across)
    best: dict[tuple[str, str], Point] = {}
    for one in known:
        place = (AXIS[down][1](one), AXIS[across][1](one))
        if place not in best or (one.cost(minimise) or 0.0) < (best[place].cost(minimise) or 0.0):
            best[place] = one
    least = min(one.cost(minimise) or 0.0 for one in best.values())
    cells = tuple(tuple(_cell(best.get((up, over)), least, minimise) for over in overs) for up in ups)
    what = OBJECTIVES[minimise]
    taken = min(best.values(), key=lambda one: one.cost(minimise) or 0.0)
    return Figure(
        title(_TITLE, data, found),
        f"{taken.words()} has the least {what}, {taken.amount(minimise)}.",
        (Grid(AXIS[down][0], AXIS[across][0], tuple(ups), tuple(overs), cells, (f"least {what} / {what}",)),),
        notes=(f"1 is the least {what}; 0.5 takes twice as much. Each cell is the best of its points.", *notes),
    )


def _cell(one: Point | None, least: float, minimise: Objective) -> Cell:
    if one is None:
        return Cell((None,), "no point was run here")
    cost = one.cost(minimise) or least
    tip = f"{one.words()}: {one.amount(minimise)}"
    return Cell((least / cost if cost else 1.0,), tip=tip, origin=common.origin_of(one.source))


def _axis(name: str, title: str, text: str) -> Option:
    return Option(name, title, "choice", None, _AXES, words=tuple(AXIS[one][0] for one in _AXES), description=text)


VIEW = View(
    "choice-map",
    _TITLE,
    "A heat map of two of machine, N, split, schedule, affinity and flags: the best point of each pair.",
    _make,
    (
        _axis("rows", "Rows", "Axis of the rows; chosen from those that vary."),
        _axis("columns", "Columns", "Axis of the columns; N if it varies."),
        COST,
    ),
    needs=(SEVERAL,),
)
