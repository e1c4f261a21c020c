"""Speedup and efficiency over N for a fixed-size problem (latency-metric.txt 2.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from scalegraph.analyze import reference, wording
from scalegraph.analyze.fixed import turning_point
from scalegraph.analyze.table import numbers
from scalegraph.base.units import significant
from scalegraph.figures.figure import Axis, Figure, Line, Mark, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import matrices
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs, ways
from scalegraph.views.study.whatif.what_if import OVERLAY, overlays
from scalegraph.views.view import View

_NEED = Need(
    "Speedup needs one problem on two or more processor counts, best with one processor among them.",
    ways.ADD_COUNTS,
    record="Measure it on several, and import all of it together.",
    met=needs.series(needs.known("speedup")),
)
_TITLE = "Speedup and efficiency"


def _make(data: StudyData, size: object = None, what_if: object = False, efficiency: float | None = None) -> Figure:
    series = common.the_series(data, size)
    rows = series.rows
    axis = common.processors_axis(series.processors)
    speedup = common.curve(rows, "speedup", "speedup", "speedup")
    used = common.curve(rows, "efficiency", "efficiency", "efficiency")
    held = matrices.held_at(data, "efficiency", efficiency)
    handles = (matrices.efficiency_handle(held[0], "y"),) if held is not None else ()
    counts = tuple(float(n) for n in series.processors)
    ideal = Line("ideal", counts, counts, "ideal", "computed", style="thin", markers=False)
    one = Line("ideal", counts, (1.0,) * len(counts), "ideal", "computed", style="thin", markers=False)
    key = str(rows["keys"].iloc[0])
    more = [overlays(data, key, quantity) if what_if else () for quantity in ("speedup", "efficiency")]
    point = turning_point(rows)
    marks: tuple[Mark, ...] = ()
    sentence = f"{series.label or 'This problem'}: too few runs for a verdict."
    if point is not None:
        marks = (Mark(f"fastest: {point.processors}", x=float(point.processors), y=point.speedup),)
        sentence = (
            f"{series.label or 'This problem'} is at best {significant(point.speedup)} times as fast as {_than(rows)},"
            f" on {wording.span((point.processors,))} at efficiency {significant(point.efficiency)}."
        )
    top = max(1.0, float(np.nanmax([numbers(rows, "efficiency"), numbers(rows, "efficiency_high")]))) * 1.04
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (
            Plot(axis, Axis("speedup", scale="log2"), (speedup, ideal, *more[0]), marks=marks),
            Plot(axis, Axis("efficiency", limits=(0.0, top)), (used, one, *more[1]), handles=handles),
        ),
        notes=common.run_notes(data),
    )


def _than(rows: pd.DataFrame) -> str:
    """Return the reference of the speedup of *rows*, for the sentence."""
    words = reference.fast_as(rows)
    return words.replace("one", "on one processor", 1) if words.startswith("one") else words


VIEW = View(
    "speedup",
    _TITLE,
    "How many times faster than one processor, and what share of the processors' time that uses.",
    _make,
    (common.SIZE, OVERLAY, matrices.EFFICIENCY),
    needs=(_NEED,),
)
