"""Durations of a region's calls: a histogram, and the longest with their times."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from scalegraph.analyze.trace import durations
from scalegraph.base.measures import percent
from scalegraph.base.units import counted, si, thousands
from scalegraph.figures.figure import Axis, Bars, Column, Figure, Plot, Row, Table
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums, trace_choices
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.views.common import exact
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import lasting as trace_lasting
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace.places import Place
from scalegraph.views.view import View

_NO_CALL = Need("No call begins and ends in {words}. Choose a longer time, or another region.")
_TITLE = "Durations"


def _sentence(length: np.ndarray[Any, np.dtype[np.floating[Any]]]) -> str:
    """Return a sentence on durations (s): count, median, and the share of the longest."""
    median, most, total = float(np.median(length)), float(length.max()), float(length.sum())
    sentence = f"{counted(len(length), 'call')}, half of them in {si(median, 's')} or less, the longest {si(most, 's')}"
    few = max(1, len(length) // 100)
    tail = float(np.partition(length, len(length) - few)[-few:].sum())
    if len(length) >= 100 and total:
        sentence += f"; the longest hundredth takes {percent(tail / total)} of their time"
    return sentence + "."


def _make(
    data: TraceData, bins: int | None = None, longest: int = 20, duration: object = None, **options: object
) -> Figure | Need:
    if none := trace_lasting.nothing(data, duration, "calls"):
        return none
    data, known = trace_choices.lasting(data, duration), trace_lasting.told(data, duration)
    chosen = trace_window.window(data, **options)
    table = interval_sums.calls(data)
    calls = durations.whole_calls(
        table, data.trace, chosen.begin, chosen.end, chosen.regions, chosen.locations, longest
    )
    length = calls.ticks / data.trace.meta.ticks_per_second
    if not len(length):
        return _NO_CALL.of(words=chosen.words)
    made = durations.histogram(length, bins or min(40, max(6, math.ceil(2 * len(length) ** (1 / 3)))))
    rows = made.to_dict("records")
    names = tuple(f"{si(row['low_s'], 's')} to {si(row['high_s'], 's')}" for row in rows)
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(length),
        (
            Plot(
                Axis("duration from", scale="category", categories=tuple(si(row["low_s"], "s") for row in rows)),
                Axis("calls"),
                bars=Bars(
                    tuple(float(n) for n in range(len(rows))),
                    (("calls", "time", tuple(float(row["calls"]) for row in rows)),),
                    (
                        tuple(
                            f"{name}: {thousands(row['calls'])} calls, {exact(row['time_s'], 's')} together"
                            for name, row in zip(names, rows, strict=True)
                        ),
                    ),
                ),
            ),
            _longest(data, calls),
        ),
        notes=trace_sums.notes(chosen, *known, "Calls that begin and end in the chosen time; durations are inclusive."),
    )


def _longest(data: TraceData, calls: durations.WholeCalls) -> Table:
    columns = (
        Column("longest calls"),
        Column("duration", "s", "time"),
        Column("location"),
        Column("begins", "s"),
        Column("ends", "s"),
    )
    places = zip(*(calls.longest[name].tolist() for name in ("begin", "end", "location", "region")), strict=True)
    rows = tuple(
        Row(
            (
                data.region_name(region),
                (end - begin) / data.trace.meta.ticks_per_second,
                data.location_name(location),
                float(data.seconds(begin)),
                float(data.seconds(end)),
            ),
            key=Place(begin, end, location, region).key,
        )
        for begin, end, location, region in places
    )
    return Table(columns, rows)


VIEW = View(
    "durations",
    _TITLE,
    "The distribution of the durations of a region's calls, and the longest calls.",
    _make,
    (
        *trace_window.COMMON,
        trace_choices.DURATION,
        Option(
            "bins",
            "Classes",
            "int",
            None,
            minimum=2,
            maximum=400,
            description="classes of the histogram; otherwise as the number of calls suggests",
        ),
        Option(
            "longest", "Longest", "int", 20, minimum=0, maximum=10000, description="how many of the longest are named"
        ),
    ),
    needs=(trace_sums.NO_CALLS, trace_lasting.TOO_SHORT, _NO_CALL),
    subject="trace",
)
