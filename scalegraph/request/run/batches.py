"""Requests as batch jobs: runs known to be needed are written as files, and their results collected later."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from scalegraph.base.cancel import AnyToken, CancelToken
from scalegraph.base.errors import Fault, InputError, RunError, ScaleGraphError
from scalegraph.base.events import Building, Event, EventSink, Note
from scalegraph.base.files import reason, write_atomic
from scalegraph.base.run import RunRecord
from scalegraph.base.sampling import SAMPLES, SAMPLES_WHEN_LONG
from scalegraph.link.cluster import batch
from scalegraph.link.cluster.answers import accepted
from scalegraph.link.cluster.order import build_of, unpack_order
from scalegraph.link.cluster.places import Where
from scalegraph.request.model import collecting
from scalegraph.request.model.origin import of_study
from scalegraph.request.model.tracing import directory_of, seen_from
from scalegraph.store import Manifest, Study

if TYPE_CHECKING:
    from scalegraph.request.run.session import Session

_ABOUT: Final = "jobs.json"  # describes the jobs of a directory
_LONGEST_ABOUT: Final = 256 * 2**20  # bytes


class _About(BaseModel):
    """What the jobs of a directory are for: the study, and its manifest."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    format: Literal[1] = 1
    study: str
    manifest: Manifest


@dataclass(frozen=True)
class Written:
    """The files written: the number of *jobs*, and the *scripts* that carry them out."""

    jobs: int
    scripts: tuple[Path, ...] = ()


@dataclass
class Collected:
    """The results collected into *study*: runs by outcome."""

    study: Path
    fresh: int = 0
    known: int = 0
    missing: int = 0
    failures: list[str] = field(default_factory=list)


def write_jobs(
    session: Session, request: Any, study_path: Path, directory: Path, where: Where, emit: EventSink, **more: Any
) -> Written:
    """Write the next runs of *request* into *directory*: those that the study lacks and that are known by now.

    The study is created if necessary. Raises as `Session.submit`.
    """

    def pass_on(event: Event) -> None:
        if isinstance(event, Building | Note):
            emit(event)

    from scalegraph.request.run.session import Session as Made

    token = AnyToken(more.pop("cancel", None) or CancelToken())
    directory = directory.absolute()
    link = batch.JobWriter(directory, token)
    writing = Made(link=link)
    with writing.submit(request, study_path, pass_on, token, **more) as study:
        about = _About(study=str(study_path.absolute()), manifest=study.manifest)
    session.forget(study_path)
    if not link.written:
        return Written(0)
    write_atomic(directory / _ABOUT, about.model_dump_json())
    made = []
    for path, text in batch.scripts(directory, where, len(link.written)):
        write_atomic(path, text)
        path.chmod(path.stat().st_mode | 0o111 & ~_umask())
        made.append(path)
    return Written(len(link.written), tuple(made))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def collect(directory: Path, study_path: Path | None) -> Collected:
    """Put the results of the jobs in *directory* into the study at *study_path*, by default their own.

    A rejected answer counts as a failure, with a sentence; its job can be run again. Raises `InputError` for a
    directory without jobs or a study of other runs, `StoreError`.
    """
    directory = directory.absolute()
    about = _about(directory)
    path = study_path or Path(about.study)
    jobs = batch.orders(directory)
    done = Collected(path)
    with _study(path, about.manifest) as study:
        for key, data in jobs:
            _collect(directory, key, data, study, done)
    return done


def _about(directory: Path) -> _About:
    path = directory / _ABOUT
    try:
        text = path.read_bytes() if path.stat().st_size <= _LONGEST_ABOUT else b""
        return _About.model_validate_json(text)
    except FileNotFoundError:
        fault = "has no jobs; a directory that 'run --write-jobs' wrote was expected"
        raise InputError(Fault(fault, file=str(directory))) from None
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {reason(error)}", file=str(path))) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "jobs"
        raise InputError(Fault(f"is damaged: {place}: {first['msg']}", file=str(path))) from None


def _study(path: Path, manifest: Manifest) -> Study:
    if not path.exists():
        return Study.create(path, manifest)
    study = Study.open(path, write=True)
    if study.manifest.identity != manifest.identity:
        study.close()
        raise InputError(Fault("holds runs of another program, machine or arguments than these jobs", file=str(path)))
    return study


def _collect(directory: Path, key: str, data: bytes, study: Study, done: Collected) -> None:
    """Put the answer to the order *data* into *study*."""
    order, stdin = unpack_order(data)
    point = order.point
    before = study.run(point.key)
    if before is not None and before.ok and not _more(order.collect, order.trace, before):
        done.known += 1
        return
    path = batch.answer_of(directory, key)
    if not path.exists():
        done.missing += 1
        return
    try:
        build = build_of(batch.program_of(directory, order.parcel), order.parcel)
        job = order.job(build, stdin, directory_of(study.path) if study.path else None)
        record = accepted(path.read_bytes(), job)
    except (RunError, OSError) as error:
        done.failures.append(f"{point.label()}: {reason(error) if isinstance(error, OSError) else error}")
        path.unlink(missing_ok=True)  # it will be run again
        return
    except ScaleGraphError as error:
        done.failures.append(f"{point.label()}: {error}")
        return
    if not record.ok:
        done.failures.append(f"{point.label()}: {record.message}")
        if before is not None and before.ok:
            return
    request = of_study(study.manifest.request, str(study.path or ""))
    study.add_run(collecting.kept(request, seen_from(record, study.path), before))
    done.fresh += 1


def _more(collected: tuple[str, ...], trace: object, before: RunRecord) -> bool:
    """Return whether an order collects something that the run *before* lacks."""
    sampled = {SAMPLES, SAMPLES_WHEN_LONG}
    if before.estimated and sampled.isdisjoint(collected):
        return True
    return not set(collected) - sampled <= set(before.collected) or (trace is not None and before.trace is None)
