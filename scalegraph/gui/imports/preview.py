"""Tables of the import page: the first rows of a file, and the resulting runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from scalegraph.analyze.reference import sentence
from scalegraph.base.units import counted, significant
from scalegraph.figures.figure import Column, Row, Table
from scalegraph.gui.imports import roles
from scalegraph.measurements.table import layout
from scalegraph.measurements.table.text import read_lines

_ROWS: Final = 30
_MOST_COLUMNS: Final = 30
_MOST_ADDED: Final = 10  # rows with bad cells, from further below
_MOST_REPETITIONS: Final = 6  # of one value, written out
_WIDEST: Final = 60  # characters of a call path


def rows_of_table(guess: Any) -> Table:
    """Return a text table's first rows as in the file; *guess* is a `TableGuess`."""
    titles = [column.title or f"column {column.index + 1}" for column in guess.columns[:_MOST_COLUMNS]]
    rows = tuple(
        Row(tuple(row[index] if index < len(row) else "" for index in range(len(titles))))
        for row in guess.preview[:_ROWS]
    )
    return Table(tuple(Column(title) for title in titles), rows)


def with_lines(guess: Any, path: Path, lines: Sequence[int]) -> Any:
    """Return *guess* with the rows in *lines* among its first rows; *path* is its file."""
    missing = [line for line in dict.fromkeys(lines) if line not in guess.lines][:_MOST_ADDED]
    if not missing:
        return guess
    text = read_lines(path, guess.encoding).lines
    rows = dict(zip(guess.lines, guess.preview, strict=False))
    kept = dict(list(rows.items())[: _ROWS - len(missing)])
    kept |= {line: tuple(layout.cells(text[line - 1], guess.delimiter)) for line in missing if line <= len(text)}
    return replace(guess, preview=tuple(kept.values()), lines=tuple(kept))


def roles_of_table(guess: Any, mapping: Any) -> tuple[str, ...]:
    """Return each column's role; *mapping* says which counts processors and which is the time."""
    return tuple(roles.words_of(column, mapping) for column in guess.columns[:_MOST_COLUMNS])


def rows_of_set(measured: Any) -> Table:
    """Return a set's first values with their points and all repetitions."""
    head = measured.values.head(_ROWS * _MOST_REPETITIONS)
    grouped: dict[tuple[int, int, int], list[float]] = {}
    for point, path, metric, value in zip(head["point"], head["call_path"], head["metric"], head["value"], strict=True):
        grouped.setdefault((int(point), int(path), int(metric)), []).append(float(value))
    paths = measured.paths
    several = len(paths) > 1
    names = [*measured.parameters, *(["call path"] if several else []), "metric", "values"]
    rows = []
    for (point, path, metric), values in list(grouped.items())[:_ROWS]:
        where = measured.points.iloc[point]
        cells: list[float | int | str | None] = [_plain(where[name]) for name in measured.parameters]
        if several:
            cells.append(_short(paths[path]))
        reported = measured.metrics[metric]
        cells += [reported.name, _values(values, reported.unit)]
        rows.append(Row(tuple(cells), tip=paths[path]))
    return Table(tuple(Column(name) for name in names), tuple(rows))


def runs_table(scaling: Any, sizes: Sequence[str]) -> Table:
    """Return a table of the runs made from a set; *scaling* is their `StudyData.scaling`."""
    if scaling is None or not len(scaling):
        return Table((Column("N"),), ())
    many = scaling["repetitions"].max() > 1 if "repetitions" in scaling.columns else False
    columns = [Column("N"), *(Column(name) for name in sizes), Column("time", "s")]
    columns += [Column("repetitions")] if many else []
    columns += [Column("speedup"), Column("efficiency")]
    ordered = scaling.sort_values([*(f"param.{name}" for name in sizes), "processors"], kind="stable")
    rows = []
    for row in ordered.head(_ROWS * 4).to_dict("records"):
        cells: list[float | int | str | None] = [int(row["processors"])]
        cells += [_plain(row.get(f"param.{name}")) for name in sizes]
        cells.append(_number(row.get("time_s")))
        cells += [int(row["repetitions"])] if many else []
        cells += [_number(row.get("speedup")), _number(row.get("efficiency"))]
        rows.append(Row(tuple(cells)))
    return Table(tuple(columns), tuple(rows))


def runs_words(scaling: Any, sizes: Sequence[str]) -> str:
    """Return one sentence about the runs made from a set."""
    if scaling is None or not len(scaling):
        return ""
    counts = sorted({int(n) for n in scaling["processors"]})
    runs = int(scaling["repetitions"].sum()) if "repetitions" in scaling.columns else len(scaling)
    where = f"on {counts[0]} to {counts[-1]} processors" if len(counts) > 1 else f"on {counts[0]} processors"
    problems = len(scaling.groupby([f"param.{name}" for name in sizes])) if sizes else 1
    of = f" of {problems} problem sizes" if problems > 1 else ""
    relative = sentence(scaling)
    if not relative and counts[0] > 1:
        relative = "There is none on one processor, so speedup and efficiency are not known."
    return f"{counted(runs, 'run')}{of} {where}.{' ' if relative else ''}{relative}"


def _values(values: Sequence[float], unit: str) -> str:
    shown = ", ".join(significant(value, 4) for value in values[:_MOST_REPETITIONS])
    more = ", .." if len(values) >= _MOST_REPETITIONS else ""
    return f"{shown}{more} {unit}".rstrip()


def _plain(value: object) -> float | int | str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, np.integer | int):
        return int(value)
    if isinstance(value, np.floating | float):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 1e15 else number
    return str(value)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _short(path: str) -> str:
    return path if len(path) <= _WIDEST else "…" + path[-(_WIDEST - 1) :]
