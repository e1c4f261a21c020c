"""Wait states, worst first: where they are, for whom, and what the other did meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pandas as pd

from scalegraph.analyze.trace.wait_states import WaitStates, by_place, worst
from scalegraph.base.measures import percent
from scalegraph.base.units import si, thousands
from scalegraph.figures.figure import Column, Figure, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import trace_choices
from scalegraph.subjects import trace_dependencies as dependencies
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace.places import Place
from scalegraph.views.view import View

_TOO_SHORT: Final = Need("No wait in {words} lasts {least} or longer: choose a shorter duration.")
_NO_WAIT: Final = Need(
    "No location waits for another: the trace records no waits, and none follow from messages, collective operations,"
    " barriers, locks, tasks or idle states."
)
_NOT_HERE: Final = Need("No location waits in {words}.")
_TITLE = "Wait states"
_MOST = 200
_PLACES = 200
_HANDED: Final = Column("hand-over", "s", "primitive")
_SUMS: Final = (
    Column("kind"),
    Column("lost", "s", "idle"),
    Column("region"),
    Column("of all time", "%"),
    Column("of waiting", "%"),
    Column("waits"),
    Column("longest", "s"),
    _HANDED,
    Column("loses most"),
    Column("waited for most"),
    Column("which was in"),
)
_SINGLE: Final = (
    Column("kind"),
    Column("lost", "s", "idle"),
    Column("location"),
    Column("region"),
    Column("begin", "s"),
    _HANDED,
    Column("waited for"),
    Column("which was in"),
    Column("and waited itself", "s"),
)


def _make(
    data: TraceData,
    begin: object = None,
    end: object = None,
    locations: object = None,
    region: object = None,
    most: object = _MOST,
    duration: object = None,
) -> Figure | Need:
    window = trace_window.window(data, begin, end, locations, region)
    states = dependencies.wait_states_in(window, trace_choices.least(data, duration))
    if not len(states.numbers):
        return _nothing(window, duration)
    sums = by_place(data.trace, states)
    many = int(str(most))
    left, every = len(states.numbers) - many, thousands(len(states.numbers))
    tables = (_sums(window, sums), _single(window, states, many))
    handed = any(_HANDED in table.columns for table in tables)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(window, states, sums),
        tables,
        notes=(
            *((f"Listed are the {thousands(many)} longest of {every} waits.",) if left > 0 else ()),
            *((f"Only waits of {si(float(str(duration)), 's')} or longer.",) if duration else ()),
            "Lost: from begin to end of a wait"
            + ("; hand-over: the part after the holder's release." if handed else "."),
            "Which was in: the region with most of the other's time meanwhile, except waiting.",
            *dependencies.notes(window),
            *trace_common.usual_notes(data),
        ),
    )


def _nothing(window: Window, duration: object) -> Need:
    if duration and len(dependencies.wait_states_in(window).numbers):
        return _TOO_SHORT.of(words=window.words, least=si(float(str(duration)), "s"))
    return _NO_WAIT if window.whole else _NOT_HERE.of(words=window.words)


def _sums(window: Window, sums: pd.DataFrame) -> Table:
    data = window.data
    rows = tuple(
        Row(
            (
                str(row["kind"]),
                row["lost_s"],
                dependencies.named(data, row["region"]),
                100 * row["share"],
                100 * row["of_waits"],
                row["count"],
                row["longest_s"],
                row["handover_s"],
                f"{data.location_name(row['location'])} ({percent(row['location_share'])})",
                _holder(data, row["holder"], row["holder_share"]),
                _inside(data, row["holder_region"]),
            ),
            key=str(row["region"]),
            tip=f"{thousands(row['count'])} waits, {si(row['indirect_s'], 's')} while the other waited itself",
        )
        for row in sums.head(_PLACES).to_dict("records")
    )
    return _table("Sums", _SUMS, rows)


def _single(window: Window, states: WaitStates, most: int) -> Table:
    data = window.data
    table = worst(data.trace, states, most)
    waits = states.waits.rows.take(states.numbers[:most])
    rows = tuple(
        Row(
            (
                str(row["kind"]),
                row["lost_s"],
                data.location_name(row["location"]),
                dependencies.named(data, row["region"]),
                row["begin_s"],
                row["handover_s"],
                _holder(data, row["holder"]),
                _inside(data, row["holder_region"]),
                row["indirect_s"],
            ),
            key=Place(begin, end, row["location"], row["region"]).key,
            tip=f"{row['path'] or dependencies.OUTSIDE}\n{si(row['begin_s'], 's', 6)} to {si(row['end_s'], 's', 6)}",
        )
        for row, begin, end in zip(table.to_dict("records"), waits.begin.tolist(), waits.end.tolist(), strict=True)
    )
    return _table("Single waits", _SINGLE, rows)


def _table(title: str, columns: tuple[Column, ...], rows: tuple[Row, ...]) -> Table:
    """Return a table with that *title*, without the hand-over column if it is all zero."""
    at = columns.index(_HANDED)
    if any(row.values[at] for row in rows):
        return Table(columns, rows, title)
    return Table(
        columns[:at] + columns[at + 1 :],
        tuple(replace(row, values=row.values[:at] + row.values[at + 1 :]) for row in rows),
        title,
    )


def _inside(data: TraceData, region: int) -> str:
    return data.region_name(region) if region >= 0 else ""


def _holder(data: TraceData, holder: int, share: float = 1.0) -> str:
    if holder < 0:
        return "not known"
    return f"{data.location_name(holder)} ({percent(share)})" if share < 1 else data.location_name(holder)


def _sentence(window: Window, states: WaitStates, sums: pd.DataFrame) -> str:
    """Return the main finding as a sentence."""
    data, first = window.data, sums.iloc[0].to_dict()
    kinds = {data.trace.definitions.locations[number].kind for number in window.locations}
    kind = kinds.pop() if len(kinds) == 1 else "location"
    said = f"{percent(states.share)} of {kind} time waits"
    said += "" if window.whole_time else f" from {si(window.begin_s, 's')} to {si(window.end_s, 's')}"
    if first["kind"] == "no known cause":
        said += f"; the trace does not record why for {percent(first['of_waits'])} of that"
    else:
        where, what = dependencies.at(data, int(first["region"])), str(first["kind"])
        said += f"; {percent(first['of_waits'])} of that"
        said += (
            f" in {where}" if what in where.lower() else f": {what}, {where if first['region'] < 0 else f'in {where}'}"
        )
    if int(first["holder"]) >= 0 and len(window.locations) > 1:
        said += f", most often for {data.location_name(int(first['holder']))}"
        said += f" ({percent(first['holder_share'])})" if first["holder_share"] < 1 else ""
        if int(first["holder_region"]) >= 0:
            said += f", which meanwhile is in {dependencies.at(data, int(first['holder_region']))}"
    return f"{said}."


VIEW = View(
    "waits",
    _TITLE,
    "Who lost how much time where, waiting for whom, and what the other did meanwhile; worst first.",
    _make,
    (
        *trace_window.COMMON,
        trace_choices.DURATION,
        Option(
            "most", "Most", "int", _MOST, minimum=1, maximum=100_000, description="how many single waits are listed"
        ),
    ),
    group="Who with whom",
    order=40,
    needs=(_TOO_SHORT, _NO_WAIT, _NOT_HERE),
    subject="trace",
)
