"""Refuses tables that would be misread, and says what to do instead."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scalegraph.base.errors import Fault
from scalegraph.measurements.names import counts_processors, is_metric, is_time, plain, without_unit
from scalegraph.measurements.table import columns as columns_
from scalegraph.measurements.table import layout, suffixes, values
from scalegraph.measurements.table.columns import Column

_SPREAD = re.compile(r"\u00b1|\+/?-|\d\(\d+\)$")  # 8.0 +/- 0.1, 8.0(1)
_CLOCK = ("hours", "minutes", "mins", "seconds", "secs", "sec")
_APART = 5.0  # columns of one name that differ by this factor in every row are not repetitions


def fault(columns: Sequence[Column], found: layout.Layout, file: str, *, repeated: bool) -> Fault | None:
    """Return the fault of a table that would be misread; *repeated*: the user said what columns stand for."""
    return (
        of_texts(found, columns, file, spread=True)
        or _rows_of_metrics(found, columns, file)
        or _side_by_side(columns, found, file)
        or _thousands(columns, found, file)
        or _parts_of_a_time(columns, found, file)
        or (None if repeated else _of_one_name(found, columns, file))
    )


def of_texts(found: layout.Layout, columns: Sequence[Column], file: str, *, spread: bool = False) -> Fault | None:
    """Return the fault of the first cell of a column whose name says that it was measured, but which holds texts.

    *spread*: only of values with their deviation in one cell.
    """
    for column in columns:
        if column.kind == "text" and is_metric(*without_unit(column.title)) and column.why != columns_.SAID:
            row = next((row for row, cells in enumerate(found.rows) if _cell(cells, column)), 0)
            message = f"a number was expected, got '{_cell(found.rows[row], column)[:40]}'"
            deviates = _SPREAD.search(_cell(found.rows[row], column))
            if spread and not deviates:
                continue
            if deviates:
                message += "; a value and its deviation need a column each"
            return Fault(message, file=file, line=found.lines[row], key=f"column {column.index + 1} '{column.title}'")
    return None


def in_several_units(found: layout.Layout, columns: Sequence[Column], file: str) -> Fault | None:
    """Return the fault of a column whose numbers have units that cannot be converted into each other."""
    for column in columns:
        if column.why == columns_.UNITS:
            texts = [text for row in found.rows if (text := _cell(row, column)) and not layout.is_missing(text)]
            two = [texts[0], next((text for text in texts if text.split()[-1] != texts[0].split()[-1]), texts[-1])]
            message = f"its numbers are in several units ('{two[0][:40]}' and '{two[1][:40]}'): write them in one"
            return Fault(message, file=file, line=found.lines[0], key=f"column {column.index + 1} '{column.title}'")
    return None


def _rows_of_metrics(found: layout.Layout, columns: Sequence[Column], file: str) -> Fault | None:
    """Return the fault of a table whose rows are metrics and whose columns are numbers of processors."""
    wide = [column for column in columns if column.role == "wide" or _is_number(column)]
    if len(wide) < 2 or not found.rows:
        return None
    for column in columns:
        texts = [_cell(row, column) for row in found.rows]
        metrics = all(text and is_metric(*without_unit(text)) for text in texts) and len(set(texts)) == len(texts)
        timed = any(is_time(without_unit(text)[0]) for text in texts)
        if column.kind == "text" and column.role in ("parameter", "skip", "metric_name") and metrics and timed:
            listed = ", ".join(texts[:4])
            message = f"has a row for each metric ({listed}): exchange rows and columns, so that each is a column"
            return Fault(message, file=file, line=found.header or found.first)
    return None


def _is_number(column: Column) -> bool:
    return column.role == "metric" and column.title.strip().isdecimal()


def _of_one_name(found: layout.Layout, columns: Sequence[Column], file: str) -> Fault | None:
    """Return the fault of columns of one name whose numbers are too far apart for repetitions."""
    for column in columns:
        group = [
            one for one in columns if one.title == column.title and one.role == "metric" and one.repetition is not None
        ]
        if len(group) > 1 and values.differ(group, found.rows, _APART):
            listed = " and ".join(str(one.index + 1) for one in group)
            message = (
                f"columns {listed} have one name, '{column.title}', but their numbers are far apart: say --column "
                f"{group[-1].index + 1}=skip for one that is something else, or --across repetition"
            )
            return Fault(message, file=file, line=found.header or found.first)
    return None


def _side_by_side(columns: Sequence[Column], found: layout.Layout, file: str) -> Fault | None:
    """Return the fault of two tables side by side: what counts processors comes again under the same name."""
    counting = [one for one in columns if one.title and counts_processors(one.title) and one.role == "parameter"]
    for one in counting:
        again = next((two for two in counting if two.title == one.title and two.index > one.index), None)
        if again is not None and all(two.why != columns_.SAID for two in columns[again.index :]):
            leave = " ".join(f"--column {two.index + 1}=skip" for two in columns[again.index :] if two.role != "skip")
            message = (
                f"column {again.index + 1} is '{one.title}' again, as of two tables side by side: give each a file of "
                f"its own, or leave the second out by {leave}"
            )
            return Fault(message, file=file, line=found.header or found.first)
    return None


def _parts_of_a_time(columns: Sequence[Column], found: layout.Layout, file: str) -> Fault | None:
    """Return the fault of a time in two columns, its minutes and its seconds below 60."""
    known = [column for column in columns if plain(column.title) in _CLOCK and column.role != "skip"]
    whole = next((column for column in known if plain(column.title) in ("hours", "minutes")), None)
    part = next((column for column in reversed(known) if column is not whole), None)
    if whole is None or part is None:
        return None
    numbers = values.numbers([whole, part], found.rows)
    if not numbers or any(least >= 60 for _, least in numbers) or all(one == 0 for one, _ in numbers):
        return None
    message = f"'{whole.title}' and '{part.title}' are parts of one time: write them in one column, as 1:40"
    return Fault(message, file=file, line=found.header or found.first)


def _thousands(columns: Sequence[Column], found: layout.Layout, file: str) -> Fault | None:
    """Return the fault of numbers of processors in thousands, which are 1000 or 1024."""
    for column in columns:
        if column.kind == "text" and column.role == "parameter" and counts_processors(column.name):
            texts = [_cell(row, column) for row in found.rows]
            if cell := suffixes.unclear_thousands(texts):
                one = cell.rstrip("kK ")
                message = f"'{cell}' may be {one} times 1000 or times 1024: write the number out"
                at = found.lines[texts.index(cell)]
                return Fault(message, file=file, line=at, key=f"column {column.index + 1} '{column.title}'")
    return None


def without_values(columns: Sequence[Column], file: str, line: int) -> Fault | None:
    """Return the fault of a column that should be measured, but whose cells are all empty."""
    for column in columns:
        if column.kind == "empty" and column.title and is_metric(*without_unit(column.title)):
            message = "has no value in any row"
            if file.lower().endswith((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")):
                message += "; formulas that were never computed have none: save the file in a spreadsheet program"
            return Fault(message, file=file, line=line, key=f"column {column.index + 1} '{column.title}'")
    return None


def _cell(cells: Sequence[str], column: Column) -> str:
    return cells[column.index].strip() if column.index < len(cells) else ""
