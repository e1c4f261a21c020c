"""Spreadsheets as lines of a table: the sheet that looks like one, with values as last computed."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from scalegraph.base.errors import Fault, InputError
from scalegraph.measurements import names
from scalegraph.measurements.table.layout import is_number

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_LARGEST = 200 << 20  # bytes of a file to unpack
_UNPACKED = 400 << 20  # bytes of all its parts
_MOST_PARTS = 10_000
_RATIO = 200  # maximum compression ratio of a part; sheets of numbers reach 5 to 20
_MOST_CELLS = 20_000_000


def is_sheet(path: Path, head: bytes) -> bool:
    """Whether *path* is a spreadsheet, judged by its ending and first bytes."""
    return path.suffix.lower() in ENDINGS and head.startswith((_ZIP, _OLE))


def read(path: Path) -> tuple[list[str], tuple[str, ...]]:
    """Return the lines of a sheet as CSV, one per row from the first, and notes for the user.

    Of several sheets, the one with most rows of numbers and a column that counts processors is used. No formula is
    computed, no macro is opened. Raises `InputError` for a file that is damaged, locked or too large.
    """
    import python_calamine as calamine  # imported late: only needed for spreadsheets

    if path.stat().st_size > _LARGEST:
        raise InputError(Fault(f"is larger than {_LARGEST >> 20} MiB; save the sheet as CSV", file=str(path)))
    _check_unpacked(path)
    try:
        with calamine.CalamineWorkbook.from_path(str(path)) as book:
            sheets = []
            for name in book.sheet_names:
                sheet = book.get_sheet_by_name(name)
                if sheet.total_height * sheet.total_width > _MOST_CELLS:
                    raise InputError(Fault(f"its sheet '{name}' is too large; save it as CSV", file=str(path)))
                rows = sheet.to_python(skip_empty_area=False)
                sheets.append((name, _merged(rows, getattr(sheet, "merged_cell_ranges", None) or ())))
    except (calamine.CalamineError, OSError, ValueError) as error:
        words = str(error).split("\n")[0][:120]
        message = f"is not a complete spreadsheet ({words}); open it and save it as CSV or .xlsx without a password"
        raise InputError(Fault(message, file=str(path))) from None
    filled = [(name, rows) for name, rows in sheets if any(_number(cell) for row in rows for cell in row)]
    if not filled:  # numbers that were pasted as text
        filled = [(name, rows) for name, rows in sheets if any(_written(cell) for row in rows for cell in row)]
    if not filled:
        raise InputError(Fault("holds no sheet with numbers", file=str(path)))
    best, rows = max(filled, key=lambda item: _likeness(item[1]))
    notes: tuple[str, ...] = ()
    if len(sheets) > 1:
        others = ", ".join(name for name, _ in sheets if name != best)
        notes = (f"of {len(sheets)} sheets '{best}' was read; not read: {others}",)
    return [_line(row) for row in rows], notes


def _merged(rows: list[list[Any]], ranges: Iterable[tuple[tuple[int, int], tuple[int, int]]]) -> list[list[Any]]:
    """Return *rows* with the value of cells merged down a column in each of them, below the names of columns."""
    for (first, column), (last, _) in ranges:
        if first < last < len(rows) and column < len(rows[first]) and any(map(_number, rows[first])):
            for row in rows[first + 1 : last + 1]:
                row[column] = rows[first][column]
    return rows


def _check_unpacked(path: Path) -> None:
    """Refuse a zip archive whose parts, according to its directory, unpack to more than a spreadsheet holds.

    A reader allocates the sizes in the directory; parts that pretend to be smaller are found damaged.
    """
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        message = f"is not a complete spreadsheet ({error}); open it and save it as CSV or .xlsx without a password"
        raise InputError(Fault(message, file=str(path))) from None
    total = sum(part.file_size for part in parts)
    if total > _UNPACKED or len(parts) > _MOST_PARTS:
        words = f"unpacks to {total >> 20} MiB in {len(parts)} parts; {_UNPACKED >> 20} MiB at most were expected"
        raise InputError(Fault(f"{words}: save the sheet as CSV", file=str(path)))
    large = next(
        (
            part
            for part in parts
            if part.file_size > (1 << 20) * 16 and part.file_size > _RATIO * max(part.compress_size, 1)
        ),
        None,
    )
    if large is not None:
        words = (
            f"its part {large.filename[:60]} unpacks to {large.file_size // max(large.compress_size, 1)} times its size"
        )
        raise InputError(Fault(f"{words}, as no sheet does: save the sheet as CSV", file=str(path)))


def _likeness(rows: Sequence[Sequence[Any]]) -> tuple[bool, int]:
    """Return whether a sheet has a column that counts processors, and its number of rows with two or more numbers."""
    named = any(isinstance(cell, str) and _counts(cell) for row in rows[:20] for cell in row)
    return named, sum(1 for row in rows if sum(map(_number, row)) >= 2)


def _counts(cell: str) -> bool:
    return names.counts_processors(names.without_unit(cell)[0])


def _number(cell: Any) -> bool:
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _written(cell: Any) -> bool:
    return isinstance(cell, str) and is_number(cell.strip())


def _line(row: Sequence[Any]) -> str:
    cells = [_text(cell) for cell in row]
    if not any(cells):
        return ""
    made = io.StringIO()
    csv.writer(made, lineterminator="").writerow(cells)
    return made.getvalue()


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 2**53 else repr(cell)
    if isinstance(cell, timedelta):
        return f"{cell.total_seconds()!r} s"
    if isinstance(cell, (datetime, date, time)):
        return cell.isoformat()
    return re.sub(r"\s+", " ", str(cell)).strip()
