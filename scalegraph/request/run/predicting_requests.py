"""A request with predictions: its samples, the small runs and event costs that they need, and the predicted points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled
from scalegraph.base.events import (
    Building,
    Done,
    Event,
    EventSink,
    Note,
    Planned,
    RunFailed,
    RunFinished,
    RunSkipped,
    RunStarted,
    ignore,
)
from scalegraph.base.run import RunPoint
from scalegraph.base.units import assigned, si
from scalegraph.predict import kept
from scalegraph.request.model.resolve import Resolved
from scalegraph.request.planning.plan import plan
from scalegraph.request.run.predicting import Point, Wanted, predict_program
from scalegraph.store import Study

if TYPE_CHECKING:
    from scalegraph.request.consent import Consent
    from scalegraph.request.model.request import Request
    from scalegraph.request.run.session import Session


class Together:
    """Submits the partial requests of one user request: one stream of events, one ``Done`` at the end.

    After a request to stop, `submit` raises `Cancelled` instead of returning an incomplete study.
    """

    def __init__(
        self,
        session: Session,
        planned: Iterable[RunPoint],
        emit: EventSink,
        cancel: CancelToken,
        workers: int | None,
        consent: Consent | None,
    ) -> None:
        self._session = session
        self._emit = emit
        self._cancel = cancel
        self._workers = workers
        self._consent = consent
        self._points = {point.key: point for point in planned}
        self._ended: dict[str, bool] = {}  # by key of the point: whether the run succeeded
        self._built: set[str] = set()

    def submit(
        self,
        request: Request,
        study_path: Path | str | None,
        emit: EventSink = ignore,  # noqa: ARG002 - events go where they all go
        cancel: CancelToken | None = None,
        *,
        traces: Path | str | None = None,
    ) -> Study:
        """Carry *request* out; see `Session.submit`."""
        study = self._session.submit(
            request,
            study_path,
            self._pass_on,
            cancel or self._cancel,
            workers=self._workers,
            traces=traces,
            consent=self._consent,
        )
        if self._cancel.cancelled:
            study.close()
            raise Cancelled("stopped; what was finished is kept")
        return study

    def begin(self) -> None:
        """Announce the number of runs."""
        self._emit(Planned(tuple(self._points.values())))

    def done(self, *messages: str, cancelled: bool = False) -> None:
        """Send the last event of all."""
        good = sum(self._ended.values())
        self._emit(Done(good, len(self._ended) - good, cancelled, tuple(messages)))

    def say(self, text: str) -> None:
        """Send a sentence."""
        self._emit(Note(text))

    def _pass_on(self, event: Event) -> None:
        match event:
            case Building(program=program, of=0):
                if program in self._built:
                    return
                self._built.add(program)
            case Planned():
                self._points |= {point.key: point for point in event.points}
                event = replace(event, points=tuple(self._points.values()), runs=self._total)
            case RunStarted():
                self._ended.pop(event.point.key, None)
            case RunFinished() | RunFailed() | RunSkipped():
                known = self._ended.get(event.point.key)
                self._ended[event.point.key] = not isinstance(event, RunFailed)
                if known is not None and isinstance(event, RunSkipped):
                    return  # already reported
                event = replace(event, finished=len(self._ended), total=self._total)
            case Done():
                return
        self._emit(event)

    @property
    def _total(self) -> int:
        return max(len(self._points), len(self._ended))


def wanted_of(found: Resolved) -> Wanted:
    """Return the predictions that a resolved request wants."""
    request = found.request
    assert request.predict is not None
    choice = request.predict
    return Wanted(
        samples=tuple(choice.samples(found.sweep)),
        targets=tuple(choice.targets),
        sampled=request.processors,
        processors=choice.processors or request.processors,
        counting=choice.counting,
        verify=choice.verify,
        reference=request.reference,
    )


def predict_request(
    session: Session,
    found: Resolved,
    path: Path | None,
    emit: EventSink = ignore,
    cancel: CancelToken | None = None,
    *,
    workers: int | None = None,
    consent: Consent | None = None,
) -> Study:
    """Carry out a request with predictions into the study at *path* (in memory if None) and return it.

    The study has the runs, and the predicted points as marked rows. Raises as `Session.submit`, and `CannotTellError`
    if the samples do not determine anything; the runs are kept then. A request to stop raises nothing.
    """
    cancel = cancel or CancelToken()
    together = Together(session, plan(found).points, emit, cancel, workers, consent)
    with _place(path) as place:
        messages: tuple[str, ...] = ()
        together.begin()
        try:
            plain = found.request.model_copy(update={"predict": None})
            made = predict_program(together, plain, wanted_of(found), place, cancel=cancel)
            for point in made.points:
                together.say(_sentence(point))
        except Cancelled:
            if not place.exists():
                raise
        except BaseException as error:
            messages = (str(error),)
            raise
        finally:
            _keep_request(found, place)
            together.done(*messages, cancelled=cancel.cancelled)
        return Study.open(place, write=True) if path is not None else _in_memory(place)


@contextmanager
def _place(path: Path | None) -> Iterator[Path]:
    """Yield where the study is kept while the request is carried out."""
    if path is not None:
        yield path
        return
    with TemporaryDirectory(prefix="scalegraph-") as directory:
        yield Path(directory) / "study.sgstudy"


def _keep_request(found: Resolved, place: Path) -> None:
    """Store the whole request in the study, replacing that of its last part."""
    if not place.exists():
        return
    data = found.request.model_dump(mode="json", exclude_defaults=True)
    with Study.open(place, write=True) as study:
        bound = {"bound": study.manifest.request["bound"]} if "bound" in study.manifest.request else {}
        study.set_manifest(study.manifest.model_copy(update={"request": data | bound}))


def _in_memory(place: Path) -> Study:
    with Study.open(place) as study:
        copy = Study.memory(study.manifest)
        copy.add_runs([*study.runs(output=True), *study.variants(output=True)])
        for key in (kept.FACT,):
            copy.set_facts(key, study.facts(key))
        return copy


def _sentence(point: Point) -> str:
    where = assigned([("N", point.processors), *sorted(point.values.items())])
    if point.predicted is None:
        return f"{where}: not predicted: {point.refused}"
    low, high = si(point.predicted.low_s, "s"), si(point.predicted.high_s, "s")
    return f"{where}: predicted {si(point.predicted.time_s, 's')}, from {low} to {high}"
