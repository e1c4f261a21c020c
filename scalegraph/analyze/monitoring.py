"""The cost of monitoring on the simulated machine, and the run time without it (scale-graph.txt 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

import pandas as pd

from scalegraph.base.run import RunRecord

CATEGORY = "prim_monitor"


@dataclass(frozen=True)
class Perturbation:
    """The cost of monitoring a run: *time_s* is T_para with it, *monitor_s* the probe time of a processor on average.

    *compensated_s* is T_para without the probes of the main thread, which runs from start to end. This is exact on one
    processor; with more, some probes overlap with waiting, and those of other threads cause delays. *perturbation* is
    T_para / *compensated_s* - 1.
    """

    label: str
    processors: int
    time_s: float
    monitor_s: float
    compensated_s: float
    perturbation: float


def perturbation(run: RunRecord) -> Perturbation | None:
    """Return the cost of monitoring *run*; ``None`` if it was not monitored or failed.

    Unit: as in `Perturbation`. Source: scale-graph.txt 4.1.
    """
    cycles = run.processor_categories.get(CATEGORY, [])
    if not run.ok or not any(cycles) or not run.time_s or not run.clock_hz:
        return None
    compensated = run.time_s - cycles[0] / run.clock_hz
    if compensated <= 0:
        return None
    count = run.point.processors
    average = sum(cycles) / (count * run.clock_hz)
    return Perturbation(run.point.label(), count, run.time_s, average, compensated, run.time_s / compensated - 1)


def table(runs: Iterable[RunRecord]) -> pd.DataFrame:
    """Return one row for each monitored run in *runs*, with the fields of `Perturbation`.

    Shape: one row for each monitored run. Unit: as in `Perturbation`. Source: scale-graph.txt 4.1.
    """
    rows = [asdict(found) for run in runs if (found := perturbation(run)) is not None]
    return pd.DataFrame(rows, columns=[field.name for field in fields(Perturbation)])
