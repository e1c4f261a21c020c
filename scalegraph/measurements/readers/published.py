"""Published tables: CSV below a header of ``# key: value`` lines with the meaning and source of the numbers.

``kind: matrix`` is a scalability matrix: counts across in the first line, then a line for each N, with cells that the
source does not give left empty; ``metric`` (latency, isospeed, isoefficiency), ``bound`` and ``held`` say what it
holds. ``kind: table`` has a line of names; those in ``parameters`` are coordinates, the others quantities, with ``unit
NAME`` if they have one. A ``speed`` (operations/s per processor, equal in all lines) gives the work of every line, W =
N T speed.
"""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, get_args

import pandas as pd

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.measurements.model import VALUE_COLUMNS, CallPath, MeasurementSet, Metric, MetricKind, Skipped
from scalegraph.measurements.reader import Progress, Reader

FIRST = "# scalegraph published 1"
FROM, TO = "N", "N'"  # parameters of a matrix
METRICS = ("latency", "isospeed", "isoefficiency")
BOUNDS = ("efficiency", "time", "memory", "speed")
_KINDS = ("matrix", "table")
_TIMES = ("s", "ms", "us", "ns", "cycles")
_LARGEST = 1e19
_MOST = 4 << 20  # bytes; a printed table is far smaller
_TEXTS = ("title", "source", "table", "program", "machine", "kind", "metric", "bound", "held", "parameters", "speed")


@dataclass(frozen=True)
class _Text:
    """The parsed file: the header's keys, and the cells below with their lines."""

    file: str
    said: dict[str, str]
    lines: dict[str, int]  # line of each key
    rows: list[tuple[int, list[str]]]

    def wrong(self, message: str, line: int | None = None, key: str = "") -> NoReturn:
        raise InputError(Fault(message, file=self.file, line=line, key=key))

    def need(self, key: str) -> str:
        if not self.said.get(key):
            self.wrong(f"has no '# {key}: ..' in its header", 1)
        return self.said[key]

    def among(self, key: str, known: tuple[str, ...]) -> str:
        value = self.need(key)
        if value not in known:
            hint = near(value, known) or f"; one of {', '.join(known)} was expected"
            self.wrong(f"'{value}' is not known{hint}", self.lines[key], key)
        return value

    def number(self, text: str, line: int, key: str = "") -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.wrong(f"'{text}': a number was expected", line, key)
        return value

    def positive(self, text: str, line: int, key: str = "") -> float:
        value = self.number(text, line, key)
        if value <= 0:
            self.wrong(f"'{text}': a number above 0 was expected", line, key)
        return value


def recognises(_path: Path, head: bytes) -> bool:
    """Return whether the file begins like a published table."""
    return head.startswith(FIRST[:-1].encode())


def read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    """Return the table at *path*; raise `InputError` with the faulty line."""
    text = _taken_apart(path)
    cancel.check()
    made = _matrix(text) if text.among("kind", _KINDS) == "matrix" else _table(text)
    progress(1.0)
    return made


def _taken_apart(path: Path) -> _Text:
    lines = _lines(path)
    text = _Text(str(path), {}, {}, [])
    if not lines or lines[0].strip() != FIRST:
        text.wrong(f"'{FIRST}' was expected", 1)
    body = next((i for i, line in enumerate(lines) if i and not line.startswith("#")), len(lines))
    for number, line in enumerate(lines[1:body], 2):
        _said(text, number, line)
    for number, line in enumerate(lines[body:], body + 1):
        if line.strip():
            if '"' in line or "\0" in line:
                text.wrong("quotes and zero bytes have no place in a published table", number)
            text.rows.append((number, [cell.strip() for cell in next(csv.reader([line]))]))
    if len(text.rows) < 2:
        text.wrong("has no numbers: a line of names and a line of values were expected", len(lines))
    width = len(text.rows[0][1])
    for number, row in text.rows:
        if len(row) != width:
            text.wrong(f"has {len(row)} cells; {width} were expected, as in the first line of the table", number)
    return text


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST + 1)
        text = raw.decode("utf-8")
    except OSError as error:
        raise InputError(Fault(f"cannot be read: {error.strerror}", file=str(path))) from error
    except UnicodeDecodeError as error:
        raise InputError(Fault(f"is not text in UTF-8: byte {error.start}", file=str(path))) from None
    if len(raw) > _MOST:
        raise InputError(Fault(f"is larger than {_MOST >> 20} MB; a published table was expected", file=str(path)))
    return text.splitlines()


