"""Paraver traces: .prv (or .prv.gz) with .pcf and .row files."""

from __future__ import annotations

import gzip
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scalegraph.base.files import write_atomic
from scalegraph.traces import paraver_own
from scalegraph.traces.atomic import replacing
from scalegraph.traces.formats import Writer, Writing
from scalegraph.traces.kinds import KINDS, NO_TIME, Columns, What
from scalegraph.traces.model import Trace
from scalegraph.traces.paraver_files import beside
from scalegraph.traces.sorted_lines import SortedLines

_BLOCK = 1 << 14
_UNITS = {10**9: "_ns", 10**6: "_us"}


class _Lines:
    """The records of a trace as text with their times."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.base = trace.earliest
        self.threads = paraver_own.threads(trace.definitions)
        self._places = [f"{number + 1}:{a}:{t}:{h}" for number, (a, t, h) in enumerate(self.threads)]

    def place(self, number: int) -> str:
        """Return processor, application, task and thread of a location; those of the first if it names none."""
        return self._places[number] if 0 <= number < len(self._places) else "1:1:1:1"

    def known(self, number: int) -> bool:
        """Return whether there is such a location."""
        return 0 <= number < len(self._places)

    def row(self, kind: str, row: dict[str, Any]) -> tuple[int, str]:
        """Return the line for the whole row, with its time in the file."""
        tick = row[KINDS[kind].begin]
        time = 0 if tick == NO_TIME else tick - self.base
        first = paraver_own.ROWS[kind]
        pairs = ":".join(f"{first + n}:{_bits(value)}" for n, value in enumerate(row.values()))
        return time, f"2:{self.place(row[KINDS[kind].whose[0]])}:{time}:{pairs}"

    def call(self, row: dict[str, Any]) -> tuple[int, str] | None:
        """Return the event of a user function."""
        time = row["time"] - self.base
        if not self.known(row["location"]) or row["what"] not in (What.ENTER, What.LEAVE) or row["region"] < -1:
            return None
        if row["what"] == What.ENTER:
            if row["region"] < 0:
                return None
            return time, f"2:{self.place(row['location'])}:{time}:{paraver_own.CALLS}:{row['region'] + 1}"
        return time, (
            f"2:{self.place(row['location'])}:{time}:{paraver_own.CALLS}:0:{paraver_own.LEFT}:{row['region'] + 2}"
        )

    def counter(self, row: dict[str, Any]) -> tuple[int, str] | None:
        """Return the event of an integer metric."""
        metrics = self.trace.definitions.metrics
        if not self.known(row["location"]) or not 0 <= row["metric"] < min(len(metrics), 10**6):
            return None
        if not metrics[row["metric"]].integer or _bits(row["value"]) != _bits(float(row["exact"])):
            return None
        time = row["time"] - self.base
        return time, f"2:{self.place(row['location'])}:{time}:{paraver_own.METRICS + row['metric']}:{row['exact']}"

    def state(self, row: dict[str, Any]) -> tuple[int, str] | None:
        """Return a state record."""
        if not self.known(row["location"]) or row["state"] < 0 or row["end"] < row["begin"]:
            return None
        begin, end = row["begin"] - self.base, row["end"] - self.base
        return begin, f"1:{self.place(row['location'])}:{begin}:{end}:{row['state']}"

    def message(self, row: dict[str, Any]) -> tuple[int, str] | None:
        """Return a communication record, for Paraver to draw; our own row is separate."""
        times = [row[name] for name in ("sent", "left", "posted", "received")]
        if NO_TIME in times or not (self.known(row["sender"]) and self.known(row["receiver"])):
            return None
        a, b, c, d = (time - self.base for time in times)
        ends = f"{self.place(row['sender'])}:{a}:{b}:{self.place(row['receiver'])}:{c}:{d}"
        return a, f"3:{ends}:{max(row['size'], 0)}:{max(row['tag'], 0)}"

    def all_of(self, kind: str, columns: Columns) -> list[tuple[int, str]]:
        """Return the lines of some rows."""
        native: Callable[[dict[str, Any]], tuple[int, str] | None] | None = {
            "calls": self.call,
            "counters": self.counter,
            "states": self.state,
        }.get(kind)
        made = []
        names = list(columns)
        for values in zip(*(column.tolist() for column in columns.values()), strict=True):
            row = dict(zip(names, values, strict=True))
            line = native(row) if native else None
            made.append(line or self.row(kind, row))
            if kind == "messages" and (drawn := self.message(row)):
                made.append(drawn)
        return made


def _bits(value: Any) -> int:
    return int(np.float64(value).view(np.int64)) if isinstance(value, float) else int(value)


def _header(trace: Trace, made: _Lines, end: int) -> str:
    counts: dict[int, int] = {}
    for _, task, _ in made.threads:
        counts[task] = counts.get(task, 0) + 1
    tasks = ",".join(f"{count}:1" for count in counts.values())
    processors = max(len(made.threads), 1)
    unit = _UNITS.get(trace.meta.ticks_per_second, "_ns")
    applications = f"1:{len(counts)}({tasks})" if counts else "0"
    return f"#Paraver (01/01/2000 at 00:00):{end}{unit}:1({processors}):{applications}"


def _write(writing: Writing) -> None:
    trace, path = writing.trace, writing.path
    made = _Lines(trace)
    total = sum(trace.counts().values()) or 1
    with SortedLines() as records, replacing(path) as temporary:
        for kind, start, columns in _blocks(trace):
            records.add(made.all_of(kind, columns))
            writing.step(0.8 * start / total)
        end = max(trace.meta.end - made.base, records.last)
        zipped = path.name.lower().endswith(".gz")
        with gzip.open(temporary, "wb", 6) if zipped else temporary.open("wb") as out:
            out.write(f"{_header(trace, made, end)}\n".encode())
            out.write(f"{paraver_own.pack(trace.definitions, trace.meta, made.base)}\n".encode())
            lines = iter(records)
            for start in range(0, records.count, _BLOCK):
                writing.step(0.8 + 0.2 * start / records.count)
                out.write("".join(f"{line}\n" for line in itertools.islice(lines, _BLOCK)).encode())
    write_atomic(beside(path, ".pcf"), _pcf(trace))
    write_atomic(beside(path, ".row"), _row(trace))


def _blocks(trace: Trace) -> Iterator[tuple[str, int, Columns]]:
    """Yield rows in blocks small enough to convert to text at once: their kind, the number before, their columns."""
    before = 0
    for kind in KINDS:
        for columns in trace.chunks(kind):
            rows = len(columns[KINDS[kind].begin])
            for start in range(0, rows, _BLOCK):
                yield kind, before + start, {name: values[start : start + _BLOCK] for name, values in columns.items()}
            before += rows


def _pcf(trace: Trace) -> str:
    found = trace.definitions
    made = ["DEFAULT_OPTIONS", "", "LEVEL               THREAD", "UNITS               NANOSEC", "", "STATES"]
    made += [f"{number}    {_line(state.name)}" for number, state in enumerate(found.states)]
    made += ["", "STATES_COLOR"]
    for number, state in enumerate(found.states):
        if len(state.colour) == 7:
            rgb = ",".join(str(int(state.colour[at : at + 2], 16)) for at in (1, 3, 5))
            made.append(f"{number}    {{{rgb}}}")
    made += ["", "EVENT_TYPE", f"9    {paraver_own.CALLS}    User function", "VALUES", "0      End"]
    made += [f"{number + 1}      {_line(region.name)}" for number, region in enumerate(found.regions)]
    made += ["", "EVENT_TYPE", f"9    {paraver_own.LEFT}    Region that is left"]
    for number, metric in enumerate(found.metrics):
        made += ["", "EVENT_TYPE", f"7    {paraver_own.METRICS + number}    {_line(metric.name)}"]
    for kind, first in paraver_own.ROWS.items():
        made += ["", "EVENT_TYPE"]
        made += [
            f"6    {first + number}    ScaleGraph {kind} {name}" for number, name in enumerate(KINDS[kind].columns)
        ]
    return "\n".join([*made, ""])


def _row(trace: Trace) -> str:
    names = [_line(location.name) for location in trace.definitions.locations]
    return "\n".join([f"LEVEL THREAD SIZE {len(names)}", *names, ""])


def _line(text: str) -> str:
    return " ".join(text.split()) or "-"


WRITER = Writer("paraver", "Paraver trace", (".prv", ".prv.gz"), _write)
