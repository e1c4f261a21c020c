"""All runs of a study; failed ones with the reason."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from scalegraph.analyze.metrics import work_unit
from scalegraph.analyze.remarks import of_run, remarks
from scalegraph.analyze.table import parameter_columns
from scalegraph.base.run import RunRecord
from scalegraph.base.units import counted
from scalegraph.figures.columns import known
from scalegraph.figures.figure import ELAPSED_TIME, Column, Figure, Row, Table
from scalegraph.subjects import series as series_
from scalegraph.subjects.study import StudyData
from scalegraph.views import common
from scalegraph.views.view import View

_TITLE = "Runs"


def _make(data: StudyData) -> Figure:
    parameters = [name.removeprefix("param.") for name in parameter_columns(data.table)]
    derived = {
        key: row for row in data.scaling.to_dict("records") for key in str(row["keys"]).split(",") if data.by_key
    }
    unit = work_unit(data.scaling)
    estimated = any(run.estimated for run in data.runs)
    columns = (
        Column("N"),
        *(Column(name) for name in parameters),
        Column("time", "s", "time"),
        *((Column("interval ±", ELAPSED_TIME),) if estimated else ()),
        Column("work", unit),
        Column("speedup"),
        Column("efficiency", "", "efficiency"),
        Column("latency", "s", "latency"),
        Column("host time", "s"),
        Column("source"),
        Column("status"),
    )
    runs = sorted(data.runs, key=lambda run: (_sizes(run, parameters), run.point.processors, run.point.repetition))
    rows = []
    for run in runs:
        row = derived.get(run.point.key, {})
        rows.append(
            Row(
                (
                    run.point.processors,
                    *(run.point.parameters.get(name) for name in parameters),
                    run.time_s,
                    *((100 * run.time_error if run.estimated else None,) if estimated else ()),
                    _work(run, row, unit),
                    *(known(row.get(name)) for name in ("speedup", "efficiency", "latency_s")),
                    run.host_s,
                    run.source,
                    _state(run),
                ),
                key=run.point.key,
                tip=run.point.label(),
            )
        )
    failed = len(data.failed)
    ended = "all succeeded" if not failed else f"{failed} failed; the last column says why"
    return Figure(
        f"{_TITLE}: {common.study_title(data)}",
        f"{counted(len(runs), 'run')}, {ended}.",
        (Table(columns, tuple(rows)),),
        notes=(*series_.measured_notes(data), *(f"Remark: {text}." for text in remarks(runs))),
    )


def _state(run: RunRecord) -> str:
    """Return how *run* ended, marked if there is a remark."""
    if run.ok:
        return f"{run.status} !" if of_run(run) else run.status
    return f"{run.status}: {run.message}" if run.message else run.status


def _sizes(run: RunRecord, parameters: list[str]) -> tuple[tuple[bool, float, str], ...]:
    key = []
    for name in parameters:
        value = run.point.parameters.get(name)
        text = isinstance(value, str)
        key.append((text, 0.0 if text or value is None else float(value), str(value) if text else ""))
    return tuple(key)


def _work(run: RunRecord, row: Mapping[Hashable, object], unit: str) -> float | None:
    """Return the work executed by the run itself, or T_seq if that is used as the work."""
    if unit == "s":
        return known(row.get("work"))
    return known(run.work_flops if unit == "flop" else run.work_ops)


VIEW = View(
    "runs",
    _TITLE,
    "Every run with its size, time and state.",
    _make,
    group="Overview",
    order=110,
)
