"""One moment of a trace: each location's state, its beginning, and who it waits for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from scalegraph.analyze.trace.candidates import WORDS, Cause
from scalegraph.analyze.trace.moment import Changes, Moment, StateRows, moment
from scalegraph.base.measures import percent
from scalegraph.base.units import plural, si, thousands
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.timelines import time_text
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums
from scalegraph.subjects import trace_dependencies as dependencies
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.views.trace import common as trace_common
from scalegraph.views.view import View

NAME: Final = "moment"
_TITLE: Final = "Now: one moment"
_NOBODY: Final = Need("No location is in {words} at {when}.")
_MOST: Final = 1024  # locations that are listed
_NO_REGION: Final = "not recorded"
_PURE: Final = 0.995  # share from which an activity counts as the only one
_COLUMNS: Final = (
    Column("location"),
    Column("activity"),
    Column("region"),
    Column("waits for"),
    Column("for whom"),
    Column("for so long", "s", "idle"),
    Column("since", "s"),
    Column("which is in"),
    Column("called from"),
)


@dataclass(frozen=True)
class _Activity:
    """A location's main activity around the moment: a code of the layer, and its share there."""

    code: int
    share: float


def _make(data: TraceData, at: object = None, locations: object = None, region: object = None) -> Figure | Need:
    window = trace_window.window(data, None, None, locations, region)
    meta = data.trace.meta
    last = max(meta.end - 1, meta.begin)  # no location is in a state at the very end
    tick = meta.begin if at is None else min(max(data.ticks(float(str(at))), meta.begin), last)
    around = dependencies.around(window, tick)
    data = dependencies.subject(around)
    window = replace(window, data=data)
    now = moment(dependencies.waits(data), tick, window.locations, _states(data))
    activities = _activities(data, tick, window.locations)
    kept = _of_regions(window, now)
    if not kept:
        return _NOBODY.of(words=window.words, when=_when(data, tick))
    rows = tuple(_row(data, now, activities, place) for place in kept[:_MOST])
    counts = _counts(data, now, activities, kept)
    left = len(kept) - len(rows)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(window, now, counts, kept),
        (Table(_COLUMNS, rows), _count_table(counts, len(kept))),
        notes=(
            *(
                (f"The first {_MOST} of {thousands(len(kept))} locations are listed, all are counted.",)
                if left > 0
                else ()
            ),
            "Since: begin of the wait, else when the innermost region was entered, else begin of the state.",
            *dependencies.notes(around),
            *trace_common.usual_notes(data),
        ),
    )


def changes(data: TraceData) -> Changes:
    """Return the index of state changes of all locations, built once."""
    return interval_sums.remembered(data, "changes", lambda: Changes.of(dependencies.waits(data), _states(data)))


def _states(data: TraceData) -> StateRows | None:
    """Return a trace's states, None if it records none."""
    if not data.trace.count("states"):
        return None
    return interval_sums.remembered(data, "state rows", lambda: StateRows.of(data.trace))


def change(data: TraceData, at: float, locations: str = "", *, back: bool = False) -> float | None:
    """Return the next change of any of *locations* after *at* (s), or the last before it; None if there is none."""
    tick = data.ticks(at)
    window = trace_window.window(data, None, None, locations)
    found = changes(dependencies.subject(dependencies.around(window, tick)))
    there = found.before(tick, window.locations) if back else found.after(tick, window.locations)
    return None if there is None else float(data.seconds(there))


def _of_regions(window: Window, now: Moment) -> list[int]:
    """Return the positions of locations inside a chosen region or its callees."""
    everybody = list(range(len(now.locations)))
    if window.regions is None:
        return everybody
    stacks = dependencies.waits(window.data).stacks
    wanted = np.zeros(len(window.data.trace.definitions.regions), bool)
    wanted[list(window.regions)] = True
    inside = stacks.innermost(now.row, wanted) >= 0
    return [place for place in everybody if inside[place]]


def _activities(data: TraceData, tick: int, locations: tuple[int, ...]) -> list[_Activity]:
    lanes = data.timeline.lanes("activity", tick, tick + 1, 1, locations)
    shares = np.where(lanes.codes >= 0, lanes.shares, 0.0)[:, 0, :]
    best = shares.argmax(axis=1)
    each = np.arange(len(best))
    found = zip(lanes.codes[each, 0, best].tolist(), shares[each, best].tolist(), strict=True)
    return [_Activity(code if share > 0 else -1, share) for code, share in found]


