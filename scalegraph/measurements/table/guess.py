"""The guessed interpretation of a table, with its confidence, for the user to check, answer and change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.measurements.mapping import Question
from scalegraph.measurements.names import SIZES, counts_processors, plain
from scalegraph.measurements.table import columns as columns_
from scalegraph.measurements.table import (
    decimals,
    headless,
    jobs,
    layout,
    marking,
    misread,
    prose,
    series,
    suffixes,
    summaries,
    unit_columns,
    values,
)
from scalegraph.measurements.table.columns import ROLES, SURE, Column, Role
from scalegraph.measurements.table.text import read_lines

__all__ = ["Column", "Form", "Role", "TableChoices", "TableGuess", "guess_table"]

# long: a row per measured point, a column per metric; tall: a row per value, with the metric's name in a column; wide:
# a column for each value of a parameter
Form: TypeAlias = Literal["long", "tall", "wide"]

HEAD = 1 << 20  # bytes examined
_PREVIEW = 30  # rows
_ROLE_WORDS: dict[str, Role] = {"region": "call_path", "ignore": "skip", "coordinate": "parameter"}


class TableChoices(BaseModel):
    """The user's choices for a table; empty ones (*header* None) are guessed.

    *delimiter* and *decimal* are characters; *header*: the number of the line with the names (0: none, columns are then
    named by *names*); *columns*: roles by title, name or number (from 1) of a column; *across*: the parameter of the
    columns of a wide table, or ``repetition``; *cells*: ``none`` for ``LINE:COLUMN``, a cell without a value, and
    ``skip`` for ``LINE``, a row that is left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    encoding: str = ""
    delimiter: str = ""
    decimal: Literal["", ".", ","] = ""
    comment: str = ""
    header: int | None = Field(default=None, ge=0)
    names: tuple[str, ...] = ()
    columns: dict[str, str] = Field(default_factory=dict)
    across: str = ""
    cells: dict[str, str] = Field(default_factory=dict)


@dataclass(frozen=True)
class TableGuess:
    """How a table would be read. *preview*: its first rows as text; line numbers start at 1, *header* 0: none.

    *thousands*: the digit grouping character, if any. *across*: the parameter of wide columns. With *questions* it
    cannot be read before they are answered; *confidence*: of the least certain part, 0 to 1.
    """

    file: str
    encoding: str
    delimiter: str
    decimal: str
    thousands: str
    comment: str
    header: int
    first: int
    columns: tuple[Column, ...]
    across: str
    preview: tuple[tuple[str, ...], ...]
    questions: tuple[Question, ...] = ()
    notes: tuple[str, ...] = ()
    before: tuple[int, ...] = ()
    lines: tuple[int, ...] = ()  # of the preview

    @property
    def form(self) -> Form:
        """The form of the table."""
        roles = {column.role for column in self.columns}
        return "wide" if "wide" in roles else "tall" if "metric_name" in roles else "long"

    @property
    def confidence(self) -> float:
        """The confidence of its least certain part, 0 to 1."""
        return min((column.confidence for column in self.columns), default=0.0) if not self.questions else 0.0

    def of(self, role: Role) -> tuple[Column, ...]:
        """Return the columns with a role."""
        return tuple(column for column in self.columns if column.role == role)


def guess_table(path: Path, choices: TableChoices | None = None) -> TableGuess:
    """Return how the table *path* would be read; *choices* take precedence.

    Reads only the beginning of the file. Raises `InputError` if it is not a table, or the choices do not fit it.
    """
    said = choices or TableChoices()
    file = str(path)
    limit = HEAD
    while True:
        text = read_lines(path, said.encoding, limit)
        if sum(1 for line in text.lines if line.strip()) > 2 or limit >= _size(path):
            break
        limit *= 8  # for a table with very long lines
    header = 0 if said.names and said.header is None else said.header
    found = layout.find(text.lines, file, said.delimiter, said.comment, header)
    found = prose.without(found)
    usual = Counter(map(len, found.rows)).most_common(1)[0][0]
    wide = max(len(found.names), max(map(len, found.rows))) if found.header else usual
    titles = _titles(found, said, wide, file)
    if said.cells:
        whole = limit >= _size(path)
        lines = marking.marked(text.lines, said.cells, found, titles, file, whole=whole)
        found = prose.without(layout.find(lines, file, found.delimiter, said.comment, found.header or header))
    columns, across = columns_.guess(titles, _runs(titles, found.rows), across=said.across)
    columns = unit_columns.applied(_chosen(columns, said.columns, file), _runs(titles, found.rows), file)
    _check_roles(columns, said.columns, file)
    _check_across(columns, across, said, file)
    numeric = [column for column in columns if column.kind in ("number", "count")]
    cells = [
        [suffixes.without(row[column.index], column.suffix) for row in found.rows if column.index < len(row)]
        for column in numeric
    ]
    of_whole = [counts_processors(column.name) or plain(column.name) in SIZES for column in numeric]
    decimal, thousands, doubts = decimals.numbers(cells, said.decimal, of_whole, found.delimiter)
    questions = [*doubts, *_questions(found, columns, said, file)]
    return TableGuess(
        file=file,
        encoding=text.encoding,
        delimiter=found.delimiter,
        decimal=decimal,
        thousands=thousands,
        comment=said.comment,
        header=found.header,
        first=found.first,
        columns=columns,
        across=across,
        preview=found.rows[:_PREVIEW],
        questions=tuple(questions),
        notes=(*text.notes, *found.notes, *_remarks(columns, across, decimal, thousands)),
        before=found.before,
        lines=found.lines[:_PREVIEW],
    )


