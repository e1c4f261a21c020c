"""The run and the loop that a view of schedules shows."""

from __future__ import annotations

from dataclasses import dataclass

from scalegraph.base.errors import InputError
from scalegraph.base.loops import LoopCost
from scalegraph.base.run import RunRecord
from scalegraph.figures.way import Need
from scalegraph.subjects.loop_runs import loop_runs
from scalegraph.subjects.loop_schedules import WRITTEN
from scalegraph.subjects.option import Option
from scalegraph.subjects.study import StudyData
from scalegraph.views import common, ways
from scalegraph.views.study.schedules import words as said

SCHEDULE = Option(
    "schedule", "Schedule", "text", description="as it was requested, or 'as written'; otherwise the fastest"
)
LOOP = Option("loop", "Loop", "text", description="FILE:LINE; otherwise the loop that takes the most time")
LOOPS_NEED = Need(
    "No loop in these runs gets its iterations from the runtime.",
    ways.COMPARE_SCHEDULES,
    "Static loops compiled inline are not seen: run the program under chosen schedules.",
    "This needs simulated runs of loops.",
    met=lambda data, **_: bool(loop_runs(data)),
)


@dataclass(frozen=True)
class Chosen:
    """A run, the name of its schedule, and one of its loops."""

    name: str
    run: RunRecord
    loop: LoopCost


def of_size(data: StudyData, size: object = None) -> list[tuple[str, RunRecord]]:
    """Return the runs under all schedules of the problem that `common.chosen_run` selects."""
    run = common.chosen_run(data, size)
    return [pair for pair in loop_runs(data) if run is None or pair[1].point.parameters == run.point.parameters]


def on_count(data: StudyData, size: object = None, processors: object = None) -> list[tuple[str, RunRecord]]:
    """Return the `of_size` runs on *processors* (default: the most), fastest first.

    Raises:
        InputError: there is no run on that many processors.

    """
    runs = of_size(data, size)
    counts = sorted({run.point.processors for _, run in runs})
    count = counts[-1] if processors is None and counts else int(str(processors or 0))
    found = [pair for pair in runs if pair[1].point.processors == count]
    if not found:
        raise InputError(f"processors: no run on {count}; run were {', '.join(map(str, counts))}")
    return sorted(found, key=lambda pair: pair[1].time_s or 0.0)


def the_loop(
    data: StudyData, size: object = None, processors: object = None, schedule: object = None, loop: object = None
) -> Chosen:
    """Return the chosen run and loop; by default the fastest schedule and the longest loop.

    Raises:
        InputError: there is no such run, schedule or loop; the message lists what there is.

    """
    runs = [pair for pair in on_count(data, size, processors) if pair[1].loops]
    if schedule:
        names = [said.said(name) for name, _ in runs]
        runs = [pair for pair in runs if said.said(pair[0]).lower() == str(schedule).lower()]
        if not runs:
            raise InputError(f"schedule: no run under '{schedule}' has loops; those are {', '.join(names)}")
    if not runs:
        raise InputError("processors: no run on that count has a loop that gets its iterations from the runtime")
    name, run = runs[0]
    known = sorted(run.loops, key=lambda one: -one.elapsed)
    found = [one for one in known if not loop or one.place == str(loop)]
    if not found:
        raise InputError(f"loop: there is no loop at '{loop}'; loops are {', '.join(one.place for one in known)}")
    return Chosen(name, run, found[0])


def words(chosen: Chosen) -> str:
    """Return the picture's title: ``heavy.c:8 under EA, N = 8``."""
    under = f"as written ({chosen.loop.schedule})" if chosen.name == WRITTEN else f"under {chosen.loop.schedule}"
    return f"{chosen.loop.place} {under}, N = {chosen.run.point.processors}"


def note(chosen: Chosen) -> str:
    """Return the same as a note, for windows that show no title."""
    return f"Loop: {chosen.loop.place}. Run: {chosen.run.point.label()}."
