"""Series of runs, as chosen by views and quantities."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import pandas as pd

from scalegraph.analyze import reference
from scalegraph.analyze import series as selection
from scalegraph.analyze.series import Series
from scalegraph.analyze.table import PARAMETER
from scalegraph.base.errors import InputError, near
from scalegraph.subjects.study import StudyData


def chosen_series(data: StudyData, size: object = None) -> Series | None:
    """Return the fixed-size series of *size* (``name=value, ..``), or the richest of the study.

    Raises:
        InputError: *size* names an unknown parameter, or no problem of that size ran on two counts.

    """
    if not size:
        return data.main_series
    wanted = parse_size(str(size), data)
    for series in selection.fixed_size(data.scaling):
        if matches(series.rows.iloc[0], wanted):
            return series
    known = "; ".join(series.label for series in selection.fixed_size(data.scaling)[:6])
    raise InputError(f"size: no problem with {size} ran on two or more processor counts; those that did: {known}")


def parse_size(text: str, data: StudyData) -> dict[str, str]:
    """Return parameter names and values of ``name=value, name=value``.

    Raises:
        InputError: not of that form, or an unknown parameter.

    """
    known = [name.removeprefix(PARAMETER) for name in data.table.columns if str(name).startswith(PARAMETER)]
    wanted = {}
    for part in re.split(r"[,;]", text):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise InputError(f"size: expected name=value, got '{part.strip()}'")
        if name not in known:
            raise InputError(f"size: no parameter '{name}'{near(name, known)}; known: {', '.join(known) or 'none'}")
        wanted[name] = value
    return wanted


def matches(row: pd.Series, wanted: Mapping[str, str]) -> bool:
    """Return whether the parameters of *row* have the *wanted* values."""
    return all(_same(row[f"{PARAMETER}{name}"], value) for name, value in wanted.items())


def _same(value: object, text: str) -> bool:
    try:
        number, wanted = float(str(value)), float(text)
    except ValueError:
        return str(value) == text
    # labels of fractional numbers have six digits
    return number == wanted or (not number.is_integer() and math.isclose(number, wanted, rel_tol=5e-6))


def measured_notes(data: StudyData) -> tuple[str, ...]:
    """Return notes on numbers from measurements: what they were computed from, and relative to what."""
    made = list(data.imported[0].remarks) if data.imported is not None else []
    if data.imported is not None and (name := data.imported[1].processors) in data.imported[0].points:
        column = data.imported[0].points[name]
        if pd.api.types.is_numeric_dtype(column.dtype) and bool((column == 0).any()):
            made.append(f"where {name} = 0 the serial program ran")
    if data.other_programs:
        made.append(data.other_programs)
    relative = reference.sentence(data.scaling) if not data.table.empty else ""
    return (*(f"{text[:1].upper()}{text[1:].rstrip('.')}." for text in made), *((relative,) if relative else ()))
