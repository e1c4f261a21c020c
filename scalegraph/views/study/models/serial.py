"""The serial fraction at every N (Karp and Flatt), and its trend."""

from __future__ import annotations

import math

import numpy as np

from scalegraph.analyze.fits import karp_flatt
from scalegraph.base.measures import exact
from scalegraph.base.units import plain, significant
from scalegraph.figures.figure import Axis, Figure, Line, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import fitted_models
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.study.models import modelling
from scalegraph.views.view import View

_NEED = Need(
    "The serial fraction needs times of one problem on one processor and on more.",
    ways.ADD_COUNTS,
    record="Measure it on one processor and on more, and import all of it together.",
)
_TITLE = "Serial fraction"


def _make(data: StudyData, size: object = None) -> Figure | Need:
    timed = fitted_models.times(data, size, "strong")
    found = None if timed is None else karp_flatt(timed.processors, timed.times)
    if timed is None or found is None:
        return _NEED
    parts = found.fractions
    x = tuple(part.processors for part in parts)
    known = all(math.isfinite(part.low) and math.isfinite(part.high) for part in parts)
    tips = tuple(
        f"e = {exact(part.value)} at N = {plain(part.processors)}"
        + (f" ({modelling.interval(part.low, part.high)})" if known else "")
        for part in parts
    )
    line = Line(
        "serial fraction e",
        x,
        tuple(part.value for part in parts),
        "idle",
        "computed",
        tuple(part.low for part in parts) if known else (),
        tuple(part.high for part in parts) if known else (),
        style="solid",
        tips=tips,
        processors=tuple(int(n) for n in x),
    )
    ends = [part.value for part in parts] + [
        end for part in parts for end in (part.low, part.high) if math.isfinite(end)
    ]
    top, bottom = max(*ends, 0.0), min(*ends, 0.0)
    room = 0.06 * (top - bottom or 1.0)
    notes = ["e = (1/S - 1/N)/(1 - 1/N) with S = T(1)/T(N) (Karp and Flatt 1990)."]
    if np.isfinite(found.slope):
        notes.append(
            f"For each doubling of N it changes by {significant(found.slope, 2)}"
            f" ({modelling.interval(found.slope_low, found.slope_high, 2)})."
        )
    if not known:
        notes.append("Without repetitions the interval of each fraction is not known.")
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        found.sentence,
        (
            Plot(
                common.processors_axis([int(n) for n in x]),
                Axis("serial fraction e", limits=(bottom - room if bottom < 0 else 0.0, top + room)),
                (line,),
            ),
        ),
        notes=tuple(notes),
    )


VIEW = View(
    "serial-fraction",
    _TITLE,
    "The apparent serial share at each N (Karp-Flatt): constant for serial code, rising with overhead.",
    _make,
    (common.SIZE,),
    needs=(*modelling.TIMES, _NEED),
    without=True,
)
