"""perf stat: a directory of ``perf stat -x, -o app.p4.n100.r1.csv`` files, one per run."""

from __future__ import annotations

import re
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.readers._names import parse_names

ENDINGS = (".csv", ".txt", ".perf")
PROGRAM = "program"
# value, unit, event, time that the counter ran (ns), share of the time: -x, without -I, -A or --per-socket
_LINE = re.compile(r"(?P<value>[^,;]*)[,;](?P<unit>[^,;]*)[,;](?P<event>[A-Za-z][^,;]*)[,;]\d+[,;][\d.]+(?:[,;].*)?")
_NOT = ("<not counted>", "<not supported>")
_ELAPSED = "duration_time"  # perf's event for the elapsed time


def _files(path: Path) -> list[Path]:
    return sorted(file for file in path.iterdir() if file.suffix in ENDINGS and file.is_file() and file.name[0] != ".")


def _recognises(path: Path, _head: bytes) -> bool:
    for file in _files(path)[:1]:
        with file.open("rb") as stream:
            lines = stream.read(4096).decode("utf-8", "replace").splitlines()
        lines = [line for line in lines if line.strip() and not line.startswith("#")]
        return bool(lines) and _LINE.fullmatch(lines[0]) is not None
    return False


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    files = _files(path) if path.is_dir() else []
    if not files:
        raise InputError(Fault("holds no files of perf stat; expected app.p4.n100.r1.csv and others", file=str(path)))
    names = parse_names([file.stem for file in files], str(path))
    found = Collector(str(path), list(names[0].parameters))
    order = sorted(range(len(files)), key=lambda index: (*names[index].parameters.values(), names[index].repetition))
    first: set[str] = set()
    for done, index in enumerate(order, 1):
        cancel.check()
        events = _take(files[index], found, found.point(tuple(names[index].parameters.values())))
        first = first or events
        if events != first:
            event = min(events ^ first)
            message = f"event '{event}' is in one of this file and {files[order[0]].name}; expected the same in all"
            raise InputError(Fault(message, file=str(files[index])))
        progress(done / len(order))
    return found.finish("perf-directory", path.name, files=[str(file) for file in files])


def _take(file: Path, found: Collector, point: int) -> set[str]:
    """Add the counts of one file; return its events."""
    path = found.child(None, PROGRAM)
    seen: set[str] = set()
    text = read_text(file)
    if not text.endswith("\n"):
        raise InputError(Fault("is cut off: its last line does not end", str(file), text.count("\n") + 1))
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            message = "expected value, unit, event, time and share, as `perf stat -x,` writes them"
            raise InputError(Fault(message, file=str(file), line=number))
        event = match["event"]
        if event in seen:
            raise InputError(Fault(f"event '{event}' appears twice; expected a file for each run", str(file), number))
        seen.add(event)
        if match["value"] in _NOT:
            found.skip(f"event {event}", 1, match["value"].strip("<>"), f"{file}:{number}")
            continue
        value = as_number(match["value"])
        if value is None:
            raise InputError(Fault(f"expected a number, found '{match['value'][:40]}'", str(file), number))
        name, unit = ("elapsed", "ns") if event == _ELAPSED else (event, match["unit"])
        found.add(point, path, found.metric(name, unit, **({} if unit else {"kind": "count"})), (value,))
    return seen


READER = Reader(
    "perf-directory",
    "perf stat directory",
    (),
    recognises=_recognises,
    read=_read,
    order=30,
    directory=True,
    looks="perf stat -x, -o app.p4.n100.r1.csv, a file a run",
)
