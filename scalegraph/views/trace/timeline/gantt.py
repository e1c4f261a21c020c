"""Busy, overhead and idle time of every location (ParaGraph's Gantt chart), and their shares."""

from __future__ import annotations

import numpy as np

from scalegraph.analyze.trace import activity
from scalegraph.analyze.trace.messages import groups
from scalegraph.base.measures import percent
from scalegraph.base.units import si
from scalegraph.figures.figure import Axis, Bars, Figure, Key, LaneTrack, Plot, Timeline
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces import activities
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace import tracks as trace_tracks
from scalegraph.views.view import View

_TITLE = "Gantt chart"
_MOST = 64  # bars
_THREE = (("busy", "busy"), ("overhead", "primitive"), ("idle", "idle"), ("other", "muted"))
# of each activity, in the order of activities.ACTIVITIES
_CLASS = np.array([0, 1, 1, 1, 2, 3])


def _make(data: TraceData, detail: object = "three", **options: object) -> Figure | Need:
    chosen = trace_window.window(data, **options)
    sums = interval_sums.activity_sums(chosen)
    if sums is None:
        return trace_sums.NO_ACTIVITY
    three = str(detail) == "three"
    of = _CLASS if three else np.arange(len(activities.ACTIVITIES))
    named = (
        _THREE
        if three
        else tuple(
            (title, role if role != "other" else "muted")
            for title, role in zip(activities.TITLES, activities.ACTIVITIES, strict=True)
        )
    )
    ticks = np.zeros((len(named), len(chosen.locations)))
    np.add.at(ticks, of, sums.ticks)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(chosen, sums),
        (
            Timeline(
                trace_tracks.TIME,
                chosen.begin_s,
                chosen.end_s,
                (_lanes(chosen, of, named, ticks),),
                limits=(0.0, data.length),
            ),
            _bars(chosen, sums, named, ticks),
        ),
        notes=trace_sums.notes(chosen, "Overhead: memory stalls, primitives and communication." if three else ""),
    )


def _lanes(chosen: Window, of: np.ndarray, named: tuple[tuple[str, str], ...], ticks: np.ndarray) -> LaneTrack:
    data = chosen.data
    found = data.timeline.lanes("activity", chosen.begin, chosen.end, chosen.width, list(chosen.locations))
    shares = np.zeros((*found.shares.shape[:2], len(named)), np.float32)
    codes = np.asarray(found.codes)
    for number, target in enumerate(of.tolist()):
        shares[:, :, target] += np.where(codes == number, found.shares, 0).sum(axis=2)
    second = data.trace.meta.ticks_per_second
    return LaneTrack(
        tuple(data.location_name(number) for number in chosen.locations),
        chosen.locations,
        np.clip(data.seconds(np.asarray(found.edges)), chosen.begin_s, chosen.end_s),
        np.broadcast_to(np.arange(len(named), dtype=np.int32), shares.shape),
        shares,
        tuple(Key(name, role, seconds=float(ticks[n].sum()) / second) for n, (name, role) in enumerate(named)),
        np.asarray(found.covered),
    )


def _bars(chosen: Window, sums: activity.ActivitySums, named: tuple[tuple[str, str], ...], ticks: np.ndarray) -> Plot:
    """Return a stacked bar per location: the exact share of time of each activity."""
    names, members = groups(chosen.data.trace, chosen.locations, _MOST, interval_sums.location_names(chosen.data))
    lanes = chosen.lanes
    length = sums.length or 1
    heights = np.array(
        [[ticks[n][[lanes[one] for one in some]].mean() / length for some in members] for n in range(len(named))]
    )
    second = chosen.data.trace.meta.ticks_per_second
    used = [n for n in range(len(named)) if heights[n].any()]
    order = range(len(names) - 1, -1, -1)  # the first on top, as on the timeline
    return Plot(
        Axis("share of the time", "%", limits=(0.0, 100.0)),
        Axis("", scale="category", categories=tuple(names[n] for n in order)),
        bars=Bars(
            tuple(float(n) for n in range(len(names))),
            tuple((named[n][0], named[n][1], tuple(float(100 * heights[n][k]) for k in order)) for n in used),
            tuple(
                tuple(
                    f"{names[k]}, {named[n][0]}: "
                    f"{trace_sums.tick_tip(float(heights[n][k]) * length / second, float(heights[n][k]))}"
                    for k in order
                )
                for n in used
            ),
            horizontal=True,
        ),
    )


def _sentence(chosen: Window, sums: activity.ActivitySums) -> str:
    if not sums.length:
        return "The chosen time has no length."
    data, busy = chosen.data, sums.ticks[activities.BUSY] / sums.length
    overhead = float(sums.totals[list(activity.OVERHEAD)].sum()) / sums.available
    idle = float(sums.totals[activities.IDLE]) / sums.available
    text = f"In {si(chosen.seconds, 's')} "
    if len(busy) > 1:
        least, most = int(busy.argmin()), int(busy.argmax())
        text += (
            f"{data.location_name(int(sums.locations[least]))} is busy for {percent(float(busy[least]))} of the"
            f" time, {data.location_name(int(sums.locations[most]))} for {percent(float(busy[most]))}"
        )
    else:
        text += f"{data.location_name(int(sums.locations[0]))} is busy for {percent(float(busy[0]))} of the time"
    return f"{text}; overhead takes {percent(overhead)} of all, {percent(idle)} is idle."


VIEW = View(
    "gantt",
    _TITLE,
    "When each processor is busy, in overhead or idle, and the share of its time in each.",
    _make,
    (
        *trace_window.WINDOWED,
        Option(
            "detail",
            "Detail",
            "choice",
            "three",
            ("three", "all"),
            description="busy, overhead and idle, or every activity",
        ),
    ),
    needs=(trace_sums.NO_ACTIVITY,),
    subject="trace",
    window=True,
)
