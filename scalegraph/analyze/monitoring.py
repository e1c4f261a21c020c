"""Cost of monitoring on the simulated machine, and the time of a run without it (scale-graph.txt 4.1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields

import pandas as pd

from scalegraph.base.run import RunRecord

CATEGORY = "prim_monitor"


@dataclass(frozen=True)
class Perturbation:
    """Monitoring in one run: *time_s* is T_para with it, *monitor_s* what probes took of a processor on average.

    *compensated_s* is T_para without the probes of the main thread, which runs from beginning to end. That is exact on
    one processor; on more, waiting hides some probes of a thread, and others' probes delay it. *perturbation* is
    T_para / *compensated_s* - 1.
    """

    label: str
    processors: int
    time_s: float
    monitor_s: float
    compensated_s: float
    perturbation: float


def perturbation(run: RunRecord) -> Perturbation | None:
    """Return what monitoring cost *run*; ``None`` if it was not monitored or did not end well.

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
    """Return one row for each of the *runs* that was monitored, with the fields of `Perturbation`.

    Shape: one row for each monitored run. Unit: as in `Perturbation`. Source: scale-graph.txt 4.1.
    """
    rows = [asdict(found) for run in runs if (found := perturbation(run)) is not None]
    return pd.DataFrame(rows, columns=[field.name for field in fields(Perturbation)])
