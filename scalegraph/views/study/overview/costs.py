"""The cost of a problem over N: energy by consumer, energy-delay product, core-hours, price."""

from __future__ import annotations

from typing import Final

import numpy as np

from scalegraph.analyze.table import numbers
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Figure, Line, Mark, Plot
from scalegraph.figures.way import Need
from scalegraph.subjects import run_costs
from scalegraph.subjects import series as series_
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, needs
from scalegraph.views.view import View

_TITLE: Final = "Energy and price"
_KNOWN: Final = "known"
_NEED = needs.counts("Costs over N need one problem on two or more processor counts.", needs.series())
_NO_WATTS = Need("{why}. Core-hours are known: choose them under Costs.")
# what is shown -> (column, name of the curve, unit)
_SHOWN: Final = {
    "energy": ("energy_j", "energy to solution", "J"),
    "energy-delay": ("energy_delay_js", "energy-delay product", "J s"),
    "core-hours": ("core_hours", "core-hours", "h"),
    "price": ("price", "price", ""),
}
_PARTS: Final = (
    ("energy_base_j", "nodes and sockets", "idle:4"),
    ("energy_cores_j", "working cores", "busy"),
    ("energy_waiting_j", "waiting cores", "idle"),
    ("energy_memory_j", "traffic to memory", "memory_stall"),
)


def _make(data: StudyData, size: object = None, costs: object = _KNOWN) -> Figure | Need:
    series = series_.chosen_series(data, size)
    if series is None:
        return _NEED
    rows = series.rows
    usual = "energy" if np.isfinite(numbers(rows, "energy_j")).any() else "core-hours"
    shown = str(costs) if costs in _SHOWN else usual
    column, words, unit = _SHOWN[shown]
    if not np.isfinite(numbers(rows, column)).any():
        why = run_costs.why_none(data, "price" if shown == "price" else "energy")
        return _NO_WATTS.of(why=why[:1].upper() + why[1:])
    unit = run_costs.currency(data) if shown == "price" else unit
    lines: list[Line] = []
    if shown == "energy":
        parts = [part for part in _PARTS if np.nanmax(numbers(rows, part[0]), initial=0.0) > 0]
        lines += [common.curve(rows, part, said, role, unit=unit) for part, said, role in parts]
    lines.append(common.curve(rows, column, words, "latency", unit=unit))
    values, counts = numbers(rows, column), numbers(rows, "processors")
    least = int(np.nanargmin(values))
    cheapest = f"least at N = {int(counts[least])}, {si(float(values[least]), unit)}"
    fastest = int(np.nanargmin(numbers(rows, "time_s")))
    beside = ", as is the time"
    if fastest != least:
        beside = f"; the fastest run, on {int(counts[fastest])}, takes {si(float(values[fastest]), unit)}"
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"{series.label or 'This problem'}: {words} {cheapest}{beside}.",
        (
            Plot(
                common.processors_axis(series.processors),
                Axis(words, unit),
                tuple(lines),
                marks=(Mark(cheapest, x=float(counts[least]), y=float(values[least])),),
            ),
        ),
        notes=(*filter(None, (run_costs.covers(data) if "energy" in shown else "",)), *common.run_notes(data)),
    )


VIEW = View(
    "costs",
    _TITLE,
    "The cost of one problem over N: energy to solution by consumer, energy-delay product, core-hours, price.",
    _make,
    (
        common.SIZE,
        Option(
            "costs",
            "Costs",
            "choice",
            _KNOWN,
            (_KNOWN, *_SHOWN),
            description="what is shown over N; by default energy if the machine file has watts, else core-hours",
        ),
    ),
    needs=(_NEED, _NO_WATTS),
)
