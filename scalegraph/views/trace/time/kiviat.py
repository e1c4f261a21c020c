"""How the processors are used, as a polygon (after ParaGraph's Kiviat diagram)."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from scalegraph.analyze.trace import activity
from scalegraph.analyze.trace.activity import ActivitySums
from scalegraph.base.measures import percent
from scalegraph.figures.columns import known
from scalegraph.figures.figure import IDEAL, Axis, Column, Figure, Polygon, Radar, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.activities import BUSY, COMMUNICATION, MEMORY_STALL, PRIMITIVE
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.view import View

_TOO_MANY = Need("{spokes} spokes are too many: choose {most} locations or fewer, or efficiencies.")
_TITLE = "Kiviat diagram"
_MOST = 128  # spokes
_WORDS = {
    "parallel": ("parallel efficiency", "busy time over all time"),
    "balance": ("load balance", "mean over maximum busy time of a location"),
    "transfer": ("no common waiting", "maximum busy time over all time: lost is the time when all wait"),
    "memory": ("memory", "busy over busy and memory stalls"),
    "synchronisation": ("primitives", "share of non-idle time outside of primitives"),
    "communication": ("communication", "share of time outside of communication"),
    "presence": ("not idle", "share of time that is not idle"),
}


# shown only if the trace records this activity
_KINDS = {"memory": MEMORY_STALL, "synchronisation": PRIMITIVE, "communication": COMMUNICATION}


def _make(data: TraceData, spokes: object = "efficiencies", **options: object) -> Figure | Need:
    chosen = trace_window.window(data, **options)
    sums = interval_sums.activity_sums(chosen)
    if sums is None or not sums.length:
        return trace_sums.NO_ACTIVITY
    if str(spokes) == "locations":
        return _by_location(chosen, sums)
    traces = [(data, data.name or "this trace", sums)]
    for other in data.others:
        window = trace_window.window(other)
        found = interval_sums.activity_sums(window)
        if found is not None and window.locations:
            traces.append((other, other.name or "other trace", found))
    made = [
        (f"{name}, {trace_sums.located(one.trace, len(some.locations))}", asdict(activity.efficiencies(some)))
        for one, name, some in traces
    ]
    reported = [
        key for key in _WORDS if key not in _KINDS or any(some.totals[_KINDS[key]] > 0 for _, _, some in traces)
    ]
    polygons = tuple(
        Polygon(
            name,
            f"series:{at}",
            tuple(values[key] for key in reported),
            tuple(f"{_WORDS[key][0]}: {percent(values[key])}\n{_WORDS[key][1]}" for key in reported),
        )
        for at, (name, values) in enumerate(made)
    )
    table = Table(
        (Column("spoke"), *(Column(name, IDEAL, "busy") for name, _ in made), Column("meaning")),
        tuple(
            Row((words, *(known(100 * values[key]) for _, values in made), meaning))
            for key, (words, meaning) in _WORDS.items()
            if key in reported
        ),
    )
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(made[0][1]),
        (Radar(tuple(_WORDS[key][0] for key in reported), Axis("share", limits=(0.0, 1.0)), polygons), table),
        notes=trace_sums.notes(
            chosen,
            "Every spoke is a share from 0 at the centre to 1 at the rim, where nothing is lost; parallel efficiency is"
            " load balance times no common waiting.",
            trace_common.of_others(chosen),
            f"Not recorded: {' and '.join(_WORDS[key][0] for key in _WORDS if key not in reported)}."
            if len(reported) < len(_WORDS)
            else "",
        ),
    )


def _sentence(values: dict[str, float]) -> str:
    known = {name: value for name, value in values.items() if value == value and name not in ("parallel", "presence")}
    text = f"Of all locations' time {percent(values['parallel'])} is work"
    if not known:
        return text + "."
    worst = min(known, key=lambda name: known[name])
    if known[worst] > 0.995:
        return text + "; nothing else loses more than half a percent."
    return f"{text}; the weakest spoke is {_WORDS[worst][0]} with {percent(known[worst])}."


def _by_location(chosen: Window, sums: ActivitySums) -> Figure | Need:
    """Return ParaGraph's diagram: one spoke per location, its length the share of busy time."""
    data = chosen.data
    if len(chosen.locations) > _MOST:
        return _TOO_MANY.of(spokes=len(chosen.locations), most=_MOST)
    busy = sums.ticks[BUSY] / sums.length
    overhead = sums.ticks[list(activity.OVERHEAD)].sum(axis=0) / sums.length
    names = tuple(data.location_name(number) for number in chosen.locations)
    polygons = (
        Polygon(
            "busy and overhead",
            "primitive",
            tuple((busy + overhead).tolist()),
            tuple(
                f"{name}: busy or overhead {percent(float(v))}" for name, v in zip(names, busy + overhead, strict=True)
            ),
        ),
        Polygon(
            "busy",
            "busy",
            tuple(busy.tolist()),
            tuple(f"{name}: busy {percent(float(v))}" for name, v in zip(names, busy, strict=True)),
        ),
    )
    mean, most = float(np.mean(busy)), float(np.max(busy))
    text = f"The {len(names)} locations are busy for {percent(mean)} of the time on average"
    text += f", the busiest for {percent(most)}: a load balance of {percent(mean / most)}." if most else "."
    return Figure(
        trace_common.title(data, _TITLE),
        text,
        (Radar(names, Axis("share of the time", limits=(0.0, 1.0)), polygons, chosen.locations),),
        notes=trace_sums.notes(chosen, "A spoke for each location; a round polygon is a balanced load."),
    )


VIEW = View(
    "kiviat",
    _TITLE,
    "What the run loses, spoke by spoke: the same for any number of processors, so that traces can be overlaid."
    " Or a spoke for each processor, as in ParaGraph.",
    _make,
    (
        *trace_window.COMMON[:3],
        # More than a few dozen spokes are unreadable, and runs on 4 and 16 processors have no spokes in common;
        # efficiencies work for both.
        Option(
            "spokes",
            "Spokes",
            "choice",
            "efficiencies",
            ("efficiencies", "locations"),
            description="efficiencies, or the utilisation of each location",
        ),
    ),
    group="Where the time goes",
    order=75,
    needs=(trace_sums.NO_ACTIVITY, _TOO_MANY),
    several=True,
    subject="trace",
)
