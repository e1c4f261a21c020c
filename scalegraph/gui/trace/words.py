"""Texts about a whole trace: summary, facts, regions, sources."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from scalegraph.base.units import si, thousands
from scalegraph.gui.state.loss import RegionLoss

if TYPE_CHECKING:
    from scalegraph.subjects.trace import TraceData
    from scalegraph.traces.model import Trace

log: Final = logging.getLogger(__name__)
_BINS: Final = 512
_MOST_REGIONS: Final = 500


def region_times(data: TraceData) -> dict[int, float]:
    """Return each region's exclusive time in seconds, summed over locations. Cached in *data*."""
    kept = data.memo.get("window regions")
    if kept is None:
        meta, layer = data.trace.meta, data.timeline.layers.get("region")
        kept = {}
        if layer is not None and meta.end > meta.begin:
            edges, values = data.timeline.totals("region", meta.begin, meta.end, _BINS)
            sums = values @ (edges[1:] - edges[:-1]) / meta.ticks_per_second
            reported = zip(layer.codes, sums.tolist(), strict=True)
            kept = {code.number: seconds for code, seconds in reported if code.number >= 0 and seconds > 0}
        data.memo["window regions"] = kept
    found: dict[int, float] = kept
    return found


def trace_regions(data: TraceData) -> tuple[RegionLoss, ...]:
    """Return the regions of a trace with their share of all locations' time, largest first."""
    whole = data.trace.seconds * max(1, len(data.active))
    regions = data.trace.definitions.regions
    found = sorted(region_times(data).items(), key=lambda item: -item[1])[:_MOST_REGIONS]
    return tuple(
        RegionLoss(
            number,
            None,
            data.region_name(number).removeprefix("function "),
            seconds / whole if whole else 0.0,
            f"{si(seconds, 's', 4)} of {si(whole, 's', 4)}"
            + (f"\n{regions[number].file}:{regions[number].line}" if regions[number].file else ""),
        )
        for number, seconds in found
    )


def simulated(trace: Trace) -> bool:
    """Return whether ticks are cycles of simulated processors."""
    return any(location.kind == "processor" for location in trace.definitions.locations)


def trace_sentence(data: TraceData) -> str:
    """Return a summary of a trace: locations, time, events, and what could not be read."""
    from scalegraph.traces.formats import readers
    from scalegraph.views.trace.sums import located

    trace = data.trace
    meta = trace.meta
    name = meta.program or data.name
    where, events = located(trace, len(trace.definitions.locations)), sum(trace.counts().values())
    sentence = f"{name}: {si(trace.seconds, 's', 4)} on {where}, {thousands(events)} events"
    reader = readers().get(meta.format)
    sentence += f", read as {reader.title}." if reader is not None and reader.name != "sgtrace" else "."
    if meta.damage:
        sentence += " The file is damaged: only part of it could be read."
    return sentence


def trace_facts(trace: Trace) -> list[tuple[str, str]]:
    """Return the facts about a trace as (name, value)."""
    meta, definitions = trace.meta, trace.definitions
    facts = [("program", meta.program)] if meta.program else []
    if meta.properties.get("machine"):
        facts.append(("machine", meta.properties["machine"]))
    facts += [("time", si(trace.seconds, "s", 4)), ("locations", str(len(definitions.locations)))]
    facts.append(("regions", str(len(definitions.regions))))
    return facts + [(kind, thousands(rows)) for kind, rows in trace.counts().items()]
