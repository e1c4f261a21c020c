"""POP efficiencies of a study, using everything it knows about its runs."""

from __future__ import annotations

import pandas as pd

from scalegraph.analyze import loss, pop
from scalegraph.base.run import Ideal, RunRecord, Variant
from scalegraph.measurements.runs import make_runs
from scalegraph.subjects.study import StudyData

BUSIEST = "busiest"  # metric of a set: longest time of a processor outside communication and synchronisation


def free_times(data: StudyData) -> dict[str, float]:
    """Return T_para (s) with free primitives and an ideal network by the key of the actual run, where such runs exist.

    For a program without messages this is a what-if run with free synchronisation, for an MPI program one in which
    messages take no time, for one with several threads a process one with both.
    """
    return {
        run.point.actual().key: run.time_s
        for run in data.variants
        if run.ok and run.time_s is not None and run.point.variant == Variant(ideal=_free(run))
    }


def _free(run: RunRecord) -> tuple[Ideal, ...]:
    """Return what must be ideal in a run like *run* to give its transfer efficiency."""
    if not run.processes:
        return ("sync",)
    return ("sync", "messages") if (run.threads_per_process or 1) > 1 else ("messages",)


def busiest_times(data: StudyData) -> dict[str, float]:
    """Return the useful time (s) of the busiest processor by run key, where an imported set has it."""
    if data.imported is None:
        return {}
    measured, meaning = data.imported
    if not {"busy", BUSIEST} <= {metric.name for metric in measured.metrics}:
        return {}
    columns = {column: name for column, name in meaning.columns.items() if column == "time_s"} | {"busy_s": BUSIEST}
    runs, _ = make_runs(measured, meaning.model_copy(update={"columns": columns}))
    return {run.point.key: run.busy_s for run in runs if run.busy_s is not None}


def efficiencies(data: StudyData, rows: pd.DataFrame) -> pd.DataFrame:
    """Return `pop.efficiencies` of *rows* of `StudyData.scaling`, using everything the study knows about them."""
    return pop.efficiencies(rows, data.by_key, free_times(data), busiest_times(data))


def path_efficiencies(data: StudyData, run: RunRecord, reference: RunRecord | None) -> pd.DataFrame:
    """Return `pop.path_efficiencies` at the point of *run*, with ``name`` and ``place`` of each call path."""
    assert data.measured is not None
    assert data.meaning is not None
    measured, meaning = data.measured, data.meaning
    points = [
        None if each is None else loss.point_of(measured, meaning, each.point.processors, each.point.parameters)
        for each in (run, reference if reference is not run else None)
    ]
    if points[0] is None:
        return pd.DataFrame()
    table = pop.path_efficiencies(measured, meaning, points[0], points[1])
    paths = [measured.call_paths[int(region)] for region in table["region"]]
    table.insert(1, "name", [measured.paths[int(region)] for region in table["region"]])
    table.insert(2, "place", [f"{path.file}:{path.line}" if path.file and path.line else path.file for path in paths])
    return table
