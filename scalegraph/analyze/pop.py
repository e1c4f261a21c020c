"""The POP efficiency tree: which factor of the efficiency is lost, for runs and for regions.

The tree of the POP centre of excellence (standard metrics for performance analysis), for processors in place of
processes. *Useful* is time in the program's own code, memory stalls included; waiting and parallel primitives are not.

    global        = parallel x computation
    parallel      = load balance x communication          mean useful time / T_para
    load balance  = mean useful time / greatest useful time
    communication = serialisation x transfer              greatest useful time / T_para
    transfer      = T_para with free primitives and an ideal network / T_para
    computation   = instructions x ipc x frequency        useful time of the reference / useful time, sums

The reference is the run of the same problem on the fewest processors, so strong scaling and sizes that grow with N are
treated alike. Every product above holds exactly by construction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from scalegraph.analyze.table import Floats, numbers
from scalegraph.base.run import RegionCost, RunRecord
from scalegraph.measurements.mapping import Mapping as Meaning
from scalegraph.measurements.model import MeasurementSet
from scalegraph.runtime.format import CATEGORY_GROUPS

USEFUL = ("busy", "memory_stall")
USEFUL_CATEGORIES = tuple(name for name, group in CATEGORY_GROUPS.items() if group in USEFUL)
# What free primitives and an ideal network remove; waiting for other processes remains.
_TRANSFER = ("idle_transfer", "idle_network")
_PRIMITIVE_CATEGORIES = (*(name for name, group in CATEGORY_GROUPS.items() if group == "primitive"), *_TRANSFER)


@dataclass(frozen=True)
class Factor:
    """A node of the tree: column *name*, *title* for display, *depth*, and the meaning of a low value."""

    name: str
    title: str
    depth: int
    low: str


FACTORS: tuple[Factor, ...] = (
    Factor("global", "global efficiency", 0, "processors do not do useful work, or need more time for it"),
    Factor("parallel", "parallel efficiency", 1, "processors wait or execute primitives"),
    Factor("load_balance", "load balance", 2, "some processors have more work than others"),
    Factor("communication", "communication efficiency", 2, "even the busiest processor waits or synchronises"),
    Factor("serialisation", "serialisation", 3, "processors wait for each other in turn, though their shares are even"),
    Factor("transfer", "transfer", 3, "barriers, locks, scheduling, tasks and messages themselves take time"),
    Factor("computation", "computation scaling", 1, "the same work takes more processor time than on the reference"),
    Factor("instructions", "instruction scaling", 2, "more operations are executed than on the reference"),
    Factor("ipc", "IPC scaling", 2, "operations take more cycles: caches, memory, network"),
    Factor("frequency", "frequency scaling", 2, "processors run at a lower clock"),
)
NAMES = tuple(factor.name for factor in FACTORS)


def tree(
    elapsed: Floats,
    useful_mean: Floats,
    useful_max: Floats,
    elapsed_free: Floats,
    *,
    useful_ratio: Floats,
    instructions_ratio: Floats,
    frequency_ratio: Floats,
) -> pd.DataFrame:
    """Return every factor (dimensionless), shape (runs, factors), columns `NAMES`; NaN if an input is missing.

    *elapsed* T_para, *useful_mean* and *useful_max* over processors, *elapsed_free* T_para with free primitives, all in
    the same unit of time; *useful_ratio* useful time of the reference over that of the run (sums over processors),
    *instructions_ratio* the same for instructions, *frequency_ratio* clock of the run over that of the reference. The
    scaling of instructions per cycle is what remains of these three.

    Unit: none (ratios). Source: POP standard metrics (pop-coe.eu).
    """
    with np.errstate(all="ignore"):
        parallel = useful_mean / elapsed
        found = {
            "global": parallel * useful_ratio,
            "parallel": parallel,
            "load_balance": useful_mean / useful_max,
            "communication": useful_max / elapsed,
            "serialisation": useful_max / elapsed_free,
            "transfer": elapsed_free / elapsed,
            "computation": useful_ratio,
            "instructions": instructions_ratio,
            "ipc": useful_ratio / (instructions_ratio * frequency_ratio),
            "frequency": frequency_ratio,
        }
    return pd.DataFrame({name: np.asarray(values, dtype=np.float64) for name, values in found.items()})


def efficiencies(
    scaling: pd.DataFrame,
    records: Mapping[str, RunRecord],
    free: Mapping[str, float] | None = None,
    busiest: Mapping[str, float] | None = None,
) -> pd.DataFrame:
    """Return the tree for every row of *scaling* (`metrics.scaling`), with ``problem``, ``label``, ``processors``.

    *records* by run key give the accounts of each processor, *busiest* the useful time (s) of the busiest one where it
    is known without accounts; factors that need missing data are NaN. Imported busy time includes memory stalls.
    *free*: T_para (s) with free primitives and an ideal network by run key, from what-if runs; otherwise the primitives
    of the busiest processor and its waiting for messages in transit are subtracted from its time, which is exact for
    that processor. ``transfer_by`` says which: ``what-if`` or ``accounts``; ``reference`` is the N compared with.

    Shape: (rows of *scaling*, factors + 5). Unit: none (ratios). Source: POP standard metrics (pop-coe.eu).
    """
    keys = [str(keys).split(",")[0] for keys in scaling["keys"]] if len(scaling) else []
    elapsed, count = numbers(scaling, "time_s"), numbers(scaling, "processors")
    stall = numbers(scaling, "memory_stall_s")
    imported = np.array([key in records and records[key].source == "imported" for key in keys], dtype=bool)
    useful = numbers(scaling, "busy_s") + np.where(imported & np.isnan(stall), 0, stall)
    most, primitive = _busiest([records.get(key) for key in keys])
    most = np.where(np.isnan(most), _middle(scaling, busiest or {}), most)
    reported = np.array([(free or {}).get(key, np.nan) for key in keys], dtype=np.float64)
    elapsed_free = np.where(np.isfinite(reported), reported, elapsed - primitive)
    reference = _reference(scaling)
    with np.errstate(all="ignore"):
        made = tree(
            elapsed,
            useful / count,
            most,
            elapsed_free,
            useful_ratio=useful[reference] / useful,
            instructions_ratio=_ratio(numbers(scaling, "work_ops"), reference),
            frequency_ratio=1 / _ratio(numbers(scaling, "clock_hz"), reference),
        )
    made.insert(0, "problem", scaling["problem"].to_numpy())
    made.insert(1, "label", scaling["label"].to_numpy())
    made.insert(2, "processors", scaling["processors"].to_numpy())
    made["reference"] = count[reference] if len(scaling) else count
    made["transfer_by"] = np.where(
        np.isfinite(reported), "what-if", np.where(np.isfinite(elapsed_free), "accounts", "")
    )
    return made


def _middle(scaling: pd.DataFrame, values: Mapping[str, float]) -> Floats:
    """Return *values* of the median run of every row, or the mean of the middle two; NaN if unknown.

    The keys of a row are in order of time, see `table.problems`.
    """
    found = np.full(len(scaling), np.nan)
    for index, keys in enumerate(scaling["keys"] if values else ()):
        ordered = str(keys).split(",")
        middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
        found[index] = np.mean([values.get(key, np.nan) for key in middle])
    return found


def _ratio(values: Floats, reference: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Floats:
    """Return the reference's value over that of each run."""
    with np.errstate(all="ignore"):
        return np.asarray(values[reference] / values, dtype=np.float64)


