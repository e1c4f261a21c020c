"""The thread graph of a study: read from a graph file, or derived from the regions of runs at several sizes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from scalegraph.base.errors import InputError, near
from scalegraph.base.run import Region, RunRecord
from scalegraph.base.units import plain, significant
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.derive import REST
from scalegraph.predict.graph import Graph
from scalegraph.predict.graph_times import Growth, Placed, StepTimes, expanded, growth, segments, step_times, values_for
from scalegraph.predict.predicting import Predictor
from scalegraph.predict.regions import RegionTime, Values, projected, values_of
from scalegraph.subjects.study import StudyData

_USUAL_N = 8  # default for a graph file
_USUAL_VALUE = 100  # default for its parameters


@dataclass(frozen=True)
class Samples:
    """Runs from which a thread graph can be derived: those of one program with regions, at several sizes.

    *names*: their parameters that differ; *by_count*: the sizes run on each N.
    """

    runs: tuple[RunRecord, ...]
    names: tuple[str, ...]
    by_count: Mapping[int, tuple[Values, ...]]

    @property
    def counts(self) -> tuple[int, ...]:
        """The N with two sizes or more, ascending; those above 1 if there are any."""
        several = sorted(n for n, sizes in self.by_count.items() if len(sizes) > 1)
        return tuple(n for n in several if n > 1) or tuple(several)


def samples(data: StudyData) -> Samples | None:
    """Return the runs of *data* from which a thread graph can be derived, None if there are none.

    Runs with different fractional or text parameters count as different programs; the one with the most runs is used.
    """
    groups: dict[object, list[RunRecord]] = defaultdict(list)
    for run in data.runs:
        usable = run.ok and run.source != "predicted" and run.time_cycles and not run.point.repetition
        if usable and any(cost.busy_max for cost in run.regions):
            others = {name: value for name, value in run.point.parameters.items() if not isinstance(value, int)}
            what = (run.program, run.machine, tuple(sorted(others.items())), tuple(sorted(values_of(run))))
            groups[what].append(run)
    best = max(groups.values(), key=len, default=[])
    if not best or any(run.processes for run in best):
        return None
    every = [values_of(run) for run in best]
    names = tuple(name for name in sorted(every[0]) if len({values[name] for values in every}) > 1)
    runs = tuple(projected(run, names) for run in best)
    by_count: dict[int, list[Values]] = defaultdict(list)
    for run in runs:
        by_count[run.point.processors].append(values_of(run))
    found = Samples(runs, names, {n: tuple(sizes) for n, sizes in by_count.items()})
    return found if found.counts else None


@dataclass(frozen=True)
class Known:
    """Facts about a segment besides its time: its region, its count F, and the coefficients c_g."""

    region: int | None = None
    count: str = ""
    coefficients: str = ""


@dataclass(frozen=True)
class SegmentFacts:
    """A segment with its time in s (all passes of one thread), its share of the parallel time, and how it grows."""

    placed: Placed
    time_s: float | None
    share: float
    growth: Growth
    known: Known

    @property
    def holds_back(self) -> bool:
        """Whether it does not scale."""
        return self.growth in ("serial", "in turn", "grows", "stays") and self.share > 0


@dataclass(frozen=True)
class ThreadGraph:
    """A thread graph at *values* on N = *processors*, with its times; *compared*: the N that growth is relative to."""

    graph: Graph
    values: Mapping[str, float]
    processors: int
    times: StepTimes
    facts: tuple[SegmentFacts, ...]
    compared: int | None = None
    derived: bool = False

    @property
    def of_path(self) -> Mapping[str, SegmentFacts]:
        """The segments by path."""
        return {one.placed.path: one for one in self.facts}


def thread_graph(data: StudyData, at: str = "", processors: int | None = None) -> ThreadGraph:
    """Return the thread graph of *data* at a size (``n=800``; may include ``N=64``).

    Defaults: the largest size that was predicted, or else the largest that was run; the most processors with samples.
    Raises `InputError` for unknown values, `CannotTellError` if the runs do not determine a count.
    """
    chosen = _chosen(at)
    if "N" in chosen:
        processors = chosen.pop("N")
    key = f"thread-graph {sorted(chosen.items())} {processors}"
    made = _derived if data.graph is None else _of_file
    return data.once(key, lambda: made(data, chosen, processors))


def _chosen(text: str) -> dict[str, int]:
    found = {}
    for part in filter(None, text.replace(";", ",").replace(" ", ",").split(",")):
        name, equals, value = part.partition("=")
        try:
            found[name.strip()] = int(value)
        except ValueError:
            raise InputError(f"at: '{part}': name=whole number was expected") from None
        if not equals or not name.strip():
            raise InputError(f"at: '{part}': name=whole number was expected")
    return found


def _of_file(data: StudyData, chosen: Mapping[str, int], processors: int | None) -> ThreadGraph:
    assert data.graph is not None
    graph = expanded(data.graph)
    unknown = sorted(set(chosen) - set(graph.parameters))
    if unknown:
        names = ", ".join(graph.parameters) or "none"
        raise InputError(f"at: no parameter '{unknown[0]}'{near(unknown[0], graph.parameters)}; known: {names}, N")
    values = values_for(graph, dict.fromkeys(graph.parameters, float(_USUAL_VALUE)) | dict(chosen))
    count = processors or _USUAL_N
    times = step_times(graph, values, count)
    fewer = step_times(graph, values, max(1, count // 2)) if count > 1 else None
    facts = [
        _facts(placed, times, fewer, Known(data.region_at(placed.step.place), placed.step.time))
        for placed in segments(graph)
    ]
    return ThreadGraph(graph, values, count, times, tuple(facts), fewer.processors if fewer else None)


def _derived(data: StudyData, chosen: Mapping[str, int], processors: int | None) -> ThreadGraph:
    known = samples(data)
    if known is None:
        raise InputError("no runs with regions at two sizes on one N")
    values = _size(data, known, chosen)
    count = processors if processors is not None else known.counts[-1]
    if count not in known.counts:
        there = ", ".join(map(str, known.counts))
        raise InputError(f"processors: no samples at two sizes on {count}; there are some on {there}")
    predictor = Predictor(known.runs, data.regions, data.event_costs, [values])
    graph = expanded(predictor.graph(values, count))
    times = step_times(graph, {}, count)
    fewer = _on_fewer(predictor, known, values, count, graph)
    regions = {(one.samples.region.name, _place(one.samples.region)): one for one in predictor.times(count).values()}
    facts = [
        _facts(placed, times, fewer, _known(regions.get((placed.step.name, placed.step.place))))
        for placed in segments(graph)
    ]
    numbers = {name: float(value) for name, value in values.items()}
    compared = fewer.processors if fewer else None
    return ThreadGraph(graph, numbers, count, times, tuple(facts), compared, derived=True)


def _size(data: StudyData, known: Samples, chosen: Mapping[str, int]) -> dict[str, int]:
    """Return the size to show: the *chosen* values, the rest from the largest size that was predicted, or run."""
    unknown = sorted(set(chosen) - set(known.names))
    if unknown:
        raise InputError(
            f"at: no parameter '{unknown[0]}'{near(unknown[0], known.names)}; known: {', '.join(known.names)}, N"
        )
    predicted = [run for run in data.runs if run.source == "predicted" and set(known.names) <= set(values_of(run))]
    largest = max(predicted or known.runs, key=lambda run: (run.time_s or 0.0) * run.point.processors)
    return {name: values_of(largest)[name] for name in known.names} | dict(chosen)


def _on_fewer(predictor: Predictor, known: Samples, values: Values, count: int, graph: Graph) -> StepTimes | None:
    """Return the times on the next smaller N with samples, by path of *graph*; None if there is none."""
    for fewer in reversed([n for n in known.counts if 1 < n < count]):
        try:
            other = expanded(predictor.graph(values, fewer))
        except CannotTellError:
            continue
        times = step_times(other, {}, fewer)
        spent = {_name(placed, i): times.spent.get(placed.path, 0.0) for placed, i in _counted(segments(other))}
        paths = {
            placed.path: spent[_name(placed, i)] for placed, i in _counted(segments(graph)) if _name(placed, i) in spent
        }
        return replace(times, spent=paths)
    return None


def _counted(found: Sequence[Placed]) -> list[tuple[Placed, int]]:
    """Return segments with the number of earlier ones of the same name."""
    before: Counter[tuple[str, str, str]] = Counter()
    made = []
    for placed in found:
        key = (placed.thread_class, placed.step.name, placed.step.place)
        made.append((placed, before[key]))
        before[key] += 1
    return made


def _name(placed: Placed, number: int) -> tuple[str, str, str, int]:
    return (placed.thread_class, placed.step.name, placed.step.place, number)


def _facts(placed: Placed, times: StepTimes, fewer: StepTimes | None, known: Known) -> SegmentFacts:
    how = growth(placed, times, fewer)
    if placed.step.name == REST and how == "serial":  # all threads wait there
        how = "not known"
    return SegmentFacts(placed, times.spent.get(placed.path), times.share(placed.path) or 0.0, how, known)


def _known(time: RegionTime | None) -> Known:
    if time is None:
        return Known()
    parts = ["busy: counted exactly" if time.exact is not None else f"busy: {_terms(time.busy.coefficients)}"]
    if any(time.stall.coefficients):
        parts.append(f"memory stall: {_terms(time.stall.coefficients)}")
    count = time.exact.formula if time.exact is not None else time.growth.formula
    return Known(time.samples.region.id, count, "; ".join(parts))


def _terms(coefficients: Sequence[float]) -> str:
    """Return coefficients in cycles, as ``c1 = 3.2, c2 = 40``; zeros are left out."""
    found = [f"c{i} = {significant(value, 3)}" for i, value in enumerate(coefficients, 1) if value]
    return ", ".join(found) or plain(0)


def _place(region: Region) -> str:
    return f"{region.file}:{region.line}" if region.line else ""
