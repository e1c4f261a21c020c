"""Paraver traces: .prv, plain or gzip, with .pcf and .row files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scalegraph.traces import paraver_files, paraver_own
from scalegraph.traces.digits import Numbers, parse
from scalegraph.traces.formats import Reader, Reading
from scalegraph.traces.kinds import Array
from scalegraph.traces.model import Trace
from scalegraph.traces.paraver_records import Records
from scalegraph.traces.text import lines


def _recognises(path: Path, head: bytes) -> bool:
    return head.startswith(b"#Paraver") or path.name.lower().endswith((".prv", ".prv.gz"))


def _read(reading: Reading) -> Trace:
    records: Records | None = None
    cut = False
    for block, first in lines(reading):
        cut = not block.endswith(b"\n")
        if records is None:
            records, block = _begin(reading, block)
            first += 1
            if records is None:
                return reading.builder.finish()
        plain, numbers = _without_comments(records, block, first)
        if not plain:
            continue
        found = parse(plain)
        reading.builder.note("numbers from 2^63 on, kept as the signed numbers with the same 64 bits", found.wrapped)
        good = _whole(reading, records, found, numbers)
        if not good:
            break
    if records is None:
        reading.broken("a header of Paraver was expected; the file is empty", line=1)
        return reading.builder.finish()
    if cut:
        reading.builder.note("last lines without an end: the file may be cut off")
    return records.finish()


def _begin(reading: Reading, block: bytes) -> tuple[Records | None, bytes]:
    """Parse the header in the first block; return where records go, and the rest of the block."""
    line, _, rest = block.partition(b"\n")
    if b"\r" in line.rstrip(b"\r"):
        reading.broken("line feeds were expected at the ends of lines, found carriage returns alone", line=1)
        return None, rest
    header = paraver_files.header(reading, line.decode("utf-8", "replace"))
    if header is None:
        return None, rest
    records = Records(reading, header)
    own, _, after = rest.partition(b"\n")
    if own.startswith(paraver_own.COMMENT.encode()):
        records.adopt(own.decode("utf-8", "replace"))
        return records, b"#\n" + after
    records.name()
    return records, rest


def _without_comments(records: Records, block: bytes, first: int) -> tuple[bytes, Array]:
    """Return the lines of *block* that are records, and the line number of each in the file."""
    if not any(sign in block for sign in (b"#", b"c", b"\r", b"\n\n")) and block[:1] != b"\n":
        return block, np.arange(first, first + block.count(b"\n") + 1)
    kept, numbers = [], []
    for number, line in enumerate(block.splitlines(), first):
        if line[:1] == b"c":
            records.communicator(line.decode("utf-8", "replace"), number)
        elif line.strip() and line[:1] != b"#":
            kept.append(line)
            numbers.append(number)
    return b"\n".join(kept), np.array(numbers)


def _whole(reading: Reading, records: Records, found: Numbers, numbers: Array) -> bool:
    """Pass on the complete records; return whether all were complete. Others are noted with their line."""
    kind = found.values[found.starts] if len(found.starts) else found.starts
    fits = ((kind == 1) & (found.counts == 8)) | ((kind == 3) & (found.counts == 15))
    fits |= (kind == 4) & (found.counts == 11)  # from traces older than Extrae; the call itself is in events
    fits |= (kind == 2) & (found.counts >= 8) & (found.counts % 2 == 0)
    end = len(kind) if fits.all() else int(np.argmin(fits))
    records.add(found.values, found.starts[:end], found.counts[:end])
    if end == len(kind) and found.bad < 0:
        return True
    line = int(numbers[end]) if end < len(numbers) else None
    if end == len(kind):
        reading.broken("only numbers with colons between them were expected", line=line)
    else:
        reading.broken(
            f"no whole record: it begins with {kind[end]} and has {found.counts[end]} fields; 1 (state) has "
            "8, 2 (events) 8 or more in pairs, 3 (communication) 15",
            line=line,
        )
    return False


READER = Reader("paraver", "Paraver trace", (".prv", ".prv.gz"), _recognises, _read, order=30)
