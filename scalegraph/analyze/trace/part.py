"""A part of a trace as a trace of its own: of very large ones not all is looked at in memory."""

from __future__ import annotations

from typing import Final

import numpy as np

from scalegraph.analyze.trace.calls import CallTable
from scalegraph.base.cancel import checkpoint
from scalegraph.traces.kinds import Columns, What
from scalegraph.traces.model import MemoryPart, Trace

LARGE: Final = 25_000_000  # rows: what needs all of more than that at once looks at an interval
_KINDS: Final = ("waits", "messages", "collectives", "states", "tasks", "locks", "shares")


def rows_in(trace: Trace, begin: int, end: int) -> int:
    """Return how many rows are looked at for *begin* to *end* (ticks), at most; no column is read."""
    return sum(
        part.rows
        for kind in ("calls", *_KINDS)
        for part in trace.parts[kind]
        if part.first <= end and part.last >= begin
    )


def part_of(trace: Trace, table: CallTable, begin: int, end: int) -> Trace:
    """Return what of *trace*, with its calls in *table*, touches *begin* to *end* (ticks), and some before and after.

    Calls that are open at the begin are entered when they were. Times and bounds stay as they are.
    """
    pieces: list[Columns] = []
    touching = [n for n, part in enumerate(trace.parts["calls"]) if part.first <= end and part.last >= begin]
    for number in range(touching[0], touching[-1] + 1) if touching else ():
        checkpoint()
        part = trace.parts["calls"][number]
        if not pieces:
            pieces.append(_entered(table, number))
        pieces.append({name: np.array(part.column(name)) for name in ("time", "location", "what", "region")})
        part.forget()
        end = max(end, part.last)
    parts = {"calls": [MemoryPart("calls", piece) for piece in pieces]}
    for kind in _KINDS:
        checkpoint()
        parts[kind] = [MemoryPart(kind, trace.columns(kind, begin=begin, end=end))]
    return Trace(trace.definitions, trace.meta, parts)


def _entered(table: CallTable, number: int) -> Columns:
    """Return the enters of the calls that are open where a part of the calls begins; the outermost first."""
    still = table.open_before(number)
    return {
        "time": still["time"],
        "location": still["location"].astype(np.int32),
        "what": np.full(len(still["time"]), What.ENTER, np.uint8),
        "region": table.paths.region[still["path"]].astype(np.int32),
    }
