"""What the monitor recorded in each process of a measured run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scalegraph.base.errors import WorkError
from scalegraph.base.files import reason
from scalegraph.link.targets._tasks import ADDRESS_BITS
from scalegraph.runtime.accounts import BORROWED
from scalegraph.runtime.format import CATEGORY_GROUPS, CATEGORY_NAMES, EVENT, TRACE_HEADER, TRACE_MAGIC, TRACE_RECORD

if TYPE_CHECKING:
    from scalegraph.runtime.results import Records, Result

_AS_WRITTEN = CATEGORY_NAMES.index("busy_int")  # where the monitor counts computing, see runtime/monitor/sgm.h


@dataclass(frozen=True)
class Process:
    """Records of one process. *first*: the location of its first thread; *threads*: its number of locations."""

    header: Any
    records: Records
    first: int
    threads: int


def processes(raw: Path, results: Sequence[Result], each: int = 0) -> list[Process]:
    """Return the records at ``RAW.PID`` of the processes of *results*, in rank order.

    *each*: threads kept per process, the main one and those with most records; all if 0. Raises `WorkError` if one left
    nothing readable.
    """
    found = []
    for result in results:
        path = raw.with_name(f"{raw.name}.{result.meta['pid']}")
        try:
            header = np.fromfile(path, TRACE_HEADER, 1)
            if not len(header) or header[0]["magic"] != TRACE_MAGIC:
                raise WorkError("the program ended before its trace was written")
            found.append((header[0], np.fromfile(path, TRACE_RECORD, offset=TRACE_HEADER.itemsize)))
        except OSError as error:
            raise WorkError(f"the trace cannot be read: {reason(error)}") from error
    most = max((int(header["processors"]) for header, _ in found), default=1)
    if each:
        found = [(header, _busiest(records, each)) for header, records in found]
        most = each
    return [
        Process(header, _placed(records, number * most, most), number * most, most)
        for number, (header, records) in enumerate(found)
    ]


def _busiest(records: Records, count: int) -> Records:
    """Return *records* of the main thread and of the busiest others, *count* in total, renumbered.

    Threads of the MPI library wait in the system and record next to nothing; they are left out.
    """
    events = np.bincount(records["processor"], minlength=count)
    events[0] = len(records) + 1
    kept = np.sort(np.argsort(-events, kind="stable")[:count])
    mine = records[np.isin(records["processor"], kept)]
    mine["processor"] = np.searchsorted(kept, mine["processor"])
    return mine


def _placed(records: Records, first: int, threads: int) -> Records:
    """Return the *records* of a process with global locations for its threads, and lock and task ids of its own."""
    records["processor"] += first
    shares = records["event"] == EVENT["share"]
    records["what"][shares & (records["what"] == _AS_WRITTEN)] = len(CATEGORY_NAMES)  # the first measured-only category
    for borrowed, name in BORROWED.items():
        taken = shares & (records["what"] == CATEGORY_NAMES.index(borrowed))
        records["what"][taken] = list(CATEGORY_GROUPS).index(name)
    process = np.uint64(first << ADDRESS_BITS)
    records["first"][records["event"] == EVENT["lock"]] |= process
    records["second"][records["event"] == EVENT["wait"]] |= process
    tasks = records["event"] == EVENT["task"]
    records["first"][tasks] |= process
    records["second"][tasks] |= process
    operations = records["event"] == EVENT["collective"]
    root = records["second"][operations].astype(np.int64)
    records["second"][operations] = np.where(root > 0, (root - 1) * threads + 1, 0)
    return records
