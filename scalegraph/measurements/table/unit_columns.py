"""Columns whose cells are the units of the numbers beside them: ``5500,ms``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements import names, rates
from scalegraph.measurements.mapping import CYCLES, SECONDS
from scalegraph.measurements.model import Floats
from scalegraph.measurements.table.layout import is_missing

if TYPE_CHECKING:
    from scalegraph.measurements.table.columns import Column
    from scalegraph.measurements.table.rows import Rows

_MEASURED = ("metric", "wide", "value")
_WORDS = frozenset({"unit", "units", "einheit", "unite", "unidad", "unita"})


def are_units(short: str, found: Sequence[str]) -> bool:
    """Whether a column of texts holds units, by its name *short* or because all cells are units of time."""
    words = short.split("_")
    there = {cell.strip() for cell in found if not is_missing(cell)}
    if words[-1] in _WORDS or (words[0] in _WORDS and len(words) == 2):
        return True
    times = all(cell.lower() in SECONDS for cell in there)
    return times and (not short or any(len(cell) > 1 for cell in there))


def applied(columns: Sequence[Column], rows: Sequence[Sequence[str]], file: str) -> tuple[Column, ...]:
    """Return the columns, measured ones with the unit in a column of units beside them.

    A unit belongs to the columns on its left up to the next column of units, else to those on its right; a unit of time
    to times, if there are any. In a table with a value per row (``metric_name``) units belong to the metrics. Raises
    `InputError` if a cell contradicts the unit in a column's name.
    """
    units = [column for column in columns if column.role == "unit"]
    if not units or any(column.role == "metric_name" for column in columns):
        return tuple(columns)
    made = list(columns)
    for column in units:
        said = [row[column.index].strip() for row in rows if column.index < len(row)]
        known = [cell for cell in said if not is_missing(cell)]
        if not known or column.kind in ("count", "number"):
            continue
        timed = known[0].lower() in SECONDS.keys() | CYCLES
        beside = made[column.index - 1] if column.index else None
        if beside is not None and beside.role == "parameter" and not timed:
            what = "parameter" if len(set(known)) > 1 else "skip"
            made[column.index] = replace(column, role=what, why=f"the unit of '{beside.title}'")  # type: ignore[arg-type]
            continue
        for at in _belonging(made, column.index, timed=timed):
            unit = made[at].unit or known[0]
            if made[at].unit and (other := next((cell for cell in known if _factor(cell, unit) != 1.0), "")):
                message = (
                    f"is in {unit} by its name and in {other} by '{column.title}'; say --column {column.title}=skip"
                )
                raise InputError(Fault(message, file=file, key=f"column '{made[at].title}'"))
            made[at] = replace(made[at], unit=unit, unit_from=column.index)
    return tuple(made)


def _belonging(columns: Sequence[Column], at: int, *, timed: bool) -> list[int]:
    """Return the measured columns whose unit is in column *at*: that in its name, or those beside it."""
    words = [word for word in names.plain(columns[at].name).split("_") if word not in _WORDS]
    same = [item.index for item in columns if item.role in _MEASURED and names.plain(item.name) == "_".join(words)]
    if words and same:
        return same
    before = next((index for index in range(at - 1, -1, -1) if columns[index].role == "unit"), -1)
    after = next((index for index in range(at + 1, len(columns)) if columns[index].role == "unit"), len(columns))
    for places in (range(at - 1, before, -1), range(at + 1, after)):
        measured = [index for index in places if columns[index].role in _MEASURED]
        if timed:
            spent = [i for i in measured if columns[i].unit.lower() in SECONDS or names.is_time(columns[i].name)]
            measured = spent or [index for index in measured if not columns[index].unit]
            if spent:
                return measured
        if measured:
            return [index for index in measured if columns[index].name == columns[measured[0]].name]
    return []


def converted(rows: Rows, column: Column, found: Floats) -> Floats:
    """Return the numbers of *column*, all in its unit, although each row may have its own unit of time.

    Raises `InputError` for a row without a unit, or with one of another quantity.
    """
    if column.unit_from is None:
        return found
    said = [str(cell).strip() for cell in rows.texts(column.unit_from).to_pylist()]
    factors = {word: _factor(word, column.unit) for word in set(said)}
    scale = np.array([np.nan if (each := factors[word]) is None else each for word in said])
    wrong = np.flatnonzero(np.isnan(scale) & ~np.isnan(found))
    if len(wrong):
        row = int(wrong[0])
        expected = (
            f"a unit of time, or '{column.unit}' as for"
            if column.unit.lower() in SECONDS
            else f"'{column.unit}', as for"
        )
        raise InputError(
            rows.fault(row, column, f"its unit is '{said[row][:40]}'; {expected} other rows, was expected")
        )
    made: Floats = found * scale
    return made


def _factor(word: str, unit: str) -> float | None:
    if word == unit:
        return 1.0
    one, other = SECONDS.get(word.lower()), SECONDS.get(unit.lower())
    if one is not None and other is not None:
        return one / other
    return rates.factor(word, unit)


def remarks(columns: Sequence[Column]) -> list[str]:
    """Return a note for each column of units on the columns that it is about."""
    about: dict[int, dict[str, None]] = {}  # names in order, each once
    for column in columns:
        if column.unit_from is not None:
            about.setdefault(column.unit_from, {})[column.name] = None
    return [
        f"'{column.title}' has the unit of {', '.join(about[column.index])}, row by row"
        for column in columns
        if column.index in about
    ]
