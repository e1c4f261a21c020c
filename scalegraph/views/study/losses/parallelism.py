"""Parallelism patterns: the parallel share of time or operations (scale-graph.txt Fig. 12)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from scalegraph.analyze import series as selection
from scalegraph.analyze.table import PARAMETER, numbers
from scalegraph.base.measures import percent
from scalegraph.base.units import plain
from scalegraph.figures.figure import ELAPSED_TIME, OPERATIONS, Axis, Figure, Line, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.sizes(
    "Parallelism patterns need simulated runs of two or more sizes on the same processor count above 1.",
    "efficiency",
    record=needs.NOT_RECORDED,
)
_TITLE = "Parallelism patterns"


@dataclass(frozen=True)
class _Share:
    """A parallel share: its *column* in the run table, unit and name."""

    column: str
    unit: str
    words: str
    note: str


_SHARES: Final = {
    "time": _Share(
        "parallel_share",
        ELAPSED_TIME,
        "elapsed time",
        "Not parallel: time when others wait for serial parts, or before and after the parallel work.",
    ),
    "operations": _Share(
        "parallel_ops_share",
        OPERATIONS,
        "the operations",
        "Not parallel: operations that one processor executes while all others wait.",
    ),
}


def _make(data: StudyData, grow: object = None, of: object = "time") -> Figure | Need:
    share = _SHARES[str(of)]
    lines, label, axis_name, sizes = _lines(data, grow, share)
    if not lines:
        return _NEED
    wide = min(sizes) > 0 and max(sizes) / min(sizes) >= 8
    shares = [value for line in lines for value in line.y if np.isfinite(value)]
    ends = " and ".join(
        f"{percent(line.y[-1] / 100)} with {line.name} (at {axis_name} = {plain(line.x[-1])})"
        for line in dict.fromkeys((lines[0], lines[-1]))
    )
    floor = max(0.0, 10.0 * math.floor(min(shares) / 10.0) - 10.0)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, when {label}",
        f"In the largest problems the parallel share of {share.words} is {ends}.",
        (
            Plot(
                Axis(axis_name, scale="log2" if wide else "linear", ticks=tuple(sizes) if len(sizes) <= 12 else ()),
                Axis("parallel share", share.unit, limits=(floor, 102.0)),
                tuple(lines),
            ),
        ),
        notes=(share.note,),
    )


def _lines(data: StudyData, grow: object, share: _Share) -> tuple[list[Line], str, str, list[float]]:
    """Return one curve per N whose series vary the same parameter, that parameter and its values."""
    if data.scaling.empty:
        return [], "", "", []
    counts = sorted({int(n) for n in data.scaling["processors"] if n > 1})
    found = {n: selection.sequential(data.scaling, n) for n in counts}
    labels = [series.label for n in counts for series in found[n] for _ in range(len(series.rows))]
    if grow:
        wanted = {part.strip() for part in str(grow).split(",")}
        labels = [label for label in labels if set(label.rsplit(" ", 1)[0].split(" and ")) == wanted]
    if not labels:
        return [], "", "", []
    label = max(dict.fromkeys(labels), key=labels.count)
    lines: list[Line] = []
    sizes: set[float] = set()
    axis = ""
    for n in counts:
        series = next((one for one in found[n] if one.label == label), None)
        if series is not None and np.isfinite(numbers(series.rows, share.column)).any():
            axis = series.axis
            role = common.count_role(data, n)
            lines.append(
                common.curve(series.rows, share.column, f"N = {n}", role, unit=share.unit, scale=100.0, x=axis)
            )
            sizes.update(lines[-1].x)
    return lines, label, axis.removeprefix(PARAMETER), sorted(sizes)


VIEW = View(
    "parallelism",
    _TITLE,
    "The parallel share of the elapsed time, or of all operations, for each N as the problem grows.",
    _make,
    (
        Option("grow", "What grows", "text", description="parameter, or several with commas; otherwise the longest"),
        Option("of", "Share of", "choice", "time", tuple(_SHARES), description="elapsed time, or all operations"),
    ),
    needs=(_NEED,),
)
