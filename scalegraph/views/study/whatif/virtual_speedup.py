"""Virtual speedups: the program's gain if a line, region, lock or variable were faster."""

from __future__ import annotations

import math
from pathlib import PurePath

from scalegraph.analyze import whatif
from scalegraph.analyze.whatif import Curve
from scalegraph.base.errors import InputError
from scalegraph.base.units import assigned, significant
from scalegraph.figures.figure import ELAPSED_TIME, Axis, Column, Figure, Line, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.view import View

_TITLE = "Virtual speedups"
_NEED = Need(
    "No virtual speedup has been run yet.",
    ways.FASTER_LINES,
    'Run with the hottest lines faster, or choose "What if this were faster" of a line or a region.',
    "Virtual speedups need a program that ScaleGraph can run.",
)
_FACTORS = (1.0, 1.25, 1.5, 2.0, 4.0, math.inf)


def _make(data: StudyData, processors: int | None = None, most: int = 7) -> Figure | Need:
    curves = whatif.curves(whatif.compared(data.runs, data.variants))
    if not curves:
        return _NEED
    counts = sorted({curve.processors for curve in curves})
    count = counts[-1] if processors is None else processors
    if count not in counts:
        raise InputError(f"processors: no virtual speedup on {count}; run were {', '.join(map(str, counts))}")
    here = [curve for curve in curves if curve.processors == count]
    best, name = here[0], _names(here)[0]
    times, factor = best.times_s[-1], best.factors[-1]
    actual = best.times_s[best.factors.index(1)]
    text = (
        f"On {count} processor{'s' if count > 1 else ''} {name} gains most: {_words(factor)} it would make the"
        f" program take {significant(100 * (1 - times / actual), 2)} % less time ({common.seconds(actual)} to"
        f" {common.seconds(times)})."
    )
    if times >= actual:
        text = f"On {count} processors nothing tried makes the program faster."
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, N = {count}",
        text,
        (_plot(here[:most], _names(here)[:most]), _table(data, here)),
        notes=(
            "A factor of 2 removes 50 % of the code's computing and memory stalls, an infinite factor all of it.",
            "Every point is a run of its own, so the effects on other processors are included.",
        ),
    )


def _words(factor: float) -> str:
    return "costing nothing" if math.isinf(factor) else f"{significant(factor)} times as fast"


def _away(factor: float) -> float:
    """Return the percentage of the cost that a factor removes."""
    return 100.0 if math.isinf(factor) else 100 * (1 - 1 / factor)


def _names(curves: list[Curve]) -> list[str]:
    """Return the curves' names: the target and, if several sizes were run, its size."""
    sizes = [dict(curve.size) for curve in curves]
    apart = [key for key in sizes[0] if len({size.get(key) for size in sizes}) > 1]
    return [
        ", ".join([curve.words, *(assigned([(key, size[key])]) for key in apart if key in size)])
        for curve, size in zip(curves, sizes, strict=True)
    ]


def _plot(curves: list[Curve], names: list[str]) -> Plot:
    lines = []
    for index, (curve, name) in enumerate(zip(curves, names, strict=True)):
        tips = tuple(
            f"{name}, {_words(factor)}\nelapsed time: {common.exact(time, 's')}"
            for factor, time in zip(curve.factors, curve.times_s, strict=True)
        )
        x = tuple(_away(factor) for factor in curve.factors)
        lines.append(Line(name, x, curve.times_s, f"series:{index}", "simulated", tips=tips))
    lowest = min(_away(factor) for curve in curves for factor in curve.factors)
    x_axis = Axis("cost of the code removed", "%", limits=(min(0.0, lowest), 100.0))
    return Plot(x_axis, Axis("elapsed time", "s"), tuple(lines))


def _text(data: StudyData, target: str) -> str:
    """Return the source text of a target line, which may be named by part of its path."""
    place, _, number = target.removeprefix("line:").rpartition(":")
    for source in data.sources:
        parts, wanted = PurePath(source.file).parts, PurePath(place).parts
        lines = source.text.splitlines()
        if target.startswith("line:") and parts[-len(wanted) :] == wanted and number.isdigit():
            return lines[int(number) - 1].strip() if 0 < int(number) <= len(lines) else ""
    return ""


def _table(data: StudyData, curves: list[Curve]) -> Table:
    regular = [factor for factor in _FACTORS[1:] if any(factor in curve.factors for curve in curves)]
    columns = (
        Column("faster code"),
        Column("gain at most", ELAPSED_TIME, "time"),
        *(Column(f"T x {'inf' if math.isinf(f) else significant(f)}", "s") for f in regular),
        Column("text"),
    )
    rows = []
    for curve, name in zip(curves, _names(curves), strict=True):
        at = dict(zip(curve.factors, curve.times_s, strict=True))
        rows.append(
            Row(
                (
                    name,
                    100 * (1 - min(curve.times_s) / at[1.0]),
                    *(at.get(factor) for factor in regular),
                    _text(data, curve.target),
                ),
                key=curve.target.removeprefix("line:") if curve.target.startswith("line:") else curve.keys[-1],
                tip=curve.target,
            )
        )
    return Table(columns, tuple(rows))


VIEW = View(
    "virtual-speedup",
    _TITLE,
    "How fast the whole program would be if one line, region, lock or variable were faster.",
    _make,
    (
        common.PROCESSORS,
        Option("most", "Curves", "int", 7, description="how many curves", minimum=1, maximum=20),
    ),
    needs=(_NEED,),
)
