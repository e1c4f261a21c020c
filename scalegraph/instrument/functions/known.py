"""Block tables of which some rows are known, in the cache: each run adds the functions that it has first executed."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path
from typing import Final

from scalegraph.base.errors import WorkError
from scalegraph.base.files import write_atomic

_DIGEST_BYTES: Final = 32  # at the end of the file, of all before it


def known_table(path: Path) -> bytes | None:
    """Return the block table in the file at *path*; None if there is none, or if it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    table = content[:-_DIGEST_BYTES]
    return table if hashlib.sha256(table).digest() == content[-_DIGEST_BYTES:] else None


def write_known(path: Path, table: bytes) -> None:
    """Write *table* to the file at *path*, with what other runs have added meanwhile; a fault only costs time."""
    others = known_table(path)
    if others is not None and len(others) == len(table):
        table = _joined(table, others)
    with suppress(OSError, WorkError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, table + hashlib.sha256(table).digest(), private=True, brief=True)


def _joined(table: bytes, others: bytes) -> bytes:
    """Return *table* with the rows that are known only in *others*, a table of the same blocks and references."""
    from scalegraph.instrument.blocks import section_of  # imports numpy, which a run with known rows does not need
    from scalegraph.instrument.functions.rows import LOADS_SECTION, TIMING_SECTION, with_rows
    from scalegraph.runtime.format import LOAD_ROW, TIMING, TIMING_UNKNOWN

    rows, loads = section_of(table, TIMING_SECTION, TIMING).copy(), section_of(table, LOADS_SECTION, LOAD_ROW).copy()
    lacking = rows["millicycles"] == TIMING_UNKNOWN
    rows[lacking] = section_of(others, TIMING_SECTION, TIMING)[lacking]
    unknown = loads["unknown"] == 1
    loads[unknown] = section_of(others, LOADS_SECTION, LOAD_ROW)[unknown]
    return with_rows(table, rows, loads)
