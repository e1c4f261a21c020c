"""Pipit's CSV: a line for each event with Timestamp (s) or (ns), Event Type, Name, Process and maybe Thread."""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.kinds import What
from scalegraph.traces.model import Group, Location, Metric, Region, Trace
from scalegraph.traces.moments import MARK, Moments
from scalegraph.traces.text import lines

_SECOND = {"Timestamp (s)": 10**9, "Timestamp (ms)": 10**6, "Timestamp (us)": 10**3, "Timestamp (ns)": 1}
_KNOWN = {"Event Type", "Name", "Process", "Thread"}
_WHAT = {"Enter": What.ENTER, "Leave": What.LEAVE}


def _recognises(_path: Path, head: bytes) -> bool:
    line = head.split(b"\n", 1)[0].decode("utf-8", "replace")
    return "Timestamp (" in line and "Event Type" in line


class _Table:
    """The positions of the columns, and the rows so far."""

    def __init__(self, reading: Reading, names: list[str]) -> None:
        self._reading, self._builder = reading, reading.builder
        self._at = {name: number for number, name in enumerate(names)}
        self._time = next((name for name in _SECOND if name in self._at), "")
        missing = [name for name in ("Event Type", "Name", "Process") if name not in self._at]
        if not self._time or missing:
            reading.broken(f"a column '{missing[0] if missing else 'Timestamp (ns)'}' was expected", line=1)
        self.usable = bool(self._time) and not missing
        self._ticks = _SECOND.get(self._time, 1)
        # pandas writes row numbers in a column without a name
        self._metrics = [name for name in names if name not in {*_KNOWN, self._time, "Attributes", ""}]
        self._moments, self._unknown = Moments(), Counter[str]()
        self._values: tuple[array[Any], ...] = (array("q"), array("i"), array("i"), array("d"))

    def add(self, cells: list[str], line: int) -> bool:
        """Add a line; return whether it was valid."""
        at = self._at
        try:
            time = int((Decimal(cells[at[self._time]]) * self._ticks).to_integral_value())
            process, what = cells[at["Process"]], cells[at["Event Type"]]
            thread = cells[at["Thread"]] if "Thread" in at else ""
            name = cells[at["Name"]]
        except (IndexError, ValueError, ArithmeticError):
            time, process, what, thread, name = 2**63, "", "", "", ""
        if abs(time) >= 2**62:
            self._reading.broken(f"{len(at)} cells were expected, with a time in '{self._time}'", line=line)
            return False
        group = self._builder.group(process, lambda: Group(process))
        title = f"{process}:{thread}" if thread else process
        location = self._builder.location((process, thread), lambda: Location(title, "thread", group, title))
        kind = "function" if what in _WHAT else "mark"
        region = self._builder.region((name, kind), lambda: Region(name, kind=kind))
        self._moments.add(time, location, _WHAT.get(what, MARK), region)
        if what not in _WHAT and what != "Instant":
            self._unknown[what] += 1
        for metric in self._metrics:
            self._value(metric, cells, time, location)
        return True

    def _value(self, metric: str, cells: list[str], time: int, location: int) -> None:
        text = cells[self._at[metric]] if self._at[metric] < len(cells) else ""
        try:
            value = float(text) if text else float("nan")
        except ValueError:
            self._builder.note(f"cells of '{metric}' that are not numbers")
            return
        if not math.isnan(value):  # otherwise the event had no value
            number = self._builder.metric(metric, lambda: Metric(metric))
            for column, item in zip(self._values, (time, location, number, value), strict=True):
                column.append(item)

    def finish(self) -> Trace:
        """Return the trace, with its rows in time order."""
        builder = self._builder
        self._moments.finish(builder)
        for what, count in self._unknown.items():
            builder.note(f"events of type '{what}', kept as marks", count)
        time, location, metric, value = (np.array(column) for column in self._values)
        if len(time):
            order = np.lexsort((metric, location, time))
            builder.add(
                "counters",
                time=time[order],
                location=location[order],
                metric=metric[order],
                value=value[order],
                exact=0,
            )
        return builder.finish()


def _texts(reading: Reading) -> Iterator[str]:
    """Yield the lines with their ends, as a cell may contain some."""
    for block, _ in lines(reading):
        yield from io.StringIO(block.decode("utf-8", "replace"), newline="")


def _read(reading: Reading) -> Trace:
    table: _Table | None = None
    rows = csv.reader(_texts(reading), skipinitialspace=True)
    try:
        for cells in rows:
            if table is None:
                table = _Table(reading, [cell.strip() for cell in cells])
                if not table.usable:
                    return reading.builder.finish()
            elif (
                cells
                and any(cell.strip() for cell in cells)
                and not table.add([c.strip() for c in cells], rows.line_num)
            ):
                return table.finish()
    except csv.Error as error:
        reading.broken(f"a line of a table was expected ({error})", line=rows.line_num)
    if table is None:
        reading.broken("a line with the names of columns was expected; the file is empty", line=1)
        return reading.builder.finish()
    return table.finish()


READER = Reader("csv", "Pipit's CSV", (".csv", ".csv.gz"), _recognises, _read, order=60)
