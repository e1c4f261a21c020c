"""Overhead patterns: the average loss per processor, by cause (scale-graph.txt Fig. 11)."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.fixed import what_grows
from scalegraph.analyze.metrics import CAUSES, STALL_CAUSE, overheads
from scalegraph.analyze.table import numbers
from scalegraph.base.units import si, significant
from scalegraph.figures.figure import Axis, Figure, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_NEED = needs.counts(
    "Overheads need runs with an accounting by cause (simulated ones have it) of one problem on one processor and on"
    " more."
)
_TITLE = "Overhead patterns"


def _make(data: StudyData, size: object = None) -> Figure | Need:
    series = series_.chosen_series(data, size)
    costs = None if series is None else overheads(series.rows)
    if series is None or costs is None or not np.isfinite(numbers(costs, "average_s")).any():
        return _NEED
    rows = costs.assign(**{name: series.rows[name] for name in ("label", "source", "keys", "repetitions")})
    lines = []
    for column, words, role in [*((c[0], c[1], c[3]) for c in CAUSES), STALL_CAUSE]:
        values = numbers(rows, column)
        if np.nanmax(np.abs(values), initial=0.0) > 0:
            lines.append(common.curve(rows, column, words, role, unit="s"))
    lines.append(common.curve(rows, "average_s", "all: average latency L", "latency", unit="s"))
    first, last = series.processors[0], series.processors[-1]
    growth = what_grows(series.rows, first, last)
    sentence = f"{series.label or 'This problem'}: no cause of latency grows from {first} to {last} processors."
    if growth and growth[0].growth_s > 0:
        whole = sum(entry.growth_s for entry in growth if entry.growth_s > 0)
        sentence = (
            f"From {first} to {last} processors {growth[0].words} grows most, to {si(growth[0].after_s, 's')} for every"
            f" processor: {significant(100 * growth[0].growth_s / whole, 2)} % of the growth."
        )
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        sentence,
        (
            Plot(
                common.processors_axis(series.processors),
                Axis("overhead of a processor", "s"),
                tuple(lines),
            ),
        ),
        notes=(
            *((f"Problem: {series.label}.",) if series.label else ()),
            *common.latency_note(),
            *common.run_notes(data),
        ),
    )


VIEW = View(
    "overheads",
    _TITLE,
    "Barriers, locks, waiting and memory stalls over N, in seconds per processor; they add up to the latency L.",
    _make,
    (common.SIZE,),
    needs=(_NEED,),
)
