"""Runs from advice: the next point of a study whose program can be run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph.analyze.advise import model_of
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, WorkError
from scalegraph.base.events import EventSink, ignore
from scalegraph.request.model.origin import of_study
from scalegraph.request.model.request import Bound, Request, Scaling, Schedules, Speedups
from scalegraph.subjects import next_run

if TYPE_CHECKING:
    from scalegraph.analyze.advise import Advice, Cost, Model
    from scalegraph.request.consent import Consent
    from scalegraph.request.run.session import Session
    from scalegraph.store import Manifest
    from scalegraph.subjects.study import StudyData


def advised(
    data: StudyData, at: int | None = None, size: float | None = None, cost: Cost = "elapsed", most: int | None = None
) -> tuple[Model, list[float], list[Advice]]:
    """Return the law of a study, the point whose time is to be known, and the runs that narrow it, best first.

    *at* (processors) and *size* are the point, *cost* is what a run costs and *most* the most processors that can be
    run; see `scalegraph.views.study.whatif.advise`.

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


def request_of(manifest: Manifest, entry: Advice, file: str) -> Request:
    """Return the request of the study for the one point of *entry*.

    Raises:
        InputError: the study has no request that could be run; it holds measurements.

    """
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
) -> None:
    """Run the point of *entry* into the study at *path*, which keeps its own request. Raises as `Session.submit`."""
    manifest = session.open(path).manifest
    request = request_of(manifest, entry, str(path))
    with session.submit(request, path, emit, cancel, consent=consent) as study:
        study.set_manifest(manifest)
