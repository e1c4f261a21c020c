"""Tables: CSV, TSV and what else has columns; asked last, since much that is more than a table looks like one."""

from __future__ import annotations

from pathlib import Path

from scalegraph.base.cancel import CancelToken
from scalegraph.base.errors import InputError
from scalegraph.measurements.model import MeasurementSet
from scalegraph.measurements.reader import Progress, Reader

_ENDINGS = (".csv", ".tsv", ".dat", ".txt", ".tab", ".psv")


def _recognises(path: Path, head: bytes) -> bool:
    from scalegraph.measurements.table import text

    if path.suffix.lower() in (".csv", ".tsv", ".tab", ".psv"):
        return True
    try:
        lines = text.decoded(head, str(path), cut=len(head) == 4096).lines
    except InputError:
        return False
    return path.suffix.lower() in _ENDINGS and any(line.strip() for line in lines)


def _read(path: Path, cancel: CancelToken, progress: Progress) -> MeasurementSet:
    from scalegraph.measurements.table import read_table

    return read_table(path, None, cancel, progress)


READER = Reader(
    name="table",
    title="Table (CSV, TSV, columns of text)",
    endings=_ENDINGS,
    recognises=_recognises,
    read=_read,
    order=900,
    looks="columns with names: processors, n, time [s], ..",
)
