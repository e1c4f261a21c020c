"""Rows of the scalability matrix as curves over N' (isospeed.txt Fig. 7)."""

from __future__ import annotations

import math
from typing import Any

from scalegraph.analyze import wording
from scalegraph.analyze.matrix import Matrix
from scalegraph.base.errors import InputError
from scalegraph.figures.figure import Axis, Figure, Line, Origin, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes("Rows of the matrix need two or more processor counts that meet the bound{why}.", "efficiency")
_TITLE = "Rows of the matrix"


def _make(data: StudyData, processors: int | None = None, **asked: Any) -> Figure | Need:
    made = matrices.asked(data, asked)
    if made is None or not any(n < n2 for n, n2 in made.values):
        why = next(iter(made.reasons.values()), "") if made is not None else ""
        return _NEED.of(why=f": {why}" if why else "")
    (made,), _ = matrices.trimmed([made])
    if processors is not None and processors not in made.processors:
        raise InputError(f"processors: no row N = {processors}; rows are {', '.join(map(str, made.processors))}")
    lines = [_line(made, n, data) for n in made.processors if processors in (None, n)]
    lines = [line for line in lines if sum(value == value for value in line.y) >= 2]
    text = wording.held(made)
    values = [value for line in lines for value in line.y if value == value]
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        text[0].upper() + text[1:] + ".",
        (
            Plot(
                common.processors_axis(made.processors, "processors N'"),
                Axis(matrices.symbol(made), limits=(0.0, max(1.04, max(values, default=1.0) * 1.04))),
                tuple(lines),
            ),
        ),
        notes=(
            "One curve for each N; 1 would be perfect.",
            *made.notes,
            *(common.latency_note(made.metric) or (common.work_note(data),)),
        ),
    )


def _line(made: Matrix, n: int, data: StudyData) -> Line:
    row = made.row(n)
    ways = {made.ways.get((n, n2)) for n2, value in row if value is not None and n2 > n}
    known = [made.intervals.get((n, n2), (value, value)) for n2, value in row]
    ends = [(math.nan if low is None else low, math.nan if high is None else high) for low, high in known]
    banded = any((n, n2) in made.intervals for n2, _ in row)
    origin: Origin = common.origin(data.scaling) if ways <= {"measured"} else "computed"
    if "predicted" in ways:
        origin = "predicted"
    return Line(
        f"N = {n}",
        tuple(float(n2) for n2, _ in row),
        tuple(float("nan") if value is None else value for _, value in row),
        common.count_role(data, n),
        "imported" if ways == {"imported"} else origin,
        tuple(low for low, _ in ends) if banded else (),
        tuple(high for _, high in ends) if banded else (),
        tips=tuple(
            f"from N = {n} to N' = {n2}: "
            + (common.exact(value) if value is not None else made.reasons.get((n, n2), "not known"))
            for n2, value in row
        ),
        processors=tuple(n2 for n2, _ in row),
    )


VIEW = View(
    "matrix-row",
    _TITLE,
    "How scalability falls with N' from each N, as curves.",
    _make,
    (
        matrices.BOUND,
        Option("processors", "Row", "int", description="N of the one row to show; otherwise all", minimum=1),
        *matrices.ASKED,
    ),
    needs=(*needs.RUNS_OR_MATRIX, _NEED),
    without=True,
)
