"""Errors of predictions that were also run, and the time that predicting saves (4.8), (4.9)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Figure, Mark, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.study.prediction.points import (
    MOST_LINES,
    NEED,
    OVER,
    Point,
    actual,
    axis,
    line_of,
    over_size,
    points_of,
    runs_of,
    sentence,
    sizes_of,
)
from scalegraph.views.view import View

_ERRORS = "Errors of predictions"
_TEN: Final = 10.0
_RUN_TOO = Need(
    "None of the predicted points has been run, so the errors are not known.",
    ways.PREDICT,
    "Run the predicted sizes as well.",
    met=lambda data, **_: any(actual(data, point) for point in data.predictions.points),
)


def _make_errors(data: StudyData, over: str = "automatic") -> Figure:
    points = [point for point in points_of(data) if point.error is not None]
    sizes = sizes_of(points_of(data), runs_of(data, points))
    by_size = over_size(points, sizes, over)
    groups: dict[str, list[Point]] = {}
    for point in points:
        groups.setdefault(f"N = {point.kept.processors}" if by_size else sizes.text(point.size), []).append(point)
    errors, ratios = [], []
    for index, (name, own) in enumerate(list(groups.items())[:MOST_LINES]):
        role = common.count_role(data, own[0].kept.processors) if by_size else f"series:{index}"
        line = line_of(own, name, role, sizes, by_size=by_size)
        ordered = sorted(own, key=lambda point: point.size.get(sizes.shown, 0) if by_size else point.kept.processors)
        actual = [point.actual_s or 1.0 for point in ordered]
        ends = [
            tuple(100 * (end / truth - 1) for end, truth in zip(own_ends, actual, strict=True))
            for own_ends in (line.low, line.high)
        ]
        signed = tuple(100 * ((point.kept.time_s or 0.0) / (point.actual_s or 1.0) - 1) for point in ordered)
        errors.append(replace(line, y=signed, low=ends[0], high=ends[1]))
        gained = tuple(point.ratio if point.ratio is not None else float("nan") for point in ordered)
        tips = tuple(
            f"prediction ratio: {significant(value)}{_host(point)}\n{tip}"
            for value, point, tip in zip(gained, ordered, line.tips, strict=True)
        )
        ratios.append(replace(line, y=gained, low=(), high=(), band=False, tips=tips))
    x = axis(errors, sizes, by_size=by_size)
    least = min((value for line in ratios for value in line.y if value == value), default=1.0)
    return Figure(
        f"{_ERRORS}: {common.study_title(data)}",
        sentence(points, data, sizes),
        (
            Plot(x, Axis("predicted minus run", "% of the time run"), tuple(errors), marks=(Mark("run", y=0.0),)),
            Plot(
                x,
                Axis("prediction ratio", scale="log10"),
                tuple(ratios),
                marks=(Mark("no gain", y=1.0),) if least < _TEN else (),
            ),
        ),
        notes=(
            "The band is the interval of each prediction; the run lies within it where the band contains 0.",
            "The prediction ratio is the time of the run divided by that of the samples and of the estimate.",
            "It is drawn for simulated time; the tooltips also have it for time on this computer.",
            *common.run_notes(data),
        ),
    )


def _host(point: Point) -> str:
    return "" if point.host_ratio is None else f", of host times {significant(point.host_ratio)}"


VIEW = View(
    "prediction-errors",
    _ERRORS,
    "The errors of predicted times, and how much time predicting saves (prediction ratio).",
    _make_errors,
    (OVER,),
    needs=(NEED, _RUN_TOO),
)
