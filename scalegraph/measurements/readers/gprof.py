"""gprof's flat profile (``gprof -p``): self times and calls of the functions of one run."""

from __future__ import annotations

import re
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.measures import percent
from scalegraph.measurements.collecting import Collector
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.readers._names import named_point

PROGRAM = "program"
_HEAD = re.compile(r"^\s*time\s+seconds\s+seconds\s+calls\s+\S+/call\s+\S+/call\s+name\s*$")
_NUMBER = r"\d+(?:\.\d+)?"
_ROW = re.compile(
    rf"\s*(?P<share>{_NUMBER}|nan)\s+{_NUMBER}\s+(?P<self>{_NUMBER})(?:\s+(?P<calls>\d+)(?:\s+{_NUMBER}\s+{_NUMBER})?)?\s+(?P<name>\S.*)"
)
_WHOLE = 97.0  # percent: shares are rounded
NOTE = "gprof samples the processor time of one process; functions are listed below 'program', without their callers."


def _recognises(_path: Path, head: bytes) -> bool:
    text = head.decode("utf-8", "replace")
    return any(_HEAD.match(line) for line in text.splitlines()) and "cumulative" in text


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    text = read_text(path)
    lines = text.splitlines()
    head = next((number for number, line in enumerate(lines) if _HEAD.match(line)), None)
    if head is None:
        raise InputError(Fault("holds no flat profile of gprof; expected the output of `gprof -p`", file=str(path)))
    where = named_point(path, "processors", 1)
    found = Collector(str(path), list(where))
    point = found.point(tuple(where.values()))
    program = found.child(None, PROGRAM)
    time = found.metric("time", "s", kind="time", extent="exclusive")
    calls = found.metric("calls", kind="count", extent="exclusive")
    names: dict[str, int] = {}
    shares = 0.0
    for number, line in enumerate(lines[head + 1 :], head + 2):
        cancel.check()
        progress(number / len(lines))
        if not line.strip() or line.startswith("\f"):
            break
        row = _ROW.fullmatch(line)
        if row is None:
            message = f"expected a row of the flat profile, found '{line.strip()[:40]}'"
            raise InputError(Fault(message, file=str(path), line=number))
        shares += float(row["share"].replace("nan", "100"))
        again = names[row["name"]] = names.get(row["name"], 0) + 1  # static functions of one name in several files
        place = found.child(program, row["name"].strip() if again == 1 else f"{row['name'].strip()} #{again}")
        found.add(point, place, time, (float(row["self"]),))
        if row["calls"]:
            found.add(point, place, calls, (float(row["calls"]),))
    if not text.endswith("\n"):
        raise InputError(Fault("is cut off: its last line does not end", file=str(path), line=len(lines)))
    if 0 < shares < _WHOLE:
        message = f"is cut off: its functions are {percent(shares / 100, 1)} of the time; expected all of it"
        raise InputError(Fault(message, file=str(path), line=len(lines)))
    return found.finish("gprof", path.stem, notes=[NOTE])


READER = Reader(
    "gprof",
    "gprof flat profile",
    (".txt", ".gprof"),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="gprof -p, one run; app.p4.txt says the parameters",
)
