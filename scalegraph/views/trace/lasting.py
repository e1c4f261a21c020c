"""The option `duration` of trace views: the minimum duration to show."""

from __future__ import annotations

from scalegraph.base.units import si
from scalegraph.figures.way import Need
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.trace_choices import lasting, least

TOO_SHORT = Need("No {what} lasts {least} or longer: choose a shorter duration.")


def told(data: TraceData, duration: object) -> tuple[str, ...]:
    """Return the note for pictures with this option."""
    if least(data, duration) <= 0:
        return ()
    long = si(float(str(duration)), "s")
    return (f"Only what lasts {long} or longer: shorter visits count to their caller; shorter waits, messages go.",)


def nothing(whole: TraceData, duration: object, *kinds: str) -> Need | None:
    """Return `TOO_SHORT` if the trace has *kinds* but none that last *duration*, else None."""
    data = lasting(whole, duration)
    if any(data.trace.count(kind) for kind in kinds) or not any(whole.trace.count(kind) for kind in kinds):
        return None
    what = {"calls": "visit", "waits": "wait", "messages": "message"}[kinds[0]]
    return TOO_SHORT.of(what=what, least=si(float(str(duration)), "s"))
