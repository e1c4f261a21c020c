"""The option `duration` of views of traces: only what lasts that long."""

from __future__ import annotations

from dataclasses import replace

from scalegraph.analyze.trace import duration_filter as analysis
from scalegraph.base.cancel import checkpoint, stage
from scalegraph.base.units import si
from scalegraph.views.trace.common import WORKING, working
from scalegraph.views.trace.sums import remembered
from scalegraph.views.trace_data import TraceData
from scalegraph.views.view import Option

DURATION = Option("duration", "At least", "float", unit="s", minimum=0.0,
                  description="only visits, waits and messages that last that long; otherwise all")  # fmt: skip


def least(data: TraceData, duration: object) -> int:
    """Return the least duration in ticks; 0 if there is none."""
    return 0 if duration is None else round(float(str(duration)) * data.trace.meta.ticks_per_second)


def lasting(data: TraceData, duration: object) -> TraceData:
    """Return *data* with what lasts *duration* (s) or more, made once for each duration; all of it without one."""
    ticks = least(data, duration)
    if ticks <= 0:
        return data

    def make() -> TraceData:
        with stage(0.0, 0.2):
            trace = analysis.lasting(data.trace, ticks)
        with stage(0.2, 0.95):
            made = replace(data, trace=trace, timeline=data.timeline.lasting(trace, ticks, progress=checkpoint))
        vars(made)["active"] = data.active  # a location whose visits are all shorter stays
        working((data,))
        made.memo[WORKING] = data.memo[WORKING]  # regions keep their colours
        return made

    return remembered(data, f"interval of {ticks} ticks or more", make)


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
