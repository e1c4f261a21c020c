"""Runs under automatic schedules: each point is tried first, then runs under the fastest schedule.

Runs of the program as written and under a probe schedule show the iteration times (`subjects.automatic_schedules`);
then the few promising schedules run, and finally each loop with the best of them. All these are variants of the point,
and the study keeps them and the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from scalegraph.base.measures import percent
from scalegraph.base.run import AS_WRITTEN, Region, RunPoint, RunRecord, Variant
from scalegraph.base.units import assigned
from scalegraph.request.model.kept import AUTOMATIC, Chosen, chosen_schedules
from scalegraph.store import Study
from scalegraph.subjects import loop_schedules

if TYPE_CHECKING:
    from scalegraph.subjects.automatic_schedules import Picked

_TOLD: Final = 3  # loops described in a sentence
WRITTEN: Final = loop_schedules.WRITTEN

Known = Mapping[str, RunRecord]


def choice_key(point: RunPoint) -> str:
    """Return the key of the choice for *point*, its repetitions and what-if runs."""
    return point.model_copy(update={"variant": Variant(), "repetition": 0}).key


def begun(points: Iterable[RunPoint]) -> list[RunPoint]:
    """Return the runs that characterise the loops of *points*: as written, and under the probe."""
    from scalegraph.analyze.loops.selection import PROBE  # imports numpy

    return [_under(point, name) for point in _bases(points) for name in (WRITTEN, PROBE)]


def choose(
    study: Study,
    points: Iterable[RunPoint],
    regions: Sequence[Region],
    run: Callable[[Sequence[RunPoint]], Known],
    stopped: Callable[[], bool],
) -> list[RunPoint]:
    """Choose the schedule of each of *points* that has none yet, and return those that can be run now.

    *run*: carries out runs and returns all known ones, by key; *stopped*: whether the user has stopped it, in which
    case points without a choice are left out. A point that fails as written runs as written.
    """
    every = list(points)
    kept = chosen_schedules(study)
    fresh = [point for point in _bases(every) if point.key not in kept]
    if fresh:
        from scalegraph.analyze.loops.selection import PROBE  # imports numpy
        from scalegraph.subjects.automatic_schedules import to_try

        known = run(begun(fresh))
        picks = {point.key: _picked(known, point, regions) for point in fresh}
        tried = {point.key: [PROBE, *to_try(picks[point.key])] for point in fresh}
        known = run([_under(point, name) for point in fresh for name in tried[point.key]])
        for point in fresh:
            if best := _together(known, point, tried[point.key], regions):
                tried[point.key].append(best)
        known = run([_under(point, name) for point in fresh for name in tried[point.key]])
        for point in fresh if not stopped() else ():
            kept[point.key] = _choice(known, point, tried[point.key], picks[point.key])
        study.set_facts(AUTOMATIC, {key: one.model_dump(mode="json") for key, one in kept.items()})
    return [point for point in every if point.processors == 1 or choice_key(point) in kept]


def schedules(study: Study) -> Callable[[RunPoint], str]:
    """Return a function from points to their chosen schedule, empty for the program as written."""
    kept = chosen_schedules(study)
    return lambda point: found.schedule if (found := kept.get(choice_key(point))) is not None else WRITTEN


def shown(study: Study, points: Iterable[RunPoint]) -> list[Chosen]:
    """Return the choices for *points*, by ascending processors, for display and JSON."""
    kept, keys = chosen_schedules(study), dict.fromkeys(choice_key(point) for point in points)
    return sorted((kept[key] for key in keys if key in kept), key=lambda one: one.processors)


def without_tries(study: Study, records: Iterable[RunRecord]) -> list[RunRecord]:
    """Return *records*, what-if runs of *study*, without those made to choose a schedule."""
    kept = chosen_schedules(study)
    names = {key: {AS_WRITTEN, *found.tried_s} for key, found in kept.items()}

    def is_try(variant: Variant, key: str) -> bool:
        return variant == Variant(schedule=variant.schedule) and variant.schedule in names.get(key, ())

    return [one for one in records if not is_try(one.point.variant, choice_key(one.point))]


def sentence(found: Chosen) -> str:
    """Return one choice in words: the schedule, its gain over the program as written, and what was tried."""
    where = f"N = {found.processors}"
    if found.parameters:
        where += f", {assigned(found.parameters.items())}"
    others = ", ".join(name for name in found.tried_s if name not in (WRITTEN, found.schedule))
    tried = f"; {others} ran, too" if others else ""
    seen = "".join(f"; {loop['loop']}: {loop['why']}" for loop in found.loops[:_TOLD] if {"loop", "why"} <= {*loop})
    if not found.schedule or not found.written_s:
        return f"{where}: the program as written is fastest{tried}{seen}"
    gain = percent(1 - (found.time_s or 0.0) / found.written_s)
    return f"{where}: schedule {found.schedule}, {gain} less time than as written{tried}{seen}"


def _bases(points: Iterable[RunPoint]) -> list[RunPoint]:
    """Return the points that need a choice: without variants and repetitions, on more than one processor."""
    found = {
        choice_key(point): point.model_copy(update={"variant": Variant(), "repetition": 0})
        for point in points
        if point.processors > 1
    }
    return list(found.values())


def _under(point: RunPoint, name: str) -> RunPoint:
    return point.model_copy(update={"variant": Variant(schedule=name or AS_WRITTEN)})


def _record(known: Known, point: RunPoint, name: str) -> RunRecord | None:
    return known.get(_under(point, name).key)


def _good(known: Known, point: RunPoint, names: Iterable[str]) -> dict[str, RunRecord]:
    """Return the successful runs of *point*, by schedule, the program as written first."""
    found = {name: _record(known, point, name) for name in (WRITTEN, *names)}
    return {name: one for name, one in found.items() if one is not None and one.ok and one.time_s}


def _picked(known: Known, point: RunPoint, regions: Sequence[Region]) -> list[Picked]:
    from scalegraph.analyze.loops.selection import PROBE  # imports numpy
    from scalegraph.subjects.automatic_schedules import of_run

    runs = _good(known, point, [PROBE])
    if len(runs) < 2:
        return []
    return of_run(regions, runs[PROBE], runs[WRITTEN])


def _together(known: Known, point: RunPoint, names: Sequence[str], regions: Sequence[Region]) -> str:
    """Return each loop with the schedule that was best for it; empty if that has already run."""
    runs = _good(known, point, names)
    loops = loop_schedules.loop_times(regions, runs) if WRITTEN in runs else []
    return loop_schedules.together(loops) if len({loop.best for loop in loops}) > 1 else ""


def _choice(known: Known, point: RunPoint, names: Sequence[str], picks: Sequence[Picked]) -> Chosen:
    """Return the choice for *point* to keep: the fastest of all that ran, as written if nothing is faster."""
    times = {name: run.time_s or 0.0 for name, run in _good(known, point, names).items()}
    best = min(times, key=lambda name: (times[name], name != WRITTEN, name), default=WRITTEN)
    return Chosen(
        processors=point.processors,
        parameters=dict(point.parameters),
        schedule=best,
        time_s=times.get(best),
        written_s=times.get(WRITTEN),
        tried_s=times,
        loops=[asdict(pick) for pick in picks],
    )
