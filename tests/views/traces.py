"""Hand-made traces for the tests of views: every picture's content is known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from scalegraph.subjects.trace import TraceData
from scalegraph.traces.builder import Builder
from scalegraph.traces.kinds import What
from scalegraph.traces.lod import Timeline
from scalegraph.traces.model import Location, Metric, Region, Trace

SECOND = 1_000_000  # ticks
STATES = ("busy_int", "stall_local", "idle_barrier")


def builder(locations: int, regions: Iterable[str] = (), kind: str = "processor") -> Builder:
    """Return a builder with processors (or locations of *kind*) and regions, in order, and a clock of `SECOND`."""
    made = Builder()
    made.meta.ticks_per_second = SECOND
    for number in range(locations):
        made.location(number, lambda number=number: Location(f"{kind} {number}", kind))
    for name in regions:
        made.region(name, lambda name=name: Region(name, "work.c", 7))
    return made


def calls(made: Builder, location: int, *spans: tuple[int, int, int]) -> None:
    """Add consecutive spans (begin, end, region)."""
    for begin, end, region in spans:
        made.rows("calls").add(begin, location, What.ENTER, region)
        made.rows("calls").add(end, location, What.LEAVE, region)


def wait(made: Builder, begin: int, end: int, location: int, **more: int) -> None:
    """Add a wait; *more*: holder, why, object, region, released."""
    values = {"holder": -1, "why": 0, "object": 1, "region": -1, "released": end} | more
    made.rows("waits").add(
        begin, end, location, *(values[n] for n in ("holder", "why", "object", "region", "released"))
    )


def message(made: Builder, sent: int, received: int, sender: int, receiver: int, size: int = 8) -> None:
    """Add a message."""
    made.rows("messages").add(sent, sent, received, received, sender, receiver, size, 0, -1)


def data(trace: Trace, name: str = "made", **more: Any) -> TraceData:
    """Return *trace* as view data."""
    return TraceData(trace, Timeline.open(trace), name, **more)


def finish(made: Builder, end: int = SECOND, name: str = "made", **more: Any) -> TraceData:
    """Return the built trace as view data; the run lasts from 0 to *end*."""
    return data(made.finish(begin=0, end=end), name, **more)


def threads() -> TraceData:
    """Return two threads of a measured program, otherwise like `halves`."""
    return halves(kind="thread")


def halves(end: int = SECOND, kind: str = "processor") -> TraceData:
    """Return two processors: 0 computes all the time, 1 computes for half of it and then waits at a barrier."""
    made = builder(2, ("solve", "barrier"), kind)
    calls(made, 0, (0, end, 0))
    calls(made, 1, (0, end // 2, 0), (end // 2, end, 1))
    wait(made, end // 2, end, 1, why=1, holder=0, region=1)
    message(made, end // 4, end // 2, 0, 1, 1024)
    return finish(made, end)


def counted(work: float, end: int, processors: int) -> TraceData:
    """Return *processors* that compute all the time and count *work* operations in total, evenly."""
    made = builder(processors, ("solve",))
    made.metric("flops", lambda: Metric("flops", "flop", "next"))
    for number in range(processors):
        calls(made, number, (0, end, 0))
        for part in range(4):
            made.rows("counters").add(end * (part + 1) // 4, number, 0, work / processors / 4, 0)
    return finish(made, end, f"on {processors}")


def stripes(lanes: int, bins: int = 8) -> TraceData:
    """Return *lanes* processors that alternate between two regions over *bins* equal pieces."""
    made = builder(lanes, ("even", "odd"))
    step = SECOND // bins
    for lane in range(lanes):
        calls(made, lane, *((i * step, (i + 1) * step, (i + lane) % 2) for i in range(bins)))
    return finish(made)


def array(*values: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return numbers as an array."""
    return np.array(values, np.float64)
