"""Parallel coordinates: each point is a line through its machine, N, split, schedule .. to its time and cost."""

from __future__ import annotations

import math

from scalegraph.analyze.choosing.point import Point
from scalegraph.figures.figure import Axis, Figure, Line, Mark, Plot
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.choosing.common import AXIS, GROUP, SEVERAL, axes, points, values
from scalegraph.views.view import View

_TITLE = "Parallel coordinates"
_MOST = 300  # lines
_BEST = 5


def _make(data: StudyData) -> Figure:
    found, notes = points(data)
    ordered = sorted(found, key=lambda one: one.elapsed_s)
    varied = axes(found)
    heights = {name: _heights(values(found, name)) for name in varied}
    labels = (*(AXIS[name][0] for name in varied), "time", "core-hours")
    times, costs = ([one.elapsed_s for one in found], [one.core_hours for one in found])

    def line(one: Point, at: int) -> Line:
        ys = [heights[name][AXIS[name][1](one)] for name in varied]
        ys += [_place(one.elapsed_s, times), _place(one.core_hours, costs)]
        name = "the fastest" if at == 0 else f"the {_BEST} fastest" if at < _BEST else "others"
        role = "mark" if at == 0 else "series:0" if at < _BEST else "muted"
        tip = f"{one.words()}: {one.amount('time')}, {one.amount('core_hours')}"
        return Line(
            name, tuple(map(float, range(len(ys)))), tuple(ys), role, style="solid" if at < _BEST else "thin",
            markers=at < _BEST, tips=(tip,) * len(ys), processors=(one.processors,) * len(ys),
        )  # fmt: skip

    shown = [line(one, at) for at, one in enumerate(ordered[:_MOST])][::-1]
    marks = [
        Mark(text, float(at), height)
        for at, name in enumerate(varied)
        for text, height in heights[name].items()
        if len(heights[name]) <= 12
    ]
    if len(ordered) > _MOST:
        notes = (*notes, f"The {_MOST} fastest of {len(ordered)} points are shown.")
    best = ordered[0]
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"The fastest, {best.words()}, takes {best.amount('time')}; the slowest {ordered[-1].amount('time')}.",
        (Plot(Axis("", scale="category", categories=labels), Axis("low to high", limits=(-0.05, 1.05), bare=True),
              tuple(shown), marks=tuple(marks)),),
        notes=("Time and core-hours rise on logarithmic scales, from the least to the most of the points.", *notes),
    )  # fmt: skip


def _heights(names: list[str]) -> dict[str, float]:
    return {name: (at / (len(names) - 1) if len(names) > 1 else 0.5) for at, name in enumerate(names)}


def _place(value: float, every: list[float]) -> float:
    """Return where *value* is between the least and the most of *every*, by their logarithms."""
    low, high = min(every), max(every)
    if low <= 0 or high <= low:
        return 0.5
    return math.log(value / low) / math.log(high / low)


VIEW = View(
    "parallel",
    _TITLE,
    GROUP,
    "Every point as a line through machine, N, split, schedule, affinity and flags to its time and core-hours.",
    _make,
    order=5,
    needs=(SEVERAL,),
)
