"""Counters over time: rates or values, with minimum and maximum per bin."""

from __future__ import annotations

import fnmatch
from typing import Any

import numpy as np

from scalegraph.analyze.trace import work
from scalegraph.base.errors import Fault, InputError, near
from scalegraph.base.units import counted, si, thousands
from scalegraph.figures.columns import known
from scalegraph.figures.figure import Area, AreaTrack, Axis, Column, Figure, Row, Table, Timeline
from scalegraph.figures.way import Need
from scalegraph.subjects import interval_sums
from scalegraph.subjects import window as trace_window
from scalegraph.subjects.option import Option
from scalegraph.subjects.trace import TraceData
from scalegraph.subjects.window import Window
from scalegraph.traces.model import Metric
from scalegraph.views import ways
from scalegraph.views.trace import common as trace_common
from scalegraph.views.trace import sums as trace_sums
from scalegraph.views.trace import tracks as trace_tracks
from scalegraph.views.view import View

_TITLE = "Counters"
_NEED = Need(
    "This trace has no counters.",
    ways.traced("counters"),
    "Run the program with counters in its trace: operations, references and misses.",
    "Record hardware counters.",
    met=lambda data, **_: bool(data.trace.count("counters") and data.trace.definitions.metrics),
)
_SEVERAL = 8  # locations in one track, one line each
_TRACKS = 12
_WHOLE = 10_000  # smaller counts are written with all their digits
_ROUNDING = 1e-9  # of the largest rate: smaller rates are rounding errors of differences


def _make(data: TraceData, metrics: object = None, each: object = False, **options: object) -> Figure:
    chosen = trace_window.window(data, **options)
    defined = data.trace.definitions.metrics
    numbers = _chosen_metrics(defined, metrics)
    shown = numbers[:_TRACKS]
    apart = (bool(each) or not chosen.all_locations) and len(chosen.locations) <= _SEVERAL
    tracks = tuple(_track(chosen, number, apart=apart) for number in shown)
    rows = [_row(chosen, number) for number in shown]
    left = (
        f"{len(numbers) - len(shown)} further metrics are left out: choose them by name."
        if len(numbers) > len(shown)
        else ""
    )
    sums = "Lines are sums over all locations; the band spans the values in each bin."
    each_words = "A line for each location; the band spans the values in each bin."
    more = (
        "More than eight locations are chosen: lines are their sums." if not apart and not chosen.all_locations else ""
    )
    return Figure(
        trace_common.title(data, _TITLE),
        _sentence(chosen, rows),
        (
            Timeline(trace_tracks.TIME, chosen.begin_s, chosen.end_s, tracks, limits=(0.0, data.length)),
            Table(
                (
                    Column("metric"),
                    Column("unit"),
                    Column("total"),
                    Column("a second"),
                    Column("least"),
                    Column("mean"),
                    Column("most"),
                    Column("most at"),
                ),
                tuple(rows),
            ),
        ),
        notes=trace_sums.notes(
            chosen,
            each_words if apart else sums,
            more,
            left,
            "Counts are shown as rates: each value is spread over the time since the previous one.",
        ),
    )


def _chosen_metrics(defined: list[Metric], text: object) -> list[int]:
    """Return the numbers of the metrics matching *text* (names or patterns, comma separated), or all."""
    if text is None or not str(text).strip():
        return list(range(len(defined)))
    found: list[int] = []
    for part in (piece.strip() for piece in str(text).split(",")):
        mine = [n for n, metric in enumerate(defined) if fnmatch.fnmatchcase(metric.name.lower(), part.lower())]
        if not mine:
            names = [metric.name for metric in defined]
            raise InputError(
                Fault(f"no metric is called '{part}'{near(part, names)}; there are: {', '.join(names)}", key="metrics")
            )
        found += [number for number in mine if number not in found]
    return found


def _unit(metric: Metric) -> str:
    unit = metric.unit if metric.unit not in ("1", "#") else ""
    return f"{unit or metric.name}/s" if work.counts(metric) else unit