def _said(text: _Text, number: int, line: str) -> None:
    """Parse one line of the header."""
    key, colon, value = (part.strip() for part in line[1:].partition(":"))
    if not colon or not value:
        text.wrong("'# key: value' was expected", number)
    if key not in _TEXTS and not key.startswith("unit "):
        text.wrong(f"unknown key '{key}'{near(key, _TEXTS)}", number)
    if key in text.said:
        text.wrong("appears twice in the header", number, key)
    text.said[key], text.lines[key] = value, number


def _set(
    text: _Text,
    points: pd.DataFrame,
    metrics: list[Metric],
    values: list[tuple[int, int, float]],
    skipped: list[Skipped],
) -> MeasurementSet:
    table = pd.DataFrame(
        [(point, 0, metric, 0, value) for point, metric, value in values], columns=pd.Index(VALUE_COLUMNS)
    ).astype(dict.fromkeys(VALUE_COLUMNS[:4], "int64") | {"value": "float64"})
    machine = f" on {text.said['machine']}" if "machine" in text.said else ""
    return MeasurementSet(
        tuple(str(name) for name in points.columns),
        points,
        (CallPath(text.said.get("program", "program")),),
        tuple(metrics),
        table,
        "published",
        (text.file,),
        text.need("title"),
        (f"{text.need('table')} of {text.need('source')}{machine and f' (measured{machine})'}.",),
        tuple(skipped),
    )


def _matrix(text: _Text) -> MeasurementSet:
    """Return one value for each pair that is given; the metric's description says what is held."""
    (line, (corner, *across)), *below = text.rows
    if corner != FROM:
        text.wrong(f"'{corner}': '{FROM}', then the larger counts were expected", line)
    counts = [_count(text, name, line) for name in across]
    points: list[tuple[int, int]] = []
    values: list[tuple[int, int, float]] = []
    for number, (name, *cells) in below:
        n = _count(text, name, number)
        for n2, cell in zip(counts, cells, strict=True):
            if cell and n2 < n:
                text.wrong(f"a value from {n} to {n2}: nothing was expected below the diagonal", number)
            if cell:
                if (n, n2) in points:
                    text.wrong(f"the value from {n} to {n2} appears twice", number)
                values.append((len(points), 0, text.positive(cell, number)))
                points.append((n, n2))
    if not points:
        text.wrong("has no value", line)
    held = f"{text.among('bound', BOUNDS)} = {text.positive(text.need('held'), text.lines['held'], 'held'):.12g}"
    metric = Metric(text.among("metric", METRICS), "", "ratio", "inclusive", held)
    return _set(text, pd.DataFrame(points, columns=pd.Index([FROM, TO])), [metric], values, [])


def _count(text: _Text, cell: str, line: int) -> int:
    if not cell.isdecimal() or not 1 <= int(cell) < 2**31:
        text.wrong(f"'{cell}': a number of processors was expected", line)
    return int(cell)


