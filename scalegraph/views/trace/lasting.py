"""The option `duration` of views of traces: only what lasts that long."""

from __future__ import annotations

from scalegraph.base.units import si
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.trace_choices import lasting, least


def told(data: TraceData, duration: object) -> tuple[str, ...]:
    """Return what must be said below the picture."""
    if least(data, duration) <= 0:
        return ()
    long = si(float(str(duration)), "s")
    return (f"Only what lasts {long} or longer: shorter visits belong to their caller; other waits, messages go.",)


def nothing(whole: TraceData, duration: object, *kinds: str) -> str:
    """Return the sentence of the empty state if *kinds* are there, but none lasts *duration*; else nothing."""
    data = lasting(whole, duration)
    if any(data.trace.count(kind) for kind in kinds) or not any(whole.trace.count(kind) for kind in kinds):
        return ""
    what = {"calls": "visit", "waits": "wait", "messages": "message"}[kinds[0]]
    return f"No {what} lasts {si(float(str(duration)), 's')} or longer: choose a shorter duration."