def _runs(titles: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """Return the rows that are runs; all rows if none is, so that their columns are known."""
    cells = [[row[index] if index < len(row) else "" for row in rows] for index in range(len(titles))]
    keep, why = jobs.kept(titles, cells)
    for row in summaries.rows(cells):
        keep[row] = False
        why.append(("", row))
    return [row for row, good in zip(rows, keep, strict=True) if good] if why and any(keep) else rows


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _titles(found: layout.Layout, said: TableChoices, count: int, file: str) -> Sequence[str]:
    if said.names:
        if len(said.names) != count:
            raise InputError(
                Fault(f"has {count} columns, but --names has {len(said.names)} names", file=file, line=found.first)
            )
        return said.names
    if found.header:
        return found.names
    return [f"column {number}" for number in range(1, count + 1)]


def _chosen(columns: Sequence[Column], said: Mapping[str, str], file: str) -> tuple[Column, ...]:
    """Return the columns with the roles that the user gave them."""
    made = list(columns)
    for key, word in said.items():
        role = _ROLE_WORDS.get(word, word)
        if role not in ROLES:
            known = ", ".join(("region" if name == "call_path" else name) for name in ROLES)
            raise InputError(
                Fault(f"'{word}' is not a role of a column{near(word, ROLES)}; known: {known}", key="--column")
            )
        at = [index for index, column in enumerate(made) if key in (column.title, column.name)]
        number = key.removeprefix("column ")
        if not at and number.isdigit():  # of `n,1,2,4` the column `1` is the second
            at = [index for index, column in enumerate(made) if int(number) == column.index + 1]
        if not at:
            hint = near(key, [column.title for column in made])
            raise InputError(Fault(f"has no column '{key}'{hint}", file=file, key="--column"))
        for index in at:
            made[index] = replace(
                made[index],
                role=role,  # type: ignore[arg-type]
                at=None if role != "wide" else made[index].at,
                confidence=1.0,
                why=columns_.SAID,
            )
    return tuple(made)


def _check_roles(columns: Sequence[Column], said: Mapping[str, str], file: str) -> None:
    """Refuse stated roles that have no effect, given the other columns."""
    roles = {column.role for column in columns}
    repeated = [column for column in columns if column.role == "repetition"]
    faults = []
    if "repetition" in said.values() and len(repeated) > 1:
        listed = " and ".join(f"'{column.title}'" for column in repeated)
        faults.append(
            Fault(f"{listed} would both number the repetition: only one column can", file=file, key="--column")
        )
    units = [column for column in columns if column.role == "unit" and column.why == columns_.SAID]
    for column in units if "metric_name" not in roles else ():
        if all(other.unit_from != column.index for other in columns):
            message = f"'{column.title}' as unit has no effect: it holds no units, or is beside no measured column"
            faults.append(Fault(message, file=file, key="--column"))
    for role, lacking in (("metric_name", "value"), ("value", "metric_name")):
        if role in said.values() and lacking not in roles:
            title = next(key for key, word in said.items() if word == role)
            message = f"'{title}' as {role} has no effect without a column that is {lacking}"
            faults.append(Fault(message, file=file, key="--column"))
    if faults:
        raise InputError(faults)


def _check_across(columns: Sequence[Column], across: str, said: TableChoices, file: str) -> None:
    """Refuse a stated wide parameter if no columns hold its values: it would have no effect."""
    if (
        said.across in ("", series.SEPARATE)
        or across == said.across
        or any(column.repetition is not None for column in columns)
    ):
        return
    numbers = ", ".join(column.title for column in columns if column.kind in ("count", "number"))[:80]
    message = (
        f"no columns stand for values of '{said.across}': names such as 1, 2, 4 or t1, t2 were expected, there is "
        f"{numbers or 'no column of numbers'}"
    )
    raise InputError(Fault(message, file=file, key="--across"))


def _refuse(found: layout.Layout, columns: Sequence[Column], said: TableChoices, file: str) -> None:
    """Refuse a table that would be misread, or that has no values."""
    fault = misread.fault(columns, found, file, repeated=bool(said.across))
    if fault is None and not any(column.role in ("metric", "wide", "value") for column in columns):
        fault = misread.in_several_units(found, columns, file) or misread.without_values(columns, file, found.first)
    if fault is not None:
        raise InputError(fault)


def _questions(found: layout.Layout, columns: Sequence[Column], said: TableChoices, file: str) -> list[Question]:
    if not found.header and not said.names:
        return [headless.question(columns, found.rows)]
    _refuse(found, columns, said, file)
    if not said.across and (asked_of := series.question(columns, found.rows)) is not None:
        return [asked_of]
    unsure = [column for column in columns if column.confidence < SURE]
    grouped = [column for column in unsure if column.role == "wide" or column.repetition is not None]
    asked = []
    if grouped and not said.across:
        listed = ", ".join(column.title for column in grouped[:4]) + (", .." if len(grouped) > 4 else "")
        message = f"columns {listed} may be repetitions of one measurement, or numbers of processors"
        asked.append(_over(message, found.rows, grouped, columns))
    for column in unsure[:20]:
        if column.role == "wide" or column.repetition is not None:
            continue
        called = f"column {column.index + 1}" + (f" '{column.title}'" if column.title else "")
        message = f"{called} may be a parameter or a metric ({column.why})"
        if column.kind == "text":
            message = f"{called} holds {column.why}, and may be left out"
        elif column.role == "repetition":
            message = f"{called} {column.why}"
        key = column.title or column.name or str(column.index + 1)
        roles_ = tuple(dict.fromkeys((column.role, "parameter", "metric", "skip")))
        roles_ = tuple(role for role in roles_ if role != "metric" or column.kind != "text")
        others = " or ".join(roles_[1:])
        switch = f"--column {quote(f'{key}={roles_[0]}')}, or {others} in place of {roles_[0]}"
        asked.append(Question(f"columns.{key}", message, switch, roles_))
    roles = {column.role for column in columns}
    if not asked and not roles & {"metric", "wide", "value"}:
        if (fault := misread.of_texts(found, columns, file)) is not None:
            raise InputError(fault)
        numeric = tuple(column.title for column in columns if column.kind in ("number", "count", "duration"))
        if not numeric:
            message = (
                "has no column of numbers; a log of one run is read together with those of the other runs, from one "
                "directory (run_p4.log, run_p8.log, ..)"
            )
            raise InputError(Fault(message, file=file, line=found.first))
        asked.append(Question("columns", "no column holds measured values", "--column NAME=metric", numeric))
    return asked


def _over(
    message: str, rows: Sequence[Sequence[str]], grouped: Sequence[Column], columns: Sequence[Column]
) -> Question:
    """Return the question what the *grouped* columns stand for, with the likeliest choice first.

    Columns whose values fall are not repetitions but processors. If another column counts processors, columns that
    differ are sizes.
    """
    counted = any(column.role == "parameter" and counts_processors(column.name) for column in columns)
    choices, because = ("repetition", "processors"), ""
    if counted and values.differ(grouped, rows):
        choices, because = ("n", "repetition"), "is likelier, as values differ from column to column"
        message = message.replace("numbers of processors", "sizes of the problem")
    elif not counted and values.fall(grouped, rows):
        choices, because = ("processors", "repetition"), "is likelier, as values fall from column to column"
    return Question("across", message, f"--across {choices[0]} or --across {choices[1]}", choices, because)


def _remarks(columns: Sequence[Column], across: str, decimal: str, thousands: str) -> list[str]:
    notes = []
    if across:
        counted = [column for column in columns if column.role == "wide"]
        notes.append(f"{len(counted)} columns were taken as values of {across}")
        if any(isinstance(column.at, str) for column in counted):
            listed = ", ".join(dict.fromkeys(str(column.at) for column in counted))
            notes[-1] += f" ({listed}): {counted[0].why}"
        if across == "processors" and not any(counts_processors(column.title) for column in counted):
            notes[-1] += " (their names are numbers that rise; --across says another)"
    if decimal == ",":
        notes.append("numbers have decimal commas")
    if thousands:
        notes.append(f"digits are grouped by '{thousands}'")
    clocks = [column.title or column.name for column in columns if column.kind == "duration" and column.role != "skip"]
    if clocks:
        notes.append(
            f"times in {', '.join(clocks)} were turned into seconds; of two parts (8:01) the first are minutes"
        )
    for column in columns:
        if column.suffix.startswith("k = ") and column.role != "skip":
            notes.append(f"k in '{column.title}' was taken as {column.suffix[4:]}, as its other numbers suggest")
        elif column.mixed and column.role != "skip":
            notes.append(f"numbers of '{column.title}' in other units were converted to {column.suffix}")
    notes += unit_columns.remarks(columns)
    repeated = {column.name for column in columns if column.repetition}
    notes += [f"columns of {name} were taken as its repetitions" for name in sorted(repeated)]
    return notes
