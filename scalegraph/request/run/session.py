"""The facade shared by command line and window: everything that a user can request, free of Qt."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.events import EventSink, ignore
from scalegraph.base.files import check_directory
from scalegraph.request.consent import Consent, approved, wanted
from scalegraph.request.imports import graphs
from scalegraph.request.model import programs
from scalegraph.request.model.origin import of_study
from scalegraph.request.model.parts import Collect, Sampling
from scalegraph.request.model.request import Limits, MachineChoice, ProgramChoice, Request, TraceChoice, WhatIf
from scalegraph.request.model.resolve import Resolved, resolved
from scalegraph.request.model.tracing import TracedRun, Tracing, lost, traces
from scalegraph.request.planning import checking
from scalegraph.request.planning.plan import Plan, plan
from scalegraph.store import Study

if TYPE_CHECKING:
    from scalegraph.analyze.matrix import Matrix
    from scalegraph.figures.figure import Figure
    from scalegraph.instrument import Detail, Instrumented
    from scalegraph.link import Link
    from scalegraph.link.cluster.places import Where
    from scalegraph.machine import Machine
    from scalegraph.request.run.spaces import SpaceSubmission
    from scalegraph.request.run.watching import Watched
    from scalegraph.subjects.study import StudyData
    from scalegraph.subjects.trace import TraceData
    from scalegraph.views import View
    from scalegraph.views.view import Subject

_OPEN_AT_ONCE = 16  # studies kept open for viewing, with the records read so far


class Session:
    """One user's session. Methods may be called from several threads.

    *cache_dir*: where built programs are kept, the user's cache directory if None; *workers*: runs at a time, one per
    core if None; *link*: the target, the simulated one if None.
    """

    def __init__(self, cache_dir: Path | None = None, *, workers: int | None = None, link: Link | None = None) -> None:
        if cache_dir is not None:
            os.environ["SCALEGRAPH_CACHE"] = str(cache_dir)  # the build's child processes must use the same one
        self._workers = workers
        self._link = link
        self._open: OrderedDict[Path, tuple[tuple[int, int], Study]] = OrderedDict()
        self._mutex = threading.RLock()

    def load(self, path: Path | str) -> Request:
        """Read and check a request file; raise `InputError` with every fault and its place."""
        return checking.load_request(path)

    def check(self, request: Request) -> list[Fault]:
        """Return every fault of *request*; the *key* of each is the path of the field."""
        return checking.check(request)

    def plan(self, request: Request, study_path: Path | str | None = None, like: Path | None = None) -> Plan:
        """Return what *request* would run; runs that the study at *study_path* has count as done.

        The study at *like*, of the same program and machine, tells how long runs take where that one does not.

        Starts nothing. Raises `InputError` with every fault.
        """
        known = self._records(Path(study_path)) if study_path and Path(study_path).exists() else []
        from scalegraph.control.execute import default_workers

        place, workers = Path(study_path) if study_path else None, self._workers or default_workers()
        if request.space.varies:
            from scalegraph.request.run.spaces import space_plan

            return space_plan(request, known, workers, place)
        found = resolved(request)
        alike = self._records(like) if like is not None and like.exists() else ()
        return plan(found, known=known, workers=workers, tracing=Tracing(found, place), alike=alike)

    def consent(self, request: Request) -> Consent | None:
        """Return the code in *request* that the user did not write here, to be shown before `submit`.

        None for anything typed, built or approved here. Raises `InputError` with every fault.
        """
        return wanted(self._resolved(request))

    def submit(
        self,
        request: Request,
        study_path: Path | str | None,
        emit: EventSink = ignore,
        cancel: CancelToken | None = None,
        *,
        workers: int | None = None,
        overwrite: bool = False,
        traces: Path | str | None = None,
        consent: Consent | None = None,
    ) -> Study:
        """Carry *request* out into the study at *study_path* (in memory if None) and return it; close it when done.

        Runs that the study has are not run again. Requested traces go into the directory *traces*, by default
        ``NAME.traces`` next to the study. *consent*: the user's answer to `consent`; without it a request that needs
        one raises `ConsentNeeded`, an `InputError`, and nothing is run. After a request to stop, the study has what was
        finished (see *cancel*). Events go to *emit*, the last one is ``Done``. Raises `InputError`, `BuildError`,
        `StoreError`, `MissingTool`, and `WorkError` if the runs of a request with predictions determine nothing; runs
        that fail raise nothing, their records say it.
        """
        from scalegraph.request.run.submit import Submission

        found = self._resolved(request)
        place = Path(traces) if traces else None
        if request.trace is not None and place is None and not study_path:
            raise InputError(Fault("a place for the traces was expected: a study file, or a directory", key="trace"))
        for written in (study_path, traces):
            if written:
                check_directory(Path(written))
        approved(found, consent)
        if request.predict is not None:
            from scalegraph.request.run.predicting_requests import predict_request

            if overwrite and study_path:
                Path(study_path).unlink(missing_ok=True)
            whole = Path(study_path) if study_path else None
            return predict_request(self, found, whole, emit, cancel, workers=workers, consent=consent)
        order = (emit, cancel or CancelToken(), workers or self._workers, self._link, place)
        work: Submission | SpaceSubmission
        if request.space.varies:
            from scalegraph.request.run import spaces

            work = spaces.SpaceSubmission(request, *order)
        else:
            work = Submission(found, *order)
        return work.run(Path(study_path) if study_path else None, overwrite=overwrite)

    @contextmanager
    def elsewhere(
        self,
        where: Where,
        study_path: Path | str | None,
        emit: EventSink = ignore,
        cancel: CancelToken | None = None,
        *,
        workers: int | None = None,
    ) -> Iterator[Session]:
        """Yield a session whose runs are carried out by the workers of *where* (see `link.cluster.places.parse`).

        *study_path*: the study for the runs. *workers*: runs at a time, as many as the workers can do if None. Raises
        `MissingTool` without Dask, `LinkLost` if nothing answers there, `Cancelled`.
        """
        from scalegraph.request.run.remote import connected

        with connected(where, Path(study_path) if study_path else None, emit, cancel) as link:
            there = Session(workers=workers or max(link.state.slots, link.state.expected, 1), link=link)
            try:
                yield there
            finally:
                there.close()

    def simulate(
        self,
        sources: Sequence[Path | str] = (),
        *,
        machine: str = "",
        overrides: Mapping[str, str] | None = None,
        processors: Sequence[int] = (1,),
        args: Sequence[str] = (),
        cflags: Sequence[str] = (),
        ldflags: Sequence[str] = (),
        include: Sequence[Path | str] = (),
        schedule: str = "",
        env: Mapping[str, str] | None = None,
        stdin: Path | str = "",
        cwd: Path | str = "",
        executable: Path | str = "",
        build: str = "",
        limits: Limits | None = None,
        what_if: Sequence[WhatIf] = (),
        sample: Sampling = "automatic",
        trace: TraceChoice | None = None,
        traces: Path | str | None = None,
        study_path: Path | str | None = None,
        emit: EventSink = ignore,
        cancel: CancelToken | None = None,
    ) -> Study:
        """Run *sources* with *args* on a simulated *machine* (name or path) for each of *processors*, and for 1.

        The default *machine* is server-2x32 for a user's own program and ksr1 for a shipped one. *sources* may be the
        name of a shipped program, whose own *args* are the default. Instead of *sources*: an *executable* linked by
        ScaleGraph's compilers, and the command that builds it (*build*). *stdin*: a file, empty input by default;
        *cwd*: the working directory. *sample*: when repeated phases are sampled. The study is in memory unless
        *study_path* names a file. *trace*: what the runs record, *traces*: where; see `submit`. Raises as `submit`.
        """
        machine = machine or programs.machine_for(tuple(map(str, sources)))
        is_path = machine.endswith(".toml") or "/" in machine
        request = Request(
            program=ProgramChoice(
                **programs.chosen(
                    tuple(map(str, sources)),
                    programs.verbatim(args),
                    include=tuple(map(str, include)),
                    cflags=tuple(cflags),
                    ldflags=tuple(ldflags),
                ),
                executable=str(executable),
                build=build,
                cwd=str(cwd),
                env=dict(env or {}),
                stdin=str(stdin),
            ),
            machine=MachineChoice(**{"path" if is_path else "name": machine}, overrides=dict(overrides or {})),
            processors=tuple(processors),
            schedule=schedule,
            limits=limits or Limits(),
            what_if=tuple(what_if),
            collect=Collect(sample=sample),
            trace=trace,
        )
        return self.submit(request, study_path, emit, cancel, traces=traces)

    def open(self, path: Path | str) -> Study:
        """Open a study, or a graph file as one, for viewing; runs nothing.

        The session keeps it open: do not close it, but `forget` it.
        """
        path = Path(path).resolve()
        with self._mutex:
            stamp = _stamp(path)
            if path in self._open and self._open[path][0] == stamp and stamp is not None:
                self._open.move_to_end(path)
                return self._open[path][1]
            self.forget(path)
            study = graphs.study_of(path) if graphs.is_graph(path) else Study.open(path)
            self._open[path] = (_stamp(path) or (0, 0), study)
            while len(self._open) > _OPEN_AT_ONCE:
                self.forget(next(iter(self._open)))
            return study

    def forget(self, path: Path | str) -> None:
        """Close the study at *path* if the session has it open."""
        with self._mutex:
            known = self._open.pop(Path(path).resolve(), None)
            if known:
                known[1].close()

    def close(self) -> None:
        """Close every study that the session opened for viewing."""
        with self._mutex:
            for path in list(self._open):
                self.forget(path)

    def save_as(self, study: Study | Path | str, path: Path | str) -> None:
        """Write a copy of a study to *path*, atomically."""
        (study if isinstance(study, Study) else self.open(study)).save_as(path)

    def study_data(self, study: Study | Path | str) -> StudyData:
        """Return a study in the form that views and analysis use."""
        from scalegraph.request.results.data import study_data

        return study_data(study if isinstance(study, Study) else self.open(study))

    def watched(self, path: Path | str) -> Watched:
        """Return the progress of another process that works on the study at *path*, if any; the study is only read."""
        from scalegraph.request.run.watching import watched

        return watched(self.open(path))

    def traces(self, study: Study | Path | str) -> list[TracedRun]:
        """Return the existing traces of a study: (key of the run's point, processors, path), by N."""
        return traces(study if isinstance(study, Study) else self.open(study))

    def lost_traces(self, study: Study | Path | str) -> list[str]:
        """Return a sentence for each trace of a study that is no longer where it was written."""
        return lost(study if isinstance(study, Study) else self.open(study))

    def machines(self) -> list[Any]:
        """Return the summaries of the shipped machines."""
        from scalegraph import machine

        return list(machine.available())

    def machine(self, name_or_path: str, overrides: Mapping[str, str] | None = None) -> Machine:
        """Return a machine; raise `InputError` with every fault of its file."""
        from scalegraph import machine

        return machine.load(name_or_path, overrides)

    def programs(self) -> tuple[programs.Described, ...]:
        """Return the shipped programs."""
        return programs.available()

    def instrument(self, path: Path | str, *, detail: Detail = "outer") -> Instrumented:
        """Return the C source at *path* with the probes that the preprocessor would insert."""
        from scalegraph.base.toml import read_text
        from scalegraph.instrument import instrument_source
        from scalegraph.instrument.headers import working

        text = read_text(Path(path))
        return instrument_source(text, str(path), detail=detail, working=working(Path(path), text))

    def open_trace(
        self,
        path: Path | str,
        cancel: CancelToken | None = None,
        progress: Callable[[float], None] = lambda _share: None,
        *,
        partial: bool = False,
        waiting: Callable[[float], None] = lambda _seconds: None,
    ) -> TraceData:
        """Open a trace of any format for viewing; close its `trace` when done.

        A foreign format is converted into a ``.sgtrace`` in the user's cache when it is first opened; *progress* is
        called with the share done, *waiting* with the time (s) waited for another process or thread that does it.
        *partial* reads what it can of a damaged file. Raises `InputError` with file, place and what was expected,
        `MissingTool`, `Cancelled`.
        """
        from scalegraph.request.imports import traces

        return traces.open_trace(Path(path), cancel, progress, partial=partial, waiting=waiting)

    def views(self, subject: Subject = "study") -> dict[str, View]:
        """Return the views of studies, or of traces, by name."""
        from scalegraph import views

        return views.registry(subject)

    def trace_view(self, data: TraceData, name: str, *, others: Sequence[TraceData] = (), **options: Any) -> Figure:
        """Return the view *name* of a trace; raise `InputError` for an unknown view or option.

        *others*: traces to compare it with, for views of several.
        """
        from scalegraph import views

        return views.get(name).build(replace(data, others=tuple(others)) if others else data, **options)

    def view(
        self, study: Study | Path | str, name: str, *, others: Sequence[Study | Path | str] = (), **options: Any
    ) -> Figure:
        """Return the view *name* of a study; raise `InputError` for an unknown view or option.

        *others*: studies to compare it with, for views of several.
        """
        from scalegraph import views

        data = replace(self.study_data(study), others=tuple(map(self.study_data, others)))
        return views.get(name).build(data, **options)

    def request_text(self, study: Study) -> str:
        """Return the request that *study* was made by as TOML, empty if it holds measurements."""
        request = study.manifest.request
        return of_study(request, str(study.path or "")).to_toml() if request.get("program") else ""

    def export(
        self,
        study: Study | Path | str,
        name: str,
        path: Path | str,
        *,
        size_cm: tuple[float, float] | None = None,
        theme: str | None = None,
        for_spreadsheets: bool = False,
        **options: Any,
    ) -> None:
        """Write the view *name* of a study to *path*, in the format given by its ending."""
        figure = self.view(study, name, **options)
        self.write(figure, path, size_cm=size_cm, theme=theme, for_spreadsheets=for_spreadsheets)

    def write(
        self,
        figure: Figure,
        path: Path | str,
        *,
        size_cm: tuple[float, float] | None = None,
        theme: str | None = None,
        for_spreadsheets: bool = False,
    ) -> None:
        """Write a view that was built to *path*, in the format given by its ending.

        *for_spreadsheets*: in CSV, text that a spreadsheet would take for a formula gets a leading apostrophe.
        """
        from scalegraph.request.results.data import export

        export(figure, Path(path), size_cm, theme, for_spreadsheets=for_spreadsheets)

    def matrix(self, study: Study | Path | str, **options: Any) -> Matrix | None:
        """Return the scalability matrix of a study, see `subjects.matrices.matrix`; None if nothing can be held."""
        from scalegraph.request.results.data import matrix

        return matrix(self.study_data(study), **options)

    def _resolved(self, request: Request) -> Resolved:
        """Return *request* resolved: the first choice that can run, if there are several."""
        if not request.space.varies:
            return resolved(request)
        from scalegraph.request.run.spaces import resolved_members

        return resolved_members(request)[0][0][1]

    def _records(self, path: Path) -> list[Any]:
        study = self.open(path)
        return [run for run in study.every_run() if run.source != "predicted"]


def _stamp(path: Path) -> tuple[int, int] | None:
    """Return a stamp that distinguishes a replaced file from the open one."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
