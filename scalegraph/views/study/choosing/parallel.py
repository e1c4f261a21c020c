"""Parallel coordinates: each point is a line through its machine, N, split, schedule .. to its time and cost."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalegraph.analyze.choosing.point import Point
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.choosing.choice import table
from scalegraph.views.study.choosing.common import AXIS, SEVERAL, axes, points, title, values
from scalegraph.views.view import View

_TITLE = "Parallel coordinates"
_MOST = 300  # lines
_BEST = 5
_NAMED = 24  # values on an axis up to which each is named


def _make(data: StudyData) -> Figure:
    found, notes = points(data)
    ordered = sorted(found, key=lambda one: one.elapsed_s)
    varied = axes(found)
    heights = {name: _heights(values(found, name)) for name in varied}
    labels = (*(AXIS[name][0] for name in varied), "time", "core-hours")
    times, costs = ([one.elapsed_s for one in found], [one.core_hours for one in found])

    def heights_of(one: Point) -> list[float]:
        ys = [heights[name][AXIS[name][1](one)] for name in varied]
        return [*ys, _place(one.elapsed_s, times), _place(one.core_hours, costs)]

    def line(name: str, role: str, some: Sequence[Point], *, thin: bool = False) -> Line:
        """Return *some* points as lines, with gaps between them."""
        gap, every = float("nan"), range(len(labels))
        end = float(len(labels) - 1)
        return Line(
            name,
            tuple(x for _ in some for x in (*map(float, every), end)),
            tuple(y for one in some for y in (*heights_of(one), gap)),
            role,
            common.origin_of(*(one.source for one in found)),
            style="thin" if thin else "solid",
            markers=not thin,
            tips=tuple(
                f"{one.words()}: {one.amount('time')}, {one.amount('core_hours')}" for one in some for _ in (*every, 0)
            ),
            processors=tuple(one.processors for one in some for _ in (*every, 0)),
        )

    groups = (
        line("others", "muted", ordered[_BEST:_MOST], thin=True),
        line(f"next {len(ordered[1:_BEST])}", "series:0", ordered[1:_BEST]),
        line("fastest", "mark", ordered[:1]),
    )
    shown = [one for one in groups if one.x]
    named = "; ".join(f"{AXIS[name][0]} {', '.join(heights[name])}" for name in varied if len(heights[name]) <= _NAMED)
    notes = (f"From below: {named}." if named else "", *notes)
    if len(ordered) > _MOST:
        notes = (*notes, f"The {_MOST} fastest of {len(ordered)} points are shown.")
    best = ordered[0]
    rise = "Time and core-hours are on logarithmic scales, from the points' minimum to maximum."
    across = Axis("", scale="category", categories=labels)
    return Figure(
        title(_TITLE, data, found),
        f"The fastest, {best.words()}, takes {best.amount('time')}; the slowest {ordered[-1].amount('time')}.",
        (Plot(across, Axis("low to high", limits=(-0.05, 1.05), bare=True), tuple(shown)), table(ordered[:_MOST])),
        notes=tuple(filter(None, (rise, *notes))),
    )


def _heights(names: list[str]) -> dict[str, float]:
    return {name: (at / (len(names) - 1) if len(names) > 1 else 0.5) for at, name in enumerate(names)}


def _place(value: float, every: list[float]) -> float:
    """Return the logarithmic position of *value* between minimum and maximum of *every*."""
    low, high = min(every), max(every)
    if low <= 0 or high <= low:
        return 0.5
    return math.log(value / low) / math.log(high / low)


VIEW = View(
    "parallel",
    _TITLE,
    "Every point as a line through machine, N, split, schedule, affinity and flags to its time and core-hours.",
    _make,
    needs=(SEVERAL,),
)
