"""likwid-perfctr's CSV (``-o run.csv`` or ``-O``): times and counters of one run, by region of its marker API."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements.collecting import Collector, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import read_text
from scalegraph.measurements.readers._names import named_point

PROGRAM = "program"
_TABLE = re.compile(
    r"TABLE,(?:Region (?P<region>.*),)?Group (?P<group>\d+) (?P<kind>Raw|Metric)(?P<stat> STAT)?,"
    r"[^,]*,(?P<rows>\d+)?"
)
_RUNTIMES = ("RDTSC Runtime [s]", "Runtime (RDTSC) [s]")
_NOT_MEASURED = ("-", "nan", "-nan", "inf")
NOTE = "Counters are summed over the hardware threads; 'elapsed' is the longest time of one."
GROUPS = (
    "Several groups were measured in turn: times are their sum, and each counter is of its group's part of the run."
)


@dataclass
class _Region:
    """The values of a region: seconds by group, and sums of events over the hardware threads."""

    seconds: dict[int, float] = field(default_factory=dict)
    events: dict[str, float] = field(default_factory=dict)


def _recognises(_path: Path, head: bytes) -> bool:
    return re.search(rb"^TABLE,(Region [^\n]*,)?Group \d+ Raw,", head, re.MULTILINE) is not None


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    text = read_text(path)
    scan = _Scan(path)
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if number % 1000 == 0:
            cancel.check()
            progress(number / len(lines))
        scan.take(line, number)
    scan.end()
    if not text.endswith("\n"):
        raise InputError(Fault("is cut off: its last line does not end", file=str(path), line=len(lines)))
    if not scan.threads or not any(region.seconds for region in scan.regions.values()):
        message = "holds no runtime of likwid-perfctr; expected its CSV, with a row 'Runtime (RDTSC) [s]'"
        raise InputError(Fault(message, file=str(path)))
    where = named_point(path, "threads", scan.threads)
    found = Collector(str(path), list(where))
    _add(found, found.point(tuple(where.values())), scan.regions)
    if scan.derived:
        found.skip(
            "derived metrics", scan.derived, "rates and ratios of one thread, which the counters give", str(path)
        )
    several = max(len(region.seconds) for region in scan.regions.values()) > 1
    return found.finish("likwid", path.stem, notes=[NOTE, *([GROUPS] if several else [])])


class _Scan:
    """Parses line by line: the head of each table, then its rows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.regions: dict[str, _Region] = {}
        self.threads = self.derived = 0
        self._table: re.Match[str] | None = None
        self._missing = self._columns = self._line = 0  # missing rows of the table, and its threads

    def take(self, line: str, number: int) -> None:
        """Parse *line*, which has this *number*."""
        self._line = number
        if line.startswith(("TABLE,", "STRUCT,")):
            self.end()
            self._table = _TABLE.match(line)
            self._missing = int(self._table["rows"] or 0) if self._table else 0
            return
        cells = [cell.strip() for cell in line.split(",")]
        if self._table is None or self._table["stat"] or len(cells) < 2:
            return
        if cells[0] in ("Event", "Metric", "Region Info"):
            self._columns = sum(bool(cell) for cell in cells) - (2 if cells[0] == "Event" else 1)
            self.threads = max(self.threads, self._columns)
            return
        self._row(self.regions.setdefault(self._table["region"] or PROGRAM, _Region()), self._table, cells)

    def end(self) -> None:
        """Refuse the end of a table before its last row."""
        if self._table is not None and not self._table["stat"] and self._missing > 0:
            message = f"is cut off: a table ends {self._missing} rows before its last"
            raise InputError(Fault(message, file=str(self.path), line=self._line))

    def _row(self, region: _Region, table: re.Match[str], cells: list[str]) -> None:
        """Add a row of a table; a derived metric is counted and left out."""
        group, name = int(table["group"]), cells[0]
        about_region = name in ("call count", _RUNTIMES[0])
        self._missing -= not about_region
        first = 1 if table["kind"] == "Metric" or about_region else 2
        values = self._numbers(cells[first : first + self._columns])
        if name in _RUNTIMES:
            region.seconds[group] = max([region.seconds.get(group, 0.0), *values])
        elif table["kind"] == "Metric":
            self.derived += 1
        elif values:
            key = "calls" if name == "call count" else name
            region.events[key] = region.events.get(key, 0.0) + sum(values)

    def _numbers(self, cells: list[str]) -> list[float]:
        """Return the numbers of a row, without those that likwid could not measure; refuse anything else."""
        made = [number for cell in cells if (number := as_number(cell)) is not None]
        wrong = [cell for cell in cells if as_number(cell) is None and cell.lower() not in _NOT_MEASURED]
        if wrong or len(cells) < self._columns:
            what = f"found '{wrong[0][:40]}'" if wrong else f"found {len(cells)}"
            message = f"expected {self._columns} numbers, one for each thread, {what}"
            raise InputError(Fault(message, file=str(self.path), line=self._line))
        return made


def _add(found: Collector, point: int, regions: dict[str, _Region]) -> None:
    elapsed = found.metric("elapsed", "s", kind="time", extent="inclusive")
    for name, region in regions.items():
        path = found.child(None, name)
        if region.seconds:
            found.add(point, path, elapsed, (sum(region.seconds.values()),))
        for event, count in region.events.items():
            found.add(point, path, found.metric(event, kind="count", extent="inclusive"), (count,))


READER = Reader(
    "likwid",
    "likwid-perfctr CSV",
    (".csv", ".txt"),
    recognises=_recognises,
    read=_read,
    order=40,
    looks="likwid-perfctr -o run.csv, one run; several files make a set",
)
