"""The one-processor program as it grows: utilisation, access rate, miss rate (scale-graph.txt Figs. 6-8)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scalegraph.analyze import series as selection
from scalegraph.analyze import wording
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import PARAMETER, numbers
from scalegraph.base.errors import InputError, near
from scalegraph.base.measures import percent
from scalegraph.base.units import plain
from scalegraph.figures.figure import PROCESSOR_TIME, REFERENCES, Axis, Figure, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_SIZES = needs.sizes(
    "Patterns of the sequential program need runs on {processors} with two or more sizes.", "efficiency"
)
_TIMES = needs.simulated("The runs have no accounting of processor time; simulated runs have it.")
_TITLE = "Sequential patterns"
_RATES = (
    ("cpu_utilisation", "CPU utilisation", "busy", PROCESSOR_TIME),
    ("memory_access_rate", "memory access", "memory_stall", PROCESSOR_TIME),
    ("miss_rate", "miss rate", "miss", REFERENCES),
)


def _make(data: StudyData, grow: object = None, processors: int = 1) -> Figure | Need:
    found = selection.sequential(data.scaling, processors) if not data.scaling.empty else []
    if not found:
        return _SIZES.of(processors=wording.span((processors,)))
    series = _chosen(found, grow)
    name = series.axis.removeprefix(PARAMETER)
    sizes = tuple(float(value) for value in numbers(series.rows, series.axis))
    wide = len(sizes) > 1 and min(sizes) > 0 and max(sizes) / min(sizes) >= 8
    axis = Axis(name, scale="log2" if wide else "linear", ticks=sizes if len(sizes) <= 12 else ())
    panels = []
    for column, words, role, base in _RATES:
        if np.isfinite(numbers(series.rows, column)).any():
            lines = [common.curve(series.rows, column, words, role, unit=base, scale=100.0, x=series.axis)]
            if column == "miss_rate" and np.isfinite(numbers(series.rows, "l1_miss_rate")).any():
                first_level = common.curve(
                    series.rows, "l1_miss_rate", "first level", "series:3", unit=base, scale=100.0, x=series.axis
                )
                lines = [replace(lines[0], name="private caches"), first_level]
            top = max(float(np.nanmax(line.y)) for line in lines) * 1.15
            limits = (0.0, min(102.0, top) if top > 0 else 1.0)
            panels.append(Plot(axis, Axis(words, base, limits=limits), tuple(lines)))
    if not panels:
        return _TIMES
    first, last = series.rows.iloc[0], series.rows.iloc[-1]
    span = f"From {first['label']} to {last['label']}"
    if series.label == f"{name} grows":
        span = f"From {name} = {plain(sizes[0])} to {plain(sizes[-1])}"
    missed, which = _miss_rate(series)
    others = [other.label for other in found if other is not series]
    return Figure(
        f"{_TITLE}: {common.study_title(data)}, when {series.label}",
        f"{span} on {wording.span((processors,))} CPU utilisation goes from {percent(float(first['cpu_utilisation']))}"
        f" to {percent(float(last['cpu_utilisation']))} of processor time, {which} from"
        f" {percent(float(first[missed]))} to {percent(float(last[missed]))} of references.",
        tuple(panels),
        notes=(f"Also in this study: {'; '.join(dict.fromkeys(others))}.",) if others else (),
    )


def _miss_rate(series: Series) -> tuple[str, str]:
    """Return column and name of the informative miss rate: the first level's, if all data fits into the caches."""
    if (numbers(series.rows, "miss_rate") > 0).any() or not (numbers(series.rows, "l1_miss_rate") > 0).any():
        return "miss_rate", "the miss rate"
    return "l1_miss_rate", "the first level's miss rate"


def _chosen(found: list[Series], grow: object) -> Series:
    if not grow:
        return found[0]
    wanted = {part.strip() for part in str(grow).split(",")}
    for series in found:
        words = series.label.removesuffix(" grows").removesuffix(" grow")
        if set(words.split(" and ")) == wanted:
            return series
    known = sorted({series.label.split(" ")[0] for series in found})
    raise InputError(f"grow: no series in which {grow} grows{near(str(grow), known)}; known: {', '.join(known)}")


VIEW = View(
    "sequential",
    _TITLE,
    "CPU utilisation, memory access rate and miss rate of the one-processor run as the problem grows.",
    _make,
    (
        Option("grow", "What grows", "text", description="parameter, or several with commas; otherwise the longest"),
        Option("processors", "Processors", "int", 1, description="N of the runs", minimum=1),
    ),
    needs=(_SIZES, _TIMES),
)