def _reference(scaling: pd.DataFrame) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return for every row the position of the row of its problem with the fewest processors."""
    positions = pd.Series(range(len(scaling)), index=scaling.index, dtype="int64")
    if scaling.empty:
        return np.zeros(0, dtype=np.intp)
    least = scaling.assign(position=positions).sort_values(["problem", "processors"]).groupby("problem")["position"]
    first = least.transform("first").reindex(scaling.index)
    return np.array([int(position) for position in first], dtype=np.intp)


def _busiest(records: Sequence[RunRecord | None]) -> tuple[Floats, Floats]:
    """Return useful and primitive seconds of each run's busiest processor, NaN without accounts."""
    found = np.full((2, len(records)), np.nan)
    for index, record in enumerate(records):
        if record is None or not record.processor_categories or not record.clock_hz:
            continue
        useful = _by_processor(record, USEFUL_CATEGORIES)
        at = int(np.argmax(useful))
        found[:, index] = (
            useful[at] / record.clock_hz,
            _by_processor(record, _PRIMITIVE_CATEGORIES)[at] / record.clock_hz,
        )
    return found[0], found[1]


def _by_processor(record: RunRecord, categories: Sequence[str]) -> Floats:
    total = np.zeros(record.point.processors)
    for name in categories:
        total += np.asarray(record.processor_categories.get(name, 0), dtype=np.float64)
    return total


def region_efficiencies(run: RunRecord, reference: RunRecord | None) -> pd.DataFrame:
    """Return the tree for every region with a cost, exclusive: columns ``region``, ``share`` and `NAMES`.

    *share* is that of the run's processor time (0 to 1). T_para of a region is the processor time in it over N; since
    processors are in it at different times, its communication, serialisation and transfer are NaN. *reference*: the run
    of the same problem on the fewest processors; without it computation is NaN. Rows are sorted by ``lost``, the
    processor-seconds beyond those at efficiency 1: N T (1 - global).

    Shape: one row for each region. Unit: none (ratios); ``lost`` processor-seconds. Source: POP standard metrics; for
    regions: ScaleGraph.
    """
    count, clock = run.point.processors, run.clock_hz or float("nan")
    costs = [cost for cost in run.regions if cost.categories]
    before = {cost.region: cost for cost in reference.regions} if reference is not None else {}
    total = np.array([float(sum(cost.categories.values())) for cost in costs])
    useful = np.array([_sum(cost, USEFUL_CATEGORIES) for cost in costs])
    most = np.array([cost.useful_max or np.nan for cost in costs], dtype=np.float64)
    earlier = np.array([_sum(before.get(cost.region), USEFUL_CATEGORIES) for cost in costs])
    instructions = np.array([_counted(cost) for cost in costs])
    instructions_before = np.array([_counted(before.get(cost.region)) for cost in costs])
    clock_before = (reference.clock_hz if reference is not None else None) or float("nan")
    with np.errstate(all="ignore"):
        made = tree(
            total / count,
            useful / count,
            most,
            np.full(len(costs), np.nan),
            useful_ratio=earlier / useful,
            instructions_ratio=instructions_before / instructions,
            frequency_ratio=np.full(len(costs), clock / clock_before),
        )
    return _by_loss(made, [cost.region for cost in costs], total, total / clock, run.processor_cycles)


