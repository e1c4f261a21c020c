"""Fixed size beside fixed speed: what speedup and isospeed scalability hold constant (isospeed.txt Fig. 1, 2)."""

from __future__ import annotations

import math

from scalegraph.analyze import bounds
from scalegraph.analyze.bounds import Anchor
from scalegraph.analyze.metrics import speed_unit, work_unit
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import numbers
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.series import chosen_series
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.isospeed import speed as isospeed_speed
from scalegraph.views.view import View

_TITLE = "Fixed size and fixed speed"


def _make(data: StudyData, size: object = None, speed: float | None = None) -> Figure | Need:
    held = None if data.one_program.empty else matrices.held_at(data, "speed", speed)
    series = chosen_series(data, size)
    if held is None or series is None:
        return isospeed_speed.NEED
    target, near = held
    met = [anchor for anchor in bounds.anchors(data.one_program, "speed", target, tolerance=near) if anchor.time_s]
    if len(met) < 2:
        return isospeed_speed.NEED
    unit = work_unit(data.one_program)
    shown = si(target, speed_unit(unit))
    time = Axis("execution time", "s", "log10")
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(series, met, shown),
        (
            Plot(
                common.processors_axis(series.processors),
                time,
                (common.curve(series.rows, "time_s", "size fixed", "time", unit="s"), _ideal(series)),
            ),
            Plot(
                common.processors_axis([anchor.processors for anchor in met]),
                time,
                (_at_speed(met, unit), _level(met)),
            ),
        ),
        notes=(
            f"Left: {series.label or 'one problem'}, speedup = T/T'.",
            f"Right: the problem grows so that each processor keeps {shown}, scalability = T/T'.",
            "A perfect machine follows the thin lines.",
            common.work_note(data),
            *common.run_notes(data),
        ),
    )


def _ideal(series: Series) -> Line:
    count, time = numbers(series.rows, "processors"), numbers(series.rows, "time_s")
    ideal = tuple(float(value) for value in time[0] * count[0] / count)
    return Line("ideal", tuple(float(n) for n in count), ideal, "ideal", "computed", style="thin", markers=False)


def _at_speed(met: list[Anchor], unit: str) -> Line:
    tips = tuple(
        f"N = {anchor.processors}: time {si(anchor.time_s, 's', 4)}, work {si(anchor.work, unit, 4)}"
        f" ({bounds.WAY_WORDS[anchor.way]})"
        for anchor in met
    )
    return Line(
        "speed fixed",
        tuple(float(anchor.processors) for anchor in met),
        tuple(anchor.time_s or math.nan for anchor in met),
        "speedup",
        "computed",
        tips=tips,
        processors=tuple(anchor.processors for anchor in met),
    )


def _level(met: list[Anchor]) -> Line:
    ends = (float(met[0].processors), float(met[-1].processors))
    first = met[0].time_s or math.nan
    return Line("ideal", ends, (first, first), "ideal", "computed", style="thin", markers=False)


def _sentence(series: Series, met: list[Anchor], shown: str) -> str:
    rows = series.rows
    speedup = float(rows["time_s"].iloc[0]) / float(rows["time_s"].iloc[-1])
    low, high = met[0], met[-1]
    psi = high.processors * (low.work or math.nan) / (low.processors * (high.work or math.nan))  # as in the matrix
    first, last = int(rows["processors"].iloc[0]), int(rows["processors"].iloc[-1])
    return (
        f"With the size fixed, N = {first} to {last} is {significant(speedup)} times as fast; with {shown} a processor"
        f" fixed, work from N = {low.processors} to {high.processors} grows"
        f" {significant(high.processors / (low.processors * psi))} times: scalability {significant(psi)}."
    )


VIEW = View(
    "size-and-speed",
    _TITLE,
    "What speedup and scalability hold constant: times over N at one size, and at one average speed.",
    _make,
    (common.SIZE, matrices.SPEED),
    needs=(isospeed_speed.NEED,),
)
