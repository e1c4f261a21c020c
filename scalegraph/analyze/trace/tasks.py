"""Explicit OpenMP tasks: how many, where they were created, how long they ran, and on which location."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from scalegraph.traces.kinds import NOBODY, Columns, TaskStep
from scalegraph.traces.model import Trace


def task_stretches(trace: Trace, begin: int, end: int, locations: Sequence[int] | None = None) -> Columns:
    """Return the stretches in which tasks ran, clipped to the interval: arrays ``begin end location task region``.

    A location runs a task from the switch to it until it switches to another or the task ends; task 0 is everything
    besides explicit tasks (OpenMP's implicit task). The region is that of the switch, or else that of the task's
    creation.

    Shape: (stretches,) of each column. Unit: ticks. Source: ScaleGraph.
    """
    columns = trace.columns("tasks")
    order = np.argsort(columns["location"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    created = columns["what"] == TaskStep.CREATED
    made = pd.Series(columns["region"][created], index=columns["task"][created])
    made = made[~made.index.duplicated()]
    running = {name: values[~created] for name, values in columns.items()}
    who, time = running["location"], running["time"]
    following = np.full(len(time), trace.meta.end, np.int64)
    same = who[1:] == who[:-1]
    following[:-1][same] = time[1:][same]
    keep = (running["what"] == TaskStep.SWITCHED_TO) & (running["task"] > 0) & (time < end) & (following > begin)
    if locations is not None:
        keep &= np.isin(who, list(locations))
    region, task = running["region"][keep].astype(np.int64), running["task"][keep]
    place = made.index.get_indexer(pd.Index(task))
    origin = made.to_numpy(np.int64)[place] if len(made) else np.full(len(task), NOBODY, np.int64)
    region = np.where((region < 0) & (place >= 0), origin, region)
    return {
        "begin": np.maximum(time[keep], begin),
        "end": np.minimum(following[keep], end),
        "location": who[keep].astype(np.int64),
        "task": task,
        "region": region,
    }


_COLUMNS = (
    "region",
    "name",
    "file",
    "line",
    "created",
    "ended",
    "ran",
    "time_s",
    "share",
    "least_s",
    "mean_s",
    "most_s",
    "imbalance",
)


def task_times(trace: Trace, begin: int, end: int, locations: Sequence[int]) -> pd.DataFrame:
    """Return a row for each region that created tasks, most time first.

    Columns: ``region``, ``name``, ``file``, ``line``; ``created`` and ``ended`` in the interval; ``ran``: tasks that
    ran in it; ``time_s`` in it summed over *locations*, ``share`` of their time; ``least_s``, ``mean_s``, ``most_s`` of
    a task in it; ``imbalance``: most over mean time by location.

    Shape: one row for each region. Unit: s; shares have none. Source: ScaleGraph.
    """
    found = task_stretches(trace, begin, end, locations)
    second, regions = trace.meta.ticks_per_second, trace.definitions.regions
    events = trace.columns("tasks", begin=begin, end=end)
    inside = (events["time"] >= begin) & ((events["time"] < end) | (end == trace.meta.end))
    inside &= np.isin(events["location"], list(locations))
    steps = {
        step: pd.Series(events["region"][inside & (events["what"] == step)]).value_counts()
        for step in (TaskStep.CREATED, TaskStep.ENDED)
    }
    length = (found["end"] - found["begin"]) / second
    rows = []
    table = pd.DataFrame({**found, "length": length})
    known = pd.unique(pd.concat([pd.Series(found["region"]), *(pd.Series(step.index) for step in steps.values())]))
    for region in known.tolist():
        mine = table[table["region"] == region]
        each, where = mine.groupby("task")["length"].sum(), mine.groupby("location")["length"].sum()
        mean = float(where.sum()) / len(locations) if len(locations) else 0.0
        place = regions[region] if 0 <= region < len(regions) else None
        rows.append(
            {
                "region": region,
                "name": place.name if place else "tasks",
                "file": place.file if place else "",
                "line": place.line if place else 0,
                "created": int(steps[TaskStep.CREATED].get(region, 0)),
                "ended": int(steps[TaskStep.ENDED].get(region, 0)),
                "ran": len(each),
                "time_s": float(each.sum()),
                "share": float(each.sum()) * second / (len(locations) * (end - begin)) if end > begin else np.nan,
                "least_s": float(each.min()) if len(each) else np.nan,
                "mean_s": float(each.mean()) if len(each) else np.nan,
                "most_s": float(each.max()) if len(each) else np.nan,
                "imbalance": float(where.max()) / mean if mean else np.nan,
            }
        )
    made = pd.DataFrame(rows, columns=pd.Index(_COLUMNS))
    return made.sort_values("time_s", ascending=False, kind="stable", ignore_index=True)
