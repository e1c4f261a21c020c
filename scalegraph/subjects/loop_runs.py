"""Runs with accounts of their loops, each with its schedule."""

from __future__ import annotations

from scalegraph.base.run import RunRecord, Variant
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.study import StudyData


def loop_runs(data: StudyData) -> list[tuple[str, RunRecord]]:
    """Return the runs that differ only in their schedules and have loops, each with its schedule; no repetitions.

    The program as written comes first, as `WRITTEN`.
    """
    found = [(WRITTEN, run) for run in data.runs]
    found += [
        (run.point.variant.schedule, run)
        for run in data.variants
        if run.point.variant == Variant(schedule=run.point.variant.schedule)
    ]
    return [(name, run) for name, run in found if run.ok and not run.point.repetition and run.loops]
