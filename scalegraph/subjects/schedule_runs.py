"""Runs of one problem under several loop schedules, and the advice that follows from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from scalegraph.base.run import AS_WRITTEN, Region, RunRecord, Variant
from scalegraph.subjects import loop_schedules
from scalegraph.subjects.loop_schedules import WRITTEN, LoopTimes
from scalegraph.subjects.study import StudyData

Size = tuple[tuple[str, object], ...]


@dataclass(frozen=True)
class Advice:
    """The schedule that each loop should have on *processors*, and whether a run confirms it.

    *together*: the choice for `scalegraph.link.loops`, empty if every loop is best as written; *run*: the run with it;
    *expected_s*: its time predicted from the runs of single schedules; *fastest*: the fastest of all schedules that
    ran, including *together*.
    """

    processors: int
    loops: tuple[LoopTimes, ...]
    together: str
    written: RunRecord
    run: RunRecord | None
    expected_s: float | None
    fastest: str
    fastest_run: RunRecord

    @property
    def gain(self) -> float:
        """Share of the time as written that the fastest schedule saves."""
        return saving(self.written, self.fastest_run)

    @property
    def sure(self) -> bool:
        """Whether the fastest is certainly faster than the program as written: their intervals do not overlap."""
        times = [(run.time_interval_s or (_time(run), _time(run))) for run in (self.fastest_run, self.written)]
        return times[0][1] < times[1][0]


@dataclass(frozen=True)
class ScheduleRuns:
    """Runs of one problem: *runs* by (schedule, N), `WRITTEN` for the program as it is; *names*: the fastest first."""

    size: Size
    counts: tuple[int, ...]
    names: tuple[str, ...]
    runs: Mapping[tuple[str, int], RunRecord]
    together: Mapping[tuple[str, int], RunRecord]  # with a schedule for each loop
    regions: tuple[Region, ...]

    def records(self, processors: int) -> dict[str, RunRecord]:
        """Return the runs on *processors* by schedule, one for all loops each."""
        return {name: self.runs[name, processors] for name in self.names if (name, processors) in self.runs}

    def advice(self, processors: int) -> Advice | None:
        """Return the advice on *processors*; None if the program did not run there as written."""
        records = self.records(processors)
        written = records.get(WRITTEN)
        if written is None or len(records) == 1:
            return None
        loops = loop_schedules.loop_times(self.regions, records)
        text = loop_schedules.together(loops)
        run = self.together.get((text, processors))
        expected = loop_schedules.expected_cycles(loops, written)
        known = records | ({text: run} if run is not None else {})
        fastest = min(known, key=lambda name: (_time(known[name]), name != WRITTEN, name))
        return Advice(
            processors,
            tuple(loops),
            text,
            written,
            run,
            expected / written.clock_hz if expected is not None and written.clock_hz else None,
            fastest,
            known[fastest],
        )

    def every_advice(self) -> list[Advice]:
        """Return the advice for each processor count, in ascending order."""
        return [found for found in map(self.advice, self.counts) if found is not None]


def saving(written: RunRecord, other: RunRecord) -> float:
    """Return the share of the time of *written* that *other* saves; negative if it takes longer."""
    return 1 - _time(other) / _time(written)


def schedule_runs(data: StudyData, size: Size | None = None) -> ScheduleRuns | None:
    """Return the runs under schedules for the problem *size* (default: the one with most); None if there are none.

    Repetitions are left out.
    """
    varied = [run for run in data.variants if run.ok and run.time_s and _only_schedule(run.point.variant)]
    sizes = Counter(_size(run) for run in varied)
    if not sizes:
        return None
    chosen = size if size is not None else max(sizes, key=lambda one: sizes[one])
    runs = {
        (WRITTEN, run.point.processors): run
        for run in data.runs
        if run.ok and run.time_s and not run.point.repetition and _size(run) == chosen
    }
    if data.manifest.get("automatic"):  # the point's run is the one under the chosen schedule
        for run in data.variants:
            if run.ok and run.time_s and run.point.variant.schedule == AS_WRITTEN and _size(run) == chosen:
                runs[WRITTEN, run.point.processors] = run
    together: dict[tuple[str, int], RunRecord] = {}
    for run in varied:
        name = run.point.variant.schedule
        if _size(run) == chosen and not run.point.repetition:
            (together if by_loop(name) else runs)[name, run.point.processors] = run
    counts = tuple(sorted({n for name, n in runs if name != WRITTEN and (WRITTEN, n) in runs}))
    if not counts:
        return None
    last = counts[-1]
    names = sorted({name for name, _ in runs}, key=lambda name: (_time(runs.get((name, last))), name))
    return ScheduleRuns(chosen, counts, tuple(names), runs, together, data.regions)


def by_loop(schedule: str) -> bool:
    """Return whether *schedule* names loops: ``solve.c:88=EA``."""
    return ":" in schedule.partition("=")[0]


def _only_schedule(variant: Variant) -> bool:
    return variant.schedule not in ("", AS_WRITTEN) and not (variant.ideal or variant.speedup or variant.machine)


def _size(run: RunRecord) -> Size:
    return tuple(sorted(run.point.parameters.items()))


def _time(run: RunRecord | None) -> float:
    return run.time_s if run is not None and run.time_s else float("inf")
