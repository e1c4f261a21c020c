"""Repetitions of measured runs, until the interval of their median is narrow enough."""

from __future__ import annotations

from collections.abc import Iterable

from scalegraph.analyze.targets import repeated, taken
from scalegraph.base.intervals import median_interval
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.request.model.parts import TargetChoice
from scalegraph.request.model.request import Request

SURE = 0.95


def wanted(request: Request, records: Iterable[RunRecord]) -> list[RunPoint]:
    """Return the next repetition of each measured point whose interval is wider than the request wants.

    Runs disturbed by other programs do not count for the interval: each is repeated once more. A point with a failed
    run is not repeated.
    """
    choice = request.target
    if not choice.until:
        return []
    mine = [record for record in records if record.point.target == choice.point_name and not record.point.variant]
    found = []
    for group in repeated(mine).values():
        if len(group) >= choice.most_runs or not all(record.ok for record in group) or narrow(group, choice):
            continue
        last = max(record.point.repetition for record in group)
        found.append(group[0].point.model_copy(update={"repetition": last + 1}))
    return found


def narrow(runs: Iterable[RunRecord], choice: TargetChoice) -> bool:
    """Return whether the median of *runs* is as certain as *choice* wants, with a confidence of 95 %."""
    times = sorted(run.time_s or 0.0 for run in runs if taken(run)[0] <= choice.disturbed / 100)
    if len(times) < 2:
        return False
    low, high, sure = median_interval(times)
    middle = times[len(times) // 2]
    return sure >= SURE and (high - low) / 2 <= middle * choice.until / 100
