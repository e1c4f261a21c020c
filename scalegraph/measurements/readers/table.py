"""Tables: CSV, TSV and other columns; tried last, since many formats look like one."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader

_SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_JSON = (".json", ".jsonl", ".ndjson")
_TEXTS = (".csv", ".tsv", ".dat", ".txt", ".tab", ".psv")
_ENDINGS = (*_TEXTS, ".tex", *_JSON, *_SHEETS)
_LOGS = (
    ".log",
    ".out",
    ".md",
    ".rst",
    ".org",
    ".tex",
    "",
)  # tables only if the content is one, not by their ending alone


def _recognises(path: Path, head: bytes) -> bool:
    from scalegraph.measurements.table import layout, records, rewritten, text

    if path.suffix.lower() in _SHEETS:
        return head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
    if path.suffix.lower() in (".csv", ".tsv", ".tab", ".psv"):
        return True
    if path.suffix.lower() in _JSON:
        return records.are_in(path, head)
    try:
        lines = text.decoded(head, str(path), cut=len(head) == 4096).lines
    except InputError:
        return False
    if path.suffix.lower() in _TEXTS:
        return any(line.strip() for line in lines)
    if path.suffix.lower() not in _LOGS:
        return False
    if rewritten.as_table(lines, path.suffix.lower(), cut=len(head) == 4096) is not None:
        return True
    try:
        return layout.find(lines, str(path)).header > 0
    except InputError:
        return False


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    from scalegraph.measurements.table import read_table

    return read_table(path, None, cancel, progress)


READER = Reader(
    name="table",
    title="Table (CSV, TSV, spreadsheets, columns of text, key: value logs, records of JSON, LaTeX)",
    endings=_ENDINGS,
    recognises=_recognises,
    read=_read,
    order=900,
    looks="columns with names: processors, n, time [s], ..",
)
