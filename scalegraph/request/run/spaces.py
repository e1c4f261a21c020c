"""Carries out a request with several machines, splits, schedules ..: one study, one stream of events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled
from scalegraph.base.events import Done, EventSink, Note, Planned
from scalegraph.base.run import RunRecord
from scalegraph.control.execute import default_workers, execute, skip
from scalegraph.link import Build, Job, Link
from scalegraph.request.model.request import Request
from scalegraph.request.model.resolve import Resolved, resolved
from scalegraph.request.model.space import Member, members
from scalegraph.request.model.tracing import Tracing
from scalegraph.request.planning.plan import Plan, plan
from scalegraph.request.run.elsewhere import cluster
from scalegraph.request.run.joining import member_of
from scalegraph.request.run.remote import JobBook
from scalegraph.request.run.submit import Submission
from scalegraph.store import Study

FACT = "space"  # of a study: the whole request of several choices


def resolved_members(request: Request) -> tuple[list[tuple[Member, Resolved]], list[str]]:
    """Return the choices of *request* that can run, each resolved, and what is left out; raise as `members`."""
    every = members(request)
    said = [text for member in every for text in member.left_out]
    there = [(one, replace(resolved(one.request), setting=one.setting)) for one in every if one.request is not None]
    return there, said


def space_plan(request: Request, known: Sequence[RunRecord], workers: int, place: Path | None) -> Plan:
    """Return the plan of all choices of *request* together: what is left out is among its notes."""
    found, left_out = resolved_members(request)
    study = Study.open(place) if place is not None and place.exists() else None
    plans = []
    for member, one in found:
        there = None if study is None else member_of(study, member.setting)
        setting = member.setting if there is None else there.choice
        here = replace(one, setting=setting)
        plans.append(plan(here, known=known, workers=workers, tracing=Tracing(here, place)))
    if study is not None:
        study.close()
    estimates = [one.estimate_s for one in plans]
    return Plan(
        points=tuple(point for one in plans for point in one.points),
        searches=tuple(search for one in plans for search in one.searches),
        estimate_s=None if None in estimates else sum(filter(None, estimates)),
        estimate_rough=any(one.estimate_rough for one in plans),
        limit_s=sum(one.limit_s for one in plans),
        runs_at_most=sum(one.runs_at_most for one in plans),
        done=sum(one.done for one in plans),
        notes=(*left_out, *dict.fromkeys(note for one in plans for note in one.notes)),
    )


class SpaceSubmission:
    """A request with several choices on its way: all that is known beforehand runs side by side, then each goes on."""

    def __init__(
        self,
        request: Request,
        emit: EventSink,
        cancel: CancelToken,
        workers: int | None,
        link: Link | None = None,
        traces: Path | None = None,
    ) -> None:
        self._request = request
        self._members, self._left_out = resolved_members(request)
        self._emit = emit
        self._cancel = cancel
        self._workers = workers or default_workers()
        self._link = link
        self._works: list[Submission] = []
        for _member, found in self._members:
            first = self._works[0] if self._works else None
            self._works.append(Submission(found, emit, cancel, workers, link, traces, beside=first))

    def run(self, path: Path | None, *, overwrite: bool = False) -> Study:
        """Carry the request out into the study at *path* (in memory if None) and return it; see `Submission.run`."""
        try:
            builds = [work.build() for work in self._works]
            study = self._study(path, builds[0], overwrite=overwrite)
        except Cancelled:
            self._emit(Done(0, 0, cancelled=True))
            raise
        except Exception as error:
            self._emit(Done(0, 0, messages=(str(error),)))
            raise
        for text in self._left_out:
            self._emit(Note(text))
        try:
            joined = [
                work.join(study, member.setting, build)
                for work, (member, _found), build in zip(self._works, self._members, builds, strict=True)
            ]
            study.set_facts(FACT, self._request.model_dump(mode="json", exclude_defaults=True))
            book = JobBook(study, link, self._emit) if (link := cluster(self._link)) is not None else None
            for work, part in zip(self._works, joined, strict=True):
                work.begin(part, path, book)
            every = list(zip(self._works, joined, builds, strict=True))
            if not self._request.program.command:
                self._together(every, book)
            for work, part, build in every:
                if not self._cancel.cancelled:
                    work.carry_out(part, build)
        except BaseException as error:
            study.close()
            self._works[0].done(messages=(str(error),))
            raise
        self._works[0].done()
        return study

    def _study(self, path: Path | None, build: Build, *, overwrite: bool) -> Study:
        manifest = self._works[0].manifest(build)
        if path is None:
            return Study.memory(manifest)
        if overwrite or not path.exists():
            return Study.create(path, manifest, overwrite=overwrite)
        return Study.open(path, write=True)

    def _together(self, every: Iterable[tuple[Submission, Study, Build]], book: JobBook | None) -> None:
        """Run what is known beforehand of all choices, the longest first, at once."""
        work_of: dict[str, tuple[Submission, Study]] = {}
        jobs: list[Job] = []
        there = []
        for work, part, build in every:
            mine, known = work.ahead(part, build)
            jobs += mine
            there += known
            work_of |= {job.point.key: (work, part) for job in mine}
        first = self._works[0]
        progress, points = first.progress, first.points
        progress.total = len(points)
        times = [job.estimate_s for job in jobs]
        known_s = sum(time for time in times if time is not None) / max(1, self._workers)
        self._emit(Planned(tuple(points.values()), None if None in times else known_s, progress.total))
        for point in there:
            skip(point, progress, self._emit)
        jobs.sort(key=lambda job: -(job.estimate_s or 0.0))
        if book is not None:
            book.begin(jobs)

        def keep(record: RunRecord) -> None:
            work, part = work_of[record.point.key]
            work.keep(part, record)

        execute(
            jobs,
            on_record=keep,
            emit=self._emit,
            cancel=self._cancel,
            workers=self._workers if first.side_by_side else 1,
            progress=progress,
            link=first.link,
        )
        for job in jobs:
            work_of[job.point.key][0].note_lost(job.point)
