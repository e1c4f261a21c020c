"""The plan of a request: all its runs, before anything starts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scalegraph.base.run import RunPoint, RunRecord, Value
from scalegraph.base.units import counted, si
from scalegraph.link import loops
from scalegraph.predict.small_sizes import counting_sizes
from scalegraph.request.model import collecting, variants
from scalegraph.request.model import tracing as traces
from scalegraph.request.model.request import SEARCHED, Bound, Request
from scalegraph.request.model.resolve import Resolved, resolved
from scalegraph.request.model.tracing import Tracing
from scalegraph.request.planning.estimate import HostTime

_USUAL_TRIES = 4  # sizes that a search usually needs; for the estimate only
_TRIES = 7  # runs for an automatic schedule: as written, the probe, four others, the best for each loop


@dataclass(frozen=True)
class PlannedSearch:
    """A size to search for *processors*; *start*: where the search begins, if no run is known."""

    bound: Bound
    processors: int
    start: Mapping[str, Value]


@dataclass(frozen=True)
class Plan:
    """The runs known now, the searches that will add more, and their cost.

    *estimate_s*: host seconds of everything not yet in the study; None until a run of this program is known, unless its
    description states the work: then *estimate_rough* is set, and it is right within a factor of a few. *limit_s*: host
    seconds if every run reached its time limit. *runs_at_most*: if every search needed all the sizes it may try,
    including all runs that follow: traces of the sizes found, their what-if runs, and virtual speedups.
    """

    points: tuple[RunPoint, ...]
    searches: tuple[PlannedSearch, ...] = ()
    estimate_s: float | None = None
    estimate_rough: bool = False
    limit_s: float = 0.0
    runs_at_most: int = 0
    done: int = 0
    notes: tuple[str, ...] = ()
    predicted: tuple[RunPoint, ...] = ()  # from the runs; none of them is run


def plan(
    request: Request | Resolved,
    *,
    known: Iterable[RunRecord] = (),
    workers: int = 1,
    tracing: Tracing | None = None,
    alike: Iterable[RunRecord] = (),
) -> Plan:
    """Return the plan of *request*; *known* runs count as done and improve the estimate.

    Where they teach nothing, runs *alike* do: of the same program on the same machine, in another study.

    Known runs that lack what the request collects, or a trace (according to *tracing*), do not count.

    Raises `InputError` with every fault of the request.
    """
    found = request if isinstance(request, Resolved) else resolved(request)
    records = [record for record in known if record.ok]
    points = planned_points(found)
    points += variants.asked(found.request, points)
    predicted = predicted_points(found)
    points += _for_predictions(found, predicted, points)
    searches = planned_searches(found)
    whole = [record for record in records if not collecting.lacks(found.request, record)]
    done = {record.point.key for record in whole if tracing is None or not tracing.lacks(record)}
    left = [point for point in points if point.key not in done]
    host = HostTime(found.family)
    host.learn(records)
    if not host.learned:
        host.learn(alike, of_base=True)
    expected = [*left, *(point for search in searches for point in _expected(found, search))]
    at_most = len(points) + _later_at_most(found.request, points, searches)
    return Plan(
        points=tuple(points),
        searches=tuple(searches),
        estimate_s=host.total(expected, workers),
        estimate_rough=not host.learned,
        limit_s=(at_most - len(points) + len(left)) * found.request.limits.time_s / max(1, workers),
        runs_at_most=at_most,
        done=len(points) - len(left),
        notes=(*_notes(found, searches), *_prediction_notes(found, predicted), *traces.notes(found, left, records)),
        predicted=tuple(predicted),
    )


def planned_points(found: Resolved) -> list[RunPoint]:
    """Return the actual points known beforehand, each once, with wanted one-processor runs of every size first."""
    wanted: dict[str, RunPoint] = {}
    first = (1,) if found.request.reference else ()
    for bound in found.request.bound:
        counts = found.request.counts(bound)
        if bound.kind == "problem_size":
            for size in found.sweep:
                _add(wanted, found, size, (*first, *counts))
        elif bound.kind == "growth":
            for count in counts:
                _add(wanted, found, found.family.at(count), (*first, count))
        elif bound.kind == "memory":
            for count in counts:
                _add(wanted, found, memory_size(found, bound, count), (*first, count))
    return list(wanted.values())


def _add(wanted: dict[str, RunPoint], found: Resolved, size: Mapping[str, Value], counts: Iterable[int]) -> None:
    for point in points_of(found, size, counts):
        wanted.setdefault(point.key, point)


def predicted_points(found: Resolved) -> list[RunPoint]:
    """Return the points that the request wants predicted."""
    choice = found.request.predict
    if choice is None:
        return []
    counts = choice.processors or found.request.processors
    return [point for values in choice.targets for point in points_of(found, {**found.sweep[0], **values}, counts)]


def _for_predictions(found: Resolved, predicted: list[RunPoint], points: list[RunPoint]) -> list[RunPoint]:
    """Return the runs for predictions other than the samples, *points*: small runs, and the predicted points."""
    choice = found.request.predict
    if choice is None:
        return []
    more: dict[str, RunPoint] = {}
    samples = choice.samples(found.sweep)
    for count in sorted({point.processors for point in points}) if choice.counting else ():
        for values in counting_sizes(samples, choice.targets, count):
            _add(more, found, {**found.sweep[0], **values}, (count,))
    if choice.verify:
        more |= {point.key: point for point in predicted}
    known = {point.key for point in points}
    return [point for key, point in more.items() if key not in known]


def _prediction_notes(found: Resolved, predicted: list[RunPoint]) -> Iterable[str]:
    choice = found.request.predict
    if choice is None:
        return
    yield f"{counted(len(predicted), 'point')} {'is' if len(predicted) == 1 else 'are'} predicted from the runs"
    if choice.counting:
        yield "small runs give exact counts; those that the program refuses are left out"
    yield "the costs of barriers, locks and forks on the machine are measured the first time"


def points_of(found: Resolved, size: Mapping[str, Value], counts: Iterable[int]) -> list[RunPoint]:
    """Return the points of one *size* on each of *counts*, with all repetitions."""
    target = found.request.target.point_name
    return [
        RunPoint(
            processors=count,
            parameters=dict(size),
            repetition=repetition,
            target=target,
            setting=dict(found.setting),
        )
        for count in counts
        for repetition in range(found.request.repetitions)
    ]


def memory_size(found: Resolved, bound: Bound, processors: int) -> dict[str, Value]:
    """Return the size whose memory is B bytes per processor: M = N B (scale-graph.txt eq. 14)."""
    return found.family.at(found.family.knob_for_memory((bound.value or 0.0) * processors))


def planned_searches(found: Resolved) -> list[PlannedSearch]:
    """Return a search for every count under every searched bound; E = 1 at N = 1 needs none."""
    return [
        PlannedSearch(bound, count, found.family.at(start_knob(found, count)))
        for bound in found.request.bound
        if bound.kind in SEARCHED
        for count in found.request.counts(bound)
        if count > 1 or bound.kind in ("time", "speed")
    ]


def start_knob(found: Resolved, processors: int) -> float:
    """Return the start of a search if nothing is known: the base size with its work multiplied by the root of N.

    Keeping an efficiency needs work that grows at least like N; but the first run should be cheap.
    """
    family = found.family
    return family.knob_for_work(family.work(1.0) * math.sqrt(processors))


def _expected(found: Resolved, search: PlannedSearch) -> list[RunPoint]:
    return points_of(found, search.start, (1, search.processors)) * _USUAL_TRIES


def _later_at_most(request: Request, points: Iterable[RunPoint], searches: Iterable[PlannedSearch]) -> int:
    """Return the maximum number of runs that become known only while the request is carried out."""
    repetitions, many = request.repetitions, 0
    sweep = request.speedups
    swept = sweep.processors or (max(request.every_count()),)
    varied = sum(point.processors in swept and not point.repetition and not point.variant for point in points)
    again = request.trace is not None and request.trace.sizes == "all"
    for search in searches:
        there = {1, search.processors}
        many += 2 * repetitions * (search.bound.max_runs + again)
        many += repetitions * sum(len(there & {*(what.processors or there)}) for what in request.what_ifs())
        varied += len(there & {*swept}) * search.bound.max_runs
    if loops.is_automatic(request.schedule):
        many += _TRIES * sum(point.processors > 1 and not point.repetition for point in points)
    if request.schedules.compare and request.schedules.advise:
        many += sum(not point.variant and not point.repetition for point in points) + sum(
            search.bound.max_runs for search in searches
        )
    return many + varied * (sweep.lines + sweep.regions) * len(sweep.factors)


def _notes(found: Resolved, searches: list[PlannedSearch]) -> Iterable[str]:
    for bound in found.request.bound:
        counts = [search.processors for search in searches if search.bound is bound]
        if counts:
            yield (
                f"{bound.said()}: the size is searched at {len(counts)} processor counts, "
                f"at most {bound.max_runs} sizes each; its runs are added as the search goes"
            )
        if bound.kind == "memory":
            yield from _memory_notes(found, bound)
    request = found.request
    if searches and request.trace is not None and request.trace.sizes == "all":
        yield "the sizes that the searches find are run once more for their traces"
    if searches and request.what_ifs():
        yield "what-if runs of the sizes that the searches find are added at the end"
    if request.speedups.lines or request.speedups.regions:
        sweep = request.speedups
        kinds = ((sweep.lines, "lines"), (sweep.regions, "regions"))
        which = " and ".join(f"{count} {what}" for count, what in kinds if count)
        yield f"virtual speedups of the {which} that cost most, {len(sweep.factors)} factors each, at the end"
    if request.schedules.compare and request.schedules.advise:
        yield "runs with the best schedule of each loop are added at the end"
    if loops.is_automatic(request.schedule):
        yield f"automatic schedules: each point is tried under a few schedules first, at most {_TRIES} runs more"
    sweeps = len(found.sweep) > 1
    if sweeps and any(bound.kind != "problem_size" for bound in found.request.bound):
        yield "lists of parameter values are swept by the problem-size bound only; the other bounds take their first"


def _memory_notes(found: Resolved, bound: Bound) -> Iterable[str]:
    for count in found.request.counts(bound):
        wanted = (bound.value or 0.0) * count
        got = found.family.memory_of(memory_size(found, bound, count))
        if got is not None and abs(got / wanted - 1) > bound.tolerance:
            yield (
                f"{bound.said()}: at N = {count} the nearest size has {si(got / count, 'B')} a processor "
                "(whole numbers, or the limits of a parameter)"
            )
