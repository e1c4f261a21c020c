"""Tracks shared by several trace views: activity bars, messages, lock hand-overs, barriers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from scalegraph.analyze.trace.operations import described
from scalegraph.base.units import si, thousands
from scalegraph.figures import timelines
from scalegraph.figures.figure import Arrows, Axis, Key, LaneTrack, Ticks
from scalegraph.figures.tips import Tips
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.window import Window
from scalegraph.traces.kinds import NO_TIME, Array, Wait
from scalegraph.views.trace import common as trace_common

Rows: TypeAlias = Mapping[str, Array]  # columns of events
HANDOVERS, OPENED = "lock hand-overs", "ends of barriers"
OPERATIONS = "collectives"
LEAST_WAIT = 1 / 400  # of the visible time: a shorter wait is too narrow to see
TIME = Axis("time", "s")
_WHICH = "the largest of the longest in every stretch of time"


def keys(window: Window, layer: str, names: Iterable[str] = ()) -> tuple[Key, ...]:
    """Return the keys of *layer* (``activity``, ``state`` or ``region``); *names* as in `trace_common.region_keys`."""
    codes = window.data.timeline.layers[layer].codes
    if layer != "region":
        return trace_common.code_keys(codes)
    if names:
        return trace_common.region_keys(codes, names)
    kept: tuple[Key, ...] | None = window.data.memo.get("keys of regions")
    if kept is None:
        kept = window.data.memo["keys of regions"] = trace_common.region_keys(
            codes, trace_window.working([window.data])
        )
    return kept


def bars(window: Window, layer: str = "activity", *, title: str = "", names: Iterable[str] = ()) -> LaneTrack:
    """Return the activity bars of *window*: one lane per location, coloured by *layer*.

    If the window is filtered by region, only time in those regions is shown; *layer* is then ``region``.
    """
    data = window.data
    if window.regions is not None:
        layer = "region"
    found = data.timeline.lanes(layer, window.begin, window.end, window.width, window.locations)
    codes, shares, covered = np.asarray(found.codes), np.asarray(found.shares), np.asarray(found.covered)
    key = keys(window, layer, names)
    if window.regions is not None:
        wanted = np.array([one.number in window.regions for one in key] + [False])  # the last is for code -1
        codes = np.where(wanted[codes], codes, -1)
        shares = np.where(codes >= 0, shares, 0.0)
        covered = shares.sum(axis=2)
    edges = np.clip(data.seconds(np.asarray(found.edges)), window.begin_s, window.end_s)
    lanes = tuple(data.location_name(number) for number in window.locations)
    return LaneTrack(
        lanes, window.locations, edges, codes, shares, key, covered, title, groups=data.lane_groups(window.locations)
    )


def _lanes(window: Window, locations: Array) -> Array:
    """Return the lanes of *locations*; a hidden one is above or below all, by its number."""
    lanes: Array = window.lane_of(locations)
    if window.locations:
        below = (lanes < 0) & (locations > window.locations[-1])
        lanes = np.where(below, len(window.locations), lanes)
    return lanes


def messages(window: Window, limit: int = 2000) -> tuple[Arrows, tuple[str, ...]]:
    """Return the messages of *window*, drawn from sent to received and coloured by size, and notes.

    Of more than *limit*, `timelines.drawn` chooses among the longest; messages without sender or receiver are omitted.
    """
    data = window.data
    chosen = window.chosen
    sample = data.timeline.messages(window.begin, window.end, chosen, 8 * limit)
    found: Rows = sample.columns
    known = (found["sent"] != NO_TIME) & (found["received"] != NO_TIME)
    known &= (found["sender"] >= 0) & (found["receiver"] >= 0)
    rows = {name: values[known] for name, values in found.items()}
    if len(rows["sent"]) > limit:
        spread = _arrows(window, rows, ())
        keep = timelines.drawn(spread, limit)
        rows = {name: values[keep] for name, values in rows.items()}
    made = _arrows(window, rows, _message_tips(window, rows))
    total = int(sample.total)
    broken = int(np.count_nonzero(~known))
    if broken and len(known) >= total:  # all were examined
        one = broken == 1
        lacks = (
            f"{thousands(broken)} message{'' if one else 's'} of {thousands(total)}"
            f" lack{'s' if one else ''} its sender or receiver"
            f" and {'is' if one else 'are'} not drawn."
        ).replace("its", "its" if one else "their", 1)
        return replace(made, total=total), (lacks, *_told("messages", len(made.x0), total - broken, _WHICH))
    return replace(made, total=total), _told("messages", len(made.x0), total, _WHICH)


def _arrows(window: Window, rows: Rows, tips: Sequence[str]) -> Arrows:
    size = rows["size"]
    sizes = size.astype(np.float64) if (size > 0).any() else None
    return Arrows(
        "message",
        "message" if sizes is not None else "messages",
        window.data.seconds(rows["sent"]),
        _lanes(window, rows["sender"]),
        window.data.seconds(rows["received"]),
        _lanes(window, rows["receiver"]),
        sizes,
        role="ink",
        tips=tips,
    )


def _message_tips(window: Window, rows: Rows) -> Tips:
    data = window.data

    def word(i: int) -> str:
        sent, received = data.seconds(int(rows["sent"][i])), data.seconds(int(rows["received"][i]))
        tag = f", tag {rows['tag'][i]}" if rows["tag"][i] >= 0 else ""
        return (
            f"{data.location_name(int(rows['sender'][i]))} to {data.location_name(int(rows['receiver'][i]))}\n"
            f"{thousands(int(rows['size'][i]))} bytes{tag}\n"
            f"sent {si(sent, 's', 6)}, received {si(received, 's', 6)} ({si(received - sent, 's')} later)"
        )

    return Tips(len(rows["sent"]), word)


def _told(what: str, drawn: int, total: int, which: str) -> tuple[str, ...]:
    if drawn >= total:
        return ()
    return (f"{thousands(drawn)} of {thousands(total)} {what} are drawn: {which}.",)


def waits(window: Window, limit: int = 2000) -> tuple[Rows, int]:
    """Return the columns of the longest waits of *window*, only in chosen regions, and their number."""
    chosen = window.chosen
    sample = window.data.timeline.waits(window.begin, window.end, chosen, limit)
    rows: dict[str, Array] = dict(sample.columns)
    total = int(sample.total)
    if window.regions is not None:
        keep = np.isin(rows["region"], sorted(window.regions))
        rows = {name: values[keep] for name, values in rows.items()}
        total = int(keep.sum())
    return rows, total


def visible(window: Window, rows: Rows) -> Rows:
    """Return the waits of *rows* that are wide enough to be visible at this zoom."""
    keep = rows["end"] - rows["begin"] >= (window.end - window.begin) * LEAST_WAIT
    return {name: values[keep] for name, values in rows.items()}


def handovers(window: Window, rows: Rows) -> Arrows:
    """Return the lock hand-overs from holder to waiter, from the waits *rows*."""
    data = window.data
    mine = (rows["why"] == Wait.LOCK) & (rows["holder"] >= 0)
    released = np.where(rows["released"] == NO_TIME, rows["end"], rows["released"])[mine]
    end, holder, location = rows["end"][mine], rows["holder"][mine], rows["location"][mine]
    x0, x1 = data.seconds(released), data.seconds(end)
    waited = (end - rows["begin"][mine]) / data.trace.meta.ticks_per_second

    def word(i: int) -> str:
        names = data.location_name(int(holder[i])), data.location_name(int(location[i]))
        return f"lock from {names[0]} to {names[1]}\nwaited {si(float(waited[i]), 's')}"

    return Arrows(
        "lock",
        HANDOVERS,
        x0,
        _lanes(window, holder),
        x1,
        _lanes(window, location),
        role="ink",
        tips=Tips(len(x0), word),
        total=len(x0),
    )


def barriers(window: Window, rows: Rows) -> Ticks:
    """Return the ends of barrier waits, from the waits *rows* and from collective operations."""
    data = window.data
    mine = rows["why"] == Wait.BARRIER
    x, lane = data.seconds(rows["end"][mine]), _lanes(window, rows["location"][mine])
    waited = (rows["end"][mine] - rows["begin"][mine]) / data.trace.meta.ticks_per_second
    shown = (lane >= 0) & (lane < len(window.locations))
    long = waited[shown]
    tips = Tips(len(long), lambda i: f"barrier, waited {si(float(long[i]), 's')}")
    return Ticks("barrier", OPENED, x[shown], lane[shown], "ink", tips, int(shown.sum()))


def operations(window: Window, limit: int) -> tuple[Arrows, tuple[str, ...]]:
    """Return the *limit* longest parts that locations take in collective operations in *window*, and notes."""
    data = window.data
    found = data.trace.columns("collectives", begin=window.begin, end=window.end)
    lane = _lanes(window, found["location"])
    shown = np.flatnonzero((lane >= 0) & (lane < len(window.locations)))
    kept = shown[np.argsort(-(found["end"] - found["begin"])[shown], kind="stable")[:limit]]
    rows = {name: values[kept] for name, values in found.items()}
    made = Arrows(
        "other",
        OPERATIONS,
        data.seconds(rows["begin"]),
        lane[kept],
        data.seconds(rows["end"]),
        lane[kept],
        role="communication",
        tips=_operation_tips(window, rows),
        total=len(shown),
    )
    return made, _told("collective operations", len(kept), len(shown), "the longest")


def _operation_tips(window: Window, rows: Rows) -> Tips:
    data = window.data
    words, known = described(data.trace, rows), data.trace.definitions.communicators
    second = data.trace.meta.ticks_per_second

    def word(i: int) -> str:
        by = f" by {words.algorithm[i]}" if words.algorithm[i] else ""
        number, root = int(rows["communicator"][i]), int(rows["root"][i])
        where = [known[number].name] if 0 <= number < len(known) else []
        where += [f"root {data.location_name(root)}"] if root >= 0 else []
        size = f"{thousands(int(rows['sent'][i]))} bytes sent, {thousands(int(rows['received'][i]))} received"
        lasts = si(float(rows["end"][i] - rows["begin"][i]) / second, "s")
        return (
            f"{data.location_name(int(rows['location'][i]))}: {words.name[i]}{by}\n{', '.join([*where, size])}\n{lasts}"
        )

    return Tips(len(rows["begin"]), word)


def coloured(track: LaneTrack, values: Any, axis: Axis, steps: int = 32) -> LaneTrack:
    """Return *track* with bins coloured by *values* [lanes, bins] on a ramp between the limits of *axis*."""
    low, high = axis.limits or (0.0, 1.0)
    values = np.asarray(values, np.float64)
    known = np.isfinite(values)
    share = np.clip((np.where(known, values, low) - low) / ((high - low) or 1.0), 0.0, 1.0)
    codes = np.where(known, np.rint(share * (steps - 1)).astype(np.int32), -1)[..., None]
    shades = timelines.ramp(np.linspace(0.0, 1.0, steps), 0.0, 1.0)
    key = tuple(
        Key(si(low + (high - low) * i / (steps - 1), axis.unit), "muted", "#" + bytes(shade).hex().upper())
        for i, shade in enumerate(shades)
    )
    shares = known.astype(np.float64)[..., None]
    return replace(track, codes=codes, shares=shares, key=key, covered=None, scale=axis)