def _track(chosen: Window, number: int, *, apart: bool) -> AreaTrack:
    data = chosen.data
    metric = data.trace.definitions.metrics[number]
    who = chosen.locations if apart else (None,)
    lines = [data.timeline.counter(number, one, chosen.begin, chosen.end, chosen.width) for one in who]
    factor, unit, least = 1.0, _unit(metric), 0.0
    if work.counts(metric):  # the axis has the metric's name already
        largest = max((float(bins.high[np.isfinite(bins.high)].max(initial=0.0)) for bins in lines), default=0.0)
        least = largest * _ROUNDING
        factor, unit = trace_sums.prefix(largest, unit if metric.unit not in ("", "1", "#") else "/s")

    def values(found: Any) -> Any:
        return np.where(np.abs(found) < least, 0.0, found) / factor

    series = [
        Area(
            metric.name if one is None else data.location_name(one),
            f"series:{turn + (number if one is None else 0)}",
            values(bins.mean),
            values(bins.low),
            values(bins.high),
        )
        for turn, (one, bins) in enumerate(zip(who, lines, strict=True))
    ]
    edges = np.clip(data.seconds(np.asarray(lines[0].edges)), chosen.begin_s, chosen.end_s)
    return AreaTrack(metric.name, Axis(metric.name, unit), edges, tuple(series), "band", weight=1.2)


def _row(chosen: Window, number: int) -> Row:
    """Return totals of a counting metric, or statistics of any other."""
    data = chosen.data
    metric = data.trace.definitions.metrics[number]
    seconds = chosen.seconds
    if work.counts(metric):
        values = interval_sums.counted(data, number).totals(chosen.begin, chosen.end, chosen.locations)
        scale, unit = (1e6, "µs") if metric.unit == "s" else (1.0, metric.unit)
        values = np.round(values * scale) if scale > 1 else values
        total: float | None = float(values.sum())
    else:
        columns = data.trace.columns("counters", begin=chosen.begin, end=chosen.end)
        mine = (columns["metric"] == number) & np.isin(columns["location"], list(chosen.locations))
        values, total = columns["value"][mine], None
        where = columns["location"][mine]
        if not len(values):
            return Row((metric.name, _unit(metric), *([None] * 6)), key=f"metric {number}")
        at = data.location_name(int(where[int(np.nanargmax(values))])) if np.isfinite(values).any() else ""
        with np.errstate(all="ignore"):
            numbers = [known(float(one)) for one in (values.min(), values.mean(), values.max())]
        return Row((metric.name, metric.unit, total, None, *numbers, at), key=f"metric {number}")
    rate = known(total / seconds) if total is not None and seconds else None
    at = data.location_name(chosen.locations[int(values.argmax())])
    least, mean, most = float(values.min()), float(values.mean()), float(values.max())
    return Row(
        (metric.name, unit, total, rate, least, mean, most, at),
        key=f"metric {number}",
        tip=f"{metric.name}: least, mean and most of a location",
    )


def _sentence(chosen: Window, rows: list[Row]) -> str:
    reported = [
        f"{_amount(row.values[2], str(row.values[1] or ''))} {row.values[0]}"
        for row in rows[:4]
        if isinstance(row.values[2], float)
    ]
    if not reported:
        return f"{counted(len(rows), 'metric')} in {chosen.words}."
    who = trace_sums.located(chosen.data.trace, len(chosen.locations))
    return f"In {si(chosen.seconds, 's')} {who} counted {', '.join(reported)}."


def _amount(total: float, unit: str) -> str:
    """Return *total* as text; a small count has no decimals."""
    if unit == "µs":
        return si(total * 1e-6, "s", 4)
    return thousands(int(total)) if not unit and total.is_integer() and total < _WHOLE else si(total, unit, 4)


VIEW = View(
    "counters",
    _TITLE,
    "Metrics over time: rates of counts, values of other metrics, with minimum and maximum per bin.",
    _make,
    (
        *(option for option in trace_window.WINDOWED if option.name != "region"),
        Option("metrics", "Metrics", "text", description="names or patterns, comma separated; otherwise all"),
        Option(
            "each",
            "Each location",
            "bool",
            False,
            description="a line per location, for at most eight, instead of their sum",
        ),
    ),
    group="Timeline",
    order=50,
    needs=(_NEED,),
    subject="trace",
    window=True,
)
