"""Traces on one time axis: the same program on 4 and 16 processors (isospeed.txt Figs. 8 to 10, 14 to 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from scalegraph.base.errors import Fault, InputError
from scalegraph.base.measures import percent
from scalegraph.base.units import si, significant
from scalegraph.figures import timelines
from scalegraph.figures.figure import Arrows, Axis, Figure, LaneTrack, Overlay, PathLine, Ticks, Timeline
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import What
from scalegraph.views import needs
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import tracks as trace_tracks
from scalegraph.views.trace.timeline import spacetime
from scalegraph.views.view import View

_NAME, _TITLE = "trace-compare", "Traces on one axis"
_SILENT = Need(
    "One of these traces holds no events.",
    met=lambda data, **_: all(one.active and one.trace.counts() for one in data.others),
)
_SAME_SPEED = 0.05  # relative difference of unit speeds that counts as equal
_PLACE = "position on the common axis: s, or % if shares of the runs are aligned; otherwise everything"
_ALIGN = Option(
    "align",
    "Align",
    "choice",
    "absolute",
    ("absolute", "relative", "region"),
    description="what to align: equal times, equal shares of the run, or the first entry of the chosen region",
)


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the traces: its visible part, and the mapping from seconds to the common axis."""

    window: Window
    shift: float  # s of the run at 0 of the axis
    factor: float  # axis units per second

    def at(self, seconds: Any) -> Any:
        return (seconds - self.shift) * self.factor


def _make(
    data: TraceData,
    begin: object = None,
    end: object = None,
    locations: object = None,
    region: object = None,
    width: object = 1000,
    align: object = "absolute",
    colour: object = "activity",
    messages: object = True,
    locks: object = False,
    barriers: object = True,
    most: object = 2000,
) -> Figure:
    several = tuple(sorted((data, *data.others), key=trace_common.processors))  # fewest processors on top
    sides = _from_zero([_side(one, align, region, locations, width) for one in several])
    low, high = _visible(sides, begin, end, str(align))
    sides = [_cut(side, low, high) for side in sides]
    names = trace_window.working(several)
    tracks: list[LaneTrack] = []
    notes: dict[str, None] = {}
    top = _fastest(sides) if colour == "speed" else 0.0
    for side in sides:
        track, said = spacetime.laned(side.window, str(colour), names, top)
        overlays, reported, _ = spacetime.drawn(
            side.window, messages=bool(messages), locks=bool(locks), barriers=bool(barriers), most=int(str(most))
        )
        title = f"{side.window.data.name}: {_words(side.window)}"
        tracks.append(_placed(side, replace(track, overlays=overlays, title=title)))
        notes.update(dict.fromkeys((*said, *(f"{side.window.data.name}: {one}" for one in reported))))
    for one in several:
        notes.update(dict.fromkeys(f"{one.name}: {note}" for note in trace_common.usual_notes(one)))
    tracks = _one_scale(tracks)
    key = timelines.merged([timelines.totals(track)[0] for track in tracks if track.scale is None])
    mine = next(side for side, one in zip(sides, several, strict=True) if one is data)
    panel = Timeline(
        _axis(str(align), region), low, high, tuple(tracks), key, _limits(sides), clock=(mine.shift, mine.factor)
    )
    return Figure(" and ".join(one.name for one in several), _sentence(several), (panel,), notes=tuple(notes))


def _side(data: TraceData, align: object, region: object, locations: object, width: object) -> _Side:
    window = trace_window.window(data, None, None, locations, None, width)
    if align == "relative":
        return _Side(window, 0.0, 100.0 / (data.length or 1.0))
    if align == "absolute":
        return _Side(window, 0.0, 1.0)
    if region is None:
        raise InputError(Fault("expected the region at which the traces are aligned", key="region"))
    return _Side(window, _first(window, region), 1.0)


def _from_zero(sides: Sequence[_Side]) -> list[_Side]:
    """Return *sides* on an axis that starts at the earliest moment of any."""
    low, _high = _limits(sides)
    return [replace(side, shift=side.shift + low / side.factor) for side in sides]


def _fastest(sides: Sequence[_Side]) -> float:
    """Return the upper end of the speed scale shared by all traces."""
    tracks = [spacetime.laned(side.window, "speed")[0] for side in sides]
    return max((track.scale.limits[1] for track in tracks if track.scale and track.scale.limits), default=0.0)


def _first(window: Window, region: object) -> float:
    """Return the time (s) at which any location first enters a region named *region*."""
    data = window.data
    wanted = sorted(trace_window.chosen_regions(data, region) or ())
    found = [
        columns["time"][
            np.isin(columns["region"], wanted)
            & (columns["what"] == What.ENTER)
            & (window.lane_of(columns["location"]) >= 0)
        ]
        for columns in data.trace.chunks("calls", ("time", "what", "region", "location"))
    ]
    times = np.concatenate(found) if found else np.empty(0, np.int64)
    if not len(times):
        raise InputError(Fault(f"{data.name}: the region '{region}' is never entered", key="region"))
    return float(data.seconds(int(times.min())))


def _limits(sides: Sequence[_Side]) -> tuple[float, float]:
    return (
        min(float(side.at(0.0)) for side in sides),
        max(float(side.at(side.window.data.length)) for side in sides),
    )


def _visible(sides: Sequence[_Side], begin: object, end: object, align: str) -> tuple[float, float]:
    """Return the ends of the visible axis; *begin* and *end* are positions on it."""
    low, high = _limits(sides)
    shown_low = low if begin is None else max(low, float(str(begin)))
    shown_high = high if end is None else min(high, float(str(end)))
    if align == "relative":
        shown_high = min(shown_high, 100.0)
    if shown_high <= shown_low:
        raise InputError(Fault("expected a time after begin and within the longest run", key="end"))
    return shown_low, shown_high