def path_efficiencies(measured: MeasurementSet, meaning: Meaning, point: int, reference: int | None) -> pd.DataFrame:
    """Return the tree for every call path of an imported set at *point*, as `region_efficiencies` does for a run.

    Uses the metrics ``busy`` (summed over processors) and ``busy_max``, exclusive, made by readers of per-process
    profiles; empty without them, without a summed time, or without a processor count. ``region`` is the position of the
    call path. Takes the median of repetitions.

    Shape: one row for each call path. Unit: none (ratios); ``lost`` processor-seconds. Source: as of
    `region_efficiencies`.
    """
    known = {metric.name for metric in measured.metrics}
    if not ({"busy", "busy_max"} <= known and meaning.summed and meaning.processors in measured.points):
        return pd.DataFrame(columns=pd.Index(["region", "share", *NAMES, "lost"]))
    points = [point, point if reference is None else reference]
    count = float(measured.points[meaning.processors].iloc[point])
    total = _by_path(measured, meaning.time, points)[0] * meaning.seconds
    useful, earlier = _by_path(measured, "busy", points) * meaning.seconds
    most = _by_path(measured, "busy_max", points)[0] * meaning.seconds
    work = meaning.columns.get("work_ops", "")
    instructions = _by_path(measured, work, points) if work in known else np.full((2, len(total)), np.nan)
    missing = np.nan if reference is None else 1.0
    with np.errstate(all="ignore"):
        made = tree(
            total / count,
            useful / count,
            most,
            np.full(len(total), np.nan),
            useful_ratio=missing * earlier / useful,
            instructions_ratio=missing * instructions[1] / instructions[0],
            frequency_ratio=np.full(len(total), np.nan),
        )
    made = made.where(np.isfinite(made))  # the reference or this run does no work here
    there = total > 0
    return _by_loss(made[there], np.flatnonzero(there).tolist(), total[there], total[there], float(total[there].sum()))


def _by_loss(made: pd.DataFrame, places: Sequence[int], total: Floats, seconds: Floats, whole: float) -> pd.DataFrame:
    """Return the trees of *places*, most lost first; they took *total* of *whole*, *seconds* of processor time."""
    made = made.assign(communication=np.nan)  # processors are there at different times, so the delays are unknown
    made.insert(0, "region", places)
    made.insert(1, "share", total / whole if whole else np.nan)
    made["lost"] = seconds * (1 - made["global"].fillna(made["parallel"]))
    return made.sort_values("lost", ascending=False, kind="stable").reset_index(drop=True)


def _by_path(measured: MeasurementSet, metric: str, points: Sequence[int]) -> Floats:
    """Return a metric's exclusive values, shape (points, call paths): medians of repetitions, NaN if missing."""
    index = measured.metric(metric)
    grid = measured.grid(index)[:, points, :]
    known = np.isfinite(grid).any(axis=2)
    values = np.full(known.shape, np.nan)
    values[known] = np.nanmedian(grid[known], axis=1)
    if measured.metrics[index].extent == "inclusive":
        values = measured.without_inside(values)
    return np.ascontiguousarray(values.T)


def _sum(cost: RegionCost | None, categories: Sequence[str]) -> float:
    return float("nan") if cost is None else float(sum(cost.categories.get(name, 0) for name in categories))


def _counted(cost: RegionCost | None) -> float:
    return float("nan") if cost is None else float(cost.counters.get("ops", 0)) or float("nan")


def dominant(row: Mapping[str, float]) -> Factor | None:
    """Return the lowest factor, innermost first; ``None`` if nothing is known or nothing is below 1.

    The search follows the lower branch at every level, so that a low parent is explained by its lower child.

    Source: ScaleGraph.
    """
    name, found = "global", None
    children = {
        "global": ("parallel", "computation"),
        "parallel": ("load_balance", "communication"),
        "communication": ("serialisation", "transfer"),
        "computation": ("instructions", "ipc", "frequency"),
    }
    while True:
        below = [child for child in children.get(name, ()) if np.isfinite(row[child]) and row[child] < 1]
        if not below:
            return found
        name = min(below, key=lambda child: row[child])
        found = next(factor for factor in FACTORS if factor.name == name)
