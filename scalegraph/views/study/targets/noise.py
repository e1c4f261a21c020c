"""Noise of measured runs: repetitions, outliers, and processors taken by other programs."""

from __future__ import annotations

from scalegraph.analyze.targets import noise, taken
from scalegraph.base.measures import percent
from scalegraph.base.run import RunRecord
from scalegraph.base.units import counted, si
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.view import View

_TITLE = "Noise of measured runs"
_NOTES = (
    "An outlier is further from the median than three scaled median absolute deviations.",
    "The share of other programs is the time that a thread was ready but not running.",
)


def _runs(data: StudyData) -> list[RunRecord]:
    return [run for run in (*data.runs, *data.elsewhere) if run.source == "measured"]


def _some(data: StudyData, **_: object) -> bool:
    return bool(noise(_runs(data)))


_NEED = Need("No run of this study was measured here.", ways.MEASURE, met=_some)


def _make(data: StudyData) -> Figure:
    found = noise(_runs(data))
    columns = (
        Column("N"),
        Column("size"),
        Column("run"),
        Column("time", "s", "time"),
        Column("deviation", "% of median"),
        Column("outlier"),
        Column("other programs", "% of time", "idle"),
        Column("of processor"),
    )
    rows = []
    for one in found:
        for run in one.runs:
            share, processor = taken(run)
            far = "outlier" if run in one.outliers else ""
            apart = ((run.time_s or 0.0) / one.median_s - 1) * 100 if one.median_s else None
            size = ", ".join(f"{name} = {value}" for name, value in run.point.parameters.items())
            values = (run.point.repetition + 1, run.time_s, apart, far, share * 100, processor)
            rows.append(Row((run.point.processors, size, *values), key=run.point.key, tip=run.point.label()))
    widest = max(found, key=lambda one: one.width)
    outliers = sum(len(one.outliers) for one in found)
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"{counted(len(rows), 'measured run')}, {counted(outliers, 'outlier')}; the widest interval is that of "
        f"N = {widest.runs[0].point.processors}: {si(widest.median_s, 's')} ± {percent(widest.width)}, "
        f"at {percent(widest.sure)} confidence.",
        (Table(columns, tuple(rows)),),
        notes=_NOTES,
    )


VIEW = View(
    "noise",
    _TITLE,
    "Every repetition of the measured runs: outliers, and the processor time taken by other programs.",
    _make,
    wide=True,
    needs=(_NEED,),
)
