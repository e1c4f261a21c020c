"""Average unit speed over execution time, one curve per N, with the speed held constant (isospeed.txt Fig. 4)."""

from __future__ import annotations

import math

import pandas as pd

from scalegraph.analyze import bounds, isospeed
from scalegraph.analyze.bounds import Anchor
from scalegraph.analyze.isospeed import AsymptoticSpeed
from scalegraph.analyze.metrics import speed_unit, work_unit
from scalegraph.analyze.table import numbers
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Column, Figure, Line, Mark, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_TITLE = "Unit speed over time"
NEED = needs.sizes(
    "Unit speeds need runs of several sizes on two or more processor counts, with the operations of each size known"
    " (of the one-processor run, or imported).",
    "efficiency",
)


def _make(data: StudyData, speed: float | None = None) -> Figure | Need:
    scaling = data.one_program
    counts = sorted({int(n) for n in scaling["processors"]}) if not scaling.empty else []
    curves = {n: rows for n in counts if len(rows := isospeed.curve(scaling, n)) > 0}
    held = matrices.held_at(data, "speed", speed)
    several = {n: rows for n, rows in curves.items() if len(rows) > 1}
    curves = several if len(several) > 1 else curves
    if len(curves) < 2 or held is None:
        return NEED
    target, near = held
    base = work_unit(scaling)
    unit = speed_unit(base)
    met = bounds.anchors(scaling, "speed", target, processors=list(curves), tolerance=near)
    limits = [limit for limit in isospeed.asymptotes(scaling) if limit.processors in curves]
    lines = [_line(n, rows, common.count_role(data, n), (unit, base)) for n, rows in curves.items()]
    values = [value for line in lines for value in line.y]
    crossings = [anchor for anchor in met if anchor.known and anchor.time_s]
    marks = tuple(Mark("", x=anchor.time_s, y=target) for anchor in crossings)
    handle = matrices.speed_handle(target, unit, (min(values), max(values)), "y")
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        _sentence(crossings, target, unit),
        (
            Plot(
                Axis("execution time", "s", "log10"),
                Axis("unit speed W/(N T)", unit, limits=(0.0, max(*values, target) * 1.06)),
                tuple(lines),
                marks=marks,
                handles=(handle,),
            ),
            _table(met, limits, unit, base),
        ),
        notes=(*_asymptote(limits, unit), common.work_note(data), *common.run_notes(data)),
    )


def _line(n: int, rows: pd.DataFrame, role: str, units: tuple[str, str]) -> Line:
    unit, base = units
    speed, time, work = numbers(rows, "unit_speed"), numbers(rows, "time_s"), numbers(rows, "work")
    tips = tuple(
        f"N = {n}, {label}: {si(s, unit, 4)}\nT = {si(t, 's', 4)}, work {si(w, base, 4)}"
        for s, t, w, label in zip(speed, time, work, rows["label"], strict=True)
    )
    return Line(
        f"N = {n}",
        tuple(time.tolist()),
        tuple(speed.tolist()),
        role,
        common.origin(rows),
        tips=tips,
        processors=(n,) * len(rows),
    )


def _sentence(met: list[Anchor], target: float, unit: str) -> str:
    held = f"At {si(target, unit)} a processor"
    if len(met) < 2:
        return f"{held} no two processor counts can be compared: drag the line to another speed."
    first, last = met[0], met[-1]
    psi = (first.time_s or math.nan) / (last.time_s or math.nan)
    return (
        f"{held} the time goes from {common.seconds(first.time_s or math.nan)} on {first.processors} to"
        f" {common.seconds(last.time_s or math.nan)} on {last.processors}: scalability {significant(psi)}, the"
        " ratio of the times."
    )


def _table(met: list[Anchor], limits: list[AsymptoticSpeed], unit: str, base: str) -> Table:
    far = {limit.processors: limit for limit in limits}
    first = next((anchor.time_s for anchor in met if anchor.known), None)
    rows = []
    for anchor in met:
        limit = far.get(anchor.processors)
        psi = first / anchor.time_s if first and anchor.time_s else None
        shown = (limit.speed, limit.low, limit.high) if limit else (None, None, None)
        values = [value if value is not None and math.isfinite(value) else None for value in shown]
        rows.append(
            Row(
                (anchor.processors, anchor.time_s, anchor.work, psi, anchor.way or "–", *values),
                key=str(anchor.processors),
                tip=anchor.reason or (limit.doubt if limit else ""),
            )
        )
    columns = (
        Column("N"),
        Column("T at the speed", "s"),
        Column("W", base),
        Column("scalability from the first N", bar_role="efficiency"),
        Column("way"),
        Column("asymptote r_inf", unit),
        Column("least (95 %)", unit),
        Column("most", unit),
    )
    return Table(columns, tuple(rows))


def _asymptote(limits: list[AsymptoticSpeed], unit: str) -> tuple[str, ...]:
    notes = []
    for limit in limits[:1]:
        span = f" ({si(limit.low, unit)} to {si(limit.high, unit)} at 95 %)"
        words = f"On N = {limit.processors} the speed tends to {si(limit.speed, unit)}{span}"
        fitted = "by a fit of time = (work + a constant)/speed"
        notes.append(f"{words}, {fitted}; half of it is the usual speed to hold constant.")
    notes.extend(f"N = {limit.processors}: {limit.doubt}." for limit in limits if limit.doubt)
    return tuple(notes[:4])


VIEW = View(
    "isospeed-speed",
    _TITLE,
    "Average unit speed over the execution time as the problem grows; the line is the speed held constant.",
    _make,
    (matrices.SPEED,),
    needs=(NEED,),
)
