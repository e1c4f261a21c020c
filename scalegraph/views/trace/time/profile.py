"""Time of an interval by region: a flat profile, with each location's part."""

from __future__ import annotations

from typing import Any

import pandas as pd

from scalegraph.analyze.trace import profile
from scalegraph.base.measures import percent
from scalegraph.base.units import si, significant
from scalegraph.figures.columns import known
from scalegraph.figures.figure import LOCATIONS_TIME, Axis, Bars, Column, Figure, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums, trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.trace_choices import of_regions
from scalegraph.subjects.window import Window
from scalegraph.traces.activities import ACTIVITIES, TITLES
from scalegraph.views.common import exact
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import lasting as trace_lasting
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace.sums import place
from scalegraph.views.view import View

_TITLE = "Profile of the interval"
_BARS = 12


def _make(data: TraceData, bars: int = _BARS, duration: object = None, **options: object) -> Figure | Need:
    if none := trace_lasting.nothing(data, duration, "calls"):
        return none
    data, known_ = trace_choices.lasting(data, duration), trace_lasting.told(data, duration)
    chosen = trace_window.window(data, **options)
    sums = interval_sums.call_sums(chosen)
    table = of_regions(chosen, profile.flat(data.trace, sums))
    if table.empty:
        return trace_sums.NOT_ENTERED.of(words=chosen.words)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(chosen, sums, table),
        (_table(data, table), _bars(chosen, table, bars, shared=not known_)),
        notes=trace_sums.notes(
            chosen,
            *known_,
            "Of a call cut by the interval, the part inside counts; a visit counts where it begins. Inclusive counts a"
            " region that calls itself once.",
            *trace_sums.call_notes(data),
        ),
    )


COLUMNS = (
    Column("visits"),
    Column("exclusive", "s", "busy"),
    Column("inclusive", "s", "muted"),
    Column("share", LOCATIONS_TIME),
    Column("least", "s"),
    Column("mean", "s"),
    Column("most", "s"),
    Column("imbalance"),
    Column("place"),
)


def values(row: dict[Any, Any]) -> tuple[float | int | str | None, ...]:
    """Return the cells below `COLUMNS` for a row of `profile.flat` or `profile.tree`."""
    return (
        int(row["visits"]),
        float(row["exclusive_s"]),
        float(row["inclusive_s"]),
        known(100 * float(row["share"])),
        float(row["least_s"]),
        float(row["mean_s"]),
        float(row["most_s"]),
        known(float(row["imbalance"])),
        place(str(row["file"]), int(row["line"])),
    )


def tip(data: TraceData, row: dict[Any, Any]) -> str:
    """Return the tooltip with the exact numbers of such a row."""
    visits = int(row["visits"])
    each = f", {exact(float(row['inclusive_s']) / visits, 's')} a visit" if visits else ""
    return "\n".join(
        (
            f"{row['kind']} {row['name']} {place(str(row['file']), int(row['line']))}".strip(),
            f"exclusive {exact(float(row['exclusive_s']), 's')}",
            f"inclusive {exact(float(row['inclusive_s']), 's')}{each}",
            f"most of it on {data.location_name(int(row['most_at']))}: {exact(float(row['most_s']), 's')}",
        )
    )


def _table(data: TraceData, table: pd.DataFrame) -> Table:
    return Table(
        (Column("region"), *COLUMNS),
        tuple(
            Row((str(row["name"]), *values(row)), key=str(row["region"]), tip=tip(data, row))
            for row in table.to_dict("records")
        ),
    )


def _bars(chosen: Window, table: pd.DataFrame, most: int, *, shared: bool) -> Plot:
    """Return a bar for each of the longest regions, split by activity if the trace records it (*shared*)."""
    data = chosen.data
    rows = table[table["exclusive_s"] > 0].head(most)[::-1].to_dict("records")
    ticks = interval_sums.region_activity(chosen) if shared else None
    series: list[tuple[str, str, tuple[float, ...]]] = []
    if ticks is not None:
        seconds = ticks[:, [int(row["region"]) for row in rows]] / data.trace.meta.ticks_per_second
        for name, title, heights in zip(ACTIVITIES, TITLES, seconds, strict=True):
            if heights.any():
                series.append((title, "muted" if name == "other" else name, tuple(heights.tolist())))
    else:
        series.append(("exclusive time", "time", tuple(float(row["exclusive_s"]) for row in rows)))
    return Plot(
        Axis("time of all locations, exclusive", "s"),
        Axis("", scale="category", categories=tuple(str(row["name"]) for row in rows)),
        bars=Bars(
            tuple(float(at) for at in range(len(rows))),
            tuple(series),
            tuple(tuple(tip(data, row) for row in rows) for _ in series),
            horizontal=True,
        ),
    )


def _sentence(chosen: Window, sums: profile.CallSums, table: pd.DataFrame) -> str:
    first = table.iloc[0]
    if not sums.available:
        return "The chosen time has no length."
    covered = float(sums.covered.sum()) / sums.available
    text = (
        f"In {si(chosen.seconds, 's')} {first['name']} takes {percent(float(first['share']))} of the time of"
        f" {trace_sums.located(chosen.data.trace, len(chosen.locations))}"
    )
    uneven = table[(table["share"] > 0.05) & (table["imbalance"] > 1.25)]
    if len(uneven) and len(chosen.locations) > 1:
        worst = uneven.sort_values("imbalance", ascending=False).iloc[0]
        text += (
            f"; {worst['name']} is spread unevenly: {chosen.data.location_name(int(worst['most_at']))} has"
            f" {significant(float(worst['imbalance']))} times the mean"
        )
    outside = 1 - covered
    return text + (f"; {percent(outside)} is outside of every region." if outside > 0.005 else ".")


VIEW = View(
    "trace-profile",
    _TITLE,
    "Visits, exclusive and inclusive time of every region in the chosen interval, and its balance over locations.",
    _make,
    (
        *trace_window.COMMON,
        trace_choices.DURATION,
        Option(
            "bars",
            "Bars",
            "int",
            _BARS,
            description="how many of the most expensive regions get a bar",
            minimum=1,
            maximum=60,
        ),
    ),
    needs=(trace_sums.NO_CALLS, trace_lasting.TOO_SHORT, trace_sums.NOT_ENTERED),
    subject="trace",
)
