"""Opens traces of any tool for viewing, with the level of detail that pictures need."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import scalegraph
from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError, ScaleGraphError
from scalegraph.request.imports.kinds import refuse_no_trace
from scalegraph.request.model.tracing import DIRECTORY
from scalegraph.runtime.cache import Waiting, cache_root, get_or_make, spoil, trim
from scalegraph.store import Study
from scalegraph.store.study import SUFFIX as SUFFIX_STUDY
from scalegraph.subjects.trace import TraceData
from scalegraph.traces import reading
from scalegraph.traces.container import SUFFIX, VERSION, open_container, write_container
from scalegraph.traces.formats import Progress
from scalegraph.traces.lod import Timeline
from scalegraph.traces.lod.stored import VERSION as PYRAMID
from scalegraph.traces.lod.stored import lacks_pyramid
from scalegraph.traces.model import Trace

LIMIT_BYTES = 20 << 30  # of converted traces in the cache; the least recently used are removed first
_HEAD = 1 << 20  # bytes of a JSON file searched for events
_MOST_FILES = 20_000  # of files belonging to a trace


def open_trace(
    path: Path,
    cancel: CancelToken | None = None,
    progress: Progress = lambda _share: None,
    *,
    partial: bool = False,
    waiting: Waiting = lambda _seconds: None,
) -> TraceData:
    """Return the trace at *path* with its level of detail; see `Session.open_trace`."""
    token = cancel or CancelToken()
    progress = _rising(progress)
    path = reading.anchor(path)
    reader = reading.recognised(path)
    refuse_no_trace(path)
    if reader and reader[0].name == "sgtrace":
        trace = reading.read(path, partial=partial, cancel=token)
        steps = _span(progress, 0.0, 1.0)
        if lacks_pyramid(trace):  # of version 1, or of another writer: its pyramid is made and kept
            trace.close()
            trace = _converted(path, token, _span(progress, 0.0, 0.9), waiting, partial=partial)
            steps = _span(progress, 0.9, 1.0)
    else:
        trace = _converted(path, token, _span(progress, 0.0, 0.9), waiting, partial=partial)
        steps = _span(progress, 0.9, 1.0)
    try:
        timeline = Timeline.open(trace, cancel=token, progress=steps)
    except BaseException:
        trace.close()
        raise
    progress(1.0)
    known = _of_study(path)
    return TraceData(
        trace,
        timeline,
        known.name or _run_name(trace) or name_of(path),
        path,
        dict(sources(trace, path)),
        known.texts,
        facts={**facts(trace), **known.facts},
    )


@dataclass(frozen=True)
class _Known:
    """A study's facts on the run that wrote a trace."""

    name: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


def _of_study(path: Path) -> _Known:
    """Return the facts of the study whose run wrote the trace at *path*; none if the trace has been moved."""
    home = path.resolve().parent
    file = home.parent / f"{home.name.removesuffix(DIRECTORY)}{SUFFIX_STUDY}"
    if not home.name.endswith(DIRECTORY) or not file.is_file():
        return _Known()
    try:
        with Study.open(file) as study:
            records = [*study.runs(), *study.variants()]
            mine = next((r for r in records if r.trace is not None and Path(r.trace.path).name == path.name), None)
            texts = {source.name: source.text for source in study.manifest.sources}
            if mine is None:
                return _Known(texts=texts)
            same = [r for r in records if r.point.parameters == mine.point.parameters and r.point.processors == 1]
            work = next((r.work_ops for r in same if r.ok and r.work_ops), mine.work_ops)
            count = mine.point.processors
            found = {"processors": count, "program": mine.program, "machine": mine.machine, "work": work}
            alone = sum(r.point.processors == count and r.trace is not None for r in records) == 1
            label = f"N = {count}" if alone else mine.point.label()
            return _Known(f"{study.name}, {label}", texts, {key: value for key, value in found.items() if value})
    except ScaleGraphError:
        return _Known()


