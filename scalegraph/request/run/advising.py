"""Runs from advice: the next point of a study whose program can be run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.analyze.advise import model_of
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.base.events import EventSink, ignore
from scalegraph.base.run import Value
from scalegraph.predict import kept
from scalegraph.predict.regions import Values, projected
from scalegraph.request.model.origin import of_study
from scalegraph.request.model.request import Bound, Request, Scaling, Schedules, Speedups
from scalegraph.request.run.predicting import Wanted, predict_runs
from scalegraph.request.run.sampling import KeptRuns, declared, levels_of, others_of, sampled_levels
from scalegraph.subjects import next_run

if TYPE_CHECKING:
    from scalegraph.analyze.advise import Advice, Cost, Model
    from scalegraph.predict.next_sample import NextSample
    from scalegraph.request.consent import Consent
    from scalegraph.request.run.session import Session
    from scalegraph.store import Manifest, Study
    from scalegraph.subjects.study import StudyData


def advised(
    data: StudyData, at: int | None = None, size: float | None = None, cost: Cost = "elapsed", most: int | None = None
) -> tuple[Model, list[float], list[Advice]]:
    """Return the law of a study, the point to predict, and the runs that narrow the prediction, best first.

    *at* (processors) and *size*: the point; *cost*: the measure of a run's cost; *most*: the most processors that can
    be run; see `scalegraph.views.study.whatif.advise`.

    Raises:
        WorkError: there are too few points for any law.

    """
    model = model_of(data.table, data.scaling)
    if model is None:
        raise WorkError(
            f"{data.name}: no advice yet: one problem on three or more processor counts is needed for a law"
        )
    goal = next_run.target_of(model, at, size)
    return model, goal, next_run.found(data, model, goal, cost, most)


def next_sample(study: Study) -> NextSample | None:
    """Return the sample run that narrows the predictions of *study* most; None if it has none, or no run would.

    Predictions from traces, and those by blocks, need more data than a study keeps.
    """
    known = kept.read(study.facts(kept.FACT))
    runs = [run for run in study.runs() if run.point.key in known.samples and run.source != "predicted"]
    points = [point for point in known.points if point.time_s is not None]
    if not runs or not points or not known.costs or any(run.processes is not None for run in runs):
        return None
    names = _varied([*(run.point.parameters for run in runs), *(point.parameters for point in points)])
    places = [({name: int(point.parameters[name]) for name in names}, point.processors) for point in points]
    targets: list[Values] = [values for values, _ in places]
    sampled = tuple(sorted({run.point.processors for run in runs}))
    wanted = Wanted((), tuple(targets), sampled, tuple(sorted({processors for _, processors in places})))
    samples = [projected(run, names) for run in runs]
    try:
        choice = of_study(study.manifest.request, study.manifest.program).machine
        levels = levels_of(choice, declared(study.manifest.memory, others_of(study.runs(), names)))
        levels, _ = sampled_levels(KeptRuns(study, names), samples, targets, wanted.sampled, levels)
        own = predict_runs(samples, study.manifest.regions, known.events, wanted, levels=levels)
    except (InputError, WorkError):
        return None
    own.points = [point for point in own.points if (point.values, point.processors) in places]
    return own.next_sample()


def _varied(points: Sequence[Mapping[str, Value]]) -> list[str]:
    """Return the integer parameters that differ among *points*."""
    numbers = [name for name in points[0] if all(isinstance(values.get(name), int) for values in points)]
    return [name for name in numbers if len({values[name] for values in points}) > 1] or numbers


def request_of(manifest: Manifest, entry: Advice, file: str) -> Request:
    """Return the study's request, for the single point of *entry*."""
    if not manifest.request.get("program"):
        raise InputError(Fault("holds no program that could be run; run the point yourself and import it", file=file))
    request = of_study(manifest.request, file)
    known = {name: value for name, value in entry.parameters.items() if name in request.parameters}
    return request.model_copy(
        update={
            "processors": (entry.processors,),
            "parameters": {**request.base(), **known},
            "bound": (Bound(),),
            "scaling": Scaling(),
            "what_if": (),
            "speedups": Speedups(),
            "schedules": Schedules(),
            "predict": None,
        }
    )


def run_next(
    session: Session,
    path: Path,
    entry: Advice,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
    consent: Consent | None = None,
    change: Callable[[Request], Request] = lambda request: request,
) -> None:
    """Run the point of *entry* into the study at *path*, which keeps its own request; *change* makes the run's request.

    Raises as `Session.submit`.
    """
    manifest = session.open(path).manifest
    request = change(request_of(manifest, entry, str(path)))
    with session.submit(request, path, emit, cancel, consent=consent) as study:
        study.set_manifest(manifest)
