"""Follows the ways on that figures offer (`views.ways`) into the request panel, queue or What if panel."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from scalegraph.base.errors import InputError
from scalegraph.gui.base.jobs import Reporter
from scalegraph.gui.base.lifetime import tied
from scalegraph.gui.study.studies import StudyHandle
from scalegraph.gui.trace.handle import TraceHandle

if TYPE_CHECKING:
    from scalegraph.figures.way import Way
    from scalegraph.gui.shell.main_window import MainWindow

_NAMES: Final = 5  # of files in a message
_SOURCES: Final = ".traces"  # directory of a study's traces, beside it


class WayCommands(QObject):
    """Uses the window's current study, request panel, queue and What if panel."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._does: dict[str, Callable[[Way, Any, StudyHandle], None]] = {
            "add-sizes": self._sizes,
            "measure-sizes": self._measure,
            "collect": self._collect,
            "target": self._target,
            "trace": self._trace,
            "what-if": self._what_if,
            "add-counts": self._counts,
            "predict": lambda _way, data, handle: self._predict(data, handle),
            "start": lambda _way, data, handle: self._show(data, handle),
        }

    def go(self, way: Way) -> None:
        """Follow a way on from a figure of the current subject."""
        from scalegraph.views import ways

        self._window.pages.forget_messages()
        handle = self._window.study.handle
        if way.name == "open":
            self._window.actions_["open_trace" if way.argument("what") == "trace" else "open"].trigger()
            return
        if isinstance(handle, TraceHandle):
            self._of_trace(way, handle)
            return
        data = handle.study() if handle is not None else None
        if isinstance(handle, StudyHandle) and data is not None and way.name in self._does:
            if ways.is_command(data):
                self._command(data, handle, way.argument("processors"))
            else:
                self._does[way.name](way, data, handle)

    def edit(self, data: Any, handle: StudyHandle) -> None:
        """Show the request that a study came from; starting it again completes the study."""
        from scalegraph.views import ways

        if ways.is_command(data):
            self._command(data, handle)
        else:
            self._show(data, handle)

    def _command(self, data: Any, handle: StudyHandle, added: str = "") -> None:
        """Show the command that a study measured, with the processor counts *added*."""
        from scalegraph.gui.request import text

        asked = data.manifest.get("request") or {}
        counts = ""
        if added:
            known = {int(n) for n in asked.get("processors") or ()} | {int(n) for n in data.table.get("processors", ())}
            counts = text.processors_text(tuple(sorted(known | {int(n) for n in added.split(",")})))
        fault = self._window.measure.show_request(asked, handle.title, handle.path, counts)
        if fault:
            self._window.pages.say_fault(fault)
        else:
            self._window.go("measure")

    # of a study

    def _sizes(self, way: Way, data: Any, handle: StudyHandle) -> None:
        from scalegraph.views import ways

        asked = data.manifest.get("request") or {}
        known = {kind: ways.middling(data, kind) for kind in (way.argument("held") or "efficiency").split(",")}
        self._shown(self._window.request.show_sizes(asked, handle.title, handle.path, known), "")

    def predict(self) -> None:
        """Show the current study's request with larger sizes to predict."""
        handle = self._window.study.handle
        data = handle.study() if handle is not None else None
        if isinstance(handle, StudyHandle) and data is not None:
            self._predict(data, handle)

    def _predict(self, data: Any, handle: StudyHandle) -> None:
        asked = data.manifest.get("request") or {}
        self._shown(self._window.request.show_prediction(asked, handle.title, handle.path), "")

    def _measure(self, _way: Way, data: Any, _handle: StudyHandle) -> None:
        from scalegraph.views import ways

        self._window.study.banner.show_remark(ways.what_to_measure(data))

    def _collect(self, way: Way, data: Any, handle: StudyHandle) -> None:
        """Run again and collect what the way names; if that changes the instrumentation, as a new study."""
        what = way.argument("what")
        if what in ("regions", "monitor", "compare") or not os.access(handle.path, os.W_OK):
            value = way.argument("value") or True
            self._show(data, handle, other=f"{handle.path.stem}-{what}", **{what: value})
            return
        request = kept_request(self._window, data, handle.title)
        if request is None:
            return
        whole = {"sample": "automatic"} if request.collect.sample == "always" else {}  # misses by class need all visits
        collect = request.collect.model_copy(update={what: True, **whole})
        again = request.model_copy(update={"collect": collect})
        self._window.runner.submit(again, handle.path, f"{handle.title}: {what}")
        self._window.study.banner.show_remark(f"Running again with {what}; see the queue.")

    def _target(self, way: Way, data: Any, handle: StudyHandle) -> None:
        """Show the request for another target, with the processor counts that the target allows."""
        from scalegraph.gui.request import text
        from scalegraph.link.targets import named

        target = named(way.argument("target"))
        asked = data.manifest.get("request") or {}
        counts = {1, *(int(n) for n in asked.get("processors") or ())}
        there = tuple(sorted(n for n in counts if not target.refusal(n)))
        self._show(data, handle, target=target.name, processors=text.processors_text(there))

    def _counts(self, way: Way, data: Any, handle: StudyHandle) -> None:
        from scalegraph.gui.request import text

        asked = data.manifest.get("request") or {}
        counts = {int(n) for n in asked.get("processors") or ()} | {int(n) for n in data.table.get("processors", ())}
        added = {int(n) for n in way.argument("processors").split(",")}
        self._show(data, handle, processors=text.processors_text(tuple(sorted(counts | added))))

    def _trace(self, way: Way, data: Any, handle: StudyHandle) -> None:
        self._show_traced(way, data.manifest.get("request") or {}, handle.title, handle.path)

    def _what_if(self, way: Way, _data: Any, _handle: StudyHandle) -> None:
        self._window.panels.want("whatif", True)
        if ideals := way.argument("ideal"):
            for ideal in ideals.split("+"):
                self._window.whatif.ask_ideal(ideal)
        elif way.argument("sweep"):
            self._window.whatif.ask_sweep()

    def ask_faster(self, target: str) -> None:
        """Ask what if *target* were faster; if it is a waiting line, offer what would help instead."""
        window, handle = self._window, self._window.study.handle
        window.panels.want("whatif", True)
        window.whatif.ask_faster(target)
        data = handle.study() if handle is not None else None
        if data is None:
            return
        from scalegraph.gui.whatif.helpful import Help, help_for

        def look(_reporter: Reporter) -> Help | None:
            return help_for(data, target)

        def say(found: Help | None) -> None:
            if found is not None and window.study.handle is handle:
                act = partial(window.whatif.ask_faster, found.target, found.factor)
                window.study.banner.show_remark(found.sentence, found.act, act)

        window.jobs.start("finding what would help", look, done=tied(self, say), failed=lambda _error: None)

    def _show(self, data: Any, handle: StudyHandle, *, other: str = "", **changes: Any) -> None:
        asked = data.manifest.get("request") or {}
        study = self._window.settings.free_study_path(other) if other else handle.path
        self._shown(self._window.request.show_request(asked, handle.title, study, **changes), "")

    def _shown(self, fault: str, remark: str) -> None:
        """Show the error *fault*; without one open the request panel, with a *remark*."""
        if fault:
            self._window.pages.say_fault(fault)
            return
        self._window.go("request")
        if remark:
            self._window.request.banner.show_remark(remark)

    # of a trace

    def _of_trace(self, way: Way, handle: TraceHandle) -> None:
        """Show the request of the study that wrote the trace: an open one, or the file beside it."""
        if way.name == "sources":
            self._ask_sources(handle)
        if way.name != "trace":
            return
        for study in self._window.studies:
            data = study.study() if isinstance(study, StudyHandle) else None
            if data is not None and _wrote(data, study.path, handle.path):
                self._show_traced(way, data.manifest.get("request") or {}, study.title, study.path)
                return
        beside = handle.path.parent.with_suffix(".sgstudy")
        if handle.path.parent.suffix != _SOURCES or not beside.is_file():
            self._not_known(way)
            return
        session = self._window.session

        def read(_reporter: Reporter) -> dict[str, Any]:
            return dict(session.open(beside).manifest.request)

        def done(asked: dict[str, Any]) -> None:
            self._show_traced(way, asked, beside.name, beside)

        self._window.jobs.start(
            "reading the study of the trace", read, done=done, failed=lambda _e: self._not_known(way)
        )

    def _ask_sources(self, handle: TraceHandle) -> None:
        """Ask for a folder and show the source found in it."""
        at = handle.sources.current.folder or str(handle.path.parent)
        chosen = QFileDialog.getExistingDirectory(self._window, "Folder of the sources", at)
        trace = handle.trace()
        if not chosen or trace is None:
            return
        from scalegraph.request.imports import sources

        folder = Path(chosen)

        def find(reporter: Reporter) -> Mapping[str, Path]:
            return sources.below(trace, folder, reporter.token)

        def done(found: Mapping[str, Path]) -> None:
            if found and handle.trace() is trace:
                handle.sources.choose(folder, found)
            elif not found:
                names = sorted({PurePath(name).name for name in sources.named(trace)})
                listed = ", ".join(names[:_NAMES]) + (f" and {len(names) - _NAMES} more" if len(names) > _NAMES else "")
                self._window.study.banner.show_remark(
                    f"{folder} has none of this trace's files: {listed}.",
                    "Choose another folder…",
                    lambda: self._ask_sources(handle),
                )

        self._window.jobs.start("finding the sources of the trace", find, done=tied(handle, done))

    def _not_known(self, way: Way) -> None:
        self._window.study.banner.show_remark(
            "The study of this trace is not open. Open it and continue there; or choose Trace and"
            f" '{way.argument('what')}' in the request panel and run the program again.",
            "Open the request panel",
            lambda: self._window.go("request"),
        )

    def _show_traced(self, way: Way, asked: dict[str, Any], title: str, study: Path) -> None:
        from scalegraph.request.model.request import USUAL_TRACE

        what = way.argument("what")
        before = tuple((asked.get("trace") or {}).get("what") or USUAL_TRACE)
        kinds = before if what in before else (*before, what)
        fault = self._window.request.show_request(asked, title, study, trace=True, trace_what=kinds)
        self._shown(fault, f"Run repeats the runs of '{title}' with a trace of {', '.join(kinds)}.")


def kept_request(window: MainWindow, data: Any, title: str) -> Any:
    """Return a study's request; if it cannot be read, show an error and return None."""
    from scalegraph.request.model.origin import of_study

    try:
        return of_study(data.manifest.get("request") or {}, title)
    except InputError as error:
        window.pages.say_fault(f"The request of this study cannot be read: {error}")
        return None


def _wrote(data: Any, study: Path, trace: Path) -> bool:
    """Return whether a run of *data*, stored at *study*, wrote the trace *trace*."""
    from scalegraph.request.model.tracing import path_of

    found = (path_of(run, study) for run in (*data.runs, *data.variants))
    return any(path is not None and path.resolve() == trace.resolve() for path in found)
