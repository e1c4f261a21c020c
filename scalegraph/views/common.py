"""Shared parts of views: axes, curves with tooltips, choice of the run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scalegraph.analyze import estimates, reference
from scalegraph.analyze.remarks import remarks
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import Floats, numbers
from scalegraph.base import measures
from scalegraph.base.errors import InputError
from scalegraph.base.rows import records
from scalegraph.base.run import RunRecord
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Line, Origin
from scalegraph.figures.way import Way
from scalegraph.runtime.format import CATEGORY_GROUPS
from scalegraph.subjects.option import Option
from scalegraph.subjects.series import chosen_series, measured_notes
from scalegraph.subjects.study import StudyData
from scalegraph.views import ways

GROUP_WORDS = {
    "busy": "busy",
    "memory_stall": "memory stall",
    "idle": "idle",
    "primitive": "parallel primitives",
}
# Definition of the column "cost" of lines and regions.
COST_NOTE = (
    "Cost is processor time with the waiting that a place causes elsewhere, without the waiting that others cause it."
)
CATEGORY_WORDS = {
    "busy_int": "integer work",
    "busy_fp": "floating-point work",
    "busy_mem": "memory access, hits",
    "busy_control": "branches and calls",
    "stall_local": "local misses",
    "stall_remote_read": "remote reads",
    "stall_remote_write": "remote writes",
    "stall_upgrade": "ownership upgrades",
    "stall_page": "page misses",
    "stall_contention": "network contention",
    "idle_not_started": "before first parallel region",
    "idle_finished": "after last parallel region",
    "idle_serial": "serial parts",
    "idle_barrier": "waiting at barriers",
    "idle_lock": "waiting for locks",
    "idle_order": "waiting for turn",
    "idle_task": "waiting for tasks",
    "idle_message": "waiting for messages",
    "prim_fork_join": "starting and ending parallel regions",
    "prim_barrier": "barrier execution",
    "prim_lock": "locks",
    "prim_atomic": "atomics",
    "prim_schedule": "loop scheduling",
    "prim_task": "tasks",
    "prim_message": "messages",
    "prim_thread": "threads",
    "idle_wait": "waiting for signals",
    "prim_monitor": "monitoring",
    "prim_send": "sending messages",
    "prim_receive": "receiving messages",
    "prim_pack": "packing messages",
    "idle_late_sender": "waiting for senders",
    "idle_late_receiver": "waiting for receivers",
    "idle_transfer": "messages on their way",
    "idle_network": "messages held up in the network",
    "idle_collective": "waiting in collectives",
    "idle_masked": "masked off",
    "prim_disturbance": "disturbance",
    "busy_compute": "computing",
    "idle_preempted": "other programs",
    "prim_collective": "executing collectives",
    "unattributed": "not attributed",
    "prim_start": "starting and ending MPI",
}
# Shades of a group's colour: the colour itself for what programs usually lose most to; neighbours in a stack differ.
_SHADES = {
    **dict(zip(("busy_int", "busy_fp", "busy_mem", "busy_control"), (0, 4, 1, 2), strict=True)),
    "stall_remote_read": 0,
    "stall_local": 1,
    "stall_remote_write": 4,
    "stall_upgrade": 2,
    "stall_page": 3,
    "stall_contention": 6,
    "idle_barrier": 0,
    "idle_serial": 2,
    "idle_lock": 4,
    "idle_not_started": 1,
    "idle_finished": 5,
    "idle_order": 6,
    "idle_task": 7,
    "idle_message": 8,
    "prim_barrier": 0,
    "prim_lock": 4,
    "prim_fork_join": 2,
    "prim_schedule": 1,
    "prim_atomic": 6,
    "prim_task": 5,
    "prim_message": 7,
    "prim_thread": 3,
    "idle_wait": 3,
    "prim_monitor": 8,
    "prim_send": 9,
    "prim_receive": 10,
    "prim_pack": 11,
    "idle_late_sender": 9,
    "idle_late_receiver": 10,
    "idle_transfer": 11,
    "idle_network": 12,
    "idle_collective": 13,
    "idle_masked": 14,
    "prim_disturbance": 12,
    "busy_compute": 0,
    "idle_preempted": 15,
    "prim_collective": 13,
    "unattributed": 16,
    "prim_start": 14,
}

SIZE = Option(
    "size",
    "Problem size",
    "text",
    description="parameters as name=value, comma separated; otherwise the problem that ran on most processor counts",
)
PROCESSORS = Option(
    "processors", "Processors", "int", description="N of the run to show; otherwise the most", minimum=1, follows=True
)


def region_name(row: Mapping[Any, Any]) -> str:
    """Return a region's display name; *row* has its name, kind and line."""
    name, kind = str(row["name"]), str(row["kind"])
    if kind in ("function", "program", "phase"):
        return name.removeprefix(f"{kind} ") or kind
    where = f" (line {row['line']})" if row["line"] and not name.endswith(f":{row['line']}") else ""
    return (f"{kind} {name}" if name and not name.startswith(kind) else name or kind) + where


