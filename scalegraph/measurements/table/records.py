"""JSON as the lines of a table: a list of records, a record a line, or a list for each column."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ENDINGS = (".json", ".jsonl", ".ndjson")
LARGEST = 32 << 20  # bytes of a document that is read as a table
EXPECTED = (
    'as a table it is read with a list of records: [{"processors": 1, "time_s": 9.6}, {"processors": 2, ..}, ..], '
    "or one record a line"
)
_MOST_COLUMNS = 1000
_EVENT = frozenset({"ph", "ts"})  # of a trace in Chrome's format


def are_in(path: Path, head: bytes) -> bool:
    """Whether the file *path*, which begins with *head*, holds records."""
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"[", b"{")) or path.stat().st_size > LARGEST:
        return False
    try:
        return as_table(path.read_bytes().decode("utf-8-sig")) is not None
    except (OSError, UnicodeDecodeError):
        return False


def as_table(text: str) -> list[str] | None:
    """Return a header and a line for each record in *text* as CSV; None where it holds no records.

    Numbers stay as they are written. Objects within a record become columns ``outer.inner``; a record with a list of
    numbers becomes one row for each of them.
    """
    records = _records(text)
    if not records:
        return None
    rows = [row for record in records for row in _rows(_flat(record))]
    titles = list(dict.fromkeys(title for row in rows for title in row))
    if not 1 < len(titles) <= _MOST_COLUMNS:
        return None
    return [_line(titles), *(_line([row.get(title, "") for title in titles]) for row in rows)]


def _records(text: str) -> list[Mapping[str, Any]]:
    try:
        found = _records_of(_parsed(text))
    except ValueError:
        try:
            found = [_parsed(line) for line in text.splitlines() if line.strip()]
        except ValueError:
            return []
    if not found or not all(isinstance(record, dict) and record for record in found):
        return []
    return [] if any(record.keys() >= _EVENT for record in found) else found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _records_of(found: Any) -> list[Any]:
    """Return the records of a document: its list, the only list of records in it, or the rows of its columns."""
    if isinstance(found, list):
        return found
    if not isinstance(found, dict):
        return []
    lists = {key: value for key, value in found.items() if isinstance(value, list) and value}
    columns = {len(value) for value in lists.values()}
    plain = all(not isinstance(cell, (dict, list)) for value in lists.values() for cell in value)
    if len(lists) > 1 and len(columns) == 1 and plain and len(lists) == len(found):
        return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]
    tables = [value for value in lists.values() if all(isinstance(one, dict) for one in value)]
    return tables[0] if len(tables) == 1 else []


def _flat(record: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, value in record.items():
        name = f"{above}{key}"
        if isinstance(value, dict):
            made |= _flat(value, f"{name}.")
        else:
            made[name] = value
    return made


def _rows(record: dict[str, Any]) -> list[dict[str, str]]:
    """Return the rows of a record: one, or one for each number of the lists in it, which are of one length."""
    lists = {key: value for key, value in record.items() if isinstance(value, list)}
    lengths = {len(value) for value in lists.values()}
    if len(lengths) == 1 and lengths != {0}:
        count = lengths.pop()
        return [
            {key: _cell(lists[key][at] if key in lists else value) for key, value in record.items()}
            for at in range(count)
        ]
    return [{key: _cell(value) for key, value in record.items()}]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, (list, dict)) else str(value)


def _line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow([" ".join(cell.split()) for cell in cells])
    return text.getvalue()
