"""Predicted times beside run times, with intervals, and the composition of the predicted time."""

from __future__ import annotations

from collections.abc import Sequence

from scalegraph.figures.figure import Axis, Column, Figure, Plot, Row, Table
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.study.prediction.points import (
    NEED,
    OVER,
    Point,
    Sizes,
    axis,
    lines_of,
    over_size,
    points_of,
    runs_of,
    sentence,
    sizes_of,
    tip,
)
from scalegraph.views.view import View

_TITLE = "Predicted and run times"


def _make(data: StudyData, over: str = "automatic") -> Figure:
    points = points_of(data)
    runs = runs_of(data, points)
    sizes = sizes_of(points, runs)
    by_size = over_size(points, sizes, over)
    lines = lines_of(data, points, runs, sizes, by_size=by_size)
    plot = Plot(axis(lines, sizes, by_size=by_size), Axis("time", "s", scale="log10"), lines)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence(points, data, sizes),
        (plot, _table(points, sizes)),
        notes=(*_refusals(points, sizes), *common.run_notes(data)),
        ways=(ways.PREDICT,) if ways.can_run(data) else (),
    )


def _refusals(points: Sequence[Point], sizes: Sizes) -> tuple[str, ...]:
    refused: dict[str, list[str]] = {}
    for point in points:
        if point.kept.refused:
            where = f"N = {point.kept.processors}, {sizes.text(point.size)}"
            refused.setdefault(point.kept.refused, []).append(where)
    return tuple(f"Not predicted ({'; '.join(where)}): {why}." for why, where in refused.items())


def _table(points: Sequence[Point], sizes: Sizes) -> Table:
    columns = (
        Column("N"),
        *(Column(name) for name in sizes.names),
        Column("predicted", "s"),
        Column("run", "s"),
        Column("error", "% of run"),
        Column("from", "s"),
        Column("to", "s"),
        Column("prediction ratio"),
        Column("ratio of host times"),
        Column("efficiency"),
        Column("largest part"),
        Column("its share", "% of predicted time"),
    )
    order = sorted(
        points, key=lambda point: (point.kept.processors, *(point.size.get(name, 0) for name in sizes.names))
    )
    return Table(columns, tuple(_row(point, sizes) for point in order))


def _row(point: Point, sizes: Sizes) -> Row:
    kept = point.kept
    part, share = None, None
    if kept.parts and kept.time_s:
        part, share = kept.parts[0][0], 100 * kept.parts[0][1] / kept.time_s
    efficiency = kept.one_s / (kept.processors * kept.time_s) if kept.one_s and kept.time_s else None
    error = None if point.error is None else 100 * point.error
    values = (
        kept.processors,
        *(point.size.get(name) for name in sizes.names),
        kept.time_s,
        point.actual_s,
        error,
        kept.low_s,
        kept.high_s,
        point.ratio,
        point.host_ratio,
        efficiency,
        part,
        share,
    )
    return Row(values, key=kept.key, tip=kept.refused or tip(point, sizes))


VIEW = View(
    "predicted",
    _TITLE,
    "Times predicted from small runs, with intervals, beside times of runs; and their largest part.",
    _make,
    (OVER,),
    needs=(NEED,),
)
