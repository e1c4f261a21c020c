"""Time over N for a fixed-size problem, with p_x marked (scale-graph.txt Fig. 9)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from scalegraph.analyze import wording
from scalegraph.analyze.fixed import turning_point
from scalegraph.analyze.table import numbers
from scalegraph.figures.figure import Axis, Figure, Line, Mark, Plot
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.whatif.what_if import OVERLAY, overlays
from scalegraph.views.view import View

_TITLE = "Execution time"
_NEED = needs.counts("Time over N needs one problem on two or more processor counts.", needs.series())


def _make(data: StudyData, size: object = None, scale: object = "log", what_if: object = False) -> Figure:
    series = common.the_series(data, size)
    rows = series.rows
    measured = common.curve(rows, "time_s", "elapsed time", "time", unit="s", low="time_min_s", high="time_max_s")
    lines = [measured]
    t_seq = numbers(rows, "t_seq_s")
    if np.isfinite(t_seq).any():
        ideal = tuple(float(value) for value in t_seq / numbers(rows, "processors"))
        lines.append(Line("ideal", measured.x, ideal, "ideal", "computed", style="thin", markers=False))
    if what_if:
        lines.extend(overlays(data, str(rows["keys"].iloc[0]), "time"))
    marks = []
    point = turning_point(rows)
    if point is not None:
        marks.append(Mark(wording.turning(point), x=float(point.processors), y=point.time_s))
    y = Axis("time", "s", scale="log10" if scale == "log" else "linear")
    if scale != "log":
        y = replace(y, limits=(0.0, float(np.nanmax(numbers(rows, "time_max_s"))) * 1.06))
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"{series.label or 'This problem'} is {wording.fixed_size(series)}.",
        (Plot(common.processors_axis(series.processors), y, tuple(lines), marks=tuple(marks)),),
        notes=(*common.note_missing_one(rows), *common.run_notes(data)),
        ways=common.ways_to_one(data, rows),
    )


VIEW = View(
    "time",
    _TITLE,
    "Elapsed time over the number of processors for one problem size, and the ideal; the fastest is marked.",
    _make,
    (
        common.SIZE,
        Option("scale", "Time axis", "choice", "log", ("log", "linear"), description="scale of the time axis"),
        OVERLAY,
    ),
    needs=(_NEED,),
)
