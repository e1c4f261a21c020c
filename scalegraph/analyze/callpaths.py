"""Runs as a measurement set: costs by region become values by call path, so that both are analysed alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from scalegraph.analyze.profile import region_tree
from scalegraph.base.run import Region, RunRecord
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import CallPath, Floats, MeasurementSet, Metric
from scalegraph.runtime.accounts import MEASURED
from scalegraph.runtime.format import CATEGORIES, CATEGORY_GROUPS, COUNTERS, GROUPS

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_GROUP_WORDS = {
    "busy": "executing the program",
    "memory_stall": "waiting for memory",
    "idle": "nothing to do, or waiting for others",
    "primitive": "parallel primitives",
}
_TIME = Metric("time", "s", "time", "exclusive", "processor time")


def measured_runs(runs: Sequence[RunRecord], regions: Sequence[Region]) -> tuple[MeasurementSet, Mapping] | None:
    """Return the successful runs as a measurement set, and the meaning of its names; None if there are none.

    Call paths are the regions nested as in the source, below the program. Metrics are exclusive and summed over the
    processors: ``time`` (s) and its parts by group and by category, ``busy_max`` (s, of the busiest processor in the
    region), ``references`` and every counter. Parameters are ``N`` and those of the program. A region absent from a run
    has 0 there. For runs without regions the program is the only path and has the totals of the run.

    Shape: (metrics, points, call paths) of the set. Unit: as each metric says. Source: ScaleGraph.
    """
    good = [run for run in runs if run.ok]
    if not good:
        return None
    if all(run.clock_hz and run.regions for run in good):
        tree = [region for region, _ in region_tree(regions, *good)]
        metrics, cube = _by_region(good, tree)
    else:
        tree = []
        metrics, cube = _by_run(good)
    names = list(dict.fromkeys(name for run in good for name in run.point.parameters))
    points, point_of = _points(good, names)
    repetition = pd.Series(point_of).groupby(point_of).cumcount().to_numpy()
    run, path, metric = np.nonzero(~np.isnan(cube))
    values = pd.DataFrame(
        {
            "point": point_of[run].astype(np.int32),
            "call_path": path.astype(np.int32),
            "metric": metric.astype(np.int32),
            "repetition": repetition[run].astype(np.int32),
            "value": cube[run, path, metric],
        }
    )
    paths = _paths(tree) or (CallPath(good[0].program or "program"),)
    made = MeasurementSet(tuple(points.columns), points, paths, metrics, values, format="runs")
    known = {metric.name for metric in metrics}
    columns = {"work_ops": "ops", "work_flops": "flops", "references": "references", "misses": "misses"}
    return made, Mapping(
        processors="N",
        time="time",
        unit="s",
        total=made.paths[0],
        summed=True,
        sizes=tuple(points.columns[1:]),
        columns={column: name for column, name in columns.items() if name in known},
    )


def _points(runs: Sequence[RunRecord], names: Sequence[str]) -> tuple[pd.DataFrame, Numbers]:
    """Return the distinct points, and the index of each run's point."""
    table = pd.DataFrame({"N": [run.point.processors for run in runs]})
    for name in names:
        cells = [run.point.parameters.get(name) for run in runs]
        text = any(cell is None or isinstance(cell, str) for cell in cells)
        table[name if name != "N" else "param.N"] = (
            ["" if cell is None else str(cell) for cell in cells] if text else cells
        )
    number = table.groupby(list(table.columns), sort=False).ngroup().to_numpy().astype(np.int64)
    return table.drop_duplicates().reset_index(drop=True), number


def _paths(tree: Sequence[Region]) -> tuple[CallPath, ...]:
    place = {region.id: index for index, region in enumerate(tree)}
    return tuple(
        CallPath(region.name, None if region.id == 0 else place[region.parent or 0], region.file, region.line)
        for region in tree
    )


def _by_region(runs: Sequence[RunRecord], tree: Sequence[Region]) -> tuple[tuple[Metric, ...], Floats]:
    """Return metrics and their values, shape (runs, regions, metrics)."""
    costs = [cost for run in runs for cost in run.regions]
    categories = [
        (name, words) for name, _, words in (*CATEGORIES, *MEASURED) if any(name in cost.categories for cost in costs)
    ]
    counters = [(name, words) for name, words in COUNTERS if any(name in cost.counters for cost in costs)]
    metrics = (
        _TIME,
        *(Metric(group, "s", "time", "exclusive", _GROUP_WORDS[group]) for group in GROUPS),
        Metric("busy_max", "s", "time", "exclusive", "busy time of the processor that was busiest here"),
        *(Metric(name, "s", "time", "exclusive", words) for name, words in categories),
        Metric("references", "", "count", "exclusive", "reads and writes"),
        *(Metric(name, "", "count", "exclusive", words) for name, words in counters),
    )
    column = {metric.name: index for index, metric in enumerate(metrics)}
    place = {region.id: index for index, region in enumerate(tree)}
    cube = np.zeros((len(runs), len(tree), len(metrics)))
    for number, run in enumerate(runs):
        seconds = 1 / (run.clock_hz or 1.0)
        for cost in run.regions:
            row = cube[number, place[cost.region]]
            for category, cycles in cost.categories.items():
                row[column[category]] += cycles * seconds
                row[column[CATEGORY_GROUPS[category]]] += cycles * seconds
                row[0] += cycles * seconds
            for counter, count in cost.counters.items():
                row[column[counter]] += count
                if counter in ("reads", "writes"):
                    row[column["references"]] += count
            row[column["busy_max"]] += cost.busy_max * seconds
    return metrics, cube


def _by_run(runs: Sequence[RunRecord]) -> tuple[tuple[Metric, ...], Floats]:
    """Return metrics of the whole program and their values, shape (runs, 1, metrics); NaN if unknown."""
    metrics = [_TIME]
    rows = [[run.point.processors * (run.time_s or np.nan) for run in runs]]
    for name, unit in (
        *((f"{group}_s", "s") for group in GROUPS),
        *((name, "") for name in ("work_ops", "work_flops", "references", "misses", "invalidations")),
    ):
        cells = [getattr(run, name) for run in runs]
        if any(cell is not None for cell in cells):
            short = {"work_ops": "ops", "work_flops": "flops"}.get(name, name.removesuffix("_s"))
            metrics.append(Metric(short, unit, "time" if unit else "count", "exclusive", _GROUP_WORDS.get(short, "")))
            rows.append([np.nan if cell is None else float(cell) for cell in cells])
    return tuple(metrics), np.array(rows, dtype=np.float64).T[:, np.newaxis, :]