def _table(text: _Text) -> MeasurementSet:
    (line, names), *below = text.rows
    if len(set(names)) < len(names) or not all(names):
        text.wrong("two columns have the same name, or one has none", line)
    parameters = [name.strip() for name in text.need("parameters").split(";")]
    units = {key.removeprefix("unit "): value for key, value in text.said.items() if key.startswith("unit ")}
    for key, name in [*(("parameters", name) for name in parameters), *((f"unit {name}", name) for name in units)]:
        if name not in names:
            text.wrong(f"no column '{name}'{near(name, names)}", text.lines[key], key)
    metrics = [
        Metric(name, units.get(name, ""), _kind(units.get(name, "")), "inclusive")
        for name in names
        if name not in parameters
    ]
    points = pd.DataFrame(
        {name: _column(text, [(number, row[names.index(name)]) for number, row in below]) for name in parameters}
    )
    if points.duplicated().any():
        text.wrong("two lines give the same point", below[int(points.duplicated().to_numpy().argmax())][0])
    places = [names.index(metric.name) for metric in metrics]
    values, skipped = _values(text, [(number, [row[place] for place in places]) for number, row in below])
    if "speed" in text.said:
        points = _worked(text, points, metrics, values)
    return _set(text, points, metrics, values, skipped)


def _values(text: _Text, rows: list[tuple[int, list[str]]]) -> tuple[list[tuple[int, int, float]], list[Skipped]]:
    """Return (point, metric, value) of every cell with a number, and what was left out."""
    values: list[tuple[int, int, float]] = []
    words: list[tuple[int, str]] = []
    for point, (number, row) in enumerate(rows):
        for index, cell in enumerate(row):
            if cell and not _is_number(cell) and any(letter.isalpha() for letter in cell):
                words.append((number, cell))
            elif cell:
                values.append((point, index, text.number(cell, number)))
    if not words:
        return values, []
    said = ", ".join(dict.fromkeys(cell for _, cell in words))
    return values, [Skipped("values", len(words), f"words in place of numbers: {said}", f"{text.file}:{words[0][0]}")]


def _worked(
    text: _Text, points: pd.DataFrame, metrics: list[Metric], values: list[tuple[int, int, float]]
) -> pd.DataFrame:
    """Add the work of every line, as a parameter and as a metric: the sizes differ, though the source gives none."""
    speed = text.positive(text.said["speed"], text.lines["speed"], "speed")
    time = next((i for i, metric in enumerate(metrics) if metric.name == "time"), None)
    if time is None or metrics[time].unit != "s" or "processors" not in points or "W" in points:
        text.wrong("a speed needs the columns 'processors' and 'time' in seconds", text.lines["speed"], "speed")
    if not pd.api.types.is_numeric_dtype(points["processors"].dtype):
        text.wrong("a speed needs numbers of processors", text.lines["speed"], "speed")
    times = {point: value for point, metric, value in values if metric == time}
    if len(times) < len(points):
        text.wrong("a line has no time, so its work is not known", text.lines["speed"], "speed")
    work = [speed * float(points["processors"].iloc[point]) * times[point] for point in range(len(points))]
    if not all(0 < value < _LARGEST for value in work):
        text.wrong("the work that follows from the times is beyond all bounds", text.lines["speed"], "speed")
    values += [(point, len(metrics), value) for point, value in enumerate(work)]
    metrics.append(Metric("work_flops", "flop", "count", "inclusive", "W = N T x unit speed of the source"))
    return points.assign(W=work)


def _column(text: _Text, cells: list[tuple[int, str]]) -> pd.Series:
    """Return numbers if all cells are, otherwise text."""
    for number, cell in cells:
        if not cell:
            text.wrong("a parameter has no value", number)
    if all(_is_number(cell) for _, cell in cells):
        numbers = [float(cell) for _, cell in cells]
        return pd.Series(
            [int(value) for value in numbers] if all(n.is_integer() and abs(n) < 2**53 for n in numbers) else numbers
        )
    return pd.Series([cell for _, cell in cells], dtype=object)


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _kind(unit: str) -> MetricKind:
    kinds = get_args(MetricKind)
    return "time" if unit in _TIMES else "count" if not unit else kinds[-1]


READER = Reader(
    "published", "Published table", (".csv",), recognises, read, order=10
)  # before the reader of tables, which would take a header for text
