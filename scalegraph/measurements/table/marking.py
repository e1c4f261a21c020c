"""Single cells and rows that the user marked: a cell without a value, a row that is left out."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from scalegraph.base.errors import Fault, InputError, near
from scalegraph.measurements import names
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
    seen: dict[tuple[int, int], str] = {}
    for key, role in marks.items():
        number, _, column = key.partition(":")
        line = int(number) if number.isdecimal() else 0
        at = _index(column, titles) if column else -1
        other = seen.setdefault((line, at), key)
        if not line or role != (EMPTY if column else SKIP):
            faults.append(Fault(f"'{key}={role}': expected LINE:COLUMN={EMPTY} or LINE={SKIP}", key="--cell"))
        elif column and marks.get(number) == SKIP:
            faults.append(
                Fault(
                    f"'{number}={SKIP}' leaves out the whole row, '{key}' a cell of it: say one of them", key="--cell"
                )
            )
        elif other != key and at >= 0:
            faults.append(Fault(f"'{other}' and '{key}' are the same cell: say it once", key="--cell"))
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


def _index(column: str, titles: Sequence[str]) -> int:
    """Return the position of a column, by its title, the title without its unit or its number; -1 if there is none."""
    known = [title.strip() for title in titles]
    if column in known:
        return known.index(column)
    short = [names.without_unit(title)[0].strip() for title in known]
    if short.count(column) == 1:
        return short.index(column)
    number = column.removeprefix("column ")
    return int(number) - 1 if number.isdecimal() else -1


def _without(line: str, column: str, found: layout.Layout, titles: Sequence[str]) -> str | tuple[str]:
    """Return *line* with a missing value in *column*, or in a tuple why there is no such cell."""
    row = layout.cells(line, found.delimiter)
    known = [title.strip() for title in titles]
    at = _index(column, titles)
    if not 0 <= at < len(row):
        return (f"has no cell of a column '{column}'{near(column, known)}",)
    if layout.is_missing(row[at]):
        return (f"the cell of '{column}' is empty already",)
    row[at] = _MISSING
    text = io.StringIO()
    csv.writer(text, delimiter=found.delimiter, lineterminator="").writerow(row)
    return text.getvalue()
