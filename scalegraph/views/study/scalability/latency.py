"""Average latency L(W, N) over N by accounting and by method 1, with L_max (scale-graph.txt Fig. 10)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scalegraph.analyze import wording
from scalegraph.analyze.fixed import turning_point
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import numbers
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Figure, Mark, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.view import View

_NEED = Need(
    "Latency compares a run with the one-processor run of the same problem.",
    ways.ADD_COUNTS,
    record="Measure it on one processor and on more, and import all of it together.",
    met=needs.series(needs.known("latency_method1_s")),
)
_TITLE = "Average latency"


def _make(data: StudyData, size: object = None, per: object = "run") -> Figure:
    series = common.the_series(data, size)
    if per == "time":
        return _in_a_unit_of_time(data, series)
    rows = series.rows
    lines = []
    if np.isfinite(numbers(rows, "latency_s")).any():
        lines.append(common.curve(rows, "latency_s", "by accounting", "latency", unit="s"))
    # thin, as it mostly covers the other curve
    simple = common.curve(rows, "latency_method1_s", "from times alone", "series:5", unit="s")
    lines.append(replace(simple, style="thin"))
    point = turning_point(rows)
    marks: list[Mark] = []
    sentence = f"{series.label or 'This problem'}: too few processor counts to say where it is fastest."
    if point is not None:
        name = "latency where fastest" if point.reached else "latency on the most processors"
        marks.append(Mark(f"{name}: {si(point.latency_s, 's')}", y=point.latency_s))
        marks.append(Mark(f"fastest: {point.processors}", x=float(point.processors), y=point.latency_s))
        sentence = (
            f"On {wording.span((point.processors,))}, where {series.label or 'the problem'} is fastest, every processor"
            f" loses {si(point.latency_s, 's')} of {si(point.time_s, 's')} to latency."
        )
        if not point.reached:
            sentence += " More processors might still be faster, so this is not the latency at its best."
    difference = numbers(rows, "latency_difference_s") / numbers(rows, "time_s")
    notes = [*common.latency_note(), *common.run_notes(data)]
    if np.isfinite(difference).any():
        worst = float(np.nanmax(np.abs(difference)))
        apart = "agree to one part in a million"
        if worst >= 1e-6:
            apart = f"differ by at most {significant(100 * worst, 2)} %"
        notes.insert(
            0,
            f"The two ways {apart} of the elapsed time; the difference is the extra busy time of parallel code,"
            " minus the one-processor run's own idle time and primitives.",
        )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (
            Plot(
                common.processors_axis(series.processors),
                Axis("latency of a processor", "s"),
                tuple(lines),
                marks=tuple(marks),
            ),
        ),
        notes=tuple(notes),
    )


def _in_a_unit_of_time(data: StudyData, series: Series) -> Figure:
    """Return the average latency divided by T_para: the share of time that a processor loses."""
    rows = series.rows.assign(
        latency_rate=numbers(series.rows, "latency_method1_s") / numbers(series.rows, "time_s"),
        latency_rate_low=1 - numbers(series.rows, "efficiency_high"),
        latency_rate_high=1 - numbers(series.rows, "efficiency_low"),
    )
    known = rows[np.isfinite(numbers(rows, "latency_rate"))]
    several = known[known["processors"] > 1]
    first, last = (known if several.empty else several).iloc[0], known.iloc[-1]
    sentence = (
        f"{series.label or 'This problem'}: each processor loses {si(float(last['latency_rate']), 's')} of a second on "
        f"{int(last['processors'])} processors, {si(float(first['latency_rate']), 's')} on {int(first['processors'])}."
    )
    line = common.curve(rows, "latency_rate", "share lost", "latency", unit="s/s")
    return Figure(
        f"{_TITLE} in a unit of time: {common.study_title(data)}",
        sentence,
        (Plot(common.processors_axis(series.processors), Axis("latency of a processor", "s/s"), (line,)),),
        notes=(
            "From times alone, the share lost is one minus the efficiency.",
            *common.latency_note(),
            *common.run_notes(data),
        ),
    )


PER = Option(
    "per",
    "Latency",
    "choice",
    "run",
    ("run", "time"),
    description="of the whole run, or in a unit of time",
)
VIEW = View(
    "latency",
    _TITLE,
    "Average time lost per processor, by accounting and from times alone; the latency where the"
    " program is fastest is marked.",
    _make,
    (common.SIZE, PER),
    needs=(_NEED,),
)
