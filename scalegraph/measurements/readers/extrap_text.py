"""Extra-P's text files: PARAMETER, POINTS, REGION, METRIC and DATA lines; see docs/file-formats.md of Extra-P."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import as_read
from scalegraph.measurements.collecting import METRIC, Collector, as_number
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader
from scalegraph.measurements.readers._files import first_line, read_text

FIELDS = ("PARAMETER", "POINTS", "REGION", "METRIC", "DATA")
LINES_A_STEP = 2000


def _recognises(_path: Path, head: bytes) -> bool:
    return first_line(head).split(maxsplit=1)[:1] in [[field] for field in FIELDS]


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    lines = read_text(path).splitlines()
    scan = _Scan(str(path))
    for number, line in enumerate(lines, 1):
        if number % LINES_A_STEP == 0:
            cancel.check()
            progress(number / len(lines))
        if line.strip() and not line.startswith("#"):
            scan.take(number, line)
    scan.end(len(lines))
    assert scan.found is not None
    notes = () if scan.named_metric else (f"The file names no metric; its values are called '{METRIC}'.",)
    return scan.found.finish("extrap-text", path.stem, notes=notes, complete=True)


class _Scan:
    """State between lines: the series (REGION and METRIC) of the DATA lines, and the point of the next one."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.line = 0
        self.parameters: list[str] = []
        self.found: Collector | None = None
        self.region: str | None = None
        self.metric: str | None = None
        self.named_metric = False
        self.next_point = 0
        self.series: dict[tuple[str, str], int] = {}  # line of its first DATA

    def refuse(self, message: str) -> InputError:
        return InputError(Fault(message, file=self.file, line=self.line))

    def take(self, number: int, line: str) -> None:
        self.line = number
        field, *more = line.split(maxsplit=1)
        rest = more[0].strip() if more else ""
        if field not in FIELDS:
            raise self.refuse(f"expected a line that begins with {', '.join(FIELDS)} or #, found '{field[:40]}'")
        if not rest:
            raise self.refuse(f"expected something after {field}, found the end of the line")
        getattr(self, f"_{field.lower()}")(rest)

    def _parameter(self, rest: str) -> None:
        if self.found is not None:
            raise self.refuse("PARAMETER after POINTS; expected every PARAMETER before the first point")
        for name in rest.split():
            if name in self.parameters:
                raise self.refuse(f"parameter '{name}' appears twice; expected each once")
            self.parameters.append(name)

    def _points(self, rest: str) -> None:
        if not self.parameters:
            raise self.refuse("POINTS without a PARAMETER before it; expected the parameters first")
        if self.series:
            raise self.refuse("POINTS after DATA; expected every point before the first value")
        if self.found is None:
            self.found = Collector(self.file, self.parameters)
        for coordinates in self._groups(rest):
            if len(coordinates) != len(self.parameters):
                raise self.refuse(
                    f"a point has {_count(len(coordinates), 'coordinate')}; expected {len(self.parameters)}, "
                    f"one for each of {', '.join(self.parameters)}"
                    + ("" if "(" in rest else ", each point in parentheses")
                )
            if self.found.new_point(coordinates) is None:
                raise self.refuse(f"point ({', '.join(as_read(value) for value in coordinates)}) appears twice")

    def _groups(self, rest: str) -> list[tuple[float, ...]]:
        if "(" not in rest and ")" not in rest:
            return [(self._coordinate(token),) for token in rest.split()]
        groups: list[tuple[float, ...]] = []
        current: list[float] | None = None
        for token in re.findall(r"[()]|[^()\s]+", rest):
            if token == "(":
                if current is not None:
                    raise self.refuse("a second '(' before the first is closed; expected (x y) (x y) ..")
                current = []
            elif current is None:
                raise self.refuse(f"'{token[:40]}' is outside of parentheses; expected (x y) (x y) ..")
            elif token == ")":
                groups.append(tuple(current))
                current = None
            else:
                current.append(self._coordinate(token))
        if current is not None:
            raise self.refuse("'(' without ')'; expected every point in a pair of parentheses")
        return groups

    def _coordinate(self, token: str) -> float:
        number = as_number(token)
        if number is None:
            raise self.refuse(f"expected a number as coordinate of a point, found '{token[:40]}'")
        return number

    def _region(self, rest: str) -> None:
        self._close()
        self.region = " ".join(rest.split())

    def _metric(self, rest: str) -> None:
        self._close()
        self.metric = " ".join(rest.split())
        self.named_metric = True

    def _close(self) -> None:
        """Refuse a series with fewer DATA lines than points."""
        if self.next_point and self.found is not None and self.next_point != len(self.found.points):
            raise self.refuse(
                f"{_count(self.next_point, 'DATA line')} of '{self.region}' before this line; "
                f"expected {len(self.found.points)}, one for each point"
            )
        self.next_point = 0

    def _data(self, rest: str) -> None:
        if self.found is None:
            raise self.refuse("DATA without POINTS before it; expected PARAMETER and POINTS first")
        if self.region is None:
            raise self.refuse("DATA without a REGION before it; expected the region first")
        metric = self.metric if self.metric is not None else METRIC
        if self.next_point == 0:
            first = self.series.setdefault((self.region, metric), self.line)
            if first != self.line:
                raise self.refuse(f"'{metric}' of '{self.region}' has values from line {first} on; expected them once")
        if self.next_point == len(self.found.points):
            raise self.refuse(f"expected no more than {_count(self.next_point, 'DATA line')}, one for each point")
        path, column = self.found.call_path(self.region), self.found.metric(metric)
        self.found.add(self.next_point, path, column, self._values(rest.split()))
        self.next_point += 1

    def _values(self, tokens: list[str]) -> list[float]:
        try:
            values: list[float] = np.array(tokens, np.float64).tolist() if len(tokens) > 20 else [*map(float, tokens)]
        except ValueError:
            values = []
        if not values or "_" in "".join(tokens):
            wrong = next(token for token in tokens if "_" in token or not _is_float(token))
            raise self.refuse(f"expected a number, found '{wrong[:40]}'")
        return values

    def end(self, lines: int) -> None:
        self.line = lines
        if self.found is None:
            raise self.refuse("the file ends without POINTS; expected PARAMETER, POINTS, REGION and DATA")
        if not self.series:
            raise self.refuse("the file ends without DATA; expected one line for each point")
        if self.next_point != len(self.found.points) and self.next_point:
            raise self.refuse(
                f"the file ends after {_count(self.next_point, 'DATA line')} of '{self.region}'; "
                f"expected {len(self.found.points)}, one for each point"
            )
        if self.next_point == 0:
            raise self.refuse(f"the file ends without DATA for '{self.region}'; expected one line for each point")


def _is_float(token: str) -> bool:
    try:
        float(token)
    except ValueError:
        return False
    return True


def _count(number: int, word: str) -> str:
    return f"{number} {word}" + ("" if number == 1 else "s")


READER = Reader(
    "extrap-text",
    "Extra-P text",
    (".txt",),
    recognises=_recognises,
    read=_read,
    order=20,
    looks="lines of PARAMETER, POINTS, REGION, METRIC, DATA",
)