def _converted(path: Path, cancel: CancelToken, progress: Progress, waiting: Waiting, *, partial: bool) -> Trace:
    """Return a trace as its copy in the cache, with its pyramid, made if there is none."""
    home = cache_root() / "traces"
    directory = home / _digest(path, partial=partial)

    def make(temporary: Path) -> None:
        with reading.read(path, partial=partial, cancel=cancel, progress=_span(progress, 0.0, 0.7)) as trace:
            kept = _span(progress, 0.7, 1.0)

            def each(share: float) -> None:
                cancel.check()
                kept(share)

            write_container(trace, temporary / f"trace{SUFFIX}", each)

    def wait(seconds: float) -> None:
        cancel.check()
        waiting(seconds)

    def copy() -> Trace:
        get_or_make(directory, make, wait)
        return open_container(directory / f"trace{SUFFIX}", broken=lambda: spoil(directory))

    try:
        trace = copy()
    except InputError:  # a large copy damaged since then is made again
        spoil(directory)
        trace = copy()
    trim(home, LIMIT_BYTES, keep=directory)
    trace.meta.source = path.name
    return trace


def _rising(progress: Progress) -> Progress:
    """Return *progress* made monotonic for work that is done in several passes."""
    most = 0.0

    def told(share: float) -> None:
        nonlocal most
        most = max(most, share)
        progress(most)

    return told


def _span(progress: Progress, low: float, high: float) -> Callable[[float], None]:
    return lambda share: progress(low + (high - low) * min(max(share, 0.0), 1.0))


def _digest(path: Path, *, partial: bool) -> str:
    """Return a digest that identifies this trace in its current state."""
    told = hashlib.sha256(f"{scalegraph.__version__} {VERSION} {PYRAMID} {partial}".encode())
    for file in _belonging(path):
        status = file.stat()
        told.update(f"{file.resolve()}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return told.hexdigest()[:32]


def _belonging(path: Path) -> Iterator[Path]:
    """Yield *path* and the files read with it: those with its name, or in a folder of that name."""
    yield path
    stem = path.name.removesuffix(".gz").rpartition(".")[0] or path.name
    for beside in sorted(path.parent.glob(f"{glob.escape(stem)}.*")):
        if beside != path and beside.is_file():
            yield beside
    folder = path.parent / stem
    if folder.is_dir():
        for number, file in enumerate(sorted(folder.iterdir())):
            if number >= _MOST_FILES:
                break
            if file.is_file():
                yield file


def name_of(path: Path) -> str:
    """Return a short name of the trace at *path* for titles: that of its directory if its own says nothing."""
    name = path.name.removesuffix(".gz")
    stem = name.rpartition(".")[0] or name
    return path.resolve().parent.name or stem if stem in ("traces", "trace") else stem


def sources(trace: Trace, path: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files named by regions of *trace*, and where they are: next to the trace, or at that path."""
    home = path.resolve().parent
    for name in sorted({region.file for region in trace.definitions.regions if region.file}):
        named = Path(name)
        tries = [named] if named.is_absolute() else [home / named, home.parent / named]
        tries += [home / named.name, home.parent / named.name]
        for candidate in tries:
            try:
                if candidate.is_file():
                    yield name, candidate
                    break
            except (OSError, ValueError):
                continue


def _run_name(trace: Trace) -> str:
    """Return the name of a run of ours that no study knows: ``halo2d on ncube2, N = 16``."""
    known = facts(trace)
    if trace.meta.source not in ("simulated", "measured") or "program" not in known or "machine" not in known:
        return ""
    return f"{known['program']} on {known['machine']}, N = {known['processors']}"


def facts(trace: Trace) -> dict[str, Any]:
    """Return the facts in the trace about its run: program, machine, processors, work."""
    meta, told = trace.meta, trace.meta.properties
    found: dict[str, Any] = {"processors": len(trace.definitions.locations)}
    if meta.program:
        found["program"] = meta.program
    if told.get("machine"):
        found["machine"] = told["machine"]
    for name in ("processors", "work", "work_ops", "work_flops"):
        try:
            found[name] = float(told[name]) if name != "processors" else int(told[name])
        except (KeyError, ValueError):
            continue
    return found