def _name(data: TraceData, code: int) -> str:
    return data.timeline.layers["activity"].codes[code].name if code >= 0 else "nothing"


def _row(data: TraceData, now: Moment, activities: list[_Activity], place: int) -> Row:
    location, stacks = int(now.locations[place]), dependencies.waits(data).stacks
    path = stacks.path(int(now.row[place])) if now.row[place] >= 0 else ()
    said = _name(data, activities[place].code)
    share = activities[place].share
    said += f" {percent(share)}" if 0 < share < _PURE else ""
    since = None if now.since[place] < 0 else float(data.seconds(int(now.since[place])))
    so_far = None if since is None else (now.tick - int(now.since[place])) / data.trace.meta.ticks_per_second
    why, holder, where = _waiting(data, now, place)
    names = [data.region_name(number) for number in reversed(path)]
    innermost = dependencies.named(data, path[-1]) if path else dependencies.OUTSIDE
    innermost = innermost if data.trace.count("calls") else _NO_REGION
    tip = "\n".join([data.location_name(location), *names])
    callers = " < ".join(names[1:])
    values = (data.location_name(location), said, innermost, why, holder, so_far, since, where, callers)
    return Row(values, key=f"location:{location}", tip=tip)


def _waiting(data: TraceData, now: Moment, place: int) -> tuple[str, str, str]:
    """Return what a location waits for, the holder, and the holder's current region."""
    if now.wait[place] < 0:
        return "", "", ""
    waits = dependencies.waits(data)
    row = int(now.wait[place])
    why, holder = WORDS[Cause(int(waits.rows.cause[row]))], int(waits.rows.holder[row])
    if holder < 0:
        return why, "not known", ""
    there = waits.stacks.at(np.array([holder]), np.array([now.tick], np.int64))
    region = int(waits.stacks.region_of(there)[0])
    return why, data.location_name(holder), data.region_name(region) if region >= 0 else dependencies.OUTSIDE


def _counts(data: TraceData, now: Moment, activities: list[_Activity], kept: list[int]) -> Counter[str]:
    """Return the number of locations per activity; waiting ones count by what they wait for."""
    rows = dependencies.waits(data).rows
    said: Counter[str] = Counter()
    for place in kept:
        wait = int(now.wait[place])
        if wait < 0:
            said[_name(data, activities[place].code)] += 1
        else:
            said[f"waiting: {WORDS[Cause(int(rows.cause[wait]))]}"] += 1
    return said


def _count_table(counts: Counter[str], total: int) -> Table:
    rows = tuple(Row((name, count, 100 * count / total)) for name, count in counts.most_common())
    return Table((Column("what"), Column("locations", "", "busy"), Column("of all locations", "%")), rows)


def _when(data: TraceData, tick: int) -> str:
    return time_text(data.seconds(tick), 1 / data.trace.meta.ticks_per_second)


def _sentence(window: Window, now: Moment, counts: Counter[str], kept: list[int]) -> str:
    data = window.data
    kinds = {data.trace.definitions.locations[int(now.locations[place])].kind for place in kept}
    kind = kinds.pop() if len(kinds) == 1 else "location"
    waiting = sum(count for name, count in counts.items() if name.startswith("waiting"))
    parts = [f"{count} {name}" for name, count in counts.most_common() if not name.startswith("waiting")]
    parts += [f"{waiting} waiting"] if waiting else []
    who = plural(kind) if len(kept) != 1 else kind
    return f"At {_when(data, now.tick)} of {si(data.length, 's', 4)}, of {len(kept)} {who}: {', '.join(parts)}."


VIEW = View(
    NAME,
    _TITLE,
    "What every location does at one moment: region and callers, activity, since when, and whom it waits for.",
    _make,
    (
        Option(
            "at",
            "At",
            "float",
            unit="s",
            minimum=0.0,
            description="the moment, from the start of the run; otherwise its start",
        ),
        trace_window.LOCATIONS,
        trace_window.REGION,
    ),
    group="Timeline",
    order=35,
    needs=(_NOBODY,),
    subject="trace",
)
