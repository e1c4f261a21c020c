"""Texts of the inspector for traces: the selected interval and its times, region, location, the whole trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from scalegraph.base.measures import percent
from scalegraph.base.units import si, thousands
from scalegraph.figures.timelines import time_text
from scalegraph.gui.inspect.explain import Fact, Part
from scalegraph.gui.trace.words import region_times, trace_facts

if TYPE_CHECKING:
    from scalegraph.gui.state.selection_state import Selection
    from scalegraph.subjects.trace import TraceData

_BINS: Final = 4096
_MOST: Final = 8
_MOST_LOCATIONS: Final = 32
_MOST_NOTES: Final = 12


def explain_trace(data: TraceData, selection: Selection, unit: str = "ticks") -> tuple[Part, ...]:
    """Return the facts about *selection* in the trace; about the trace if nothing is selected."""
    parts: list[Part] = []
    begin, end = selection.interval or (data.trace.meta.begin, data.trace.meta.end)
    if selection.interval is not None:
        parts.append(_interval(data, begin, end, unit))
        parts += _totals(data, begin, end, selection.location)
        parts += _by_location(data, begin, end)
    if selection.location is not None:
        parts.append(_location(data, selection.location))
        if selection.interval is None:
            parts += _totals(data, begin, end, selection.location)
    if selection.region is not None:
        parts += _region(data, selection.region, begin, end, selection.location)
    return tuple(parts or _trace(data))


def _interval(data: TraceData, begin: int, end: int, unit: str) -> Part:
    tick = 1 / data.trace.meta.ticks_per_second
    facts = (
        Fact("from", time_text(data.seconds(begin), tick)),
        Fact("to", time_text(data.seconds(end), tick)),
        Fact("length", si((end - begin) * tick, "s", 4), f"{thousands(end - begin)} {unit}"),
    )
    return Part("Interval", facts, "From the start of the run. Z shows it, Escape clears it.")


def _totals(data: TraceData, begin: int, end: int, location: int | None) -> list[Part]:
    """Return the time in the interval by activity and by region."""
    parts = []
    chosen = None if location is None else (location,)
    whole = (end - begin) * (len(data.trace.definitions.locations) if location is None else 1)
    whose = "all locations" if location is None else data.location_name(location)
    for name, title in (("activity", "Activities"), ("region", "Regions")):
        sums = _sums(data, name, begin, end, chosen)
        facts = tuple(
            Fact(words, si(ticks / data.trace.meta.ticks_per_second, "s", 4), f"{percent(ticks / whole, 1)} of {whose}")
            for words, ticks in sums[:_MOST]
        )
        if facts and whole:
            rest = len(sums) - len(facts)
            parts.append(
                Part(
                    title,
                    facts,
                    (f"And {rest} more. " if rest > 0 else "") + "Accurate to 1/255; the profile is exact.",
                )
            )
    return parts


def _by_location(data: TraceData, begin: int, end: int) -> list[Part]:
    """Return each location's time in the interval, exact to the tick."""
    from scalegraph.subjects import interval_sums
    from scalegraph.subjects.window import Window
    from scalegraph.traces.activities import TITLES

    begin, end = max(begin, data.trace.meta.begin), min(end, data.trace.meta.end)
    sums = interval_sums.activity_sums(Window(data, begin, end, data.active)) if end > begin else None
    if sums is None:
        return []
    facts = []
    for number, ticks in list(zip(sums.locations.tolist(), sums.ticks.T.tolist(), strict=True))[:_MOST_LOCATIONS]:
        order = sorted(zip(ticks, TITLES, strict=True), reverse=True)
        reported = [f"{name} {si(spent / data.trace.meta.ticks_per_second, 's', 4)}" for spent, name in order if spent]
        share = f"{percent(order[0][0] / sums.length, 1)} {order[0][1]}" if reported else "not recorded"
        facts.append(Fact(data.location_name(number), share, ", ".join(reported)))
    left = len(sums.locations) - len(facts)
    more = f"And {left} more. " if left > 0 else ""
    return [Part("Locations", tuple(facts), f"{more}Exact; the Gantt chart has them as bars.")]


def _sums(data: TraceData, name: str, begin: int, end: int, locations: Any) -> list[tuple[str, float]]:
    """Return (name, ticks) for everything in a layer from *begin* to *end*, largest first."""
    layer = data.timeline.layers.get(name)
    if layer is None or end <= begin:
        return []
    edges, values = data.timeline.totals(name, begin, end, _BINS, locations)
    pairs = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    overlap = [max(0, min(last, end) - max(first, begin)) for first, last in pairs]  # bins may extend beyond
    sums = (values @ overlap).tolist()
    reported = [(code.name, float(ticks)) for code, ticks in zip(layer.codes, sums, strict=True) if ticks > 0]
    return sorted(reported, key=lambda item: -item[1])


def _location(data: TraceData, number: int) -> Part:
    location = data.trace.definitions.locations[number]
    groups = data.trace.definitions.groups
    facts = [Fact("kind", location.kind), Fact("number", str(number))]
    if 0 <= location.group < len(groups):
        facts.append(Fact(groups[location.group].kind, groups[location.group].name))
    return Part(data.location_name(number), tuple(facts))


def _region(data: TraceData, number: int, begin: int, end: int, location: int | None) -> list[Part]:
    regions = data.trace.definitions.regions
    if not 0 <= number < len(regions):
        return []
    region = regions[number]
    facts = [Fact("kind", region.kind)]
    if region.file:
        facts.append(Fact("place", f"{region.file.rpartition('/')[2]}:{region.line}"))
    whole = data.trace.seconds * max(1, len(data.trace.definitions.locations))
    spent = region_times(data).get(number, 0.0)
    if whole:
        share = f"{percent(spent / whole, 1)} of {si(whole, 's', 4)}"
        facts.append(Fact("time of all locations in the run", si(spent, "s", 4), share))
    if (begin, end) != (data.trace.meta.begin, data.trace.meta.end) or location is not None:
        chosen = None if location is None else (location,)
        here = dict(_sums(data, "region", begin, end, chosen)).get(data.region_name(number), 0.0)
        where = "here" if location is None else f"here on {data.location_name(location)}"
        facts.append(Fact(f"time {where}", si(here / data.trace.meta.ticks_per_second, "s", 4)))
    return [Part(f"Region {data.region_name(number)}", tuple(facts), "Without what it calls.")]


def _trace(data: TraceData) -> list[Part]:
    facts = tuple(Fact(name, words) for name, words in trace_facts(data.trace))
    meta = data.trace.meta
    clock = Fact("clock", f"{thousands(meta.ticks_per_second)} ticks/s")
    parts = [Part("Trace", (*facts, clock), "Select an interval (Shift+drag), a location or a region.")]
    if meta.damage:
        parts.append(Part("Damaged", (), "\n".join(meta.damage[:_MOST_NOTES])))
    if meta.notes:
        reported = tuple(
            Fact(note.what, thousands(note.count) if note.count else "") for note in meta.notes[:_MOST_NOTES]
        )
        parts.append(Part("Converted or skipped", reported))
    return parts
