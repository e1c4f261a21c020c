"""The rows below a table's header: parsed at once, each cell with its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import Fault, InputError
from scalegraph.base.units import counted
from scalegraph.measurements.model import LEAST, MOST, Floats
from scalegraph.measurements.reader import Progress
from scalegraph.measurements.table import durations, layout, prose, suffixes
from scalegraph.measurements.table.columns import Column
from scalegraph.measurements.table.guess import TableGuess

Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_MOST_FAULTS = 20
_NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eEdD][+-]?\d+)?$"
_MISSING = sorted(
    {*layout.MISSING, *(word.upper() for word in layout.MISSING), "NaN", "Null", "None", "N/a", "-NaN", "k.A.", "n.V."}
)
_INFINITE = sorted({*layout.INFINITE, *(word.upper() for word in layout.INFINITE), "Inf", "-Inf", "+Inf", "Infinity"})


@dataclass(frozen=True)
class Rows:
    """The cells as text, columns by number; *lines*: the line number of every row."""

    file: str
    table: pa.Table
    lines: Ints
    guess: TableGuess
    below: tuple[int, ...] = ()  # lines of text below the table, which are left out
    wrong: tuple[Fault, ...] = ()  # rows with another number of cells than there are columns

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.lines)

    def only(self, keep: Flags) -> Rows:
        """Return the rows to *keep*."""
        return replace(self, table=self.table.filter(pa.array(keep)), lines=self.lines[keep])

    def texts(self, index: int) -> pa.ChunkedArray:
        """Return the cells of a column, stripped."""
        return compute.utf8_trim_whitespace(self.table.column(index))

    def filled(self) -> Flags:
        """Return which rows have a nonempty cell."""
        filled = np.zeros(len(self), dtype=bool)
        for column in self.guess.columns:
            if filled.all():
                break
            lengths = np.asarray(self.texts(column.index).combine_chunks())
            filled |= lengths != ""
        return filled

    def numbers(self, column: Column) -> tuple[Floats, Flags]:
        """Return the numbers of a column, NaN for missing ones and ones beyond `LEAST` or `MOST`.

        Raises `InputError` naming line and column of the first nonnumeric cells.
        """
        cells = self.texts(column.index)
        if column.suffix:
            cells = self._without(column, cells)
        if column.kind == "duration":
            return self._durations(column, cells)
        if self.guess.thousands:
            cells = compute.replace_substring(cells, self.guess.thousands, "")
        if self.guess.decimal == ",":
            cells = compute.replace_substring(cells, ",", ".")
        try:
            found: Floats = compute.cast(cells, pa.float64()).to_numpy().astype(np.float64)
        except pa.ArrowInvalid:
            found = self._careful(column, cells)
        useless = ~(np.abs(found) <= MOST) & ~np.isnan(found)
        tiny = np.abs(found) < LEAST
        if tiny.any():
            written = compute.match_substring_regex(cells, "^[^eE]*[1-9]")  # 1e-400 is not 0
            useless |= tiny & compute.fill_null(written, fill_value=False).to_numpy()
        return (np.where(useless, np.nan, found) if useless.any() else found), useless

    @staticmethod
    def _without(column: Column, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return the cells without the suffix of each number."""
        distinct = cells.combine_chunks().dictionary_encode()
        words = [suffixes.without(word, column.suffix) for word in distinct.dictionary.to_pylist()]
        return pa.chunked_array([pa.array(words, pa.string()).take(distinct.indices)])

    def _durations(self, column: Column, cells: pa.ChunkedArray) -> tuple[Floats, Flags]:
        """Return the seconds of a column of durations, NaN for missing ones."""
        distinct = cells.combine_chunks().dictionary_encode()
        words = distinct.dictionary.to_pylist()
        known = {word: durations.seconds(word, minutes=True) for word in words if not layout.is_missing(word)}
        codes = distinct.indices.to_numpy()
        wrong = [code for code, word in enumerate(words) if word in known and known[word] is None]
        if wrong:
            rows = np.flatnonzero(np.isin(codes, wrong))[:_MOST_FAULTS].tolist()
            expected = "a time such as 00:08:01 or 8m1.5s was expected, as in other rows"
            faults = [self.fault(row, column, f"{expected}; got '{_short(words[codes[row]])}'") for row in rows]
            raise InputError([self.with_marks(faults[0], column), *faults[1:]])
        values = np.array([np.nan if (found := known.get(word)) is None else found for word in words])
        return values[codes], np.zeros(len(codes), dtype=bool)

    def _careful(self, column: Column, cells: pa.ChunkedArray) -> Floats:
        missing = compute.is_in(cells, value_set=pa.array(_MISSING))
        infinite = compute.is_in(cells, value_set=pa.array(_INFINITE))
        good = compute.match_substring_regex(cells, _NUMBER)
        wrong = np.flatnonzero(~(good.to_numpy() | missing.to_numpy() | infinite.to_numpy()))
        if len(wrong):
            shown = self.texts(column.index)
            faults = [
                self.fault(row, column, f"a number was expected, got '{_short(shown[row].as_py())}'")
                for row in wrong[:_MOST_FAULTS].tolist()
            ]
            faults[0] = self.with_marks(faults[0], column)
            if len(wrong) > _MOST_FAULTS:
                more = f"{len(wrong) - _MOST_FAULTS + 1} more cells of '{column.title}', from here on, are not numbers"
                faults[-1] = self.fault(int(wrong[_MOST_FAULTS - 1]), column, more)
            raise InputError(faults)
        cells = compute.if_else(missing, pa.scalar(None, pa.string()), cells)
        cells = compute.if_else(infinite, pa.scalar("inf"), cells)
        cells = compute.replace_substring_regex(cells, r"^([^dD]*\d\.?)[dD]([+-]?\d+)$", r"\1e\2")
        cells = compute.replace_substring_regex(cells, r"^\+", "")
        cells = compute.replace_substring_regex(cells, r"^(-?)\.", r"\10.")
        cells = compute.replace_substring_regex(cells, r"\.($|[eE])", r".0\1")
        found: Floats = compute.cast(cells, pa.float64()).to_numpy().astype(np.float64)
        return found

    @staticmethod
    def with_marks(fault: Fault, column: Column) -> Fault:
        """Return the fault of a bad cell with the options that leave it out."""
        mark = f"--cell {fault.line}=skip leaves its row out"
        if column.role != "parameter":
            cell = quote(f"{fault.line}:{column.title or column.index + 1}=none")
            mark = f"--cell {cell} leaves out the value, --cell {fault.line}=skip its row"
        return replace(fault, message=f"{fault.message}; {mark}")

    def fault(self, row: int, column: Column | None, message: str) -> Fault:
        """Return a fault in a cell of a row."""
        key = "" if column is None else f"column {column.index + 1}" + (f" '{column.title}'" if column.title else "")
        return Fault(message, file=self.file, line=int(self.lines[row]), key=key)


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def parse(lines: Sequence[str], guess: TableGuess, cancel: CancelToken, progress: Progress) -> Rows:
    """Return the rows of a table from all *lines* of its file.

    Rows whose number of cells is not that of the columns are left out and reported by the result; if there are more
    than twenty, `InputError` is raised.
    """
    kept, numbers = _kept(lines, guess)
    last = [(int(numbers[at]), layout.cells(kept[at], guess.delimiter)) for at in range(len(kept))[-prose.MOST :]]
    text = len(last) - prose.start(last, len(guess.columns))
    below = tuple(numbers[len(kept) - text :].tolist())
    kept, numbers = kept[: len(kept) - text], numbers[: len(kept) - text]
    cancel.check()
    for index, line in enumerate(kept):
        if '"' in line:
            layout.check_quotes(line, int(numbers[index]), guess.file)
    if guess.delimiter == " ":
        kept = ["\t".join(layout.cells(line, " ")) for line in kept]
    cancel.check()
    data = "\n".join(kept).encode("utf-8", "surrogatepass")
    longest = max(map(len, kept), default=0) * 4 + 1
    del kept
    count = len(guess.columns)
    ragged: list[tuple[int, int]] = []

    def wrong(row: Any) -> str:
        ragged.append((row.number, row.actual_columns))
        return "skip" if len(ragged) < _MOST_FAULTS else "error"

    batches = []
    names = [str(index) for index in range(count)]
    try:
        reader = csv.open_csv(
            pa.BufferReader(data),
            csv.ReadOptions(column_names=names, block_size=max(1 << 22, longest), use_threads=False),
            csv.ParseOptions(
                delimiter="\t" if guess.delimiter == " " else guess.delimiter,
                newlines_in_values=False,
                ignore_empty_lines=False,
                invalid_row_handler=wrong,
            ),
            csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
        )
        done = 0
        for batch in reader:
            cancel.check()
            batches.append(batch)
            done += batch.num_rows
            progress(min(1.0, done / max(1, len(numbers))))
    except pa.ArrowInvalid as error:
        if not ragged:
            words = str(error).split("\n")[0][:200]
            raise InputError(Fault(f"cannot be divided into cells: {words}", guess.file, guess.first)) from None
    bad = _ragged(ragged, numbers, count, guess)
    if len(ragged) >= _MOST_FAULTS:
        raise InputError(bad)
    numbers = np.delete(numbers, [row - 1 for row, _ in ragged])
    table = pa.Table.from_batches(batches, reader.schema)
    if table.num_rows != len(numbers):
        raise InputError(Fault(f"has {len(numbers)} rows, of which {table.num_rows} could be divided", guess.file))
    return Rows(guess.file, table, numbers, guess, below, tuple(bad))


def _kept(lines: Sequence[str], guess: TableGuess) -> tuple[list[str], Ints]:
    """Return the lines of rows, and their numbers."""
    below = lines[guess.first - 1 :]
    marks = (guess.comment,) if guess.comment else layout.COMMENTS
    at = [
        index
        for index, line in enumerate(below)
        if (text := line.lstrip()) and not text.startswith(marks) and not layout.is_rule(text)
    ]
    numbers = np.array(at, dtype=np.int64) + guess.first
    return (list(below) if len(at) == len(below) else [below[index] for index in at]), numbers


def _ragged(found: Sequence[tuple[int, int]], numbers: Ints, count: int, guess: TableGuess) -> list[Fault]:
    faults = []
    for row, actual in found[:_MOST_FAULTS]:
        line = int(numbers[min(max(row - 1, 0), len(numbers) - 1)])
        hint = ""
        if guess.delimiter == "," and actual > count:
            hint = "; a decimal comma or an unquoted comma in a text?"
        message = f"has {counted(actual, 'cell')}; {count} were expected, one for each column{hint}"
        faults.append(Fault(f"{message}; --cell {line}=skip leaves it out", guess.file, line))
    return faults
