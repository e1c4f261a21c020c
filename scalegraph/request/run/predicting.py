"""Prediction of large runs of a program: its sample runs, the costs of events, and the predicted points."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from scalegraph import machine as machines
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.events import EventSink, ignore
from scalegraph.base.files import write_atomic
from scalegraph.base.run import Region, RunPoint, RunRecord, Value
from scalegraph.base.units import counted
from scalegraph.predict import measures
from scalegraph.predict.counts import CannotTellError
from scalegraph.predict.derive import EventCosts
from scalegraph.predict.event_costs import PROGRAM, event_costs
from scalegraph.predict.levels import Levels
from scalegraph.predict.measured import MeasuredPredictor, measured_samples
from scalegraph.predict.next_sample import Doubtful, NextSample, next_samples, widest
from scalegraph.predict.predicting import Predicted, Predictor
from scalegraph.predict.regions import Values, projected, values_of
from scalegraph.predict.traced.operations import Read, read_operations
from scalegraph.predict.traced.predicting import TracedPredictor
from scalegraph.request.model.origin import of_study
from scalegraph.request.model.request import MachineChoice, ProgramChoice, Request
from scalegraph.request.run.keeping import keep
from scalegraph.request.run.measured_warnings import Data, data_of, interval_wanted, noise_notes, unknown_data
from scalegraph.request.run.sampling import (
    KeptRuns,
    Runner,
    Submits,
    declared,
    levels_of,
    others_of,
    point_key,
    sampled_levels,
)
from scalegraph.runtime.cache import cache_root
from scalegraph.runtime.library import sources_digest
from scalegraph.store import Study
from scalegraph.store.manifest import digest
from scalegraph.traces.reading import read


@dataclass(frozen=True)
class Point:
    """A predicted point and the run to compare it with.

    *one_s*: predicted time on one processor; *actual_s* and *actual_host_s*: the actual run's simulated and host time,
    if there is one; *samples_s* and *samples_host_s*: total simulated and host time of the samples used (on one
    processor); *estimate_s*: host time of the estimate; *refused*: why there is no prediction.
    """

    processors: int
    values: Values
    predicted: Predicted | None = None
    refused: str = ""
    one_s: float | None = None
    actual_s: float | None = None
    actual_host_s: float | None = None
    samples_s: float = 0.0
    samples_host_s: float = 0.0
    estimate_s: float = 0.0

    @property
    def error(self) -> float | None:
        """Relative error (4.9), None without an actual run."""
        if self.predicted is None or not self.actual_s:
            return None
        return measures.error(self.actual_s, self.predicted.time_s)

    @property
    def prediction_ratio(self) -> float | None:
        """Conservative prediction ratio (4.8); relative to the predicted time if there is no actual run."""
        actual = self.actual_s or (self.predicted.time_s if self.predicted else None)
        return measures.known_ratio(actual, self.samples_s, self.estimate_s)

    @property
    def prediction_ratio_host(self) -> float | None:
        """The same ratio for host times, None without an actual run."""
        return measures.known_ratio(self.actual_host_s, self.samples_host_s, self.estimate_s)

    @property
    def efficiency(self) -> float | None:
        """Predicted efficiency."""
        return None if self.predicted is None or not self.one_s else self.predicted.efficiency(self.one_s)

    @property
    def latency_s(self) -> float | None:
        """Predicted L(W,N) in s."""
        return None if self.predicted is None or not self.one_s else self.predicted.latency_s(self.one_s)


@dataclass(frozen=True)
class Wanted:
    """What to predict: *samples* and *targets* are parameters, *sampled* and *processors* the N of each.

    *counting*: make further small runs for counts; *verify*: run the targets, too; *reference*: run the samples on one
    processor, too, for efficiency; *levels*: run the largest samples on smaller caches, too, to see the effect of data
    that outgrow a cache.
    """

    samples: tuple[Values, ...]
    targets: tuple[Values, ...]
    sampled: tuple[int, ...]
    processors: tuple[int, ...]
    counting: bool = True
    verify: bool = False
    reference: bool = True
    levels: bool = True


@dataclass(frozen=True)
class Traces:
    """The contents of the sample runs' traces, by key of the point; *optional*: runs that may behave differently."""

    reads: Mapping[str, Read]
    optional: frozenset[str] = frozenset()


