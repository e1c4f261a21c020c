"""The traces of a study: which runs write one, its content, its place, and whether it still exists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from scalegraph.base import amounts
from scalegraph.base.errors import Fault
from scalegraph.base.run import RunPoint, RunRecord
from scalegraph.base.units import si
from scalegraph.link import Build, TraceOrder
from scalegraph.link.tracing import regions_of
from scalegraph.machine import Machine
from scalegraph.request.model.request import Request, TraceChoice
from scalegraph.request.model.targeting import is_simulated
from scalegraph.store import Study
from scalegraph.store.manifest import digest

if TYPE_CHECKING:
    from scalegraph.request.model.resolve import Resolved

DIRECTORY = ".traces"
STRETCHES = 2000  # of shares in a run, approximately, if its length is known beforehand
UNKNOWN = 20_000  # cycles of a stretch otherwise
_SHORTEST, _LONGEST = 1000, 2**52


class TracedRun(NamedTuple):
    """A run of a study whose trace exists."""

    key: str  # of the run's point
    processors: int
    path: Path


def directory_of(study: Path) -> Path:
    """Return the directory for the traces of the study file *study*: ``NAME.traces`` next to it."""
    return study.with_name(study.stem + DIRECTORY)


def path_of(record: RunRecord, study: Path | None) -> Path | None:
    """Return where the trace of *record* is, or was; None if the run wrote none. *study*: its file."""
    if record.trace is None:
        return None
    return (study.parent if study else Path()) / record.trace.path


def traces(study: Study) -> list[TracedRun]:
    """Return the runs of *study* whose traces exist, by N."""
    found = [(record, path_of(record, study.path)) for record in study.every_run()]
    there = [TracedRun(r.point.key, r.point.processors, path) for r, path in found if path is not None and _there(path)]
    return sorted(there, key=lambda run: run.processors)


def lost(study: Study) -> list[str]:
    """Return a sentence for each trace of *study* that is no longer where it was written."""
    found = [(record, path_of(record, study.path)) for record in study.every_run()]
    return [
        f"{path}: the trace of {record.point.label()} is missing; it was next to the study when it was made: "
        "move it back, or run the request again"
        for record, path in found
        if path is not None and not _there(path)
    ]


def _there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def faults(request: Request, machine: Machine) -> Iterable[Fault]:
    """Yield the faults of the request's ``[trace]`` that depend on its machine and processor counts."""
    choice = request.trace
    if choice is None:
        return
    known = {*request.every_count(), *((1,) if request.reference else ())}
    if strange := [str(count) for count in choice.processors if count not in known]:
        yield Fault(f"{', '.join(strange)}: not among the processor counts of the request", key="trace.processors")
    begin, end = (_cycles(text, machine) for text in (choice.begin, choice.end))
    if end is not None and end <= (begin or 0):
        yield Fault(f"'{choice.end}': a time after '{choice.begin or 0}' was expected", key="trace.end")
    if choice.interval and _cycles(choice.interval, machine) == 0:
        text = f"'{choice.interval}' is less than a cycle of the machine ({si(1 / machine.clock_hz, 's')})"
        yield Fault(text, key="trace.interval")
    for key in ("begin", "end", "interval"):
        if (_cycles(getattr(choice, key), machine) or 0) > _LONGEST:
            yield Fault(f"'{getattr(choice, key)}' is more cycles than are counted", key=f"trace.{key}")


def _cycles(text: str, machine: Machine) -> int | None:
    return amounts.cycles(text, machine.clock_hz) if text else None


def wanted(found: Resolved, point: RunPoint) -> bool:
    """Return whether the request wants a trace of *point*, judged by its kind of run, size and processor count.

    Perfect balance is computed from a run, so there is nothing to trace.
    """
    choice = found.request.trace
    if choice is None or "balance" in point.variant.ideal:
        return False
    if choice.runs == "actual" and (point.variant or point.repetition):
        return False
    if choice.sizes == "base" and point.parameters not in found.sweep:
        return False
    return point.processors in (choice.processors or found.request.every_count())


def asked(choice: TraceChoice, machine: Machine) -> str:
    """Return the requested content of a trace as text: requests that differ in it each need their own trace."""
    return digest(choice.what, choice.begin, choice.end, choice.region, choice.interval, choice.limit, machine.clock_hz)


