"""Carries out a request with several machines, splits, schedules ..: one study, one stream of events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from scalegraph.base.cancel import CancelToken, Deadline
from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.events import Done, EventSink, Note, Planned
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.control.execute import default_workers, execute, skip
from scalegraph.link import Build, Job, Link
from scalegraph.machine import Machine
from scalegraph.request.model.request import Request
from scalegraph.request.model.resolve import Resolved, resolved
from scalegraph.request.model.space import Member, bound, members
from scalegraph.request.model.tracing import Tracing
from scalegraph.request.planning.plan import Plan, plan
from scalegraph.request.run.budget import Search
from scalegraph.request.run.elsewhere import cluster
from scalegraph.request.run.joining import member_of
from scalegraph.request.run.remote import JobBook
from scalegraph.request.run.submit import Submission
from scalegraph.store import Study

FACT = "space"  # of a study: the whole request with several choices
SEARCH = "space search"  # of a study whose space was searched within a budget: what was left out


def resolved_members(request: Request) -> tuple[list[tuple[Member, Resolved]], list[str]]:
    """Return the choices of *request* that can run, each resolved, and what is left out; raise as `members`."""
    every = members(request)
    said = [text for member in every for text in member.left_out]
    there = [(one, replace(resolved(one.request), setting=one.setting)) for one in every if one.request is not None]
    return there, said


def space_plan(request: Request, known: Sequence[RunRecord], workers: int, place: Path | None) -> Plan:
    """Return the plan of all choices of *request* together, with notes on what is left out."""
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
    """A request with several choices in progress: runs known beforehand run together, then each choice continues."""

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
        if self._request.space.budget:
            self._cost()  # a missing cost is reported before anything is built
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
                self._together(study, every, book)
            for work, part, build in every:
                if not self._cancel.cancelled and not self._request.space.budget:
                    work.carry_out(part, build)
            if book is not None:
                book.end()
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

    def _together(self, study: Study, every: Iterable[tuple[Submission, Study, Build]], book: JobBook | None) -> None:
        """Run everything known beforehand for all choices at once, the longest first; or what a budget allows of it."""
        there: list[RunPoint] = []
        jobs: list[Job] = []
        work_of: dict[str, tuple[Submission, Study]] = {}
        for work, part, build in every:
            mine, known = work.ahead(part, build)
            jobs += mine
            there += known
            work_of |= {job.point.key: (work, part) for job in mine}
        first = self._works[0]
        runs, seconds = bound(self._request.space.budget)
        if runs is None and seconds is None:
            first.progress.total = len(first.points)
            self._tell(jobs, there)
            self._execute(jobs, work_of, book)
            return
        asked = {*self._request.every_count()}
        jobs = [job for job in jobs if job.point.processors in asked]  # one processor only if requested
        points = [*there, *(job.point for job in jobs)]
        deadline = None if seconds is None else Deadline(self._cancel, seconds)
        search = Search(points, runs, deadline, self._workers, self._cost(), self._request.space.minimise)
        for record in study.every_run():
            search.note(record)
        by_key = {job.point.key: job for job in jobs}
        first.progress.total = min(len(jobs), runs or len(jobs)) + len(there)
        self._tell([], there, planned=[job.point for job in jobs])

        def run(points: Sequence[RunPoint]) -> None:
            for record in self._execute([by_key[point.key] for point in points], work_of, book, deadline):
                search.note(record)

        search.carry_out(run, lambda: self._cancel.cancelled)
        study.set_facts(SEARCH, search.document())
        self._emit(Note(search.said()))

    def _cost(self) -> Callable[[RunRecord], float | None]:
        """Return the function for a run's cost to minimise; raise `InputError` if a machine does not state it."""
        what = self._request.space.minimise
        machines = {found.machine.name: found.machine for _member, found in self._members}
        for machine in machines.values():
            lacks = {"energy": machine.power is None, "price": machine.price is None}
            if lacks.get(what):
                section = {"energy": "power", "price": "price"}[what]
                text = f"machine '{machine.name}' states no {what}: a section [{section}] in its file would"
                raise InputError(Fault(text, key="space.minimise"))
        from scalegraph.analyze.costs import energy  # imports numpy

        costs: Mapping[str, Callable[[RunRecord, Machine], float | None]] = {
            "core_hours": energy.core_hours,
            "energy": energy.energy_j,
            "price": energy.price,
        }
        if what not in costs:
            return lambda run: run.time_s
        return lambda run: costs[what](run, machines[run.machine])

    def _tell(self, jobs: Sequence[Job], there: Iterable[RunPoint], planned: Sequence[RunPoint] | None = None) -> None:
        """Report what is planned, and what the study has."""
        first = self._works[0]
        times = [job.estimate_s for job in jobs]
        known_s = sum(time for time in times if time is not None) / max(1, self._workers)
        points = tuple(first.points.values()) if planned is None else tuple(planned[: first.progress.total])
        estimate = None if None in times or planned is not None else known_s
        self._emit(Planned(points, estimate, first.progress.total))
        for point in there:
            skip(point, first.progress, self._emit)

    def _execute(
        self,
        jobs: Sequence[Job],
        work_of: Mapping[str, tuple[Submission, Study]],
        book: JobBook | None,
        deadline: CancelToken | None = None,
    ) -> list[RunRecord]:
        """Carry out *jobs* in parallel, the longest first, and keep each in its part of the study.

        Those still running at the *deadline* are stopped, and leave nothing.
        """
        first = self._works[0]
        ordered = sorted(jobs, key=lambda job: -(job.estimate_s or 0.0))
        if book is not None:
            book.begin(ordered)

        def keep(record: RunRecord) -> None:
            work, part = work_of[record.point.key]
            work.keep(part, record)

        found = execute(
            ordered,
            on_record=keep,
            emit=self._emit,
            cancel=deadline or self._cancel,
            workers=self._workers if first.side_by_side else 1,
            progress=first.progress,
            link=first.link,
        )
        for job in jobs:
            work_of[job.point.key][0].note_lost(job.point)
        return found