@dataclass
class Predictions:
    """Predicted points, and the sample runs behind them; *notes*: sentences on runs that were left out.

    *doubtful*: finds the further sample that narrows the intervals, None if there is no such sample; *measured*:
    whether the samples were measured rather than simulated.
    """

    program: str
    machine: str
    points: list[Point] = field(default_factory=list)
    samples: list[RunRecord] = field(default_factory=list)
    predictor: Predictor | None = None
    others: Mapping[str, Value] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    doubtful: Doubtful | None = None
    measured: bool = False

    def next_sample(self) -> NextSample | None:
        """Return the sample run that narrows the widest interval most, relative to its cost; None if none does."""
        if self.doubtful is None:
            return None
        target = widest(point.predicted for point in self.points if point.predicted is not None)
        if target is None:
            return None
        near = self.doubtful.used(target.processors)
        samples = list(
            {
                tuple(values_of(run).items()): values_of(run) for run in self.samples if run.point.processors in near
            }.values()
        )
        try:
            found = next_samples(self.doubtful, samples, target.values, target.processors)
        except CannotTellError:
            return None
        return next(iter(found), None)


class Predicts(Protocol):
    """The interface of predictors from sample runs."""

    def needed(self, values: Values, processors: int) -> Sequence[RunRecord]:
        """Return the runs that a prediction uses; may raise `CannotTellError`."""

    @property
    def sampled(self) -> list[int]:
        """The N of the samples, sorted."""

    def used(self, processors: int) -> list[int]:
        """Return the N whose samples predict N = *processors*; may raise `CannotTellError`."""

    def at(self, values: Values, processors: int) -> Predicted:
        """Return the prediction at *values* on N = *processors*; may raise `CannotTellError`."""


def predict_program(
    session: Submits,
    request: Request,
    wanted: Wanted,
    study: Path | None = None,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
) -> Predictions:
    """Run the samples of the program of *request*, into *study* if given, and predict the targets.

    If the request samples repeated phases, the times of the sample runs are estimates; small runs for counts, and runs
    to compare predictions with, are simulated completely. Raises as `Session.submit`, `InputError` for a program that
    passes messages and is to be sampled, and `CannotTellError` if the samples do not determine anything.
    """
    counts = sorted({*wanted.sampled, *([1] if wanted.reference else [])})
    with TemporaryDirectory(prefix="scalegraph-") as directory:
        runner = Runner(
            session, request, tuple(wanted.samples[0]), study or Path(directory) / "runs.sgstudy", emit, cancel
        )
        # the graph of a program that sends messages comes from the traces of its samples
        messages = any(run.processes is not None for run in runner.run(wanted.samples[:1], counts[:1]))
        if messages and request.collect.sample == "always":
            text = "the program passes messages: its graph is made of traces, which need the whole run"
            raise InputError(Fault(text, key="collect.sample"))
        runs = {run.point.key: run for run in runner.run(wanted.samples, counts, traced=messages)}
        required = frozenset(runs)
        notes: list[str] = []
        if wanted.counting:
            small, notes = runner.counting(list(runs.values()), wanted.targets, counts, traced=messages)
            runs |= {run.point.key: run for run in small}
        samples = list(runs.values())
        levels = levels_of(request.machine, declared(runner.memory, runner.others))
        if wanted.levels:
            levels, failed = sampled_levels(runner, samples, wanted.targets, counts, levels)
            notes += failed
        actual = runner.run(wanted.targets, wanted.processors, whole=True) if wanted.verify else []
    every = sorted({1, *counts, *wanted.processors})
    costs = measured_events(session, request.machine, every, emit, cancel)
    traces = Traces(runner.traces, frozenset(runs) - required)
    found = predict_runs(samples, runner.regions, costs, wanted, actual, traces, levels)
    found.program, found.machine, found.others = runner.program, runner.machine, runner.others
    found.notes += notes
    if study is not None:
        keep(found, study)
    return found


