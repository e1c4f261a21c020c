"""Reads a whole table by its guess into a measurement set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import as_read
from scalegraph.measurements import names
from scalegraph.measurements.mapping import Unanswered
from scalegraph.measurements.model import CallPath, Floats, MeasurementSet, Metric, Skipped
from scalegraph.measurements.reader import Progress
from scalegraph.measurements.table import faults, jobs, layout, marking, summaries, unit_columns
from scalegraph.measurements.table.columns import Column
from scalegraph.measurements.table.guess import TableChoices, TableGuess, guess_table
from scalegraph.measurements.table.rows import Flags, Ints, Rows, parse
from scalegraph.measurements.table.text import read_lines

_PROGRAM = "program"
_SEPARATOR = "->"


def read_table(
    path: Path,
    choices: TableChoices | None = None,
    cancel: CancelToken | None = None,
    progress: Progress = lambda _share: None,
) -> MeasurementSet:
    """Return the table *path* as a set; what *choices* leaves open is guessed.

    Raises `InputError` with file, line and column of an invalid cell, `Unanswered` with what cannot be guessed.
    """
    token = cancel or CancelToken()
    guess = guess_table(path, choices)
    if guess.questions:
        raise Unanswered(guess.questions, guess.file)
    progress(0.02)
    text = read_lines(path, guess.encoding)
    token.check()
    progress(0.1)
    lines, marks = text.lines, choices.cells if choices else {}
    if marks:
        first = min([guess.first, *marking.skipped(marks)])  # rows may be left out before the first that is read
        found = layout.Layout(guess.delimiter, guess.comment, guess.header, (), first, ())
        titles = [column.title for column in guess.columns]
        lines = marking.marked(lines, marks, found, titles, guess.file, whole=True)
    del text
    rows = parse(lines, guess, token, lambda share: progress(0.1 + 0.4 * share))
    del lines
    made = _Builder(rows, guess, token, lambda share: progress(0.5 + 0.5 * share))
    if out := marking.skipped(marks):
        made.skipped.append(Skipped("rows", len(out), "left out, as said", f"{guess.file}:{out[0]}"))
    if rows.wrong:
        raise InputError(faults.all_of(rows, rows.wrong))
    try:
        return made.build()
    except InputError as error:
        raise InputError(faults.all_of(rows, error.faults)) from None


@dataclass
class _Block:
    """Values of one metric at one value of the wide parameter: row positions and values."""

    column: Column
    metric: str
    rows: Ints
    values: Floats


@dataclass
class _Builder:
    rows: Rows
    guess: TableGuess
    cancel: CancelToken
    progress: Progress
    skipped: list[Skipped] = field(default_factory=list)

    def build(self) -> MeasurementSet:
        """Return the set."""
        if below := self.rows.below:
            place = f"{self.guess.file}:{below[0]}"
            self.skipped.append(Skipped("lines", len(below), "text below the table", place))
        self._only_runs()
        keep = self._filled()
        base, points = self._points(keep)
        path, call_paths = self._paths()
        repetition = self._repetitions(base, keep)
        if self.guess.form == "tall":
            values, metrics = self._tall(keep)
        else:
            values, metrics = self._columns(keep)
        table, points = self._placed(values, metrics, base, points)
        table["call_path"] = path[table["row"]]
        table["repetition"] = self._numbered(table, repetition)
        self._left_out()
        made = table[["point", "call_path", "metric", "repetition", "value"]].reset_index(drop=True)
        return MeasurementSet(
            parameters=tuple(points.columns),
            points=points,
            call_paths=call_paths,
            metrics=tuple(metrics),
            values=made,
            format="table",
            files=(self.guess.file,),
            title=Path(self.guess.file).stem,
            notes=self.guess.notes,
            skipped=tuple(self.skipped),
        )

    def _only_runs(self) -> None:
        """Leave out the rows that are not runs or sum up others, and count them."""
        titles = [column.title for column in self.guess.columns]
        known = [jobs.may_tell(title) for title in titles]
        if any(known):
            cells = [
                self.rows.texts(column.index).to_pylist() if there else []
                for column, there in zip(self.guess.columns, known, strict=True)
            ]
            keep, why = jobs.kept(titles, cells)
            if why and not any(keep):
                message = f"holds no run that completed: {why[0][0]}"
                raise InputError(Fault(message, file=self.guess.file, line=int(self.rows.lines[why[0][1]])))
            self._leave_out(why)
        texts = [self.rows.texts(column.index) for column in self.guess.columns]
        known = pa.array(sorted(summaries.WORDS), pa.string())
        words = [compute.utf8_rtrim(compute.utf8_lower(one), ":") for one in texts]
        some = any(compute.any(compute.is_in(one, value_set=known)).as_py() for one in words)
        again = summaries.rows([one.to_pylist() for one in texts]) if some else []
        self._leave_out([("sum up other rows, as total or mean", row) for row in again])

    def _leave_out(self, why: Sequence[tuple[str, int]]) -> None:
        """Leave out rows, each with its reason and index."""
        for reason, count in Counter(reason for reason, _ in why).items():
            first = next(row for other, row in why if other == reason)
            self.skipped.append(Skipped("rows", count, reason, f"{self.guess.file}:{self.rows.lines[first]}"))
        if why:
            keep = np.ones(len(self.rows), dtype=bool)
            keep[[row for _, row in why]] = False
            self.rows = self.rows.only(keep)

    def _filled(self) -> Flags:
        """Return which rows have a nonempty cell."""
        filled = self.rows.filled()
        if not filled.all():
            empty = np.flatnonzero(~filled)
            place = f"{self.guess.file}:{self.rows.lines[empty[0]]}"
            self.skipped.append(Skipped("rows", len(empty), "every cell is empty", place))
        return filled

    def _points(self, keep: Flags) -> tuple[Ints, pd.DataFrame]:
        """Return the point number of every row by its parameters, and the points."""
        table = pd.DataFrame(index=pd.RangeIndex(len(self.rows)))
        for column in self.guess.of("parameter"):
            self.cancel.check()
            if column.kind in ("number", "count"):
                numbers, infinite = self.rows.numbers(column)
                wrong = np.flatnonzero((np.isnan(numbers) | infinite) & keep)
                if len(wrong):
                    raise InputError(
                        faults.without_number(self.rows, int(wrong[0]), column, infinite=bool(infinite[wrong[0]]))
                    )
                whole = bool((numbers[keep] == np.floor(numbers[keep])).all()) and bool(
                    (abs(numbers[keep]) < 2**53).all()
                )
                table[column.name] = np.where(keep, numbers, 0).astype(np.int64) if whole else numbers
            else:
                table[column.name] = pd.Series(self.rows.texts(column.index).to_pylist(), dtype="str")
        if not len(table.columns):
            return np.zeros(len(self.rows), dtype=np.int64), pd.DataFrame(index=pd.RangeIndex(1))
        there = table[keep]
        number = np.full(len(self.rows), -1, dtype=np.int64)
        number[keep] = there.groupby(list(table.columns), sort=False).ngroup().to_numpy()
        return number, there.drop_duplicates().reset_index(drop=True)

    def _paths(self) -> tuple[Ints, tuple[CallPath, ...]]:
        """Return the call path number of every row, and the paths with all their ancestors."""
        columns = self.guess.of("call_path")
        if not columns:
            return np.zeros(len(self.rows), dtype=np.int64), (CallPath(_PROGRAM),)
        texts = pd.Series(self.rows.texts(columns[0].index).to_pylist(), dtype="str")
        for column in columns[1:]:
            texts = texts + _SEPARATOR + pd.Series(self.rows.texts(column.index).to_pylist(), dtype="str")
        codes, found = pd.factorize(texts)
        nodes: dict[tuple[str, ...], int] = {}
        paths: list[CallPath] = []
        place = np.zeros(len(found), dtype=np.int64)
        for index, text in enumerate(found):
            parts = tuple(part.strip() for part in str(text).split(_SEPARATOR) if part.strip()) or (_PROGRAM,)
            for depth in range(1, len(parts) + 1):
                if parts[:depth] not in nodes:
                    nodes[parts[:depth]] = len(paths)
                    paths.append(CallPath(parts[depth - 1], nodes[parts[: depth - 1]] if depth > 1 else None))
            place[index] = nodes[parts]
        return place[codes], tuple(paths)

    def _repetitions(self, base: Ints, keep: Flags) -> Ints | None:
        """Return the rank of every row's repetition among those of its point; None without such a column."""
        columns = self.guess.of("repetition")
        if not columns:
            return None
        numbers, _ = self.rows.numbers(columns[0])
        wrong = np.flatnonzero(np.isnan(numbers) & keep)
        if len(wrong):
            raise InputError(self.rows.fault(int(wrong[0]), columns[0], "the number of the repetition was expected"))
        table = pd.DataFrame({"base": base, "number": numbers})
        ranks = table.groupby("base")["number"].rank(method="dense").fillna(1).to_numpy()
        return ranks.astype(np.int64) - 1

    def _columns(self, keep: Flags) -> tuple[list[_Block], list[Metric]]:
        """Return the values of every measured column."""
        measured = (*self.guess.of("metric"), *self.guess.of("wide"), *self.guess.of("value"))
        blocks: list[_Block] = []
        metrics: dict[str, Metric] = {}
        missing = _Missing()
        for number, column in enumerate(measured):
            if number % 256 == 0:
                self.cancel.check()
                self.progress(0.9 * number / len(measured))
            found, infinite = self.rows.numbers(column)
            found = unit_columns.converted(self.rows, column, found)
            there = np.flatnonzero(~np.isnan(found))
            missing.add(np.flatnonzero(np.isnan(found) & keep), infinite)
            metric = metrics.get(column.name)
            if metric is None:
                metric = metrics[column.name] = _metric(column.name, column.unit)
            self._check_times(metric, column, found)
            blocks.append(_Block(column, column.name, there, found[there]))
        self.skipped += missing.told(self.rows)
        return blocks, list(metrics.values())

    def _tall(self, keep: Flags) -> tuple[list[_Block], list[Metric]]:
        """Return the values of a table with one value per row, by metric."""
        value, name = self.guess.of("value")[0], self.guess.of("metric_name")[0]
        found, infinite = self.rows.numbers(value)
        missing = _Missing()
        missing.add(np.flatnonzero(np.isnan(found) & keep), infinite)
        self.skipped += missing.told(self.rows)
        codes, titles = pd.factorize(pd.Series(self.rows.texts(name.index).to_pylist(), dtype="str"))
        units = self.guess.of("unit")
        said = self.rows.texts(units[0].index) if units else None
        blocks, metrics = [], []
        for code, title in enumerate(titles):
            self.cancel.check()
            mine = codes == code
            there = np.flatnonzero(mine & ~np.isnan(found))
            if not (mine & keep).any():
                continue
            short, unit = names.without_unit(str(title))
            if said is not None:
                unit = self._unit(np.flatnonzero(mine & keep), units[0], said) or unit
            metrics.append(_metric(short or f"metric {code + 1}", unit))
            self._check_times(metrics[-1], value, np.where(mine, found, np.nan))
            blocks.append(_Block(value, metrics[-1].name, there, found[there]))
        if len({metric.name for metric in metrics}) < len(metrics):
            raise InputError(Fault("names a metric with two units", file=self.guess.file, line=self.guess.first))
        return blocks, metrics

    def _unit(self, rows: Ints, column: Column, said: Sequence[object]) -> str:
        texts = pd.Series(np.asarray(said)[rows]).astype(str)
        if (texts != texts.iloc[0]).any():
            row = int(rows[int((texts != texts.iloc[0]).to_numpy().argmax())])
            message = f"'{texts.iloc[0]}' was expected: a metric has one unit"
            raise InputError(self.rows.fault(row, column, message))
        return str(texts.iloc[0])

    def _check_times(self, metric: Metric, column: Column, found: Floats) -> None:
        if metric.kind == "time" and (found < 0).any():
            row = int(np.flatnonzero(found < 0)[0])
            fault = self.rows.fault(row, column, f"{as_read(found[row])} is not a time; 0 or more was expected")
            raise InputError(self.rows.with_marks(fault, column))

    def _placed(
        self, blocks: Sequence[_Block], metrics: Sequence[Metric], base: Ints, points: pd.DataFrame
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return row, point, metric, column and value of every value, and the points, including wide columns'."""
        number = {metric.name: index for index, metric in enumerate(metrics)}
        sizes = [len(block.rows) for block in blocks]
        if not sum(sizes):
            why = "".join(f"; {one.what} ({one.count}): {one.reason}" for one in self.skipped)
            raise InputError(Fault(f"holds no measured value{why}", file=self.guess.file, line=self.guess.first))
        rows = np.concatenate([block.rows for block in blocks])
        table = pd.DataFrame(
            {
                "row": rows,
                "point": base[rows],
                "metric": np.repeat([number[block.metric] for block in blocks], sizes).astype(np.int32),
                "column": np.repeat([block.column.repetition or 0 for block in blocks], sizes),
                "value": np.concatenate([block.values for block in blocks]),
            }
        )
        if self.guess.form == "wide":
            marks = [block.column.at for block in blocks]
            table["at"] = _repeated(marks, sizes)
            if None in marks:
                title = next(block.column.title for block in blocks if block.column.at is None)
                message = "is among columns for values of one parameter, and has no such value; say --column NAME=skip"
                raise InputError(Fault(message, file=self.guess.file, line=self.guess.header, key=f"'{title}'"))
            distinct = table[["point", "at"]].drop_duplicates()
            across = self.guess.across
            wide = points.iloc[distinct["point"]].reset_index(drop=True)
            if across in wide.columns:
                message = f"'{across}' is both a column and the parameter of other columns; say --across"
                raise InputError(Fault(message, file=self.guess.file, line=self.guess.header))
            wide.insert(0, across, distinct["at"].to_numpy())
            table["point"] = table.groupby(["point", "at"], sort=False).ngroup()
            points = wide
        return table, points

    def _numbered(self, table: pd.DataFrame, repetition: Ints | None) -> Ints:
        """Return the repetition of every value: from rows and columns if given, otherwise by order of occurrence."""
        place = ["point", "call_path", "metric"]
        if repetition is None:
            ordered = table.sort_values(["row", "column"], kind="stable") if table["column"].any() else table
            return ordered.groupby(place, sort=False).cumcount().reindex(table.index).to_numpy().astype(np.int64)
        columns = int(table["column"].max()) + 1
        numbers = repetition[table["row"]] * columns + table["column"].to_numpy()
        again = table.assign(number=numbers).duplicated([*place, "number"])
        if again.any():
            row = int(table["row"][again.to_numpy().argmax()])
            column = self.guess.of("repetition")[0]
            message = "gives this repetition of its point and region again; each once was expected"
            raise InputError(self.rows.fault(row, column, message))
        return np.asarray(numbers, dtype=np.int64)

    def _left_out(self) -> None:
        if self.guess.before:
            place = f"{self.guess.file}:{self.guess.before[0]}"
            self.skipped.append(Skipped("lines", len(self.guess.before), "before the table", place))
        for column in self.guess.of("skip"):
            if column.kind != "empty" or column.title:
                place = f"{self.guess.file}:{self.guess.header or self.guess.first}"
                title = column.title or f"column {column.index + 1}"
                self.skipped.append(Skipped("column", 1, f"'{title}': left out ({column.why})", place))


@dataclass
class _Missing:
    """Counts cells that hold no value."""

    empty: int = 0
    infinite: int = 0
    first: int | None = None
    first_infinite: int | None = None

    def add(self, rows: Ints, infinite: Flags) -> None:
        """Count *rows*; those in *infinite* hold an infinite number."""
        if not len(rows):
            return
        unbound = rows[infinite[rows]]
        plain = rows[~infinite[rows]]
        self.infinite += len(unbound)
        self.empty += len(plain)
        if len(plain) and self.first is None:
            self.first = int(plain[0])
        if len(unbound) and self.first_infinite is None:
            self.first_infinite = int(unbound[0])

    def told(self, rows: Rows) -> list[Skipped]:
        """Return the counts."""
        made = []
        for count, first, reason in (
            (self.empty, self.first, "empty"),
            (self.infinite, self.first_infinite, "out of range; 0 or a number from 1e-150 to 1e150 was expected"),
        ):
            if first is not None:
                made.append(Skipped("cells", count, reason, f"{rows.file}:{rows.lines[first]}"))
        return made


def _repeated(marks: Sequence[int | str | None], sizes: Sequence[int]) -> pd.Series:
    """Return each value's series name as text, if there are any, otherwise its number."""
    if any(isinstance(mark, str) for mark in marks):
        return pd.Series(np.repeat(np.array([str(mark) for mark in marks], dtype=object), sizes), dtype="str")
    return pd.Series(np.repeat(np.array([-1 if mark is None else int(mark) for mark in marks]), sizes))


def _metric(name: str, unit: str) -> Metric:
    return Metric(name, unit, names.metric_kind(name, unit))
