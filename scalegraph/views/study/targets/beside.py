"""Simulated and measured times by cause, for one size over N."""

from __future__ import annotations

from scalegraph.analyze.targets import Pair, differences
from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.study.targets import pairs
from scalegraph.views.view import View

_TITLE = "Simulated beside measured"
_NOTES = (
    "Times by cause are summed over processors. Memory stalls count as computing: measured runs cannot separate them.",
    "Ratio: simulated over measured; difference: measured minus simulated.",
    "Shown is the repetition with the median time.",
)


def _rows(pair: Pair) -> list[Row]:
    simulated, measured = pair.simulated.time_s or 0.0, pair.measured.time_s or 0.0
    count = pair.simulated.point.processors
    whole = ("elapsed time", count, simulated, measured, _ratio(simulated, measured), measured - simulated)
    rows = [Row(whole, key=pair.simulated.point.key, tip=pair.measured.point.label())]
    for one in differences(pair):
        if one.simulated_s or one.measured_s:
            values = (one.simulated_s, one.measured_s, _ratio(one.simulated_s, one.measured_s), one.difference_s)
            rows.append(Row((one.words, count, *values), depth=1, key=pair.simulated.point.key))
    return rows


def _ratio(simulated: float, measured: float) -> float | None:
    return simulated / measured if measured else None


def _make(data: StudyData, size: object = None) -> Figure:
    shown = pairs.chosen(data, size)
    same = shown.simulated.point.parameters
    found = [pair for pair in pairs.of_study(data) if pair.simulated.point.parameters == same]
    columns = (
        Column("what"),
        Column("N"),
        Column("simulated", "s", compared=True),
        Column("measured", "s", compared=True),
        Column("ratio"),
        Column("difference", "s", "time", compared=True),
    )
    last = found[-1]
    simulated, measured = last.simulated.time_s or 0.0, last.measured.time_s or 0.0
    apart = percent(abs(simulated / measured - 1)) if measured else "–"
    way = "more" if simulated > measured else "less"
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"On {last.simulated.point.processors} processors {si(simulated, 's')} are simulated and {si(measured, 's')} "
        f"measured: the model has {apart} {way}.",
        (Table(columns, tuple(row for pair in found for row in _rows(pair))),),
        notes=(*_NOTES, *common.failure_notes(data)),
    )


VIEW = View(
    "simulated-measured",
    _TITLE,
    "Elapsed time and processor time by cause of runs that were both simulated and measured.",
    _make,
    (common.SIZE,),
    wide=True,
    needs=(pairs.BOTH,),
)