def predict_study(
    session: Submits,
    study: Study,
    targets: Sequence[Values],
    *,
    samples: Sequence[Values] | None = None,
    sampled: Sequence[int] = (),
    processors: Sequence[int] = (),
    name: str = "",
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
) -> Predictions:
    """Predict *targets* on *processors* from the runs of *study*: those of *samples*, or all that are not targets.

    *sampled*: on which N they ran, all of them if empty; *processors*: those of the samples if empty. Predictions are
    compared with runs at a target. Measured or imported runs are predicted by fits of their times by region or call
    path; for repetitions the median counts. *name* stands for the study in errors. Raises `InputError`.
    """
    names = list(targets[0])
    every = [projected(run, names) for run in study.runs() if run.ok and run.source != "predicted"]
    runs = [run for run in every if len(values_of(run)) == len(names)]
    if not runs:
        raise InputError(Fault(_nameless(every, names), file=name))
    used = [
        run
        for run in runs
        if (values_of(run) in samples if samples is not None else values_of(run) not in targets)
        and (not sampled or run.point.processors in {1, *sampled})
    ]
    counts = tuple(sorted({run.point.processors for run in used}))
    wanted = Wanted((), tuple(targets), counts, tuple(processors) or tuple(sampled) or counts)
    others = others_of(study.runs(), names)
    if any(run.source != "simulated" for run in runs):
        found = _predict_measured(study, used, wanted, runs, data_of(study, others))
    else:
        machine = of_study(study.manifest.request, name).machine
        levels = levels_of(machine, declared(study.manifest.memory, others))
        levels, _ = sampled_levels(KeptRuns(study, names), used, targets, counts, levels)
        costs = measured_events(session, machine, sorted({1, *counts, *wanted.processors}), emit, cancel)
        found = predict_runs(used, study.manifest.regions, costs, wanted, runs, None, levels)
    found.program, found.machine = study.manifest.program, study.manifest.machine
    found.others = others
    return found


def _nameless(runs: Sequence[RunRecord], names: Sequence[str]) -> str:
    """Return why none of *runs*, which are *projected* to the parameters *names*, can be a sample."""
    wanted = f"no run has {'the parameter' if len(names) == 1 else 'all of the parameters'} {', '.join(names)}"
    if any(run.point.parameters for run in runs) or not any(run.source == "measured" for run in runs):
        return wanted
    return (
        f"{wanted}: the measured runs do not record their sizes; measure them by a request file "
        "with [parameters], or with `scalegraph measure --parameter n=500,1000`"
    )


def _predict_measured(
    study: Study, used: Sequence[RunRecord], wanted: Wanted, runs: Sequence[RunRecord], data: Data
) -> Predictions:
    """Predict from *used*, some of the measured *runs* of *study*; the others are compared with predictions."""
    begin = time.thread_time()
    measured, meaning = study.measurements(), study.mapping()
    profile = (measured, meaning) if measured is not None and meaning is not None else None
    made = measured_samples(used, study.manifest.regions, profile)
    predictor = MeasuredPredictor(made.runs, made.regions, {}, wanted.targets, repeated=made.repeated, noise=made.noise)
    points = predicted_points(predictor, wanted, measured_samples(runs).runs, begin)
    places = {
        n: [values_of(run) for run in made.runs if run.point.processors in _near(predictor, n)]
        for n in wanted.processors
    }
    points = [
        _warned(point, data.warning(places[point.processors], point.values, point.processors)) for point in points
    ]
    notes = [*noise_notes(used, interval_wanted(study)), *unknown_data(data, used)]
    return Predictions("", "", points, list(used), predictor, notes=notes, doubtful=predictor, measured=True)


def _near(predictor: Predicts, processors: int) -> list[int]:
    try:
        return predictor.used(processors)
    except CannotTellError:
        return []


def _warned(point: Point, warning: str) -> Point:
    return point if point.predicted is None else replace(point, predicted=replace(point.predicted, warning=warning))


def predict_traces(
    paths: Sequence[Path], samples: Sequence[Values], targets: Sequence[Values], cancel: CancelToken | None = None
) -> Predictions:
    """Predict *targets* from traces of any format; *samples*: the parameters of each trace's run.

    Raises `InputError` for a file that is not a trace, or has no messages, collective operations or barriers.
    """
    if len(paths) != len(samples):
        said = f"{counted(len(paths), 'trace')} and the parameters of {counted(len(samples), 'run')}"
        raise InputError(Fault(f"{said} are given; those of each trace were expected", key="--samples"))
    runs, reads = [], {}
    for path, values in zip(paths, samples, strict=True):
        with read(path, cancel=cancel) as trace:
            try:
                own = read_operations(trace)
            except InputError as error:
                raise InputError(Fault(str(error), file=str(path))) from error
        point = RunPoint(processors=len(own.locations), parameters=dict(values))
        runs.append(_imported(own, point))
        reads[point.key] = own
    counts = tuple(sorted({run.point.processors for run in runs}))
    found = predict_runs(runs, (), {}, Wanted((), tuple(targets), counts, counts), (), Traces(reads))
    found.program, found.machine = runs[0].program or paths[0].stem, "the machine of the traces"
    return found