class Tracing:
    """The traces of one submission. *place*: the study file (None: in memory); *directory*: other place for traces."""

    def __init__(self, found: Resolved, place: Path | None, directory: Path | None = None) -> None:
        self._found = found
        self._request = request = found.request
        self._machine = machine = found.machine
        self._place = place
        self._asked = asked(request.trace, machine) if request.trace else ""
        self.directory = directory or (directory_of(place) if place else None)

    def lacks(self, record: RunRecord) -> bool:
        """Return whether the trace of *record*, a known run, was requested and is missing or has other content."""
        if self.directory is None or not wanted(self._found, record.point):
            return False
        path = path_of(record, self._place)
        return path is None or record.trace is None or record.trace.asked != self._asked or not _there(path)

    def order(
        self, point: RunPoint, build: Build, identity: Mapping[str, str], known: Iterable[RunRecord]
    ) -> TraceOrder | None:
        """Return what the run of *point* must trace, None for nothing; *known* runs give its duration."""
        choice = self._request.trace
        if choice is None or self.directory is None or not wanted(self._found, point):
            return None
        return TraceOrder(
            directory=self.directory,
            name="-".join([str(point.processors), *_told(point), point.key]),
            what=choice.what,
            begin=_cycles(choice.begin, self._machine) or 0,
            end=_cycles(choice.end, self._machine),
            interval=_cycles(choice.interval, self._machine) or self._usual_interval(point, known),
            regions=regions_of(build, choice.region) if choice.region else (),
            limit=choice.limit,
            identity=digest(dict(identity), point.key),
            asked=self._asked,
        )

    def _usual_interval(self, point: RunPoint, known: Iterable[RunRecord]) -> int:
        """Return the default interval; 0: the target chooses, knowing how long its runs take."""
        return _interval(self._found, point, known) if is_simulated(self._request) else 0

    def tidy(self) -> None:
        """Remove the directory next to the study if nothing came into it."""
        if self.directory is not None and self._place is not None and self.directory == directory_of(self._place):
            with suppress(OSError):
                self.directory.rmdir()

    def kept(self, record: RunRecord) -> RunRecord:
        """Return *record* with its trace's path as the study keeps it."""
        return seen_from(record, self._place)


def seen_from(record: RunRecord, study: Path | None) -> RunRecord:
    """Return *record* with its trace's path relative to the directory of *study*, if possible."""
    if record.trace is None:
        return record
    path = Path(record.trace.path).absolute()
    if study is not None and path.is_relative_to(study.absolute().parent):
        path = path.relative_to(study.absolute().parent)
    return record.model_copy(update={"trace": record.trace.model_copy(update={"path": str(path)})})


def _told(point: RunPoint) -> list[str]:
    """Return words for a trace's name that distinguish its run from the actual one, and from its repetitions."""
    label = point.variant.label() if point.variant else f"repetition {point.repetition}" if point.repetition else ""
    return re.findall(r"[a-z0-9.]+", label.lower())[:6]


def _interval(found: Resolved, point: RunPoint, known: Iterable[RunRecord]) -> int:
    """Return the length in cycles over which shares are summed: a fraction of the run's expected duration.

    That is known from a run of the same size, or estimated from the program's description.
    """
    lengths = {
        record.point.processors: record.time_cycles
        for record in known
        if record.time_cycles and record.point.parameters == point.parameters and not record.point.variant
    }
    if lengths:
        near = min(lengths, key=lambda count: abs(count - point.processors))
        return max(_SHORTEST, lengths[near] * near // point.processors // STRETCHES)
    if found.family.work_formula is None:
        return UNKNOWN
    return max(_SHORTEST, int(found.family.work_of(point.parameters)) // point.processors // STRETCHES)


def notes(found: Resolved, points: Iterable[RunPoint], known: Iterable[RunRecord]) -> Iterable[str]:
    """Yield a sentence about the traces that the runs of *points* will write, with their size if known."""
    choice = found.request.trace
    if choice is None:
        return
    counts = [point.processors for point in points if wanted(found, point)]
    if not counts:
        return
    text = asked(choice, found.machine)
    there = [(r.trace, r.point.processors) for r in known if r.trace is not None and r.trace.asked == text]
    sizes = [trace.bytes / count for trace, count in there]
    runs = f"{len(counts)} run{'s write traces' if len(counts) > 1 else ' writes a trace'}"
    if sizes:
        total = sum(min(choice.limit, median(sizes) * count) for count in counts)
        yield f"{runs}, about {si(total, 'B')} in all by those that are there"
    else:
        yield f"{runs} of at most {amounts.size_text(choice.limit)}{' each' if len(counts) > 1 else ''}"
