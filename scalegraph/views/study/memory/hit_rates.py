"""Hit rate of references by cause, over N (latency-metric.txt Table III, Fig. 8)."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze import causes
from scalegraph.analyze.table import numbers
from scalegraph.base.measures import percent
from scalegraph.figures.figure import REFERENCES, Axis, Figure, Plot
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.study.memory import cause_words
from scalegraph.views.view import View

_NEED = needs.counts(
    "Hit rates by cause need simulated runs of one problem on two or more processor counts.",
    needs.series(causes.is_known),
    record=needs.NOT_RECORDED,
)
_TITLE = "Hit rates by cause"


def _make(data: StudyData, size: object = None, level: object = "private") -> Figure:
    series = common.the_series(data, size)
    rates = causes.hit_rates(series.rows, str(level))
    rows = series.rows.assign(**{f"rate.{name}": rates[name] for name in rates.columns})
    words = {"all": ("all references", "ink"), **cause_words.CAUSES}
    lines = tuple(
        common.curve(rows, f"rate.{name}", text, role, unit=REFERENCES, scale=100)
        for name, (text, role) in words.items()
        if np.isfinite(numbers(rates, name)).any()
    )
    parts = [
        f"{text} {percent(float(rates[name].iloc[-1]), 1)}"
        for name, (text, _) in words.items()
        if np.isfinite(float(rates[name].iloc[-1]))
    ]
    where = "the processor's own caches" if level == "private" else "the first cache level"
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"On {series.processors[-1]} processors the share of references that hit in {where} is: {', '.join(parts)}.",
        (Plot(common.processors_axis(series.processors), Axis("hits", REFERENCES), lines),),
        notes=common.run_notes(data),
    )


VIEW = View(
    "hit-rates",
    _TITLE,
    "The share of references that hit, for computation, barriers, locks, atomics and the rest, over N.",
    _make,
    (
        common.SIZE,
        Option(
            "level", "Caches", "choice", "private", ("private", "first"), description="all private levels, or the first"
        ),
    ),
    needs=(_NEED,),
)
