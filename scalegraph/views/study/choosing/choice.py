"""The point to take, and the frontier of time against cost."""

from __future__ import annotations

from scalegraph.analyze.choosing.choice import Wishes, choose, frontier
from scalegraph.analyze.choosing.point import OBJECTIVES, Objective, Point
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Axis, Column, Figure, Line, Mark, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.choosing import answer
from scalegraph.subjects.choosing import taken as taken_words
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.choosing.common import (
    AXIS,
    COST,
    EFFICIENCY,
    GROUP,
    SEVERAL,
    WITHIN,
    points,
    rest,
    title,
    values,
)
from scalegraph.views.view import View

_TITLE = "Which point to take"
_NONE = Need("{why}.")
_UNITS: dict[Objective, str] = {"time": "s", "core_hours": "core-hours", "energy": "J", "price": "", "processors": ""}


def _make(
    data: StudyData, minimise: Objective = "time", within: float | None = None, efficiency: float | None = None
) -> Figure | Need:
    wishes = Wishes(minimise, within, efficiency)
    unmet: tuple[str, ...] = ()
    try:
        found = answer(data, wishes)
    except InputError as error:
        why = error.faults[0].message
        unmet, wishes = (f"{why[:1].upper()}{why[1:]}: this is the fastest point instead.",), Wishes()
        try:
            found = answer(data, wishes)
        except InputError:
            return _NONE.of(why=why)
    every, notes = points(data)
    against: Objective = wishes.against
    edge = list(found.choice.frontier)
    taken = found.choice.point
    currency = taken.currency if against == "price" else _UNITS[against]
    lines = [
        _line(at, name, [one for one in every if one.machine == name], against)
        for at, name in enumerate(values(every, "machine"))
    ]
    lines.insert(
        0,
        Line(
            "frontier",
            tuple(one.cost(against) or 0.0 for one in edge[::-1]),
            tuple(one.elapsed_s for one in edge[::-1]),
            "ink",
            common.origin_of(*(one.source for one in edge)),
            style="thin",
            markers=False,
        ),
    )
    plot = Plot(
        Axis(OBJECTIVES[against], currency, "log10"),
        Axis("time", "s", "log10"),
        tuple(lines),
        marks=(Mark("taken", taken.cost(against), taken.elapsed_s),),
    )
    brief = found.limits[0] if found.limits else ""
    edge_note = "The line and the table have the points for which no other is both faster and cheaper."
    return Figure(
        title(_TITLE, data, every),
        " ".join(filter(None, (taken_words(found.choice, wishes), brief, found.certainty))),
        (plot, table(edge, taken)),
        notes=(*unmet, *([] if found.limit == brief else [found.limit]), edge_note, *notes),
        answers=True,
    )


def _line(at: int, name: str, found: list[Point], against: Objective) -> Line:
    """Return one machine's points as a line: each split and schedule over N, with gaps between them."""
    paths: dict[str, list[Point]] = {}
    for one in found:
        if one.cost(against) is not None:
            paths.setdefault(rest(one, ("machine", "processors"), tuple(AXIS)), []).append(one)
    places: list[Point | None] = []
    for path in paths.values():
        places += [*sorted(path, key=lambda one: one.processors), None]
    gap = float("nan")
    return Line(
        name,
        tuple(gap if one is None else one.cost(against) or 0.0 for one in places),
        tuple(gap if one is None else one.elapsed_s for one in places),
        f"series:{at}",
        common.origin_of(*(one.source for one in found)),
        tips=tuple("" if one is None else f"{one.words()}: {one.amount(against)}" for one in places),
        processors=tuple(0 if one is None else one.processors for one in places),
    )


def table(found: list[Point], taken: Point | None = None) -> Table:
    """Return *found* as sortable rows, with *taken* marked. Columns without values are omitted."""
    columns = {
        "machine": Column("machine"),
        "processors": Column("N"),
        "processes": Column("processes"),
        "threads_per_process": Column("threads a process"),
        "schedule": Column("schedule"),
        "affinity": Column("affinity"),
        "cflags": Column("flags"),
        "time_s": Column("time", "s", "time"),
        "core_hours": Column("core-hours", "", "latency"),
        "energy_j": Column("energy", "J"),
        "price": Column("price"),
        "efficiency": Column("efficiency", "", "efficiency"),
        "speedup": Column("speedup"),
    }
    kept = {name: one for name, one in columns.items() if any(getattr(point, name) is not None for point in found)}
    rows = [
        Row(
            tuple(getattr(point, name) for name in kept),
            key=point.keys[0] if point.keys else "",
            tip=f"taken: {point.words()}" if point is taken else point.words(),
        )
        for point in found
    ]
    return Table(tuple(kept.values()), tuple(rows))


def second_best(data: StudyData) -> tuple[Point, Point] | None:
    """Return the fastest point and the next on the frontier, or else the next fastest; None for a single point."""
    every = points(data)[0]
    if len(every) < 2:
        return None
    found = choose(every, Wishes())
    edge = frontier(every, "core_hours")
    other = edge[1] if len(edge) > 1 else found.second
    return (found.point, other) if other is not None else None


VIEW = View(
    "choose",
    _TITLE,
    "The point to take, its cost, its bottleneck, and how sure that is; the frontier of time against cost.",
    _make,
    (COST, WITHIN, EFFICIENCY),
    group=GROUP,
    order=1,
    needs=(SEVERAL, _NONE),
)
