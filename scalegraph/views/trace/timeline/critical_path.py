"""The critical path, drawn over a timeline's lanes, and a table of its parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from scalegraph.analyze.trace.critical_path import PIECES, CriticalPath, Piece
from scalegraph.analyze.trace.critical_path_profile import OnPath
from scalegraph.base.measures import percent
from scalegraph.base.units import counted, plural, si, thousands
from scalegraph.figures import timelines
from scalegraph.figures.figure import Column, Figure, PathLine, Row, Table, Timeline
from scalegraph.figures.way import Need
from scalegraph.subjects import trace_dependencies as dependencies
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces import activities
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import tracks as trace_tracks
from scalegraph.views.trace.places import Place
from scalegraph.views.view import View

_NO_TIME = Need("The run takes no time, so that it has no critical path.")
_TITLE = "Critical path"
_ROLES: Final = {
    Piece.COMPUTE: "ink",
    Piece.HAND_OVER: "primitive",
    Piece.MESSAGE: "latency",
    Piece.UNEXPLAINED: "muted",
}
_WORDS: Final = {
    Piece.COMPUTE: "on {}",
    Piece.HAND_OVER: "handed over from {1} to {0}",
    Piece.MESSAGE: "message from {1} to {0}",
    Piece.UNEXPLAINED: "{} waits; the reason is not known",
}
_MOST = 4000  # pieces up to which each is drawn
_ROWS = 500
_NO_STATE = "no state recorded"


def _make(
    data: TraceData,
    begin: object = None,
    end: object = None,
    locations: object = None,
    region: object = None,
    width: object = 1000,
    show: object = "regions",
) -> Figure | Need:
    window = trace_window.window(data, begin, end, locations, region, width)
    part = dependencies.path_in(window)
    if not len(part):
        return _NO_TIME
    line, drawn = _line(window, part)
    track = replace(trace_tracks.bars(window), overlays=(line,))
    keys, _ = timelines.totals(track)
    panel = Timeline(trace_tracks.TIME, window.begin_s, window.end_s, (track,), keys, (0.0, data.length))
    found = dependencies.on_path_in(window)
    table = {"regions": _regions, "activities": _activities, "locations": _locations}[str(show)](window, part, found)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(window, part, found),
        (panel, table),
        notes=(
            *drawn,
            *_remarks(window, part),
            *dependencies.notes(window),
            *trace_common.usual_notes(data),
        ),
    )


def _line(window: Window, part: CriticalPath) -> tuple[PathLine, tuple[str, ...]]:
    """Return the path to draw; if it has too many pieces, the location with the largest share of each bin."""
    data = window.data
    if len(part) > max(_MOST, 2 * window.width):
        said = (
            f"The path has {thousands(len(part))} pieces in this time; drawn is the main location in each of"
            f" {thousands(window.width)} stretches."
        )
        return _coarse(window, part), (said,)
    names = [data.location_name(number) for number in range(len(data.trace.definitions.locations))]
    tips = tuple(
        f"{_WORDS[Piece(kind)].format(names[who], names[source])}\n{si(ticks / data.trace.meta.ticks_per_second, 's')}"
        for kind, who, source, ticks in zip(
            part.kind.tolist(),
            part.location.tolist(),
            part.source.tolist(),
            (part.end - part.begin).tolist(),
            strict=True,
        )
    )
    roles = tuple(_ROLES[Piece(kind)] for kind in part.kind.tolist())
    lane = window.lane_of(part.location)
    return PathLine(_TITLE.lower(), data.seconds(part.begin), data.seconds(part.end), lane, "ink", roles, tips), ()


def _coarse(window: Window, part: CriticalPath) -> PathLine:
    edges = np.linspace(part.run_begin, part.run_end, window.width + 1)
    # cut pieces at the edges of bins
    cuts = np.unique(np.r_[part.begin, part.end[-1:], edges[1:-1].astype(np.int64)])
    owner = np.searchsorted(part.begin, cuts[:-1], side="right") - 1
    place = np.clip(np.searchsorted(edges, cuts[:-1], side="right") - 1, 0, window.width - 1)
    locations = len(window.data.trace.definitions.locations)
    keys, which = np.unique(place * locations + part.location[owner], return_inverse=True)
    sums = np.bincount(which, np.diff(cuts).astype(float))
    order = np.lexsort((sums, keys // locations))
    best = order[np.r_[np.diff(keys[order] // locations) > 0, True]]
    at, who = keys[best] // locations, keys[best] % locations
    new = np.flatnonzero(np.r_[True, who[1:] != who[:-1]])
    begin = window.data.seconds(edges[at[new]].astype(np.int64))
    end = np.r_[begin[1:], window.data.seconds(np.array([part.run_end]))]
    return PathLine(_TITLE.lower(), begin, end, window.lane_of(who[new]), "ink")


def _regions(window: Window, part: CriticalPath, found: OnPath) -> Table:
    data, length = window.data, max(part.ticks(), 1)
    second = data.trace.meta.ticks_per_second
    whole = max(float(found.regions["total"].sum()), 1.0)
    table = found.regions
    if window.regions is not None:
        table = table[table["region"].isin(window.regions)]
    columns = (
        Column("region"),
        Column("on the path", "s", "mark"),
        Column("of the path", "%"),
        Column("inclusive", "% of the path"),
        Column("of all time", "%", "muted"),
        Column("imbalance", "s", "idle"),
    )
    rows = tuple(
        Row(
            (
                dependencies.named(data, int(row["region"])),
                row["path"] / second,
                100 * row["path"] / length,
                100 * row["inclusive"] / length,
                100 * row["total"] / whole,
                row["imbalance"] / second,
            ),
            key=str(int(row["region"])),
            tip=f"on average {si(row['mean'] / second, 's')} of a location",
        )
        for row in table.head(_ROWS).to_dict("records")
    )
    return Table(columns, (*rows, *_edges(window, part, len(columns))))


def _edges(window: Window, part: CriticalPath, columns: int) -> tuple[Row, ...]:
    """Return rows for parts of the path outside of locations, such as messages."""
    second, length = window.data.trace.meta.ticks_per_second, max(part.ticks(), 1)
    rest = (None,) * (columns - 3)
    return tuple(
        Row((f"({PIECES[kind]})", part.ticks(kind) / second, 100 * part.ticks(kind) / length, *rest))
        for kind in (Piece.HAND_OVER, Piece.MESSAGE, Piece.UNEXPLAINED)
        if part.ticks(kind)
    )


def _activities(window: Window, part: CriticalPath, found: OnPath) -> Table:
    """Return a row per state, or per activity of regions if the trace records no states."""
    data, length = window.data, max(part.ticks(), 1)
    trace, second = data.trace, data.trace.meta.ticks_per_second
    if trace.count("states") or trace.count("shares"):
        keys = {key.number: key.name for key in trace_common.code_keys(data.timeline.layers["state"].codes)}
        table = found.states.assign(name=[keys.get(int(n), _NO_STATE) for n in found.states["state"]])
    else:
        kinds = activities.of_regions(trace.definitions.regions)
        names = [activities.TITLES[kinds[n] if n >= 0 else activities.IDLE] for n in found.regions["region"].tolist()]
        table = found.regions.assign(name=names)
    table = (
        table.groupby("name", sort=False)[["path", "total"]].sum().sort_values("path", ascending=False).reset_index()
    )
    whole = max(float(table["total"].sum()), 1.0)
    columns = (
        Column("activity"),
        Column("on the path", "s", "mark"),
        Column("of the path", "%"),
        Column("of all time", "%", "muted"),
    )
    rows = tuple(
        Row((str(row["name"]), row["path"] / second, 100 * row["path"] / length, 100 * row["total"] / whole))
        for row in table.to_dict("records")
    )
    return Table(columns, (*rows, *_edges(window, part, len(columns))))


def _locations(window: Window, part: CriticalPath, found: OnPath) -> Table:
    data, length = window.data, max(part.ticks(), 1)
    second = data.trace.meta.ticks_per_second
    columns = (Column("location"), Column("on the path", "s", "mark"), Column("of the path", "%"), Column("times"))
    table = found.locations[found.locations["location"].isin(window.locations)]
    rows = tuple(
        Row(
            (data.location_name(int(row["location"])), row["path"] / second, 100 * row["path"] / length, row["pieces"]),
            key=Place(window.begin, window.end, int(row["location"])).key,
        )
        for row in table.head(_ROWS).to_dict("records")
    )
    return Table(columns, (*rows, *_edges(window, part, len(columns))))


def _sentence(window: Window, part: CriticalPath, found: OnPath) -> str:
    data, length = window.data, max(part.ticks(), 1)
    span = si(part.ticks() / data.trace.meta.ticks_per_second, "s")
    kinds = {data.trace.definitions.locations[int(number)].kind for number in np.unique(part.location)}
    count = len(np.unique(part.location))
    kind = kinds.pop() if len(kinds) == 1 else "location"
    said = f"The critical path of {span} goes over {count} {kind if count == 1 else plural(kind)}"
    said += f" with {counted(part.hops, 'hand-over')}" if count > 1 else ""
    regions = found.regions[(found.regions["path"] > 0) & (found.regions["region"] >= 0)]
    if len(regions):
        first = regions.iloc[0]
        said += f"; {percent(first['path'] / length)} of it is in {dependencies.at(data, int(first['region']))}"
        worst = regions.sort_values("imbalance", ascending=False, kind="stable").iloc[0]
        if worst["imbalance"] > 0.01 * length:
            gain = si(worst["imbalance"] / data.trace.meta.ticks_per_second, "s")
            where = (
                "there"
                if int(worst["region"]) == int(first["region"])
                else f"in {dependencies.named(data, int(worst['region']))}"
            )
            said += f"; were the work {where} spread evenly, the run would be up to {gain} shorter"
    lost = part.ticks(Piece.UNEXPLAINED)
    if lost:
        said += f"; the trace does not record why {percent(lost / length)} of it waits"
    return f"{said}."


def _remarks(window: Window, part: CriticalPath) -> tuple[str, ...]:
    data, said = dependencies.subject(window), []
    if data is window.data:
        run = data.trace.meta.end - data.trace.meta.begin
        ratio = percent(dependencies.path_of(window).length / max(run, 1))
        said.append(f"The path is {ratio} as long as the run; a run cannot be shorter than it.")
    if not window.whole_time and data is window.data:
        said.append("Shares are of the time shown; the path is computed for the whole run.")
    if not window.all_locations and (window.lane_of(part.location) < 0).any():
        said.append("Part of the path is on locations that are not shown.")
    said.append("Imbalance: time on the path in a region in excess of the average location's time there.")
    return tuple(said)


VIEW = View(
    "critical-path",
    _TITLE,
    "The chain of work, messages and hand-overs that determines the run's length, and the regions on it.",
    _make,
    (
        *trace_window.WINDOWED,
        Option(
            "show",
            "Show",
            "choice",
            "regions",
            ("regions", "activities", "locations"),
            description="the parts of the path to list",
        ),
    ),
    group="Where the time goes",
    order=30,
    needs=(_NO_TIME,),
    subject="trace",
    window=True,
)
