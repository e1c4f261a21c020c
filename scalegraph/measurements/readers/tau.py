"""TAU profiles: a directory of ``profile.RANK.0.THREAD`` files, one run; microseconds, paths separated by ``=>``."""

from __future__ import annotations

import re
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.readers._names import named_point
from scalegraph.measurements.readers._ranks import NOTE, Locations, collect

_NAME = re.compile(r"profile\.\d+\.\d+\.\d+")
_HEAD = re.compile(r"(?P<count>\d+) templated_functions(?:_MULTI_(?P<metric>\S+))?\s*")
_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_ROW = re.compile(
    rf'"(?P<name>.*)" (?P<calls>{_NUMBER}) {_NUMBER} (?P<self>{_NUMBER}) {_NUMBER} {_NUMBER}(?: GROUP="[^"]*")?\s*'
)
_PLACE = re.compile(r"\s?\[\{[^{}]*\}(?:[\s-]?\{[^{}]*\})*\]\s?")  # [{file} {line,column}-{line,column}]
_TIME = ("TIME", "GET_TIME_OF_DAY", "LINUX_TIMERS", "WALLCLOCK", None)
_WHOLE = ".TAU application"


def _files(path: Path) -> list[Path]:
    found = [file for file in path.iterdir() if _NAME.fullmatch(file.name) and file.is_file()]
    return sorted(found, key=lambda file: tuple(map(int, file.name.split(".")[1:])))


def _recognises(path: Path, _head: bytes) -> bool:
    return bool(_files(path))


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    files = _files(path) if path.is_dir() else []
    if not files:
        raise InputError(Fault("holds no files of a TAU profile; expected profile.0.0.0 and others", file=str(path)))
    where = named_point(path, "locations", len(files))
    found = Collector(str(path), list(where))
    ranks = Locations(len(files))
    for number, file in enumerate(files):
        cancel.check()
        _take(file, number, ranks)
        progress((number + 1) / len(files))
    if not ranks.seconds:
        raise InputError(Fault("holds no times of functions", file=str(path)))
    collect(found, found.point(tuple(where.values())), ranks)
    return found.finish("tau", path.name, files=[str(file) for file in files], notes=[NOTE])


def _take(file: Path, location: int, ranks: Locations) -> None:
    """Add the functions of one file; those of a flat profile go below the first."""
    text = read_text(file)
    lines = text.splitlines()
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        raise InputError(Fault("expected '12 templated_functions_MULTI_TIME'", file=str(file), line=1))
    if head["metric"] not in _TIME:
        message = f"holds {head['metric']}; expected TIME: give the directory MULTI__TIME"
        raise InputError(Fault(message, file=str(file), line=1))
    rows = []
    for number, line in enumerate(lines[2 : 2 + int(head["count"])], 3):
        row = _ROW.fullmatch(line)
        if row is None:
            message = f"expected \"name\" calls subrs excl incl profilecalls, found '{line[:40]}'"
            raise InputError(Fault(message, file=str(file), line=number))
        rows.append((_path(row["name"]), float(row["calls"]), float(row["self"])))
    if len(rows) < int(head["count"]):
        message = f"is cut off: it has {len(rows)} of {head['count']} functions"
        raise InputError(Fault(message, file=str(file), line=len(lines)))
    _check_end(file, lines[2 + len(rows) :], len(lines), whole=text.endswith("\n"))
    tree = any(len(path) > 1 for path, _, _ in rows)
    whole = next((path[0] for path, _, _ in rows if path[0] == _WHOLE), "") or (rows[0][0][0] if rows else "")
    for path, calls, own in rows:
        if tree and len(path) == 1 and path[0] != whole:
            continue  # the sum over all paths to the function, which are listed separately
        full = path if path[0] == whole else (whole, *path)
        ranks.add(location, full, max(0.0, own) / 1e6, calls)


def _check_end(file: Path, rest: list[str], last: int, *, whole: bool) -> None:
    """Refuse a file that ends before its last user event."""
    counts = [match for line in rest if (match := re.fullmatch(r"(\d+) (aggregates|userevents)", line))]
    events = int(counts[1][1]) if len(counts) > 1 else 0
    if not whole or not counts or len(rest) < len(counts) + (events + 1 if events else 0):
        raise InputError(Fault("is cut off: it ends before its aggregates or user events", file=str(file), line=last))


def _path(name: str) -> tuple[str, ...]:
    """Return the names in ``main() => solve() [{solve.c} {3,1}-{9,1}]`` from the outermost, without places."""
    return tuple(_PLACE.sub(" ", part).strip() or "?" for part in name.split(" => "))


READER = Reader(
    "tau",
    "TAU profile directory",
    (),
    recognises=_recognises,
    read=_read,
    order=30,
    directory=True,
    looks="profile.0.0.0 and others in one directory, one run; several directories make a set",
)
