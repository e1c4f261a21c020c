"""Databases of HPCToolkit for tests, written by the documented formats: version 4, and the older ``experiment.xml``.

Two threads of a program: ``main`` (1 s and 2 s exclusive) calls ``MPI_Send`` (0 s and 1 s) and has a loop with a line
that takes 3 s in each thread.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path

THREADS = ((1.0, 0.0, 3.0), (2.0, 1.0, 3.0))  # seconds of main, MPI_Send, the line in the loop
MAIN, SEND, LOOP, LINE, ENTRY, CALL = 2, 4, 5, 6, 1, 3  # numbers of contexts; CALL is a line, which calls MPI_Send
CYCLES = 7  # number of a second metric, which only the first thread has
BELOW = {
    0: (MAIN, SEND, LINE),
    ENTRY: (MAIN, SEND, LINE),
    MAIN: (MAIN, SEND, LINE),
    CALL: (SEND,),
    SEND: (SEND,),
    LOOP: (LINE,),
    LINE: (LINE,),
}


@dataclass
class _Bytes:
    data: bytearray = field(default_factory=bytearray)

    def put(self, form: str, *values: object) -> int:
        """Append fields at a multiple of 8 bytes; return their offset."""
        self.data += b"\0" * (-len(self.data) % 8)
        at = len(self.data)
        self.data += struct.pack(f"<{form}", *values)
        return at

    def text(self, text: str) -> int:
        at = len(self.data)
        self.data += text.encode() + b"\0"
        return at


def inclusive(thread: int, context: int) -> float:
    """Return the inclusive seconds of a thread at a context."""
    own = dict(zip((MAIN, SEND, LINE), THREADS[thread], strict=True))
    return sum(own[one] for one in BELOW[context])


def _header(kind: bytes, sections: int) -> _Bytes:
    made = _Bytes()
    made.put("10s4sBB", b"HPCTOOLKIT", kind, 4, 0)
    made.data += bytes(16 * sections)
    return made


def _section(made: _Bytes, number: int, at: int) -> None:
    struct.pack_into("<QQ", made.data, 16 + 16 * number, len(made.data) - at, at)


def _context(made: _Bytes, number: int, kind: int, flex: tuple[int, ...], flags: int, below: tuple[int, int]) -> int:
    """Append a context whose children are at *below* (bytes, offset)."""
    return made.put(f"QQIBBBBH6x{len(flex)}Q", *below, number, flags, 0, kind, len(flex), 0, *flex)


def version_four(place: Path, seconds: str = "CPUTIME (sec)") -> None:
    """Write ``meta.db`` and ``profile.db``; metric *seconds* with inclusive values."""
    place.mkdir(parents=True, exist_ok=True)
    made = _header(b"meta", 8)
    names = {name: made.text(name) for name in ("execution", "function", seconds, "cycles", "GHOST", "main thread")}
    execution = made.put("QBB6x", names["execution"], 2, 0)
    function = made.put("QBB6x", names["function"], 3, 1)
    inner = [made.put("QH6x", scope, number) for scope, number in ((function, 1), (execution, 2))]
    other = made.put("QH6x", execution, CYCLES)
    ghost = made.put("QH6x", function, 9)
    metrics = made.put("QQQHH4x", names[seconds], inner[0], 0, 2, 0)
    made.put("QQQHH4x", names["cycles"], other, 0, 1, 0)
    made.put("QQQHH4x", names["GHOST"], ghost, 0, 1, 0)
    _section(made, 2, made.put("QIBBB1xQHB", metrics, 3, 32, 16, 24, execution, 2, 16))
    module = made.put("I4xQ", 0, made.text("/opt/libmpi.so"))
    file = made.put("I4xQ", 0, made.text("src/app.c"))
    main = made.put("QQQQII", made.text("main"), module, 0, file, 3, 0)
    send = made.put("QQQQII", made.text("MPI_Send"), module, 16, 0, 0, 0)
    line = _context(made, LINE, 2, (file, 12), 2, (0, 0))
    called = _context(made, SEND, 0, (send,), 1, (0, 0))
    loop = _context(made, LOOP, 1, (file, 11), 2, (48, line))
    _context(made, CALL, 2, (file, 9), 2, (40, called))
    children = (len(made.data) - loop, loop)
    first = _context(made, MAIN, 0, (main,), 1, children)
    entry = made.put("QQIH2xQ", len(made.data) - first, first, ENTRY, 1, names["main thread"])
    _section(made, 3, made.put("QHB", entry, 1, 32))
    made.data += b"_meta.db"
    (place / "meta.db").write_bytes(made.data)
    _profile(place)


def _profile(place: Path) -> None:
    made = _header(b"prof", 2)
    blocks = [(0, 0, 0, 0, 1)]  # the summary comes first
    for thread in range(len(THREADS)):
        values, index = b"", b""
        count = 0
        for context in (*sorted(BELOW), 99):  # the last is not listed in the tree
            index += struct.pack("<IQ", context, count)
            found = inclusive(thread, context) if context != 99 else 0.5
            values += struct.pack("<Hd", 2, found)
            count += 1
            if thread == 0 and context in (0, ENTRY, MAIN):
                values += struct.pack("<Hd", CYCLES, 1e9)
                count += 1
        where = made.put("")
        made.data += values
        indices = made.put("")
        made.data += index
        blocks.append((count, where, len(BELOW) + 1, indices, 0))
    rows = [made.put("QQI4xQQI4x", *block[:4], 0, block[4]) for block in blocks]
    _section(made, 0, made.put("QIB", rows[0], len(rows), 48))
    made.data += b"_prof.db"
    (place / "profile.db").write_bytes(made.data)


EXPERIMENT = """<?xml version="1.0"?>
<!DOCTYPE HPCToolkitExperiment [<!ELEMENT HPCToolkitExperiment (Header, SecCallPathProfile*)>]>
<HPCToolkitExperiment version="2.1"><Header n="app"/>
<SecCallPathProfile i="0" n="app"><SecHeader>
<MetricDBTable>
<MetricDB i="0" n="CPUTIME (usec) (I)" t="inclusive" partner="1" db-id="0" db-num-metrics="2" db-header-sz="24"/>
<MetricDB i="1" n="CPUTIME (usec) (E)" t="exclusive" partner="0" db-id="1" db-num-metrics="2" db-header-sz="24"/>
</MetricDBTable>
<FileTable><File i="3" n="./src/app.c"/></FileTable>
<ProcedureTable><Procedure i="7" n="main"/><Procedure i="8" n="MPI_Send"/></ProcedureTable>
</SecHeader>
<SecCallPathProfileData>
<PF i="2" s="2" l="3" f="3" n="7"><M n="2" v="1"/>
<C i="3" s="3" l="9"><PF i="4" s="4" l="0" f="3" n="8"/></C>
<L i="5" s="5" l="11" f="3"><S i="6" s="6" l="12"/></L>
</PF>
</SecCallPathProfileData></SecCallPathProfile></HPCToolkitExperiment>
"""


def before_version_four(place: Path) -> None:
    """Write ``experiment.xml`` and a file with the values of each thread."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "experiment.xml").write_text(EXPERIMENT)
    for thread in range(len(THREADS)):
        values = [(inclusive(thread, context) * 1e6, 0.0) for context in (ENTRY, MAIN, CALL, SEND, LOOP, LINE)]
        head = b"HPCPROF-metricdb__" + b"00.10" + b"b" + struct.pack(">II", len(values), 2)
        body = b"".join(struct.pack(">dd", *pair) for pair in values)
        (place / f"1.app-00000{thread}-000-a8c00270-1-0.metric-db").write_bytes(head + body)
