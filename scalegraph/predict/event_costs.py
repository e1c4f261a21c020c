"""Costs of events from a run of a program that does nothing else: ``events.c`` in this package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scalegraph.base.errors import RunError
from scalegraph.base.run import Region, RunRecord
from scalegraph.predict.derive import EventCosts

PROGRAM = Path(__file__).with_name("events.c")


def event_costs(run: RunRecord, regions: Sequence[Region]) -> EventCosts:
    """Return the cycles per event on the N of *run*, from the main thread's time in each region.

    Raises `RunError` if the run failed, or lacks a region.
    """
    if not run.ok:
        raise RunError(f"the program that measures events failed on {run.point.label()}: {run.message}")
    costs = {cost.region: cost for cost in run.regions}
    starts = sorted((one for one in regions if one.kind == "parallel"), key=lambda one: one.line)
    barrier = next((one for one in regions if one.kind == "barrier"), None)
    critical = next((one for one in regions if one.kind == "critical"), None)
    if len(starts) < 2 or barrier is None or critical is None:
        raise RunError("the program that measures events lacks regions")

    def each(region: Region) -> float:
        cost = costs.get(region.id)
        visits = cost.counters.get("visits", 0) if cost is not None else 0
        threads = 1 if region.kind == "parallel" else run.point.processors
        return (cost.elapsed or 0) * threads / visits if cost is not None and visits else 0.0

    # all threads take turns in the critical section, so one pass takes a fraction of the main thread's time
    lock = each(critical) / run.point.processors
    return EventCosts(max(0.0, each(starts[0]) - each(starts[1])), each(starts[1]), each(barrier), lock)
