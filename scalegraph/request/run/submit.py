"""Carries a request out: builds once, runs every point that the study lacks, follows the searches, keeps all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from scalegraph import control
from scalegraph.analyze import timed
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Cancelled, Fault, InputError
from scalegraph.base.events import Done, Event, EventSink, Note, Planned, RunFailed, RunFinished
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.units import counted
from scalegraph.control.execute import Progress, default_workers, execute, skip
from scalegraph.link import Build, Job, Link, loops
from scalegraph.link.tracing import regions_of
from scalegraph.machine import Machine
from scalegraph.request.model import collecting, commands, processes, programs, shipped, targeting, variants
from scalegraph.request.model.kept import merged_searches, searches_of
from scalegraph.request.model.resolve import Resolved
from scalegraph.request.model.tracing import Tracing
from scalegraph.request.planning.estimate import HostTime
from scalegraph.request.planning.plan import Plan, plan, points_of
from scalegraph.request.planning.searches import Searches
from scalegraph.request.run import automatic, joining, targeted
from scalegraph.request.run.elsewhere import cluster, refusal, writer
from scalegraph.request.run.manifests import as_known, manifest_of
from scalegraph.request.run.paths import keeping_paths
from scalegraph.request.run.remote import JobBook
from scalegraph.store import Manifest, Study

if TYPE_CHECKING:
    from scalegraph.link.targets import Builds

ASKED = "asked"  # requested processor counts: others in a study were run for reference, such as one processor


class Submission:
    """One request in progress. `run` does everything; the study has the finished runs even if `run` raises."""

    def __init__(
        self,
        found: Resolved,
        emit: EventSink,
        cancel: CancelToken,
        workers: int | None,
        link: Link | None = None,
        traces: Path | None = None,
        *,
        beside: Submission | None = None,
    ) -> None:
        """*beside*: another submission to the same study, whose points and progress this one continues."""
        self._found = found
        self._traces = traces
        self._emit = emit
        self._cancel = cancel
        self._target = targeting.target_of(found.request)
        if (text := refusal(self._target, link)) is not None:
            raise InputError(Fault(text, key="target.name"))
        if self._automatic and writer(link) is not None:
            text = "automatic schedules are chosen from runs that have ended; files of runs to come cannot tell them"
            raise InputError(Fault(text, key="schedule"))
        self._workers = (workers or default_workers()) if self._target.side_by_side else 1
        self.link = link or self._target
        self._host = HostTime(found.family)
        self._records: dict[str, RunRecord] = {}
        self.points: dict[str, RunPoint] = {} if beside is None else beside.points
        self.progress: Progress = Progress() if beside is None else beside.progress
        self._later_s: float | None = 0.0
        self._book: JobBook | None = None  # of a link that is a cluster
        self._again = 0  # runs repeated for their traces, or because their estimates could not decide
        self._exact: set[str] = set()  # keys of points that are not sampled
        self._tracing = Tracing(found, None, traces)

    def run(self, path: Path | None, *, overwrite: bool = False) -> Study:
        """Carry the request out into the study at *path* (in memory if None) and return it.

        An existing study is completed: its runs are not run again. Raises `InputError` if its runs are of another
        program or machine, `BuildError`, `StoreError`, `MissingTool`; a request to stop raises nothing.
        """
        try:
            build = self.build()
            study = self._study(path, build, overwrite=overwrite)
        except Cancelled:
            self._emit(Done(0, 0, cancelled=True))
            raise
        except Exception as error:
            self._emit(Done(0, 0, messages=(str(error),)))
            raise
        self.begin(study, path)
        try:
            self.carry_out(study, build)
        except BaseException as error:
            study.close()
            self.done(messages=(str(error),))
            raise
        self.done()
        return study

    def begin(self, study: Study, path: Path | None, book: JobBook | None = None) -> None:
        """Prepare for *study*: its runs, the place for traces, and the *book* of jobs at a cluster."""
        self._tracing = Tracing(self._found, path, self._traces)
        self._book = book
        if book is None and (link := cluster(self.link)) is not None:
            self._book = JobBook(study, link, self._emit)
        mine = self._found.request.target.point_name
        every = study.every_run()  # a predicted point is not a run: it is run if requested
        self._records = {
            run.point.key: run for run in every if run.ok and run.source != "predicted" and run.point.target == mine
        }
        self._host.learn(self._records.values())
        asked = study.facts(ASKED)
        if isinstance(asked, list) or not every:
            study.set_facts(ASKED, sorted({*(asked or ()), *self._found.request.every_count()}))

    def carry_out(self, study: Study, build: Build) -> None:
        """Run everything that *study* lacks; finished runs are in it, whatever happens."""
        try:
            self._carry_out(study, build)
        finally:
            self._tracing.tidy()
        if self._book is not None:
            self._book.end()

    def build(self) -> Build:
        """Return the built program; raise `InputError` for parts of the request that it does not support."""
        if self.link is self._target:
            self._target.begin(targeting.settings(self._found.request), self._cancel)
        if self._found.target.command:
            build = commands.build(self._found)
        else:
            build = self._executable() if self._found.target.executable else self._sources()
        for remark in build.remarks:
            self._emit(Note(remark))
        request = self._found.request
        simulated = self._target.source == "simulated"
        if faults := processes.of_build(request, build, self._found.machine) if simulated else []:
            raise InputError(faults)
        if faults := variants.faults(build, [what.variant for what in request.what_ifs()]):
            raise InputError(faults)
        if self._found.request.trace is not None and self._found.request.trace.region:
            regions_of(build, self._found.request.trace.region)
        if self._found.request.timed not in ("", timed.CLOCK):
            timed.named_region(build.regions, self._found.request.timed)
        return build

    def _executable(self) -> Build:
        target = self._found.target
        if target.build:
            control.run_build(
                target.build, target.build_dir, emit=self._emit, cancel=self._cancel, builds=self._target.builds
            )
        builds = self._builds(lambda: control.links_mpi(target.build_dir.absolute() / str(target.executable)))
        return control.adopt(target.executable, cwd=target.build_dir, emit=self._emit, builds=builds)

    def _builds(self, uses_mpi: Callable[[], bool]) -> Builds:
        return self._target.built_for(targeting.settings(self._found.request), uses_mpi)

    def _sources(self, *, asking: bool = False) -> Build:
        target = self._found.target
        collect = self._found.request.collect
        return control.build(
            target.sources,
            cflags=target.cflags,
            ldflags=target.ldflags,
            include=target.include,
            detail=collect.detail,
            instrument=collect.regions,
            loops=asking or self._asks(),
            builds=self._builds(
                lambda: control.sources_use_mpi(target.sources, target.include, target.cflags, target.build_dir)
            ),
            cwd=target.build_dir,
            emit=self._emit,
            cancel=self._cancel,
        )

    def _asks(self) -> bool:
        """Return whether to build the program so that its loops use the schedules named by its runs."""
        request, asked = self._found.request, loops.chosen if self._target.source == "simulated" else loops.served
        return any(map(asked, (request.schedule, *(what.schedule for what in request.what_ifs()))))

    def _study(self, path: Path | None, build: Build, *, overwrite: bool) -> Study:
        manifest = self.manifest(build)
        if path is None:
            return Study.memory(manifest)
        if overwrite or not path.exists():
            return Study.create(path, manifest, overwrite=overwrite)
        study = Study.open(path, write=True)
        try:
            return self._joined(joining.choice_of(study, self._found.request), manifest, build, path)
        except BaseException:
            study.close()
            raise

    def _joined(self, study: Study, manifest: Manifest, build: Build, path: Path) -> Study:
        """Return *study*, which will get the runs, with the request's manifest."""
        self._found = replace(self._found, setting=study.choice)
        self._same(study, as_known(manifest, study.manifest, build), path)
        study.set_manifest(targeted.combined(study.manifest, manifest, study.targets()))
        return study

    def join(self, study: Study, setting: Mapping[str, str], build: Build) -> Study:
        """Return *study* restricted to this request's choice, *setting*; add the choice if it is missing.

        Raises `InputError` if its runs are of another program.
        """
        manifest, path = self.manifest(build), study.path or Path("study in memory")
        there = joining.member_of(study, setting)
        if there is not None:
            return self._joined(there, manifest, build, path)
        joining.check_program(study, manifest, path)
        self._found = replace(self._found, setting=setting)
        return study.add_member(setting, manifest)

    def manifest(self, build: Build) -> Manifest:
        """Return the facts of a study of this request, apart from its runs."""
        return manifest_of(self._found, self._target, build)

    def _same(self, study: Study, manifest: Manifest, path: Path) -> None:
        """Refuse to mix runs that cannot be compared."""
        if len(study) == 0:
            return
        if (kept := shipped.adopted(study, manifest)) is not None:
            study.set_manifest(kept)
        differ = targeted.differences(study.manifest, manifest)
        if differ:
            onward = "choose another study"
            if shipped.is_shipped(study):
                onward = "it was shipped with ScaleGraph; compute the demonstration anew and add runs to that"
            raise InputError(
                Fault(
                    f"holds {counted(len(study), 'run')} of {' and '.join(differ)}; runs that cannot be compared are "
                    f"not mixed: {onward}",
                    file=str(path),
                )
            )

    def _plan(self) -> Plan:
        return plan(self._found, known=self._records.values(), workers=self._workers, tracing=self._tracing)

    def _carry_out(self, study: Study, build: Build) -> None:
        planned = self._plan()
        searches = Searches(self._found, self._records, planned.searches)
        if self._found.request.timed == timed.CLOCK and planned.points:
            self._time_clock(study, build, planned.points, searches)
        self._round(study, build, planned.points, searches, traced=True)
        self._repeat(study, build, searches)
        while not self._cancel.cancelled:
            wanted = searches.wanted()
            if not wanted:
                break
            self._round(study, build, wanted, searches)
            self._repeat(study, build, searches)
        self._what_if(study, build, searches)
        outcomes = [outcome for outcome in searches.outcomes() if outcome["why"] != "stopped"]
        if outcomes:
            study.set_facts("searches", merged_searches(searches_of(study), outcomes))
        for outcome in outcomes:
            self._emit(Note(outcome["sentence"]))

    def _repeat(self, study: Study, build: Build, searches: Searches) -> None:
        """Repeat measured runs until their intervals are narrow enough, if the request wants that."""
        if not self._found.request.target.until:
            return
        from scalegraph.request.run import repeating  # imports what simulated runs need not wait for

        while not self._cancel.cancelled and (more := repeating.wanted(self._found.request, self._records.values())):
            self._round(study, build, more, searches)

    def _time_clock(self, study: Study, build: Build, points: Iterable[RunPoint], searches: Searches) -> None:
        """Run points until one shows which part the program times itself; raise `InputError` if it times none."""
        for point in timed.deciding(points, mpi=build.mpi):
            if not self._cancel.cancelled and timed.clock_part(list(self._records.values())) is None:
                self._round(study, build, [point], searches, traced=True)
        if self._records:
            timed.chosen_part(list(self._records.values()), build.regions, timed.CLOCK)

    def _what_if(self, study: Study, build: Build, searches: Searches) -> None:
        """Make the runs that depend on earlier ones: variants of sizes found, speedups of the most expensive code."""
        request = self._found.request
        sizes = [
            point
            for outcome in searches.outcomes()
            if outcome["parameters"] is not None and outcome["why"] != "stopped"
            for point in points_of(self._found, outcome["parameters"], sorted({1, outcome["processors"]}))
        ]
        there = [point for point in sizes if point.key in self._records]
        self._trace(study, build, there, searches)
        if not self._cancel.cancelled and (more := variants.asked(request, there)):
            self._round(study, build, more, searches, traced=True)
        for further in (variants.swept, variants.checked):
            if not self._cancel.cancelled and (more := further(request, self._records.values(), build)):
                self._round(study, build, more, searches)
        self._settle(study, build, searches)
        if not self._cancel.cancelled and (more := variants.counted(request, self._records.values(), build)):
            with suppress(Cancelled):  # earlier runs stay
                self._round(study, self._sources(asking=True), more, searches)
        if not self._cancel.cancelled and (best := variants.advised(request, self._records.values(), build.regions)):
            self._round(study, build, best, searches)

    def _settle(self, study: Study, build: Build, searches: Searches) -> None:
        """Repeat estimated runs exactly if their interval hides whether a verified loss was one."""
        if self._cancel.cancelled or not self._found.request.verify:
            return
        if not (doubtful := variants.doubtful(self._records.values())):
            return
        self._exact |= {point.key for point in doubtful}
        self._again += len(doubtful)
        self._run(study, build, doubtful, searches=searches, traced=False)

    def _trace(self, study: Study, build: Build, points: Iterable[RunPoint], searches: Searches) -> None:
        """Repeat those of *points*, searched sizes, that lack a trace or collected data."""
        known = self._records
        lacking = {p.key: p for p in points if known[p.key].ok and self._lacks(known[p.key], traced=True)}
        if lacking and not self._cancel.cancelled:
            self._again += len(lacking)
            self._run(study, build, list(lacking.values()), searches=searches, traced=True)

    def _round(
        self, study: Study, build: Build, points: Iterable[RunPoint], searches: Searches, *, traced: bool = False
    ) -> None:
        """Run those of *points* that are unknown or lack collected data, or a trace if *traced*; report all."""
        if self._automatic:

            def tried(more: Iterable[RunPoint]) -> Mapping[str, RunRecord]:
                self._run(study, build, *self._fresh(more, traced=False), searches=searches, traced=False)
                return self._records

            points = automatic.choose(study, points, build.regions, tried, lambda: self._cancel.cancelled)
        self._run(study, build, *self._fresh(points, traced=traced), searches=searches, traced=traced)

    @property
    def _automatic(self) -> bool:
        """Whether the schedule of each point is chosen from runs."""
        return loops.is_automatic(self._found.request.schedule)

    def _fresh(self, points: Iterable[RunPoint], *, traced: bool) -> tuple[list[RunPoint], list[RunPoint]]:
        """Return those of *points*, if seen for the first time, that must be run, and those already there."""
        fresh = [point for point in points if point.key not in self.points]
        self.points.update({point.key: point for point in fresh})
        known = self._records
        left = [p for p in fresh if p.key not in known or self._lacks(known[p.key], traced=traced)]
        going = {point.key for point in left}
        return left, [p for p in fresh if p.key not in going]

    def ahead(self, study: Study, build: Build) -> tuple[list[Job], list[RunPoint]]:
        """Return the jobs of all runs known beforehand that *study* lacks, and the points that it has.

        The caller carries them out and reports them; `keep` takes the records.
        """
        points = self._plan().points
        if self._automatic:  # the point itself runs once its schedule is known
            left, there = self._fresh(automatic.begun(points), traced=False)
            return self._jobs(study, left, build, traced=False), there
        left, there = self._fresh(points, traced=True)
        return self._jobs(study, left, build, traced=True), there

    def _lacks(self, record: RunRecord, *, traced: bool) -> bool:
        return collecting.lacks(self._found.request, record) or (traced and self._tracing.lacks(record))

    def _run(
        self,
        study: Study,
        build: Build,
        left: list[RunPoint],
        there: Iterable[RunPoint] = (),
        *,
        searches: Searches,
        traced: bool,
    ) -> None:
        """Run *left*; report them and those already *there*."""
        self.progress.total = len(self.points) + self._again
        self._later_s = self._later(searches)
        estimate = self._host.total(left, self._workers)
        known = estimate is not None and self._later_s is not None
        about = (estimate or 0.0) + (self._later_s or 0.0) if known else None
        self._emit(Planned(tuple(self.points.values()), about, self.progress.total))
        for point in there:
            skip(point, self.progress, self._emit)
        jobs = self._jobs(study, left, build, traced=traced)
        if self._found.target.command:
            jobs = commands.shuffled(jobs, by_count=self._target.holds_nodes)
        else:  # longest first, so that no long run is left at the end
            jobs.sort(key=lambda job: -(job.estimate_s or 0.0))
        if self._book is not None:
            self._book.begin(jobs)
        with self._session(jobs) as link:
            self._execute(study, jobs, link)
        if self._found.request.program.stacks:
            self._records |= keeping_paths(study, self._found.request.target.point_name)
        if (batch := writer(self.link)) is not None:
            batch.end_round()
        for point in left:
            self.note_lost(point)

    def _session(self, jobs: list[Job]) -> AbstractContextManager[Link]:
        """Return the link that carries out *jobs*; for commands, the target may hold nodes as long as it is open."""
        if self._found.target.command and jobs and self.link is self._target:
            return self._target.session(jobs)
        return nullcontext(self.link)

    def _execute(self, study: Study, jobs: list[Job], link: Link) -> None:
        execute(
            jobs,
            on_record=lambda record: self.keep(study, record),
            emit=self._pass_on,
            cancel=self._cancel,
            workers=self._workers,
            progress=self.progress,
            link=link,
        )

    def _jobs(self, study: Study, points: Iterable[RunPoint], build: Build, *, traced: bool) -> list[Job]:
        schedule = automatic.schedules(study) if self._automatic else lambda _point: self._found.request.schedule
        return [self._job(study, point, build, schedule(point), traced=traced) for point in points]

    def _job(self, study: Study, point: RunPoint, build: Build, schedule: str, *, traced: bool) -> Job:
        known, identity = self._records.values(), study.manifest.identity
        request, target = self._found.request, self._found.target
        plain = () if target.command else target.arguments(point, request.program)
        job = Job(
            point=point,
            build=build,
            machine=self._machine_of(point),
            args=plain,
            stdin=target.stdin,
            cwd=target.run_dir,
            env={name: programs.fill_count(text, point.processors) for name, text in target.env.items()},
            limits=request.limits,
            schedule=schedule,
            collect=collecting.collected(request, point, self._records.get(point.key), exact=point.key in self._exact),
            program=target.program,
            options=request.program.options,
            measuring=request.target.measuring,
            settings=targeting.settings(request),
            trace=self._tracing.order(point, build, identity, known) if traced else None,
            estimate_s=self._host.seconds(point),
        )
        return commands.started(self._found, job) if target.command else job

    def _machine_of(self, point: RunPoint) -> Machine:
        found, what = self._found, point.variant
        return variants.machine_of(found.request, found.machine_reference, what) if what.machine else found.machine

    def keep(self, study: Study, record: RunRecord) -> None:
        """Put *record* into *study*; an existing run stays if this one failed."""
        before = self._records.get(record.point.key)
        if before is not None and before.ok and not record.ok:  # repeated to collect more data, which takes longer
            what = "no trace" if self._tracing.lacks(before) else "nothing more was collected"
            self._emit(Note(f"{record.point.label()}: {what}: {record.message}; the run that is there is kept"))
            return
        record = self._tracing.kept(record)
        study.add_run(collecting.kept(self._found.request, record, before))
        if self._book is not None:
            self._book.kept(record)
        self._records[record.point.key] = record
        self._host.learn([record])

    @property
    def side_by_side(self) -> bool:
        """Whether runs may be carried out at the same time."""
        return self._target.side_by_side

    def note_lost(self, point: RunPoint) -> None:
        """Note that *point* has ended: a run that could not start leaves no record, and no search must wait for it."""
        if point.key in self._records or self._cancel.cancelled:
            return
        self._records[point.key] = RunRecord(
            source=self._target.source,
            program=self._found.target.program,
            machine=self._found.machine.name,
            point=point,
            status="failed",
        )

    def _pass_on(self, event: Event) -> None:
        """Add the estimated time of the searches to the time left."""
        if isinstance(event, RunFinished | RunFailed) and event.remaining_s is not None and self._later_s is not None:
            event = replace(event, remaining_s=event.remaining_s + self._later_s)
        self._emit(event)

    def _later(self, searches: Searches) -> float | None:
        """Return the approximate host seconds of the searches after this round."""
        points = [
            point
            for planned, tries in searches.running()
            for point in points_of(self._found, planned.start, (1, planned.processors)) * min(tries, 3)
        ]
        return self._host.total(points, self._workers) if points else 0.0

    def done(self, messages: tuple[str, ...] = ()) -> None:
        """Report that everything has ended."""
        count = self.progress
        self._emit(Done(count.finished - count.failed, count.failed, self._cancel.cancelled, messages))
