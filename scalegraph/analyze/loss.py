"""Loss of a parallel run by place of the program and by cause; the parts add up to the whole loss.

What N processors lose against one is N T_para - T_seq processor-seconds, N times the average latency by method 1
(latency-metric.txt 6.1). Every part is what N processors spend on it beyond what one processor spends on it.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingABC
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
import pandas as pd

from scalegraph.analyze.metrics import BLAMED_ON, CAUSES, STALL_CAUSE
from scalegraph.analyze.profile import region_tree
from scalegraph.base.run import Region, RegionCost, RunRecord
from scalegraph.measurements.mapping import Mapping
from scalegraph.measurements.model import MeasurementSet
from scalegraph.runtime.format import CATEGORY_GROUPS

COLUMNS = ("place", "name", "kind", "file", "line", "cause", "words", "loss_s", "share")
# (name, words, categories): the causes of latency, and work that the one-processor run does not do
_PARTS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    *((name, words, categories) for name, words, categories, _ in CAUSES),
    (*STALL_CAUSE[:2], tuple(category for category, group in CATEGORY_GROUPS.items() if group == "memory_stall")),
    ("busy_s", "extra operations", tuple(category for category, group in CATEGORY_GROUPS.items() if group == "busy")),
)


def by_region(run: RunRecord, one: RunRecord, regions: Sequence[Region]) -> pd.DataFrame:
    """Return what *run* loses against the one-processor run *one* of the same problem, the most expensive part first.

    Columns `COLUMNS`: ``place`` the region's id, ``cause`` and its ``words`` (as in `metrics.overheads`, and ``busy_s``
    for extra operations), ``loss_s`` processor-seconds, negative where N processors spend less, and ``share`` of the
    whole. ``loss_s`` adds up to N T_para - T_seq. Waiting whose cause is known is charged to the region and cause that
    it waited for (`metrics.BLAMED_ON`), all other where it was waited. ``file`` and ``line`` are the region's; of the
    program outside its regions, where that kept others waiting, those of the line that did so most. Empty when a run
    has no costs by region or no clock.

    Shape: one row for each region and cause. Unit: processor-seconds; shares have none. Source: latency-metric.txt 6.1;
    waiting: Tallent and Mellor-Crummey 2009.
    """
    if not (run.regions and one.regions and run.clock_hz and one.clock_hz):
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    after = {cost.region: cost for cost in run.regions}
    before = {cost.region: cost for cost in one.regions}
    rows = []
    for region, _ in region_tree(regions, run, one):
        for cause, words, categories in _PARTS:
            spent = _cycles(after.get(region.id), cause, categories)
            lost = spent / run.clock_hz - _cycles(before.get(region.id), cause, categories) / one.clock_hz
            if lost:
                at = (region.file, region.line)
                if region.id == 0 and 2 * _caused(after.get(0), cause) > spent:
                    at = _worst_line(run, cause) or at
                rows.append((region.id, region.name, region.kind, *at, cause, words, lost))
    return _ranked(rows)


def _cycles(cost: RegionCost | None, cause: str, categories: Sequence[str]) -> int:
    """Return a region's cycles under *cause*: of its *categories*, plus what it caused, less what others caused."""
    if cost is None:
        return 0
    spent = sum(cost.categories.get(category, 0) for category in categories)
    return (
        spent
        - sum(part.get(category, 0) for part in cost.waited.values() for category in categories)
        + _caused(cost, cause)
    )


def _caused(cost: RegionCost | None, cause: str) -> int:
    return 0 if cost is None else sum(cycles for name, cycles in cost.caused.items() if BLAMED_ON.get(name) == cause)


def _worst_line(run: RunRecord, cause: str) -> tuple[str, int] | None:
    """Return the file and line for which others waited most, for this *cause*."""
    names = [name for name, column in BLAMED_ON.items() if column == cause]
    worst = max(run.lines, key=lambda line: sum(line.caused.get(name, 0) for name in names), default=None)
    return (worst.file, worst.line) if worst and any(worst.caused.get(name) for name in names) else None


def by_path(measured: MeasurementSet, meaning: Mapping, point: int, reference: int) -> pd.DataFrame:
    """Return what the set's point *point* loses against *reference*, by call path: columns `COLUMNS`.

    From the time metric of *meaning*, exclusive where it is inclusive in the set; repetitions by their median.
    ``cause`` is ``time``, ``place`` the position of the call path. Values that are times of each processor are
    multiplied by their number. Empty without a processor count or a time.

    Shape: one row for each call path. Unit: processor-seconds; shares have none. Source: latency-metric.txt 6.1.
    """
    if not meaning.time or meaning.processors not in measured.points:
        return pd.DataFrame(columns=pd.Index(COLUMNS))
    metric = measured.metric(meaning.time)
    grid = measured.grid(metric)[:, [point, reference], :]
    known = np.isfinite(grid).any(axis=2)
    times = np.full(known.shape, np.nan)
    times[known] = np.nanmedian(grid[known], axis=1)
    if measured.metrics[metric].extent == "inclusive":
        times = measured.without_inside(times)
    spent = np.nan_to_num(times) * meaning.seconds
    if not meaning.summed:
        spent *= measured.points[meaning.processors].iloc[[point, reference]].to_numpy(dtype=np.float64)
    rows = [
        (index, path.name, "call path", path.file, path.line, "time", "time", float(lost))
        for index, (path, lost) in enumerate(zip(measured.call_paths, spent[:, 0] - spent[:, 1], strict=True))
        if lost
    ]
    return _ranked(rows)


def point_of(
    measured: MeasurementSet, meaning: Mapping, processors: int, parameters: MappingABC[str, object]
) -> int | None:
    """Return the position of the set's point on *processors* with these *parameters*, ``None`` without one.

    Unit: none (position). Source: ScaleGraph.
    """
    if meaning.processors not in measured.points:
        return None
    fits = measured.points[meaning.processors] == processors
    for name, value in parameters.items():
        if name in measured.points:
            fits &= measured.points[name].astype(object) == value
    found = np.flatnonzero(fits)
    return int(found[0]) if len(found) else None


def _ranked(rows: Sequence[tuple[object, ...]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=pd.Index(COLUMNS[:-1]))
    whole = float(table["loss_s"].sum()) if rows else 0.0
    table["share"] = table["loss_s"] / whole if whole > 0 else np.nan
    return table.sort_values("loss_s", ascending=False, kind="stable").reset_index(drop=True)


def place_words(row: pd.Series) -> str:
    """Return a place in words: ``barrier solve.c:88``, ``loop sweep (solve.c:40)``.

    Source: ScaleGraph.
    """
    kind = str(row["kind"])
    where = f"{PurePath(str(row['file'])).name}:{row['line']}" if row["file"] and row["line"] else ""
    if kind == "program":
        return f"the program outside its regions{', most of it at ' if where else ''}{where}"
    name = str(row["name"]).removesuffix(f":{row['line']}").removeprefix(f"{kind} ")
    if kind not in ("function", "phase", "call path"):
        name = kind if name in ("", kind) else f"{kind} {name}"
    return f"{name} {where}" if name == kind and where else f"{name} ({where})" if where else name
