"""Spacetime diagram after ParaGraph (isospeed.txt Figs. 8, 14, 15): a bar per location, slanted messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from scalegraph.base.measures import percent
from scalegraph.base.units import plural, si, thousands
from scalegraph.figures import timelines
from scalegraph.figures.figure import Arrows, Axis, Figure, Key, LaneTrack, Overlay, Ticks, Timeline
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums, trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.views.trace import (
    common as trace_common,
)
from scalegraph.views.trace import (
    lasting as trace_lasting,
)
from scalegraph.views.trace import (
    tracks as trace_tracks,
)
from scalegraph.views.view import View

TITLE = "Spacetime diagram"
COLOUR = Option(
    "colour",
    "Colour",
    "choice",
    "activity",
    ("activity", "state", "region", "speed"),
    description="what the bars show: activity, region or speed",
)
DRAWN = (
    Option("messages", "Messages", "bool", True, description="draw messages, slanted from sender to receiver"),
    Option("locks", "Lock hand-overs", "bool", True, description="draw lock hand-overs from holder to waiter"),
    Option("barriers", "Barriers", "bool", True, description="draw the ends of waiting at barriers"),
    Option(
        "operations",
        "Collective operations",
        "bool",
        True,
        description="draw each location's part of collective operations, with algorithm and bytes",
    ),
)
MOST = Option(
    "most",
    "Most arrows",
    "int",
    2000,
    minimum=0,
    maximum=100_000,
    description="at most this many messages, and waits, are drawn",
)


def _make(
    data: TraceData,
    begin: object = None,
    end: object = None,
    locations: object = None,
    region: object = None,
    width: object = 1000,
    colour: object = "activity",
    messages: object = True,
    locks: object = True,
    barriers: object = True,
    operations: object = True,
    most: object = 2000,
    duration: object = None,
) -> Figure | Need:
    if none := trace_lasting.nothing(data, duration, "calls", "states"):
        return none
    data, known = trace_choices.lasting(data, duration), trace_lasting.told(data, duration)
    if known and data.trace.count("calls") and colour in ("activity", "state"):
        colour = "region"
    window = trace_window.window(data, begin, end, locations, region, width)
    track, notes = laned(window, str(colour))
    overlays, said, counts = drawn(
        window,
        messages=bool(messages),
        locks=bool(locks),
        barriers=bool(barriers),
        operations=bool(operations),
        most=int(str(most)),
    )
    track = replace(track, overlays=overlays)
    keys, seconds = timelines.totals(track)
    panel = Timeline(
        trace_tracks.TIME,
        window.begin_s,
        window.end_s,
        (track,),
        () if track.scale is not None else keys,
        (0.0, data.length),
    )
    return Figure(
        trace_common.title(data, TITLE),
        sentence(
            window,
            keys if track.scale is None else (),
            seconds,
            counts,
            complete=colour == "activity" and window.regions is None,
        ),
        (panel,),
        notes=(*known, *notes, *said, *trace_common.usual_notes(data)),
    )


def laned(
    window: Window, colour: str, names: Iterable[str] = (), top: float = 0.0
) -> tuple[LaneTrack, tuple[str, ...]]:
    """Return the bars of *window* coloured by activity, region or speed, and notes.

    *names* as in `trace_common.region_keys`; *top* is a lower limit for the end of the speed scale.
    """
    if colour == "speed":
        return _by_speed(window, top)
    notes: tuple[str, ...] = ()
    if window.regions is not None and colour != "region":
        notes = ("Only the time in the chosen regions is coloured, by region.",)
    elif colour not in window.data.timeline.layers:
        notes = (f"The trace records no {colour}s: bars are coloured by activity.",)
        colour = "activity"
    return trace_tracks.bars(window, colour, names=names), notes


def _by_speed(window: Window, least: float) -> tuple[LaneTrack, tuple[str, ...]]:
    trace = window.data.trace
    track = trace_tracks.bars(window)
    counted = interval_sums.counted_work(window.data)
    if counted is None:
        return track, ("The trace counts no operations, so the speed is not known: bars are coloured by activity.",)
    ticks = np.rint(track.edges * trace.meta.ticks_per_second).astype(np.int64) + trace.meta.begin
    seconds = np.diff(track.edges)
    work = np.array([np.diff(counted.at(number, ticks)) for number in window.locations])
    with np.errstate(all="ignore"):
        speed = np.where(seconds > 0, work / seconds, np.nan)
    top = max(float(np.nanmax(speed, initial=0.0)), least) or 1.0
    unit = trace_common.unit_of(counted.metric)
    axis = Axis("speed", f"{unit}/s", limits=(0.0, top))
    return trace_tracks.coloured(track, speed, axis), (f"Speed is {counted.metric.name} in each bin over its length.",)


def drawn(
    window: Window, *, messages: bool, locks: bool, barriers: bool, operations: bool = False, most: int
) -> tuple[tuple[Overlay, ...], tuple[str, ...], tuple[str, ...]]:
    """Return what is drawn over the lanes, notes on omissions, and counts as text."""
    overlays: list[Overlay] = []
    notes: list[str] = []
    counts: list[str] = []
    trace = window.data.trace
    if operations and trace.count("collectives") and most:
        parts, said = trace_tracks.operations(window, most)
        overlays.append(parts)
        notes.extend(said)
    if messages and trace.count("messages") and most:
        arrows, said = trace_tracks.messages(window, most)
        overlays.append(arrows)
        notes.extend(said)
        counts.append(_many(arrows.total, "message"))
    if (locks or barriers) and trace.count("waits") and most:
        rows, total = trace_tracks.waits(window, most)
        long = trace_tracks.visible(window, rows)
        found = _of_waits(window, long, locks=locks, barriers=barriers)
        overlays.extend(found)
        if total > len(rows["begin"]):
            notes.append(_TOO_MANY.format(drawn=thousands(len(long["begin"])), total=thousands(total)))
        else:
            counts.extend(
                _many(one.total, _ONE[one.name]) for one in _of_waits(window, rows, locks=locks, barriers=barriers)
            )
            if len(long["begin"]) < total:
                short = thousands(total - len(long["begin"]))
                notes.append(_SHORT.format(count=short, least=si(window.seconds * _LEAST, "s")))
    return tuple(overlays), tuple(notes), tuple(counts)


_ONE = {trace_tracks.HANDOVERS: "lock hand-over", trace_tracks.OPENED: "wait at barriers"}
_LEAST_UNKNOWN = 5e-4  # of the time: less is not mentioned
_LEAST = trace_tracks.LEAST_WAIT
_SHORT = "{count} waits of less than {least} are too narrow to be marked."
_TOO_MANY = "Marked are the {drawn} longest of {total} waits; zoom in for more."


def _of_waits(window: Window, rows: trace_tracks.Rows, *, locks: bool, barriers: bool) -> Sequence[Arrows | Ticks]:
    made: list[Arrows | Ticks] = []
    if barriers and len((ticks := trace_tracks.barriers(window, rows)).x):
        made.append(ticks)
    if locks and len((arrows := trace_tracks.handovers(window, rows)).x0):
        made.append(arrows)
    return made


def _many(count: int, one: str) -> str:
    many = one.replace("wait ", "waits ") if one.startswith("wait") else f"{one}s"
    return f"{thousands(count)} {one if count == 1 else many}"


def sentence(
    window: Window, keys: Sequence[Key], seconds: float, counts: Sequence[str], *, complete: bool = False
) -> str:
    """Return a summary such as ``4 processors, the whole run of 12.3 ms: busy 63 %; 12 messages``.

    If the keys should be *complete*, the remaining time is mentioned as unknown.
    """
    data = window.data
    kinds = {data.trace.definitions.locations[number].kind for number in window.locations}
    kind = kinds.pop() if len(kinds) == 1 else "location"
    kind = kind if len(window.locations) == 1 else plural(kind)
    time = (
        trace_window.all_of(data, f" of {si(data.length, 's')}")
        if window.whole_time
        else (
            f"the first {si(window.seconds, 's')} of the run"
            if window.begin == data.trace.meta.begin
            else f"{si(window.seconds, 's')} from {si(window.begin_s, 's')} of the run"
        )
    )
    parts = [f"{key.name} {percent(key.seconds / seconds)}" for key in keys[:4]] if seconds > 0 else []
    unknown = 1 - sum(key.seconds for key in keys) / seconds if complete and seconds > 0 else 0.0
    parts += [f"not known {percent(unknown)}"] if unknown > _LEAST_UNKNOWN else []
    reported = f"{len(window.locations)} {kind}, {time}" + (f": {', '.join(parts)}" if parts else "")
    return f"{'; '.join([reported, *counts])}."


VIEW = View(
    "spacetime",
    TITLE,
    "What every location did over time, with messages from sender to receiver, lock hand-overs and barriers.",
    _make,
    (*trace_window.WINDOWED, trace_choices.DURATION, COLOUR, *DRAWN, MOST),
    needs=(trace_lasting.TOO_SHORT,),
    subject="trace",
    window=True,
)