def _imported(own: Read, point: RunPoint) -> RunRecord:
    meta = own.trace.meta
    return RunRecord(
        source="imported",
        program=meta.program,
        machine=meta.properties.get("machine", ""),
        point=point,
        time_s=own.time_s,
        time_cycles=round(own.time_s * meta.ticks_per_second),
        clock_hz=float(meta.ticks_per_second),
    )


def predict_runs(
    samples: Sequence[RunRecord],
    regions: Sequence[Region],
    costs: Mapping[int, EventCosts],
    wanted: Wanted,
    actual: Sequence[RunRecord] = (),
    traces: Traces | None = None,
    levels: Levels | None = None,
) -> Predictions:
    """Predict the targets from *samples*; predictions are compared with *actual* runs.

    *traces*: of the samples of a program that sends messages; *levels*: the caches, and samples on smaller ones.

    A point that the samples do not determine has a sentence instead of a prediction. Raises `InputError` without usable
    samples.
    """
    begin = time.thread_time()
    if traces is not None and traces.reads:
        predictor: Predictor = TracedPredictor(
            samples,
            regions,
            costs,
            wanted.targets,
            traces=traces.reads,
            optional=traces.optional,
            levels=levels or Levels(),
        )
    else:
        predictor = Predictor(samples, regions, costs, wanted.targets, levels=levels or Levels())
    points = predicted_points(predictor, wanted, actual, begin)
    return Predictions("", "", points, list(samples), predictor, doubtful=predictor)


def predicted_points(predictor: Predicts, wanted: Wanted, actual: Sequence[RunRecord], begin: float) -> list[Point]:
    """Return the *predictor*'s points for the targets, with *actual* runs; *begin*: `time.thread_time` before."""
    truth = {point_key(values_of(run), run.point.processors): run for run in actual if run.ok}
    points = [
        _point(predictor, values, n, truth.get(point_key(values, n)))
        for n in wanted.processors
        for values in wanted.targets
    ]
    spent = time.thread_time() - begin
    return [replace(point, estimate_s=spent / len(points)) for point in points]


def _point(predictor: Predicts, values: Values, processors: int, truth: RunRecord | None) -> Point:
    base = Point(
        processors,
        values,
        actual_s=truth.time_s if truth is not None else None,
        actual_host_s=measures.host_seconds([truth]) if truth is not None else None,
    )
    try:
        used = predictor.needed(values, processors)
        found = predictor.at(values, processors)
    except CannotTellError as error:
        return replace(base, refused=str(error))
    one = None
    if 1 in predictor.sampled:
        try:
            one = predictor.at(values, 1).time_s
        except CannotTellError:
            one = None
    spent = sum(run.time_s or 0.0 for run in used)
    return replace(base, predicted=found, one_s=one, samples_s=spent, samples_host_s=measures.host_seconds(used))


def measured_events(
    session: Submits,
    machine: MachineChoice,
    processors: Sequence[int],
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
) -> dict[int, EventCosts]:
    """Return the cycles of events on *machine* for each of *processors*: measured once, then cached.

    Raises as `Session.submit`.
    """
    values = machines.load(machine.path or machine.name, machine.overrides).model_dump(mode="json")
    name = digest(values, PROGRAM.read_text(encoding="utf-8"), sources_digest())
    place = cache_root() / "events" / f"{name}.json"
    known = _read(place)
    missing = [n for n in processors if n not in known]
    if missing:
        whole = machine.model_copy(update={"path": str(Path(machine.path).resolve()) if machine.path else machine.path})
        asked = Request(
            program=ProgramChoice(sources=(str(PROGRAM),), directory=str(PROGRAM.parent)),
            machine=whole,
            processors=tuple(missing),
            reference=False,
        )
        with session.submit(asked, None, emit, cancel) as done:
            regions = done.manifest.regions
            known |= {run.point.processors: event_costs(run, regions) for run in done.runs()}
        place.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(place, json.dumps({str(n): asdict(cost) for n, cost in sorted(known.items())}))
    return {n: known[n] for n in processors if n in known}


def _read(place: Path) -> dict[int, EventCosts]:
    try:
        data = json.loads(place.read_text(encoding="utf-8"))
        return {int(n): EventCosts(**cost) for n, cost in data.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