def category_role(category: str) -> str:
    """Return the palette role of *category*: a shade of its group's colour."""
    return f"{CATEGORY_GROUPS[category]}:{_SHADES[category]}"


def count_role(data: StudyData, processors: int) -> str:
    """Return the palette role of a processor count: one colour per count of the study, the same in all its views."""
    counts = {int(n) for n in data.table["processors"]} if not data.table.empty else set()
    known = sorted(counts | {processors})
    return f"count:{known.index(processors)}/{len(known)}"


def processors_axis(counts: Sequence[int], label: str = "processors N") -> Axis:
    """Return the axis of processor counts: base-2 logarithm, with the actual counts as ticks."""
    return Axis(label, scale="log2", ticks=tuple(float(n) for n in sorted(set(counts))))


def plain_axis(label: str, limits: tuple[float, float] | None = None) -> Axis:
    """Return a linear axis without a unit."""
    return Axis(label, limits=limits)


def curve(
    rows: pd.DataFrame,
    column: str,
    name: str,
    role: str,
    *,
    unit: str = "",
    scale: float = 1.0,
    x: str = "processors",
    low: str = "",
    high: str = "",
) -> Line:
    """Return *column* of *rows* over *x* as a curve with a tooltip per point; *scale* multiplies the values.

    It has an interval if a point is repeated or estimated and *rows* has the ends as *low* and *high*, by default the
    column's name with ``_low`` and ``_high``.
    """
    y = numbers(rows, column) * scale
    ends = (low or f"{column}_low", high or f"{column}_high")
    interval = all(end in rows.columns for end in ends) and estimates.spread(rows)
    low_y, high_y = (numbers(rows, end) * scale if interval else y for end in ends)
    doubts = _doubts(numbers(rows, "time_error"), low_y, high_y, unit)
    tips = tuple(
        f"{name}: {exact(value, unit)}{doubt}\n{run}"
        for value, doubt, run in zip(y, doubts, run_labels(rows), strict=True)
    )
    return Line(
        name,
        tuple(float(value) for value in numbers(rows, x)),
        tuple(float(value) for value in y),
        role,
        origin(rows),
        tuple(float(value) for value in low_y) if interval else (),
        tuple(float(value) for value in high_y) if interval else (),
        tips=tips,
        processors=tuple(int(n) for n in rows["processors"]),
    )


def _doubts(errors: Floats, low: Floats, high: Floats, unit: str) -> list[str]:
    """Return the intervals of estimated points, those with *errors*, for tooltips; empty for the others."""
    return [
        f"\nestimated: {exact(below, unit)} to {exact(above, unit)} (95 %)" if error > 0 and above > below else ""
        for error, below, above in zip(errors, low, high, strict=True)
    ]


def origin(rows: pd.DataFrame) -> Origin:
    """Return the origin of the rows; a mixture is measured only if all rows are."""
    return origin_of(*(set(rows["source"]) if "source" in rows.columns else ()))


def origin_of(*sources: str) -> Origin:
    """Return the weakest of the *sources*: predicted, simulated, imported, measured."""
    order: tuple[Origin, ...] = ("predicted", "simulated", "imported", "measured")
    return next((known for known in order if known in sources), "simulated")


def data_origin(data: StudyData) -> Origin:
    """Return the origin of a study's values: its runs, or its measurement set."""
    return "imported" if data.imported is not None else origin(data.table)


def exact(value: float, unit: str = "") -> str:
    """Return *value* and unit for tooltips, or "not known"."""
    return measures.exact(value, unit) if math.isfinite(value) else "not known"


def run_label(row: Mapping[Any, Any]) -> str:
    """Return a row's run for display: ``N = 8, n = 200 (median of 3)``."""
    parts = [f"N = {int(row['processors'])}", str(row.get("label", ""))]
    text = ", ".join(part for part in parts if part)
    repetitions = int(row.get("repetitions", 1))
    return f"{text} (median of {repetitions})" if repetitions > 1 else text


