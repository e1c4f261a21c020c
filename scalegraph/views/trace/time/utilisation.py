"""Number of busy, stalled, communicating and idle locations over time (ParaGraph's active processors)."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.trace import activity
from scalegraph.base.measures import percent
from scalegraph.base.units import significant
from scalegraph.figures.figure import (
    LOCATIONS_TIME,
    Area,
    AreaTrack,
    Axis,
    Column,
    Figure,
    Floats,
    Mark,
    Row,
    Table,
    Timeline,
)
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.activities import ACTIVITIES
from scalegraph.views.common import exact
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace import tracks as trace_tracks
from scalegraph.views.view import View

_NO_STATES = Need("This trace has no states: choose by activity or by region.")
_TITLE = "Active processors"
_TOLD_APART = 9  # states or regions that get an area of their own


def _make(data: TraceData, by: object = "activity", **options: object) -> Figure | Need:
    chosen = trace_window.window(data, **options)
    sums = interval_sums.activity_sums(chosen)
    if sums is None:
        return trace_sums.NO_ACTIVITY
    layer = "region" if chosen.regions is not None else str(by)
    if layer not in data.timeline.layers or (layer == "region" and not data.trace.count("calls")):
        return _NO_STATES if layer == "state" else trace_sums.CALLS_CHOSEN
    edges, series = _areas(chosen, layer)
    count = len(chosen.locations)
    mean = float(sums.totals[0]) / sums.length if sums.length else 0.0
    track = AreaTrack(
        "busy and not" if layer == "activity" else f"by {layer}",
        Axis(trace_sums.located(data.trace, 2)[2:], limits=(0.0, float(count))),
        edges,
        series,
        marks=(Mark(f"mean busy {significant(mean)}", y=mean),) if layer == "activity" and mean > 0 else (),
        weight=2.0,
    )
    table = activity.utilisation(sums, data.trace.meta.ticks_per_second)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(chosen, sums),
        (
            Timeline(trace_tracks.TIME, chosen.begin_s, chosen.end_s, (track,), limits=(0.0, data.length)),
            Table(
                (
                    Column("activity"),
                    Column("mean count"),
                    Column("share", LOCATIONS_TIME, "busy"),
                    Column("time", "s"),
                ),
                tuple(
                    Row(
                        (str(row["activity"]), float(row["mean"]), 100 * float(row["share"]), float(row["time_s"])),
                        tip=f"{row['activity']}: {exact(float(row['time_s']), 's')} of all {count} together",
                    )
                    for row in table.to_dict("records")
                ),
            ),
        ),
        notes=trace_sums.notes(chosen, _SOURCES[sums.source]),
    )


_SOURCES = {
    "shares": "From the accounting in the trace.",
    "states": "From the states of the trace; the time between them is not known.",
    "calls": "From the innermost region at each moment; time outside of all regions counts as idle.",
}


def _areas(chosen: Window, layer: str) -> tuple[Floats, tuple[Area, ...]]:
    """Return the edges in seconds, and an area per item; the smallest share one."""
    data = chosen.data
    codes = data.timeline.layers[layer].codes
    found = data.timeline.totals(layer, chosen.begin, chosen.end, chosen.width, list(chosen.locations))
    edges = np.clip(data.seconds(np.asarray(found.edges)), chosen.begin_s, chosen.end_s)
    values = np.asarray(found.values, np.float64)
    if layer == "activity":
        used = [number for number in range(len(codes)) if values[number].any()]
        return edges, tuple(Area(codes[n].name, codes[n].role, values[n]) for n in used)
    keys = trace_tracks.keys(chosen, layer)
    weight = values @ np.diff(edges)
    if chosen.regions is not None:
        weight = np.where([code.number in chosen.regions for code in codes], weight, 0.0)
    order = [number for number in np.argsort(-weight, kind="stable").tolist() if weight[number] > 0]
    first, rest = order[:_TOLD_APART], order[_TOLD_APART:]
    series = [Area(keys[n].name, keys[n].role, values[n], colour=keys[n].colour, number=keys[n].number) for n in first]
    if rest:
        series.append(Area(f"{len(rest)} others", "muted", values[rest].sum(axis=0)))
    return edges, tuple(series)


def _sentence(chosen: Window, sums: activity.ActivitySums) -> str:
    count, totals = len(chosen.locations), sums.totals
    if not sums.length:
        return "The chosen time has no length."
    busy = float(totals[0]) / sums.length
    who = trace_sums.located(chosen.data.trace, count)
    text = f"On average {significant(busy)} of {who} {'are' if count > 1 else 'is'} busy ({percent(busy / count)})"
    words = {
        "memory_stall": "waits for memory",
        "primitive": "goes to parallel primitives",
        "communication": "goes to communication",
        "idle": "is idle",
        "other": "goes to other things",
    }
    others = sorted(((float(totals[n]) / sums.available, name) for n, name in enumerate(ACTIVITIES) if n), reverse=True)
    parts = [f"{percent(share)} of the time {words[name]}" for share, name in others[:2] if share >= 0.005]
    return text + (f"; {', '.join(parts)}" if parts else "") + "."


VIEW = View(
    "utilisation",
    _TITLE,
    "How many processors are busy, wait for memory, execute primitives, communicate or are idle, over time.",
    _make,
    (
        *trace_window.WINDOWED,
        Option(
            "by", "What", "choice", "activity", ("activity", "state", "region"), description="what the areas stand for"
        ),
    ),
    group="Timeline",
    order=20,
    needs=(trace_sums.NO_ACTIVITY, trace_sums.CALLS_CHOSEN, _NO_STATES),
    subject="trace",
    window=True,
)
