"""Single cells and rows that the user marked: a cell without a value, a row that is left out."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.measurements.table import layout

EMPTY = "none"  # role of a cell: it has no value
SKIP = "skip"  # role of a row: it is left out
_MISSING = "NA"


def marked(
    lines: Sequence[str],
    marks: Mapping[str, str],
    found: layout.Layout,
    titles: Sequence[str],
    file: str,
    *,
    whole: bool,
) -> list[str]:
    """Return *lines* with the cells of *marks* empty and its rows blank.

    Keys of *marks* are ``LINE:COLUMN``, by title or number from 1, with the role `EMPTY`, or ``LINE`` with `SKIP`.
    Raises `InputError` for a mark that has no effect; without *whole* the lines are the beginning of the file, and
    those behind it are not known.
    """
    made = list(lines)
    faults = []
    for key, role in marks.items():
        number, _, column = key.partition(":")
        line = int(number) if number.isdecimal() else 0
        if not line or role != (EMPTY if column else SKIP):
            faults.append(Fault(f"'{key}={role}': expected LINE:COLUMN={EMPTY} or LINE={SKIP}", key="--cell"))
        elif line > len(lines) and not whole:
            continue
        elif line < found.first or line > len(lines) or not _is_row(lines[line - 1], found):
            faults.append(Fault("holds no row of the table, so a mark changes nothing", file, line, key="--cell"))
        elif not column:
            made[line - 1] = ""
        elif isinstance(text := _without(made[line - 1], column, found, titles), str):
            made[line - 1] = text
        else:
            faults.append(Fault(text[0], file, line, key="--cell"))
    if faults:
        raise InputError(faults)
    return made


def skipped(marks: Mapping[str, str]) -> list[int]:
    """Return the lines of the rows that are left out, in order."""
    return sorted(int(key) for key, role in marks.items() if role == SKIP and key.isdecimal())


def _is_row(line: str, found: layout.Layout) -> bool:
    return bool(line.strip()) and not layout.is_comment(line, found.comment)


def _without(line: str, column: str, found: layout.Layout, titles: Sequence[str]) -> str | tuple[str]:
    """Return *line* with a missing value in *column*, or in a tuple why there is no such cell."""
    row = layout.cells(line, found.delimiter)
    known = [title.strip() for title in titles]
    at = known.index(column) if column in known else int(column) - 1 if column.isdecimal() else -1
    if not 0 <= at < len(row):
        return (f"has no cell of a column '{column}'{near(column, known)}",)
    if layout.is_missing(row[at]):
        return (f"the cell of '{column}' is empty already",)
    row[at] = _MISSING
    text = io.StringIO()
    csv.writer(text, delimiter=found.delimiter, lineterminator="").writerow(row)
    return text.getvalue()