def run_labels(rows: pd.DataFrame) -> list[str]:
    """Return `run_label` of each row, reading only the columns it needs: a study with costs has hundreds."""
    needed = [name for name in ("processors", "label", "repetitions") if name in rows.columns]
    return [run_label(row) for row in records(rows[needed])]


def chosen_run(data: StudyData, size: object = None, processors: object = None) -> RunRecord | None:
    """Return the record, with details, of the chosen series' run on *processors* (default: the most).

    Raises:
        InputError: there is no such run; the message lists the counts.

    """
    series = chosen_series(data, size)
    rows = series.rows if series is not None else data.scaling
    if rows.empty:
        return None
    counts = sorted({int(n) for n in rows["processors"]})
    count = counts[-1] if processors is None else int(str(processors))
    if count not in counts:
        raise InputError(f"processors: no run on {count}; run were {', '.join(map(str, counts))}")
    key = str(rows[rows["processors"] == count]["keys"].iloc[0]).split(",")[0]
    return data.by_key.get(key)


def the_run(data: StudyData, size: object = None, processors: object = None) -> RunRecord:
    """Return `chosen_run` for a view whose needs guarantee a run.

    Raises:
        InputError: no such run.

    """
    run = chosen_run(data, size, processors)
    if run is None:
        raise InputError("no run of this study ended well")
    return run


def the_series(data: StudyData, size: object = None) -> Series:
    """Return `chosen_series` for a view whose needs guarantee a series.

    Raises:
        InputError: no problem ran on two or more processor counts.

    """
    series = chosen_series(data, size)
    if series is None:
        raise InputError("no problem of this study ran on two or more processor counts")
    return series


def main_keys(data: StudyData) -> frozenset[str]:
    """Return the keys of the runs that `chosen_run` considers if no size is chosen."""
    series = chosen_series(data)
    return frozenset(str(keys).split(",")[0] for keys in series.rows["keys"]) if series is not None else frozenset()


def one_processor_run(data: StudyData, run: RunRecord) -> RunRecord | None:
    """Return the one-processor run of the same problem as *run*."""
    for other in data.runs:
        if (
            other.ok
            and other.point.processors == 1
            and other.point.parameters == run.point.parameters
            and (other.program, other.machine, other.source) == (run.program, run.machine, run.source)
        ):
            return other
    return None


def study_title(data: StudyData) -> str:
    """Return program and machine for a title: ``billiard on ksr1``."""
    if data.table.empty:
        return str(data.manifest.get("title") or data.manifest.get("program") or "study")
    program, machine = str(data.table["program"].iloc[0]), data.machine_title
    return program if machine in ("", "unknown") else f"{program} on {machine}"


def run_notes(data: StudyData) -> tuple[str, ...]:
    """Return the notes on a study's runs that every view shows, one sentence each.

    In order: failed runs that are omitted; the source of measured times and the reference of speedups; remarks on runs.
    """
    return (*failure_notes(data), *measured_notes(data), *(f"Remark: {text}." for text in remarks(data.runs)))


def work_note(data: StudyData) -> str:
    """Return the note that defines W, for views that show it."""
    return f"{data.work_words}."


def latency_note(metric: object = "latency") -> tuple[str, ...]:
    """Return the note on how latency is averaged, nothing for another *metric*."""
    said = "Average latency: what a processor loses of the elapsed time, the mean over all processors of a run."
    return (said,) * (metric == "latency")


def failure_notes(data: StudyData) -> tuple[str, ...]:
    """Return a note naming up to three failed runs, which views omit; () if none failed."""
    if not data.failed:
        return ()
    labels = "; ".join(f"{run.point.label()}: {run.message or run.status}" for run in data.failed[:3])
    more = f" and {len(data.failed) - 3} more" if len(data.failed) > 3 else ""
    return (f"Left out because they failed: {labels}{more}.",)


def note_missing_one(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return a note if the problem has no one-processor run."""
    if (rows["processors"] == 1).any() or len(reference.others(rows)):
        return ()
    return ("There is no run on one processor, so speedup and latency are not known.",)


def ways_to_one(data: StudyData, rows: pd.DataFrame) -> tuple[Way, ...]:
    """Return the button that plans a one-processor run, if the problem of *rows* has none."""
    return (ways.ADD_ONE,) if ways.can_run(data) and not (rows["processors"] == 1).any() else ()


def seconds(value: float) -> str:
    """Return a time with SI prefix: ``1.23 ms``."""
    return si(value, "s")