def _cut(side: _Side, low: float, high: float) -> _Side:
    """Return *side* cut to the visible window."""
    data = side.window.data
    begin = data.ticks(low / side.factor + side.shift)
    end = data.ticks(high / side.factor + side.shift)
    meta = data.trace.meta
    begin, end = max(begin, meta.begin), min(end, meta.end)
    if end <= begin:  # not visible at all: keep its last moment
        begin, end = max(meta.begin, meta.end - 1), meta.end
    return replace(side, window=replace(side.window, begin=begin, end=end))


def _placed(side: _Side, track: LaneTrack) -> LaneTrack:
    return replace(track, edges=side.at(track.edges), overlays=tuple(_moved(side, one) for one in track.overlays))


def _moved(side: _Side, overlay: Overlay) -> Overlay:
    if isinstance(overlay, Ticks):
        return replace(overlay, x=side.at(overlay.x))
    assert isinstance(overlay, Arrows | PathLine)
    return replace(overlay, x0=side.at(overlay.x0), x1=side.at(overlay.x1))


def _one_scale(tracks: Sequence[LaneTrack]) -> list[LaneTrack]:
    """Return *tracks* with messages coloured on one scale, so that one legend fits all."""
    arrows = [one for track in tracks for one in track.overlays if isinstance(one, Arrows)]
    values = [one.value for one in arrows if one.value is not None]
    known = np.concatenate(values) if values else np.empty(0)
    known = known[known > 0]
    if not len(known):
        return list(tracks)
    scale = Axis("size", "B", "log2", limits=(float(known.min()), float(known.max())))

    def scaled(one: Overlay) -> Overlay:
        return replace(one, scale=scale) if isinstance(one, Arrows) and one.value is not None else one

    return [replace(track, overlays=tuple(scaled(one) for one in track.overlays)) for track in tracks]


def _axis(align: str, region: object) -> Axis:
    if align == "relative":
        return Axis("share of the run", "%")
    return Axis(f"time, aligned at the first {region}", "s") if align == "region" else trace_tracks.TIME


def _words(window: Window) -> str:
    data = window.data
    count = data.facts.get("processors") or len(data.trace.definitions.locations)
    reported = f"N = {count}"
    text = si(data.length, "s") if reported in data.name else f"{reported}, {si(data.length, 's')}"
    speed = _unit_speed(data)
    return text if speed is None else f"{text}, unit speed {_speed(data, speed)}"


def _work(data: TraceData) -> float | None:
    """Return the run's work W, known from the run or counted in its trace, else None."""
    if data.facts.get("work"):
        return float(data.facts["work"])
    found = interval_sums.counted_work(data)
    if found is None:
        return None
    meta = data.trace.meta
    total = float(found.totals(meta.begin, meta.end, range(len(data.trace.definitions.locations))).sum())
    return total or None


def _unit_speed(data: TraceData) -> float | None:
    """Return the average unit speed W/(N T) (isospeed.txt, section II), None if the work is not known."""
    work = _work(data)
    return None if work is None or not data.length else work / (trace_common.processors(data) * data.length)


def _speed(data: TraceData, speed: float) -> str:
    found = None if data.facts.get("work") else interval_sums.counted_work(data)
    return si(speed, f"{trace_common.unit_of(found.metric) if found else 'op'}/s")


def _sentence(several: Sequence[TraceData]) -> str:
    """Return a sentence with the ratio of times, and psi if the work is known (isospeed.txt, approach 1: T_N/T_N')."""
    parts = [_pair(first, second) for first, second in pairwise(several)]
    return f"{'; '.join(parts)}."


def _pair(first: TraceData, second: TraceData) -> str:
    n, n2 = trace_common.processors(first), trace_common.processors(second)
    one, two = (f"{n} processors", f"{n2}") if n != n2 else (first.name, second.name)
    ratio = first.length / second.length if second.length else float("nan")
    times = f"{si(first.length, 's')}/{si(second.length, 's')} = {significant(ratio, 3)}"
    reported = f"The time of {one} over that of {two} is {times}"
    work, work2 = _work(first), _work(second)
    speed, speed2 = _unit_speed(first), _unit_speed(second)
    if n == n2 or work is None or work2 is None or speed is None or speed2 is None:
        return reported
    apart = abs(speed2 - speed) / max(speed, speed2)
    psi = n2 * work / (n * work2)
    if apart <= _SAME_SPEED:
        return (
            f"{reported}; the unit speed is held (within {percent(apart)}), so the scalability from {n} to {n2} is "
            f"{significant(psi, 3)}"
        )
    return (
        f"{reported}; the unit speeds {_speed(first, speed)} and {_speed(second, speed2)} differ by "
        f"{percent(apart)}, so this ratio is not the scalability"
    )


VIEW = View(
    _NAME,
    _TITLE,
    "Spacetime diagrams of several runs on one axis: by time, by share of the run, or from where a region begins.",
    _make,
    (
        replace(trace_window.BEGIN, description=_PLACE),
        replace(trace_window.END, description=_PLACE),
        *trace_window.WINDOWED[2:],
        _ALIGN,
        spacetime.COLOUR,
        spacetime.DRAWN[0],
        replace(spacetime.DRAWN[1], default=False),
        spacetime.DRAWN[2],
        spacetime.MOST,
    ),
    group="Timeline",
    order=20,
    needs=(needs.OTHER_TRACE, _SILENT),
    several=True,
    subject="trace",
    window=True,
)
